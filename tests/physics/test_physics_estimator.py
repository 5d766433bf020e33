"""OccupancyEstimator without head counts: accuracy, files, live estimates and prediction intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm, norm
from sklearn.base import clone

import occupair as oc
from occupair.errors import InputError
from occupair.inferred_training import with_doubt
from occupair.metrics import rmse
from occupair.physics import room_air as room_air_module
from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals

N = 288


def physics(**changes):
    return oc.OccupancyEstimator.physics(**({"volume": 502, "capacity": 35, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=6, seed=3).iloc[::5]


@pytest.fixture(scope="module")
def training(office):
    """Five days without head counts."""
    return office.iloc[: 5 * N].drop(columns="occupancy")


@pytest.fixture(scope="module")
def held_out(office):
    """A day that the estimators were not trained on."""
    return office.iloc[5 * N :]


@pytest.fixture(scope="module")
def model(training):
    return physics().fit(training)


def sparse_counts(office, every):
    """The training days with a head count every now and then between 8:00 and 20:00."""
    training = office.iloc[: 5 * N]
    rows = np.arange(len(training))
    known = (rows % every == 0) & (rows % N >= 96) & (rows % N < 240)
    return training.assign(occupancy=training["occupancy"].where(known))


@pytest.fixture(scope="module")
def counted(office):
    """An estimator with some 30 head counts."""
    return physics().fit(sparse_counts(office, 24))


def test_people_are_estimated_without_head_counts(model, held_out):
    truth = held_out["occupancy"]
    best_constant = truth.std()
    assert rmse(truth, model.estimate(held_out)) < 0.45 * best_constant
    assert rmse(truth, model.estimate(held_out, lag=20)) < 0.4 * best_constant


def test_air_of_the_office_is_reported(model):
    assert model.air_.inferred_share == 1.0
    assert model.air_.doubts == ()
    assert not model.air_.is_calibrated
    assert [one.ventilation for one in model.air_.rates] == [0.0, 1.0]
    assert model.air_.rates[1].low < 1.23 < model.air_.rates[1].high  # 516 m3/h in 502 m3, and 0.2 leakage
    assert model.air_.outdoor_air_per_person == pytest.approx(1.23 * 502 / 35 / 3.6, rel=0.25)


def test_accuracy_is_not_claimed_without_head_counts(model):
    assert model.expectation_ is None
    assert model.comparison_ is None
    assert model.trained_days_ == frozenset()


def test_estimates_are_limited_by_capacity(training, held_out):
    small = physics(capacity=8, n_hidden=20).fit(training)
    assert small.most_people_ == pytest.approx(1.15 * 8)
    assert small.estimate(held_out).max() <= 1.15 * 8
    assert any(doubt.startswith("CO2 suggests up to ") for doubt in small.air_.doubts)


def test_head_counts_do_not_harm(model, counted, held_out):
    truth = held_out["occupancy"]
    errors = [rmse(truth, one.estimate(held_out)) for one in (model, counted)]
    assert errors[1] < errors[0] + 0.3
    assert counted.air_.is_calibrated
    assert 0 < counted.air_.inferred_share < 1
    assert counted.air_.spread < model.air_.spread


def test_column_of_missing_head_counts_is_none(model, training, held_out):
    empty = physics().fit(training.assign(occupancy=np.nan))
    pd.testing.assert_series_equal(empty.estimate(held_out), model.estimate(held_out))


@pytest.mark.parametrize("which", ["model", "counted"])
def test_saved_model_equals_loaded_model(which, request, tmp_path, held_out):
    trained = request.getfixturevalue(which)
    trained.save(tmp_path / "room.occupair")
    loaded = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    for lag in (0, 20):
        pd.testing.assert_frame_equal(
            loaded.estimate(held_out, lag=lag, interval=0.9),
            trained.estimate(held_out, lag=lag, interval=0.9),
        )
    assert loaded.air_ == trained.air_
    assert loaded.get_params() == trained.get_params()
    assert loaded.training_error_ == trained.training_error_
    assert loaded.trained_days_ == trained.trained_days_


def test_every_property_is_saved(training, tmp_path):
    given = {"area": 186.0, "height": 2.7, "air_flow": 516.0, "activity": "office", "outdoor_co2": 410.0}
    trained = physics(closed="23:30-06:00", n_hidden=5, **given).fit(training.iloc[: 2 * N])
    trained.save(tmp_path / "room.occupair")
    assert oc.OccupancyEstimator.load(tmp_path / "room.occupair").get_params() == trained.get_params()


def test_live_equals_replay(model, held_out):
    room, live, refined = model.live(interval=0.9), [], []
    for time, co2, ventilation in held_out[["co2", "ventilation"]].itertuples():
        live.append(room.update(time.to_pydatetime(), co2, ventilation))
        if len(room) > 4:
            refined.append(room.refined_estimate(4))  # 20 min
    replayed = model.estimate(held_out, mode="live", interval=0.9)
    for name in ("people", "low", "high"):
        np.testing.assert_allclose([getattr(one, name) for one in live], replayed[name], rtol=0, atol=1e-9)
    late = model.estimate(held_out, lag=20)
    np.testing.assert_allclose(refined, late.iloc[:-4], rtol=0, atol=1e-9)
    np.testing.assert_allclose(room.people, late, rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [100, 180])
def test_later_readings_do_not_change_estimates(model, held_out, k):
    changed = held_out.copy()
    changed.iloc[k:, changed.columns.get_loc("co2")] += 400.0
    changed.iloc[k:, changed.columns.get_loc("ventilation")] = 0.3
    before, after = model.estimate(held_out), model.estimate(changed)
    assert (before.iloc[:k] == after.iloc[:k]).all()
    assert (before.iloc[k:] != after.iloc[k:]).any()


@pytest.mark.parametrize("lag", [0, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_intervals_contain_the_estimates(model, held_out, lag, confidence):
    table = model.estimate(held_out, lag=lag, interval=confidence)
    assert (table["low"] <= table["people"]).all()
    assert (table["people"] <= table["high"]).all()
    assert table["low"].min() >= 0
    assert table["high"].max() <= max(1.15 * 35, table["people"].max()) + 1e-9


def test_intervals_cover_most_head_counts(model, held_out):
    table = model.estimate(held_out, interval=0.9)
    inside = held_out["occupancy"].between(table["low"] - 0.5, table["high"] + 0.5)
    assert inside[held_out["occupancy"] > 0].mean() > 0.8


def test_doubt_widens_intervals(model, training, held_out, monkeypatch):
    monkeypatch.setattr(room_air_module, "find_doubts", lambda inferred: ("reason",))
    doubted = physics().fit(training)
    plain, wider = (one.estimate(held_out, interval=0.9) for one in (model, doubted))
    pd.testing.assert_series_equal(plain["people"], wider["people"])
    width, wide = (table["high"] - table["low"] for table in (plain, wider))
    assert (wide >= width - 1e-9).all()
    assert wide.mean() > 1.1 * width.mean()
    assert doubted.training_error_ > model.training_error_
    assert doubted.air_.spread == pytest.approx(1.5 * model.air_.spread)


def test_intervals_of_exact_estimates_are_those_of_the_unknown_factor():
    edges = np.array([0.0, 4.0, 8.0])
    exact = PredictionIntervals(edges, np.zeros((3, QUANTILES.size)))
    low, high = exact.widened(0.3, 0.0, 12.0).errors_at(0.9)
    factor = lognorm(s=0.3)
    np.testing.assert_allclose(low, np.array([2, 6, 10]) * (factor.ppf(0.05) - 1), atol=0.02)
    np.testing.assert_allclose(high, np.array([2, 6, 10]) * (factor.ppf(0.95) - 1), atol=0.02)


def test_intervals_of_exact_estimates_are_those_of_the_unknown_offset():
    exact = PredictionIntervals(np.array([0.0, 4.0]), np.zeros((2, QUANTILES.size)))
    low, high = exact.widened(0.0, 1.5, 12.0).errors_at(0.9)
    np.testing.assert_allclose(low, 1.5 * norm.ppf(0.05), atol=0.02)
    np.testing.assert_allclose(high, 1.5 * norm.ppf(0.95), atol=0.02)


def test_intervals_without_unknown_factor_stay_as_they_are():
    rng = np.random.default_rng(0)
    estimated = rng.uniform(0, 10, 500)
    fitted = PredictionIntervals.fit(estimated, estimated + rng.normal(0, 1, 500))
    for same, expected in zip(
        fitted.widened(0.0, 0.0, 12.0).errors_at(0.9), fitted.errors_at(0.9), strict=True
    ):
        np.testing.assert_allclose(same, expected, atol=1e-4)


def test_complete_head_counts_give_the_intervals_of_the_default_estimator(office, held_out):
    labelled = office.iloc[: 3 * N]
    given = physics(n_hidden=20, closed=None).fit(labelled)
    default = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(labelled)
    assert given.air_.inferred_share == 0
    assert given.training_error_ == pytest.approx(default.training_error_)
    known, expected = (one.estimate(held_out, interval=0.9) for one in (given, default))
    pd.testing.assert_series_equal(known["people"], expected["people"])
    assert (known["high"] - known["low"]).mean() == pytest.approx(
        (expected["high"] - expected["low"]).mean(), rel=0.05
    )


def test_training_error_adds_that_of_inferred_people(model):
    readings = pd.DataFrame({"occupancy": [3.0, 4.0, 0.0, 5.0]})  # root mean square: sqrt(12.5)
    changed = with_doubt({"room_": model.room_, "training_error_": 1.0}, model.air_, readings)
    assert changed["training_error_"] == pytest.approx(np.sqrt(1 + 12.5 * model.air_.spread**2))


def test_clone_keeps_the_parameters(model):
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "air_")
    assert (copy.volume, copy.capacity, copy.closed) == (502, 35, ("00:00", "05:00"))


def test_fit_is_deterministic(model, training, held_out):
    pd.testing.assert_series_equal(clone(model).fit(training).estimate(held_out), model.estimate(held_out))


def test_refit_without_volume_forgets_the_air(office, training):
    estimator = physics(n_hidden=5).fit(training.iloc[: 2 * N])
    assert estimator.air_ is not None
    estimator.set_params(volume=None, capacity=None).fit(office.iloc[: 2 * N])
    assert estimator.air_ is None


def test_area_and_height_replace_the_volume(training):
    estimator = oc.OccupancyEstimator.physics(capacity=35, area=186, height=2.7, n_hidden=5)
    assert estimator.fit(training.iloc[: 2 * N]).air_.volume == pytest.approx(502.2)


def test_ventilation_signal_is_optional(training, held_out):
    estimator = physics().fit(training.drop(columns="ventilation"))
    assert not estimator.uses_ventilation_
    assert estimator.air_.rates[-1].ventilation is None
    truth = held_out["occupancy"]
    assert rmse(truth, estimator.estimate(held_out.drop(columns="ventilation"))) < 0.6 * truth.std()


def test_fit_without_head_counts_asks_for_volume_and_capacity(training):
    with pytest.raises(InputError, match=r"has no column 'occupancy'.*give the volume and capacity"):
        oc.OccupancyEstimator().fit(training)


@pytest.mark.parametrize("given", [{}, {"volume": 502}, {"capacity": 35}, {"area": 186}])
def test_physics_needs_size_and_capacity(given):
    with pytest.raises(InputError, match="physics needs capacity, and volume or area"):
        oc.OccupancyEstimator.physics(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"volume": 502}, "the size of the room is given without capacity"),
        ({"capacity": 35}, "capacity is given without the size of the room"),
        ({"volume": -1, "capacity": 35}, "volume must be a number above 0, got -1"),
        ({"volume": 502, "capacity": 35, "closed": "at night"}, "closed must be a period of the day"),
    ],
)
def test_fit_refuses_invalid_properties(training, given, message):
    with pytest.raises(InputError, match=message):
        oc.OccupancyEstimator(**given).fit(training)
