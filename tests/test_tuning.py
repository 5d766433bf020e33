"""Tuning: bad settings are replaced, and the search is the documented coordinate search.

Tests of the search alone replace the cross-validation by a function with a known minimum.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair import tuning
from occupair.cross_validation import free_run_error
from occupair.progress import progress_to
from occupair.tuning import GRID, settings_of, tune, with_settings

PAPER = oc.OccupancyEstimator.paper().get_params()


def small(**changes):
    return oc.OccupancyEstimator.paper(**({"n_hidden": 15, "n_draws": 1, "random_state": 0} | changes))


@pytest.fixture
def fake_score(monkeypatch):
    """Replace the score by a function of the estimator; return the list of scored estimators."""

    def replace_score(error):
        scored = []

        def score(readings, estimator, **options):
            scored.append((readings, estimator, options))
            return error(estimator)

        monkeypatch.setattr(tuning, "free_run_error", score)
        return scored

    return replace_score


def test_huge_ridge_is_replaced(slow_office):
    start = small(ridge=1e5)
    found = tune(slow_office, start, grid={"ridge": (1e-3, 1e5)}, mode="hindsight")
    assert found.changes == {"ridge": (1e5, 1e-3)}
    assert found.rmse < found.rmse_before
    assert found.rmse == free_run_error(slow_office, small(), mode="hindsight")
    assert found.rmse_before == free_run_error(slow_office, start, mode="hindsight")
    assert start.ridge == 1e5
    assert not hasattr(found.estimator, "regressor_")


def test_feedback_without_smoothing_is_disabled(slow_office):
    found = tune(slow_office, small(smoothing=0), grid={"z_max_o": (0, 1, 1.5)})
    assert found.changes == {"z_max_o": (1, 0)}
    assert found.estimator.z_max == (1, 1, 1, 0, 0.1)


def test_search_matches_reference(slow_office):
    """Two settings in sequence; 15 neurons are below the limit of the search."""

    def error(ridge, horizon):
        return free_run_error(slow_office, small(ridge=ridge, horizon=horizon), mode="hindsight")

    ridges, horizons = {g: error(g, 30) for g in (1e-3, 0.1, 10.0)}, (20, 30, 60)
    ridge = min(ridges, key=ridges.get)
    errors = {horizon: error(ridge, horizon) for horizon in horizons}
    horizon = min(errors, key=errors.get)
    found = tune(slow_office, small(), grid={"ridge": tuple(ridges), "horizon": horizons}, mode="hindsight")
    assert (found.estimator.ridge, found.estimator.horizon) == (ridge, horizon)
    assert found.rmse == errors[horizon]
    table = found.tried.set_index(["ridge", "horizon"])["rmse"]
    for g, rmse in ridges.items():
        assert table[g, 30] == rmse
    assert len(table) == found.n_tried == 5  # the initial settings are in both grids
    assert (found.tried["seconds"] > 0).all()


def test_search_is_reproducible(slow_office):
    first, second = (
        tune(slow_office, small(), grid={"smoothing": (0, 20), "horizon": (30, 45)}, mode="hindsight")
        for _ in range(2)
    )
    assert first.estimator.get_params() == second.estimator.get_params()
    pd.testing.assert_frame_equal(first.tried.drop(columns="seconds"), second.tried.drop(columns="seconds"))


def test_best_initial_settings_are_kept(slow_office, fake_score):
    fake_score(lambda e: 0.0 if settings_of(e) == settings_of(oc.OccupancyEstimator.paper()) else 1.0)
    found = tune(slow_office, small())
    assert found.changes == {}
    assert found.rmse == found.rmse_before == 0.0
    assert found.estimator.get_params() == small().get_params()
    assert found.n_tried > 30


def test_tie_keeps_the_initial_setting(slow_office, fake_score):
    fake_score(lambda e: 1.0)
    assert tune(slow_office, small()).changes == {}


def test_settings_are_scored_once(slow_office, fake_score):
    scored = fake_score(lambda e: abs(e.horizon - 60) + e.ridge + e.smoothing + sum(e.z_max))
    tune(slow_office, small(n_hidden=1000), rounds=4, n_hidden=20)
    keys = [(*settings_of(e).items(), e.n_hidden) for _, e, _ in scored]
    assert len(keys) == len(set(keys)) > 40


def test_impossible_values_are_skipped(slow_office, fake_score):
    scored = fake_score(lambda e: -sum(e.z_max) - e.horizon - e.stride)  # larger is better
    grid = GRID | {"horizon": (7, 10, 12.5, 20, 1435, 1440), "stride": (3, 5, 10, 2000)}
    found = tune(slow_office, small(), grid=grid, rounds=2)
    assert all(sum(e.z_max) <= 5 + 1e-9 for _, e, _ in scored)
    assert {e.horizon for _, e, _ in scored} == {10, 20, 30, 1435}  # below the 1440 min of a day
    assert {e.stride for _, e, _ in scored} == {5, 10}
    assert (found.estimator.horizon, found.estimator.stride) == (1435, 10)
    assert sum(found.estimator.z_max) > 4.5


def test_stride_is_at_most_the_horizon(slow_office, fake_score):
    scored = fake_score(lambda e: e.horizon - e.stride)
    assert tune(slow_office, small()).estimator.horizon == 10
    assert all(e.stride <= e.horizon for _, e, _ in scored)


def test_feedback_and_smoothing_are_searched_jointly(slow_office, fake_score):
    """Changing only one of the two is worse than the initial settings."""

    def error(e):
        fed, smoothed = e.z_max[3] > 0, e.smoothing > 0
        return 2.0 if fed != smoothed else 1.0 if fed else 0.5

    fake_score(error)
    assert set(tune(slow_office, small()).changes) == {"z_max_o", "smoothing"}


def test_second_round_uses_later_changes(slow_office, fake_score):
    """A shorter horizon helps only with a small ridge, tuned later; round 3 changes nothing."""
    scored = fake_score(lambda e: e.ridge * 100 + (e.horizon if e.ridge < 0.1 else 100 - e.horizon))
    grid = {"horizon": (30, 60), "ridge": (0.01, 1.0)}
    assert tune(slow_office, small(ridge=1.0), grid=grid).estimator.horizon == 60
    count = len(scored)
    assert tune(slow_office, small(ridge=1.0), grid=grid, rounds=50).estimator.horizon == 30
    assert len(scored) - count == 4


def test_search_uses_fewer_neurons_with_scaled_ridge(slow_office, fake_score):
    scored = fake_score(lambda e: e.horizon)
    start = small(n_hidden=400, n_draws=3, ridge=0.01)
    found = tune(slow_office, start, grid={"horizon": (20, 30)}, n_hidden=100)
    sizes = [(e.n_hidden, e.n_draws, e.ridge, e.horizon) for _, e, _ in scored]
    few = pytest.approx(0.0025)
    assert sizes == [(400, 3, 0.01, 30), (100, 1, few, 30), (100, 1, few, 20), (400, 3, 0.01, 20)]
    assert found.tried["ridge"].eq(0.01).all()
    assert found.tried["n_hidden"].tolist() == [400, 100, 100, 400]
    assert found.n_tried == 2
    assert found.estimator.get_params() == (start.get_params() | {"horizon": 20})


def test_improvement_with_few_neurons_only_is_discarded(slow_office, fake_score):
    fake_score(lambda e: e.horizon if e.n_hidden == 100 else -e.horizon)
    found = tune(slow_office, small(n_hidden=400), grid={"horizon": (20, 30)}, n_hidden=100)
    assert found.changes == {}
    assert found.rmse == found.rmse_before == -30


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_all_scores_share_one_random_layer(slow_office, fake_score, random_state):
    scored = fake_score(lambda e: e.horizon)
    found = tune(slow_office, small(random_state=random_state))
    assert len({e.random_state for _, e, _ in scored}) == 1
    assert isinstance(scored[0][1].random_state, int)
    assert type(found.estimator.random_state) is type(random_state)


def test_score_gets_options_and_long_days_only(slow_office, fake_score):
    scored = fake_score(lambda e: 1.0)
    stub = slow_office.iloc[:6].set_index(
        slow_office.index[-1] + pd.Timedelta("1D") * np.ones(6) + _minutes(6)
    )
    tune(pd.concat([slow_office, stub]), small(), folds=4, mode="drifting", every=3)
    for readings, _, how in scored:
        assert how == {"folds": 4, "mode": "drifting", "every": 3}
        assert list(readings.index) == list(slow_office.index)


def _minutes(count):
    return pd.to_timedelta(5 * np.arange(count), unit="min")


def test_elm_has_fewer_settings(slow_office, fake_score):
    scored = fake_score(lambda e: e.smoothing)
    found = tune(slow_office, small(layer="elm"))
    assert found.changes == {"smoothing": (50, 0)}
    assert set(found.tried.columns) == {"horizon", "smoothing", "ridge", "n_hidden", "rmse", "seconds"}
    assert len(scored) == 1 + 4 + 5 + 5


@pytest.mark.parametrize("changed", [{"columns": "ventilation"}, {}])
def test_unknown_ventilation_is_not_tuned(slow_office, fake_score, changed):
    scored = fake_score(lambda e: e.z_max[4])
    readings = slow_office.drop(**changed) if changed else slow_office.assign(ventilation=0.0)
    assert tune(readings, small()).changes == {}
    assert {e.z_max[4] for _, e, _ in scored} == {0.1}


def test_default_start_is_the_paper(slow_office, fake_score):
    scored = fake_score(lambda e: 1.0)
    start = tune(slow_office).before.get_params()
    assert start == PAPER | {"n_draws": 1, "random_state": 0}
    assert scored[0][1].n_hidden == 1000
    assert scored[1][1].n_hidden == 200
    assert set(GRID) == set(settings_of(oc.OccupancyEstimator.paper()))


def test_unset_parameters_are_those_of_the_paper(slow_office, fake_score):
    fake_score(lambda e: e.horizon)
    start = oc.OccupancyEstimator(layer="fs-elm", horizon=30, n_hidden=15, z_max=None, ridge=None)
    found = tune(slow_office, start, grid={"horizon": (20,)})
    assert found.changes == {"horizon": (30, 20)}
    assert (found.estimator.ridge, found.estimator.z_max) == (PAPER["ridge"], PAPER["z_max"])


def test_progress_goes_from_0_to_1(slow_office):
    calls = []
    with progress_to(lambda what, done, total: calls.append((what, done / total))):
        tune(slow_office, small(ridge=1e5), grid={"ridge": (1e-3, 1.0)}, mode="hindsight", n_hidden=10)
    fractions = [fraction for _, fraction in calls]
    assert fractions[0] == 0
    assert fractions[-1] == pytest.approx(1)
    assert all(before <= after + 1e-9 for before, after in pairwise(fractions))
    assert {what for what, _ in calls} == {
        "scoring the initial settings",
        "trying settings",
        "scoring the best settings",
    }


def test_settings_round_trip():
    estimator = oc.OccupancyEstimator.paper(z_max=0.5, horizon=40, n_hidden=7)
    settings = settings_of(estimator)
    assert settings["z_max_D"] == 0.5
    again = with_settings(oc.OccupancyEstimator.paper(n_hidden=7), settings)
    assert again.get_params() == estimator.get_params() | {"z_max": (0.5,) * 5}


@pytest.mark.parametrize(
    ("start", "options", "message"),
    [
        ({"layer": "room"}, {}, "layer must be 'fs-elm' or 'elm' to be tuned, got 'room'"),
        ({"horizon": 7}, {}, "horizon must be a multiple of the 5 min between readings, got 7 min"),
        ({"z_max": (1, 1)}, {}, r"z_max must be one number or one per group \(5\), got \(1, 1\)"),
        ({"ridge": 0}, {}, "ridge must be a finite number above 0"),
        ({}, {"rounds": 0}, "rounds must be an integer, 1 or more, got 0"),
        ({}, {"n_hidden": 0}, "n_hidden must be an integer, 1 or more, got 0"),
        ({}, {"folds": 1}, "folds must be an integer, 2 or more, got 1"),
        (
            {},
            {"folds": 5},
            r"at least 5 days with more than 6 consecutive readings \(the horizon is 30 min\), got 4",
        ),
        ({"horizon": 1440}, {}, r"horizon must be shorter than a day \(1440 min\), got 1440 min"),
        ({}, {"mode": "past"}, "mode must be one of live, hindsight, drifting, got 'past'"),
        ({}, {"grid": {"gamma": (1,)}}, "grid must contain only z_max_o, smoothing, .*, ridge, got 'gamma'"),
        (
            {"layer": "elm"},
            {"grid": {"stride": (5,)}},
            "grid must contain only smoothing, horizon, ridge, got 'str",
        ),
    ],
)
def test_invalid_requests_are_rejected(slow_office, start, options, message):
    with pytest.raises(oc.InputError, match=message):
        tune(slow_office, small(**start), **options)


def test_head_counts_and_three_days_are_required(slow_office):
    with pytest.raises(oc.InputError, match="has no column 'occupancy'"):
        tune(slow_office.drop(columns="occupancy"), small())
    with pytest.raises(
        oc.InputError, match=r"at least 3 days with more than 6 consecutive readings .*, got 2"
    ):
        tune(slow_office.iloc[: 2 * 288], small(), folds=2)
