"""Floor plans and places in both databases."""

import hashlib

import pytest

from occupair.errors import InputError
from occupair.live.store import Place, Store

DATA = bytes(range(256)) * 20


def test_plan_is_stored_and_replaced(store: Store):
    stored = store.set_plan("Straße 1. OG", DATA, media_type="image/png", width=40, height=30)
    plan, data = store.plan("Straße 1. OG")
    assert (plan, data) == (stored, DATA)
    assert (plan.media_type, plan.width, plan.height, plan.size) == ("image/png", 40, 30, len(DATA))
    assert plan.sha256 == hashlib.sha256(DATA).hexdigest()
    store.set_plan("Straße 1. OG", b"<svg/>", media_type="image/svg+xml", width=4, height=5)
    store.set_plan("", b"x", media_type="image/png", width=1, height=1)
    assert [(one.floor, one.size) for one in store.plans()] == [("", 1), ("Straße 1. OG", 6)]
    assert store.plan("2") is None
    assert (store.remove_plan(""), store.remove_plan("")) == (True, False)
    assert [one.floor for one in store.plans()] == ["Straße 1. OG"]


def test_places_outlive_plans(store: Store):
    store.set_plan("1", DATA, media_type="image/png", width=40, height=30)
    store.set_place("lab", Place(0.25, 1.0))
    store.set_place("attic", Place(0.5, 0.5))
    store.set_place("lab", Place(0.0, 0.125))
    store.remove_plan("1")
    assert store.places() == {"attic": (0.5, 0.5), "lab": (0.0, 0.125)}
    assert (store.remove_place("lab"), store.remove_place("lab")) == (True, False)
    assert store.places() == {"attic": Place(0.5, 0.5)}


@pytest.mark.parametrize("place", [(1.01, 0.5), (0.5, -0.1), (float("nan"), 0.5)])
def test_place_outside_the_plan_is_rejected(store: Store, place):
    with pytest.raises(InputError, match=r"^[xy] must be from 0 to 1, got "):
        store.set_place("lab", Place(*place))


def test_pruning_keeps_plans_and_places(store: Store):
    store.set_plan("1", DATA, media_type="image/png", width=40, height=30)
    store.set_place("lab", Place(0.5, 0.5))
    plan, _ = store.plan("1")
    store.prune(plan.created.replace(year=plan.created.year + 1))
    assert store.plans() == [plan]
    assert store.places() == {"lab": (0.5, 0.5)}
