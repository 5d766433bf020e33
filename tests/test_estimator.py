"""OccupancyEstimator against the reference implementation, and its invariants."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import occupair as oc
from dense import PaperReference, feature_vector, smooth
from occupair.paper.features import Layer


def arrays(day):
    return day["co2"].to_numpy(), day["ventilation"].to_numpy()


def test_training_uses_true_past_and_smooths_each_day_separately(slow_office, estimator):
    rows, people = [], []
    for _, day in slow_office.iloc[: 3 * 288].groupby(slow_office.index[: 3 * 288].date):
        co2, truth = smooth(day["co2"].to_numpy(), 50 / 25), day["occupancy"].to_numpy()
        for k in range(6, 288):
            rows.append(feature_vector(co2, truth, day["ventilation"].to_numpy(), k, horizon=6, stride=2))
            people.append(truth[k])
    regressor = clone(estimator.regressor_).fit(np.array(rows), np.array(people))
    np.testing.assert_allclose(estimator.regressor_.scale_, regressor.scale_, rtol=1e-9)
    np.testing.assert_allclose(estimator.training_error_, regressor.training_error_, rtol=1e-6)
    assert estimator.most_people_ == slow_office["occupancy"].iloc[: 3 * 288].max()


@pytest.mark.parametrize("mode", ["hindsight", "drifting", "live"])
def test_modes_match_equations_22_24_and_26(estimator, last_day, mode):
    expected = getattr(PaperReference(estimator), mode)(*arrays(last_day))
    tolerance = 1e-6 if mode == "live" else 1e-8
    np.testing.assert_allclose(estimator.estimate(last_day, mode=mode), expected, rtol=0, atol=tolerance)
    assert expected.max() > 1


@pytest.mark.parametrize("layer", ["fs-elm", "elm"])
@pytest.mark.parametrize("mode", ["hindsight", "drifting", "live"])
def test_every_mode_without_smoothing_matches_equation_21_or_4(slow_office, last_day, layer, mode):
    raw = oc.OccupancyEstimator.paper(layer=layer, smoothing=0, n_hidden=40, n_draws=2, random_state=0)
    raw.fit(slow_office.iloc[: 3 * 288])
    expected = PaperReference(raw).free_run(*arrays(last_day))
    np.testing.assert_allclose(raw.estimate(last_day, mode=mode), expected, atol=1e-8)


@pytest.mark.parametrize("mode", ["hindsight", "drifting", "live"])
def test_modes_without_feedback_match_the_equations(slow_office, last_day, mode):
    model = oc.OccupancyEstimator.paper(
        n_hidden=40, n_draws=1, random_state=0, horizon=60, smoothing=10, z_max=(1, 1, 1, 0, 0.1)
    ).fit(slow_office.iloc[: 3 * 288])
    assert not model.network().feeds_back
    expected = getattr(PaperReference(model), mode)(*arrays(last_day))
    np.testing.assert_allclose(model.estimate(last_day, mode=mode), expected, atol=1e-8)
    assert expected.max() > 1


def test_live_matches_equation_26_at_one_minute_interval(office):
    day = office.iloc[3 * 1440 + 420 : 3 * 1440 + 800]  # 7:00 to 13:20
    model = oc.OccupancyEstimator.paper(n_hidden=30, n_draws=1, random_state=0).fit(office.iloc[: 3 * 1440])
    assert model.layer_at(1.0).sizes() == {"P": 31, "I": 21, "D": 30, "o": 30, "v": 31}
    expected = PaperReference(model).live(*arrays(day))
    np.testing.assert_allclose(model.estimate(day), expected, rtol=0, atol=1e-6)


def test_refined_estimates_match_equation_26(estimator, last_day):
    expected = PaperReference(estimator).live(*arrays(last_day), wait=4)
    np.testing.assert_allclose(estimator.estimate(last_day, lag=20), expected, rtol=0, atol=1e-6)


def test_lag_longer_than_the_day_equals_hindsight(estimator, last_day):
    np.testing.assert_allclose(
        estimator.estimate(last_day, lag=3000), estimator.estimate(last_day, mode="hindsight"), atol=1e-6
    )


def test_days_are_independent_and_start_empty(estimator, slow_office):
    two_days = slow_office.iloc[2 * 288 :]
    both_days = estimator.estimate(two_days)
    alone = [estimator.estimate(two_days.iloc[:288]), estimator.estimate(two_days.iloc[288:])]
    pd.testing.assert_series_equal(both_days, pd.concat(alone))
    assert (both_days.iloc[:6] == 0).all()
    assert (both_days.iloc[288:294] == 0).all()


def test_estimates_are_clamped_to_training_maximum(estimator, last_day):
    extreme = last_day.assign(co2=np.random.default_rng(0).uniform(0, 9000, 288))
    for mode in ("live", "hindsight", "drifting"):
        people = estimator.estimate(extreme, mode=mode)
        assert people.between(0, estimator.most_people_).all()
        assert people.max() == estimator.most_people_


@pytest.mark.parametrize("mode", ["live", "drifting"])
def test_later_readings_do_not_change_live_estimates(estimator, last_day, mode):
    changed = last_day.copy()
    changed.iloc[150:, changed.columns.get_loc("co2")] += 500.0
    changed.iloc[150:, changed.columns.get_loc("ventilation")] = 0.5
    before, after = estimator.estimate(last_day, mode=mode), estimator.estimate(changed, mode=mode)
    assert (before.iloc[:150] == after.iloc[:150]).all()
    assert (before.iloc[150:] != after.iloc[150:]).any()


def test_set_params_after_fit_does_not_change_estimates(slow_office, last_day):
    model = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(slow_office)
    before = model.estimate(last_day)
    model.set_params(smoothing=0, horizon=60, stride=20, layer="elm")
    pd.testing.assert_series_equal(model.estimate(last_day), before)


def test_unused_columns_are_ignored(estimator, slow_office, last_day):
    pd.testing.assert_series_equal(
        estimator.estimate(last_day), estimator.estimate(last_day.assign(occupancy=np.nan, temperature="x"))
    )
    without = oc.OccupancyEstimator.paper(n_hidden=5, n_draws=1, random_state=0)
    without.fit(slow_office.drop(columns="ventilation"))
    pd.testing.assert_series_equal(
        without.estimate(last_day), without.estimate(last_day.assign(ventilation=np.nan))
    )


def test_occupancy_is_ignored_in_estimate(estimator, last_day):
    pd.testing.assert_series_equal(
        estimator.estimate(last_day), estimator.estimate(last_day.assign(occupancy=3))
    )
    pd.testing.assert_series_equal(
        estimator.estimate(last_day), estimator.estimate(last_day.drop(columns="occupancy"))
    )


def test_settings_in_minutes_are_converted_to_readings():
    model = oc.OccupancyEstimator.paper()
    assert model.layer_at(1.0) == Layer("fs-elm", 30, 10)
    assert model.layer_at(5.0) == Layer("fs-elm", 6, 2)
    assert model.layer_at(0.5) == Layer("fs-elm", 60, 20)


def test_missing_ventilation_equals_constant_zero(slow_office, last_day):
    train = slow_office.iloc[: 3 * 288]
    model = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0)
    without = clone(model).fit(train.drop(columns="ventilation"))
    zero = clone(model).fit(train.assign(ventilation=0.0))
    pd.testing.assert_series_equal(
        without.estimate(last_day), zero.estimate(last_day.assign(ventilation=0.0))
    )


def test_default_estimator_live_equals_replay(slow_office, last_day):
    model = oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(slow_office.iloc[: 3 * 288])
    room = model.live()
    rows = zip(last_day.index, *(last_day[name] for name in ("co2", "ventilation")), strict=True)
    live = [room.update(time, co2, ventilation).people for time, co2, ventilation in rows]
    np.testing.assert_allclose(live, model.estimate(last_day), rtol=0, atol=1e-9)


def test_is_a_scikit_learn_estimator(slow_office):
    model = oc.OccupancyEstimator.paper(random_state=0)
    assert clone(model).get_params() == model.get_params()
    model.set_params(n_draws=3, n_hidden=10).fit(slow_office)
    assert model.regressor_.training_errors_.shape == (3,)
    with pytest.raises(NotFittedError):
        clone(model).estimate(slow_office)
    with pytest.raises(NotFittedError):
        clone(model).live()


def test_paper_settings_match_table_1():
    settings = oc.OccupancyEstimator.paper().get_params()
    assert (settings["horizon"], settings["stride"], settings["n_hidden"]) == (30, 10, 1000)
    assert (settings["ridge"], settings["smoothing"], settings["n_draws"]) == (0.001, 50, 100)
    assert settings["z_max"] == (1.0, 1.0, 1.0, 1.0, 0.1)
    assert settings["layer"] == "fs-elm"


def test_failed_fit_keeps_the_trained_state(estimator, slow_office, last_day):
    model = clone(estimator).fit(slow_office.iloc[: 3 * 288])
    before = model.estimate(last_day)
    with pytest.raises(oc.InputError):
        model.fit(slow_office.iloc[:5])
    pd.testing.assert_series_equal(model.estimate(last_day), before)


def test_day_shorter_than_horizon_is_estimated_empty(estimator, last_day):
    for mode in ("live", "hindsight", "drifting"):
        assert estimator.estimate(last_day.iloc[100:106], mode=mode).tolist() == [0.0] * 6


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "America/New_York"])
def test_days_of_23_and_25_hours_start_at_local_midnight(zone):
    # Daylight saving time: 2024-03-31 to 2024-10-27 in Copenhagen, 2024-03-10 to 2024-11-03 in New York.
    for start, hours in {
        "Europe/Copenhagen": [("2024-03-31", 23), ("2024-10-27", 25)],
        "America/New_York": [("2024-03-10", 23), ("2024-11-03", 25)],
    }[zone]:
        times = pd.date_range(start, periods=hours * 12 + 288, freq="5min", tz=zone)
        rng = np.random.default_rng(0)
        occupancy = np.repeat(rng.integers(0, 9, len(times) // 12), 12)
        readings = pd.DataFrame({"co2": 420.0 + 30 * occupancy, "occupancy": occupancy}, index=times)
        model = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(readings)
        people = model.estimate(readings)
        empty = hours * 12
        assert (people.iloc[:4] == 0).all()
        assert times[empty].hour == 0
        assert (people.iloc[empty : empty + 4] == 0).all()
        assert (people.iloc[empty - 6 : empty] != 0).any()
        room = model.live()
        live = [room.update(time.to_pydatetime(), co2).people for time, co2 in readings["co2"].items()]
        np.testing.assert_allclose(live, people, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "cnn"}, "layer must be one of room, fs-elm, elm, got 'cnn'"),
        ({"horizon": 7}, "horizon must be a multiple of the 5 min between readings, got 7 min"),
        ({"horizon": 100_000}, r"horizon must be shorter than a day \(1440 min\), got 100000 min"),
        ({"horizon": 0}, "horizon must be a number of minutes above 0, got 0"),
        ({"horizon": np.inf}, "horizon must be a number of minutes above 0, got inf"),
        ({"stride": np.nan}, "stride must be a number of minutes above 0, got nan"),
        ({"stride": 2}, "stride must be a multiple of the 5 min between readings, got 2 min"),
        ({"stride": 35}, "stride must be at most the horizon of 30 min, got 35 min"),
        ({"smoothing": -1}, r"smoothing must be a finite number, 0 or more, got -1"),
        ({"z_max": (1, 1)}, r"z_max must be one number or one per group \(5\), got \(1, 1\)"),
    ],
)
def test_invalid_settings_are_rejected(slow_office, settings, message):
    with pytest.raises(oc.InputError, match=message):
        oc.OccupancyEstimator.paper(**({"n_hidden": 5, "n_draws": 1} | settings)).fit(slow_office)


def test_invalid_requests_are_rejected(estimator, office, last_day):
    with pytest.raises(oc.InputError, match="mode must be one of live, hindsight, drifting, got 'past'"):
        estimator.estimate(last_day, mode="past")
    with pytest.raises(oc.InputError, match="lag must be 0 with mode 'hindsight', got 20"):
        estimator.estimate(last_day, mode="hindsight", lag=20)
    with pytest.raises(oc.InputError, match="readings: must be a DataFrame with a DatetimeIndex"):
        estimator.estimate([412.0, 413.0])
    with pytest.raises(oc.InputError, match="readings: needs at least two readings in one day, got 0"):
        estimator.estimate(last_day.iloc[:0])
    with pytest.raises(
        oc.InputError, match="lag must be a multiple of the 5 min between readings, got 7 min"
    ):
        estimator.estimate(last_day, lag=7)
    with pytest.raises(
        oc.InputError,
        match=r"readings are every 1 min, but the model was trained on every 5 min: resample .* interval=5\)",
    ):
        estimator.estimate(office)
    with pytest.raises(
        oc.InputError, match=r"interval=5, longest_gap=35\)\), or train a model on .* every 10 min"
    ):
        estimator.estimate(last_day.iloc[::2])
    with pytest.raises(oc.InputError, match=r"has no column 'ventilation', .*; .* train one without"):
        estimator.estimate(last_day.drop(columns="ventilation"))
    with pytest.raises(
        oc.InputError, match="has no column 'occupancy', only 'co2', 'ventilation'; head counts"
    ):
        estimator.fit(last_day.drop(columns="occupancy"))
    with pytest.raises(
        oc.InputError, match="readings must contain a day with more than 6 readings to train on"
    ):
        estimator.fit(last_day.iloc[:6])


@pytest.mark.parametrize("name", ["co2", "ventilation"])
def test_duplicate_column_is_rejected(estimator, last_day, name):
    twice = pd.concat([last_day, last_day[[name]]], axis=1)
    for use in (estimator.estimate, clone(estimator).fit):
        with pytest.raises(oc.InputError, match=f"readings: has two columns '{name}': rename or delete one"):
            use(twice)
    counts = pd.concat([last_day, last_day[["occupancy"]]], axis=1)  # occupancy is ignored
    pd.testing.assert_series_equal(estimator.estimate(counts), estimator.estimate(last_day))


def test_invalid_start_is_rejected(slow_office):
    with pytest.raises(
        oc.InputError, match=r'start must be "pooled", None or created by transfer\(rooms\), got 3'
    ):
        oc.OccupancyEstimator(start=3).fit(slow_office)


@pytest.mark.parametrize("make", [oc.OccupancyEstimator, oc.OccupancyEstimator.paper])
def test_fit_without_people_warns(slow_office, make):
    with pytest.warns(
        UserWarning, match="the room is empty at every head count, so every estimate will be 0"
    ):
        model = make(n_hidden=5, n_draws=1).fit(slow_office.assign(occupancy=0))
    assert (model.estimate(slow_office) == 0).all()


@pytest.mark.parametrize("kind", ["room", "paper"])
def test_times_are_converted_to_training_time_zone(slow_office, kind):
    """A day in Copenhagen with Tokyo timestamps is the same day, and keeps its timestamps."""
    make = {"room": oc.OccupancyEstimator, "paper": oc.OccupancyEstimator.paper}[kind]
    home = slow_office.tz_localize("Europe/Copenhagen")
    model = make(n_hidden=20, n_draws=1, random_state=0).fit(home.iloc[: 3 * 288])
    assert model.timezone_ == "Europe/Copenhagen"
    day = home.iloc[3 * 288 :]
    away = day.tz_convert("Asia/Tokyo")
    people = model.estimate(away)
    assert people.index.equals(away.index.rename("time"))
    assert people.index.tz == away.index.tz
    np.testing.assert_array_equal(people, model.estimate(day))


def test_time_zone_without_name_is_not_stored(slow_office, last_day):
    from dateutil.tz import tzoffset

    model = oc.OccupancyEstimator.paper(n_hidden=5, n_draws=1, random_state=0)
    unnamed = model.fit(slow_office.tz_localize(tzoffset("here", 3600)))
    assert unnamed.timezone_ is None
    assert model.fit(slow_office).timezone_ is None
    assert model.fit(slow_office.tz_localize("UTC")).timezone_ == "UTC"


@pytest.fixture
def with_scale(slow_office):
    """Return readings with the metadata of their ventilation scale."""

    def scaled(readings, full, unit):
        readings = readings.copy()
        readings.attrs = {"ventilation_full": full, "ventilation_unit": unit}
        return readings

    return scaled


def test_ventilation_on_another_scale_is_rejected(slow_office, last_day, with_scale):
    model = oc.OccupancyEstimator.paper(n_hidden=5, n_draws=1, random_state=0)
    model.fit(with_scale(slow_office, 100.0, "%"))
    assert (model.ventilation_full_, model.ventilation_unit_) == (100.0, "%")
    expected = model.estimate(last_day)  # without metadata
    for full, unit in ((100.0, "%"), (1.0, "0..1")):
        pd.testing.assert_series_equal(model.estimate(with_scale(last_day, full, unit)), expected)
    again = "read the file with ventilation_full=100, ventilation_unit='%', or train again"
    for full, unit, message in (
        (50.0, "Hz", "ventilation is in Hz, but was in % in training"),
        (850.0, "unknown", "ventilation is in an unknown unit, but was in % in training"),
        (90.0, "%", r"full ventilation is 90, but was 100 in training \[%\]"),
    ):
        with pytest.raises(oc.InputError, match=f"readings: {message}: {again}"):
            model.estimate(with_scale(last_day, full, unit))
    off = with_scale(last_day.assign(ventilation=0.0), 1.0, "m3/h")
    assert len(model.estimate(off)) == len(off)


def test_lag_used_is_the_longest_covered_refinement(trained_room, estimator, slow_office):
    assert [trained_room.lag_used(lag) for lag in (0, 9, 10, 19, 20, 60)] == [0, 0, 10, 10, 20, 20]
    assert trained_room.lag_used(mode="hindsight") is None
    assert (estimator.lag_used(25), estimator.lag_used(mode="hindsight")) == (25, None)
    coarse = oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(slow_office.iloc[::3])
    assert [coarse.lag_used(lag) for lag in (10, 15, 60)] == [0, 15, 15]
