"""Shared fixtures: an office, and a default and a paper model of it."""

import pytest

import occupair as oc
from occupair.live.rooms.room import Model
from occupair.live.rooms.room_models import load_model
from occupair.model_file import dump_model


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=5, seed=3).iloc[::5].tz_localize("Europe/Copenhagen")


@pytest.fixture(scope="module", params=["default", "paper"])
def estimator(request, office):
    paper = oc.OccupancyEstimator.paper(n_hidden=25, n_draws=1, random_state=0)
    kind = oc.OccupancyEstimator(n_hidden=15, random_state=0) if request.param == "default" else paper
    return kind.fit(office.iloc[: 3 * 288])


@pytest.fixture(scope="module")
def model(estimator):
    return Model(1, load_model(dump_model(estimator)))
