"""Features of optional sensors: equal to their definition, causal, and the same one reading at a time."""

import numpy as np
import pytest

from occupair.room.sensor_features import SensorHistory, Windows, episode_features

LAGS = (0, 10, 20)


def _naive(values, k, lag):
    """Level, mean, change and rise at reading k with 1 min between readings, by definition."""

    def mean(end, size):
        return np.mean([values[max(j, 0)] for j in range(end - size + 1, end + 1)])

    end, mean_end = k - lag + min(lag, 2), k - lag + min(lag, 7)
    level = mean(max(end, 0), 5)
    lowest = min(mean(j, 5) for j in range(k + 1))
    return [level, mean(max(mean_end, 0), 15), level - mean(max(end - 30, 0), 5), level - lowest]


def test_features_equal_their_definition():
    values = np.random.default_rng(0).normal(40.0, 5.0, size=90)
    features, usable = episode_features(values, 1.0, LAGS)
    assert usable.all()
    for k in (0, 3, 17, 40, 89):
        for place, lag in enumerate(LAGS):
            np.testing.assert_allclose(features[place, k], _naive(values, k, lag), atol=1e-12)


@pytest.mark.parametrize("interval", [0.5, 1.0, 5.0, 15.0])
def test_history_equals_episode(interval):
    rng = np.random.default_rng(1)
    columns = {name: rng.normal(40.0, 5.0, size=80) for name in ("humidity", "light")}
    columns["light"] = np.abs(columns["light"])
    columns["humidity"][[0, 20]] = np.nan
    history = SensorHistory(["humidity", "light", "power"], interval, LAGS)
    scaled = {"humidity": columns["humidity"], "light": np.log10(1 + columns["light"])}
    whole = {name: episode_features(values, interval, LAGS) for name, values in scaled.items()}
    for k in range(80):
        history.append({name: values[k] for name, values in columns.items()})
        features = np.array(history.features(2))
        known = np.array([whole[name][1][:, k] for name in ("humidity", "light")])
        expected_sizes = [sum(np.logical_and.accumulate(of_lag)) for of_lag in known.T]
        assert history.usable_prefixes() == expected_sizes  # power has no readings
        for place, name in enumerate(("humidity", "light")):
            own, expected = features[:, 4 * place : 4 * place + 4], whole[name][0][:, k]
            np.testing.assert_allclose(own[known[place]], expected[known[place]], atol=1e-12)


def test_restored_history_equals_appended_history():
    values = np.random.default_rng(2).normal(40.0, 5.0, size=50)
    values[7] = np.nan
    one, other = (SensorHistory(["humidity"], 1.0, LAGS) for _ in range(2))
    for value in values:
        one.append({"humidity": value})
    other.restore({"humidity": values[:-1]}, 49)
    copied = other.copy()
    for history in (other, copied):
        history.append({"humidity": values[-1]})
        assert history.usable_prefixes() == one.usable_prefixes()
        np.testing.assert_allclose(history.features(1), one.features(1), atol=1e-12)


def test_missing_reading_makes_a_sensor_unusable_while_its_features_cover_it():
    values = np.full(200, 40.0)
    values[100] = np.nan
    _, usable = episode_features(values, 1.0, LAGS)
    for place, lag in enumerate(LAGS):
        gone = np.flatnonzero(~usable[place])
        assert gone[0] == 100
        assert gone[-1] == 99 + Windows.at(1.0).span(lag)


def test_features_do_not_depend_on_later_readings():
    values = np.random.default_rng(3).normal(40.0, 5.0, size=90)
    changed = values.copy()
    changed[50:] = -7.0
    before, _ = episode_features(values, 1.0, LAGS)
    after, _ = episode_features(changed, 1.0, LAGS)
    np.testing.assert_array_equal(before[:, :50], after[:, :50])
