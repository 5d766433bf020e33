"""Head counts with the prediction intervals published at their times, from the store."""

import datetime as dt
from dataclasses import replace

import pytest
from live.store_helpers import at, estimate

from occupair.live.messages import Label, LabelledInterval

LATER = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)


def interval(minutes, low, high, room="lab"):
    return estimate(room, minutes, (low + high) / 2, low=low, high=high)


@pytest.fixture
def filled(store):
    """Intervals at 0, 1 and 2 min in one room, and one in another."""
    store.write([], [interval(0, 0.0, 1.0), interval(1, 1.0, 2.0), interval(2, 2.0, 3.0)])
    store.write([], [interval(5, 8.0, 9.0, room="other")])
    return store


def test_last_interval_at_or_before_each_head_count(filled):
    for minutes in (1.5, 2, 0.0, -1, 500):
        filled.add_label(Label("lab", at(minutes), 4, LATER, "typed"))
    assert filled.labelled_intervals("lab") == [
        LabelledInterval(at(0), 4, at(0), 0.0, 1.0),
        LabelledInterval(at(1.5), 4, at(1), 1.0, 2.0),
        LabelledInterval(at(2), 4, at(2), 2.0, 3.0),
    ]


def test_confirmed_estimates_and_missing_intervals_are_left_out(filled):
    filled.write([], [replace(interval(3, 0.0, 0.0), people=None, low=None, high=None)])
    filled.add_label(Label("lab", at(1), 4, LATER, "confirmed"))
    filled.add_label(Label("lab", at(2), 4, LATER, "unknown"))
    filled.add_label(Label("lab", at(3), 4, LATER, "typed"))
    assert [one.time for one in filled.labelled_intervals("lab")] == [at(2)]


def test_head_counts_before_the_newest_model_are_left_out(filled):
    created = dt.datetime.now(dt.UTC)
    filled.add_label(Label("lab", at(1), 4, created - dt.timedelta(hours=1), "typed"))
    filled.add_label(Label("lab", at(2), 5, LATER, "typed"))
    assert len(filled.labelled_intervals("lab")) == 2
    filled.add_model("other", b"", origin="trained")
    assert len(filled.labelled_intervals("lab")) == 2
    filled.add_model("lab", b"", origin="trained")
    assert filled.labelled_intervals("lab") == []  # head counts of 2024 or so, a model of today
    assert [one.people for one in filled.labelled_intervals("lab", follows_clock=False)] == [5]
