"""The live day: restored and copied days go on like the original, with all ways to update estimates."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest
from paper.small_rooms import small_readings, small_room

import occupair as oc
from dense import smooth
from occupair.paper import live_day
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
    assert restored.co2_now == whole.co2_smoothed[-1]
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


@pytest.mark.parametrize(
    ("options", "feedback", "equation"),
    [
        ({}, 0.2, "hindsight"),
        ({"revise": False}, 0.2, "drifting"),
        ({}, 0.0, "hindsight"),
        ({"revise": False}, 0.0, "drifting"),
    ],
)
def test_day_matches_the_reference_after_every_reading(options, feedback, equation):
    """After a reading, the estimates of Eq. (26) are those of Eq. (22) for the day so far."""
    network, reference = small_room(feedback=feedback, seed=5)
    co2, ventilation = small_readings(25)
    day = LiveDay(network, **options)
    for k in range(25):
        day.append(co2[k], ventilation[k])
        so_far = co2[: k + 1], ventilation[: k + 1]
        expected = getattr(reference, equation)(*so_far)
        np.testing.assert_allclose(day.people, expected, rtol=0, atol=1e-6)
        np.testing.assert_allclose(day.co2_smoothed, smooth(co2[: k + 1], 2.0), rtol=0, atol=1e-12)
        assert day.co2_now == day.co2_smoothed[-1]
        assert (len(day), day.started) == (k + 1, k >= 3)


@pytest.mark.parametrize("revise", [True, False])
def test_long_day_without_revised_feedback_matches_the_reference(revise):
    network, reference = small_room(
        horizon=1, stride=1, n_hidden=2, smoothing=0.0, feedback=0.0 if revise else 0.2, seed=1
    )
    co2, ventilation = small_readings(1040)
    day = LiveDay(network, revise=revise)
    day.restore(co2, ventilation, times=[])
    np.testing.assert_allclose(day.people, reference.free_run(co2, ventilation), rtol=0, atol=1e-11)
    assert day._day._people.size <= 2 * 1040  # the memory is doubled as needed


@pytest.mark.parametrize("options", OPTIONS)
def test_restored_and_copied_small_day_is_independent(options):
    network, _ = small_room(seed=5)
    co2, ventilation = small_readings(25)
    day = LiveDay(network, **options)
    day.restore(co2[:10], ventilation[:10], times=[])
    other, before = day.copy(), day.people.copy()
    for reading in zip(co2[10:], ventilation[10:], strict=True):
        other.append(*reading)
    np.testing.assert_array_equal(day.people, before)
    np.testing.assert_allclose(day.co2_smoothed, smooth(co2[:10], 2.0), rtol=0, atol=1e-12)
    for reading in zip(co2[10:], ventilation[10:], strict=True):
        day.append(*reading)
    np.testing.assert_array_equal(day.people, other.people)
    whole = appended(network, co2, ventilation, **options)
    np.testing.assert_allclose(other.people, whole.people, rtol=0, atol=1e-6)


def test_tolerance_is_passed_on():
    network, _ = small_room()
    co2, ventilation = small_readings(25)
    exact, close, default = (
        appended(network, co2, ventilation, **options)._day.in_full
        for options in ({"tolerance": 0}, {"tolerance": 5.0}, {})
    )
    assert close < default <= exact
    assert live_day.TOLERANCE == 1e-6


@pytest.mark.parametrize("tolerance", [-1e-6, float("nan"), float("inf"), "small", None])
def test_invalid_tolerance_is_rejected(tolerance):
    network, _ = small_room()
    expected = f"^tolerance must be a number of people, 0 or more, got {tolerance!r}$"
    with pytest.raises(oc.InputError, match=expected):
        LiveDay(network, tolerance=tolerance)


@pytest.mark.parametrize("tolerance", [0, 0.5, np.float32(0.5)])
def test_numbers_are_valid_tolerances(tolerance):
    network, _ = small_room()
    assert len(LiveDay(network, tolerance=tolerance)) == 0


def test_features_of_the_default_estimator_are_absent():
    network, _ = small_room()
    day = appended(network, *small_readings(9))
    assert (day.missing_sensors, day.stuck_sensors) == ((), ())
    assert day.prediction_interval is None
    assert day.upper_end(0.9) is None
    assert (day.baseline_shift, day.is_usual_time(dt.datetime(2024, 1, 7, 3, 0))) == (0.0, True)
