"""The live day: restored and copied days go on like the original, with all ways to update estimates."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

from occupair.paper.live_day import LiveDay

OPTIONS = [{}, {"tolerance": 0.0}, {"revise": False}]


def appended(network, co2, ventilation, **options):
    day = LiveDay(network, **options)
    for reading in zip(co2, ventilation, strict=True):
        day.append(*reading)
    return day


@pytest.fixture
def readings(last_day):
    return last_day["co2"].to_numpy()[80:150], last_day["ventilation"].to_numpy()[80:150]


@pytest.mark.parametrize("options", OPTIONS)
def test_restored_day_goes_on_like_the_original(estimator, readings, options):
    network, (co2, ventilation) = estimator.network(), readings
    whole = appended(network, co2, ventilation, **options)
    restored = LiveDay(network, **options)
    restored.restore(co2[:40], ventilation[:40], times=[])
    for reading in zip(co2[40:], ventilation[40:], strict=True):
        restored.append(*reading)
    assert len(restored) == len(whole) == 70
    np.testing.assert_allclose(restored.people, whole.people, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(restored.co2_smoothed, whole.co2_smoothed)
    assert whole.people.max() > 0


@pytest.mark.parametrize("options", OPTIONS)
def test_copy_of_a_day_is_independent(estimator, readings, options):
    network, (co2, ventilation) = estimator.network(), readings
    day = appended(network, co2[:40], ventilation[:40], **options)
    before, other = day.people.copy(), day.copy()
    for reading in zip(co2[40:], ventilation[40:], strict=True):
        other.append(*reading)
    assert len(day) == 40
    np.testing.assert_array_equal(day.people, before)
    np.testing.assert_array_equal(other.people, appended(network, co2, ventilation, **options).people)


def test_day_without_feedback_is_rerun(estimator, readings):
    """With a scale of 0 for past estimates each estimate depends on its own window only."""
    network, (co2, ventilation) = estimator.network(), readings
    network = replace(network, scale=network.scale | {"o": 0.0})
    assert not network.feeds_back
    day = appended(network, co2, ventilation)
    expected = np.zeros(co2.size)
    network.run(day.co2_smoothed, ventilation, expected, start=network.layer.horizon)
    np.testing.assert_allclose(day.people, expected, rtol=0, atol=1e-9)


def test_state_of_the_default_estimator_is_ignored(estimator, readings):
    """Baseline, open hours and optional sensors are features of the default estimator."""
    day = appended(estimator.network(), *readings)
    before = day.people.copy()
    day.restore_lows([])
    day.restore_runs({"humidity": (40.0, 500)})
    day.continue_from(appended(estimator.network(), *readings))
    np.testing.assert_array_equal(day.people, before)
    assert day.relevant_runs({"humidity": (40.0, 500)}) == {}
    assert day.baseline_shift == 0
    assert day.is_usual_time(dt.datetime(2024, 1, 7, 3, 0))
