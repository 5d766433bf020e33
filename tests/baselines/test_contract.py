"""Properties of every baseline: causal, clamped, day by day, a scikit-learn estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import occupair as oc
from occupair.baselines import BASELINES

NO_SENSOR = {"mean", "profile", "markov-chain"}
every = pytest.mark.parametrize("name", BASELINES)
every_sensor = pytest.mark.parametrize("name", [name for name in BASELINES if name not in NO_SENSOR])


def changed_after(readings, k):
    """Replace the readings after k by random ones."""
    rng = np.random.default_rng(k)
    later = readings.copy()
    later.iloc[k + 1 :, later.columns.get_loc("co2")] = rng.uniform(300, 3000, len(readings) - k - 1)
    later.iloc[k + 1 :, later.columns.get_loc("ventilation")] = rng.uniform(0, 1, len(readings) - k - 1)
    return later


def test_order_of_baselines():
    assert list(BASELINES) == [
        "mean",
        "profile",
        "markov-chain",
        "mass-balance",
        "deconvolution",
        "kalman",
        "hmm",
        "ridge",
        "svr",
        "random-forest",
        "gradient-boosting",
        "mlp",
    ]


@every
def test_estimates_have_the_index_of_the_readings(trained, last_day, name):
    people = trained(name).estimate(last_day)
    assert people.name == "people"
    assert people.index.equals(last_day.index)
    assert people.notna().all()


@every
@pytest.mark.parametrize("lag", [0, 20])
@pytest.mark.parametrize("k", [3, 100, 150, 284])
def test_estimates_do_not_depend_on_readings_beyond_the_lag(trained, last_day, name, lag, k):
    model = trained(name, lag)
    before, after = model.estimate(last_day), model.estimate(changed_after(last_day, k))
    assert (before.iloc[: k + 1 - lag // 5] == after.iloc[: k + 1 - lag // 5]).all()


@every_sensor
@pytest.mark.parametrize("lag", [0, 20])
def test_estimates_depend_on_readings_up_to_the_lag(trained, last_day, name, lag):
    model = trained(name, lag)
    reach = (
        getattr(model, "delay_", lag) if name == "mass-balance" else lag
    )  # its delay may be shorter than the lag
    people = model.estimate(last_day)
    moved = [
        k
        for k in range(100, 250, 10)
        if people.iloc[k] != model.estimate(changed_after(last_day, k + reach // 5 - 1)).iloc[k]
    ]
    assert moved


@every
@pytest.mark.parametrize("lag", [0, 20])
def test_days_are_estimated_independently(trained, slow_office, name, lag):
    two = slow_office.iloc[2 * 288 : 4 * 288 - 50]  # a shorter second day
    alone = [trained(name, lag).estimate(day) for day in (two.iloc[:288], two.iloc[288:])]
    pd.testing.assert_series_equal(trained(name, lag).estimate(two), pd.concat(alone), rtol=1e-9, atol=1e-9)


@every
@pytest.mark.parametrize("lag", [0, 20])
def test_estimates_are_clamped_to_the_training_range(trained, last_day, name, lag):
    wild = last_day.assign(co2=np.random.default_rng(0).uniform(0, 9000, 288))
    model = trained(name, lag)
    assert model.estimate(wild).between(0, model.most_people_).all()


@every
def test_head_counts_are_ignored_when_estimating(trained, last_day, name):
    people = trained(name).estimate(last_day)
    pd.testing.assert_series_equal(people, trained(name).estimate(last_day.drop(columns="occupancy")))
    pd.testing.assert_series_equal(people, trained(name).estimate(last_day.assign(occupancy=-1.5)))


@every
def test_unknown_ventilation_equals_constant_zero(make, slow_office, last_day, name):
    train = slow_office.iloc[: 2 * 288]
    without = make(name).fit(train.drop(columns="ventilation"))
    zero = make(name).fit(train.assign(ventilation=0.0))
    pd.testing.assert_series_equal(
        without.estimate(last_day), zero.estimate(last_day.assign(ventilation=0.0))
    )


@every
@pytest.mark.parametrize("interval", ["30s", "1min"])
def test_other_intervals_and_short_days(make, office, name, interval):
    some = office.between_time("08:00", "11:30").resample(interval).ffill().dropna()
    some = some.between_time("08:00", "11:30")
    people = make(name, lag=10).fit(some.iloc[: len(some) // 2]).estimate(some)
    assert people.index.equals(some.index)
    assert people.notna().all()


@every
def test_training_on_one_empty_day(make, last_day, name):
    empty = last_day.assign(occupancy=0)
    assert make(name).fit(empty).estimate(last_day).tolist() == [0.0] * 288


@every
def test_baseline_is_a_scikit_learn_estimator(make, slow_office, name):
    model = make(name, lag=10)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(lag=0).lag == 0
    with pytest.raises(NotFittedError):
        model.estimate(slow_office)


@every
def test_training_is_reproducible(trained, slow_office, last_day, name):
    again = clone(trained(name)).fit(slow_office.iloc[: 3 * 288])
    first = again.estimate(last_day)
    pd.testing.assert_series_equal(first, trained(name).estimate(last_day))
    pd.testing.assert_series_equal(again.fit(slow_office.iloc[: 3 * 288]).estimate(last_day), first)


@every_sensor
def test_baseline_beats_the_mean_in_the_simulated_office(trained, last_day, name):
    truth = last_day["occupancy"]
    floor = oc.metrics.rmse(truth, trained("mean").estimate(last_day))
    assert oc.metrics.rmse(truth, trained(name).estimate(last_day)) < 0.75 * floor


@pytest.mark.parametrize("zone", [None, "Europe/Copenhagen"])
def test_day_of_25_hours_starts_at_local_midnight(make, zone):
    times = pd.date_range("2024-10-26", "2024-10-29", freq="5min", tz=zone, inclusive="left")
    people = ((times.hour >= 8) & (times.hour < 16)).astype(int)
    readings = pd.DataFrame({"co2": 400.0 + 50 * people, "occupancy": people}, index=times)
    for name in ("profile", "markov-chain", "hmm", "ridge"):
        assert make(name).fit(readings).estimate(readings).index.equals(times)
    np.testing.assert_allclose(make("profile").fit(readings).estimate(readings), people)


@every
def test_invalid_arguments_are_refused(make, trained, office, last_day, name):
    with pytest.raises(oc.InputError, match="has no column 'occupancy', only 'co2', 'ventilation'; head cou"):
        make(name).fit(last_day.drop(columns="occupancy"))
    for lag, got in ((7, "7"), (-5, "-5")):
        with pytest.raises(
            oc.InputError, match=f"lag must be a multiple of the [0-9.]+ min between readings, got {got} min"
        ):
            make(name, lag=lag).fit(last_day)
    with pytest.raises(oc.InputError, match="readings come every 1 min, but the model was trained on one ev"):
        trained(name).estimate(office)
    with pytest.raises(oc.InputError, match="has no column 'ventilation', only 'co2'"):
        trained(name).estimate(last_day[["co2"]])
    with pytest.raises(oc.InputError, match="must be a DataFrame with a DatetimeIndex"):
        trained(name).estimate(last_day["co2"])
