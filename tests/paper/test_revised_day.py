"""A day by Eq. (26): its state, and the limits it passes to the kernel."""

from types import SimpleNamespace

import numpy as np
import pytest
from paper.small_rooms import small_readings, small_room

import occupair as oc
from dense import smooth
from occupair.paper import revised_day
from occupair.paper.revised_day import RevisedDay


def appended(network, co2, ventilation, tolerance=0.0):
    day = RevisedDay(network, tolerance=tolerance)
    for reading in zip(co2, ventilation, strict=True):
        day.append(*reading)
    return day


@pytest.mark.parametrize("lean", [False, True])
def test_day_matches_equation_26(lean):
    network, reference = small_room(lean=lean, seed=5)
    co2, ventilation = small_readings(30)
    day = RevisedDay(network, tolerance=0.0)
    for k in range(30):
        day.append(co2[k], ventilation[k])
        expected = reference.free_run(smooth(co2[: k + 1], 2.0), ventilation[: k + 1])
        np.testing.assert_allclose(day.people, expected, rtol=0, atol=1e-11)
        assert len(day) == k + 1
        assert day.co2_now == pytest.approx(smooth(co2[: k + 1], 2.0)[-1], abs=1e-12)
        assert day.revised == max(k + 1 - 3, 0)  # a change of CO2 reaches back to midnight
    np.testing.assert_allclose(day.co2_smoothed, smooth(co2, 2.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("restored", [0, 1, 3, 20, 1100])
def test_restored_day_goes_on_like_an_appended_one(restored):
    """Without smoothing, so that a reading updates its own estimate only."""
    network, reference = small_room(horizon=2, stride=1, n_hidden=3, smoothing=0.0, seed=1)
    co2, ventilation = small_readings(restored + 30)
    day = RevisedDay(network, tolerance=0.0)
    day.restore(co2[:restored], ventilation[:restored])
    for reading in zip(co2[restored:], ventilation[restored:], strict=True):
        day.append(*reading)
    np.testing.assert_allclose(day.people, reference.free_run(co2, ventilation), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(day.co2_smoothed, co2)
    assert len(day) == restored + 30


def test_restored_day_is_smoothed():
    network, reference = small_room(seed=5)
    co2, ventilation = small_readings(30)
    day = RevisedDay(network, tolerance=0.0)
    day.restore(co2, ventilation)
    np.testing.assert_allclose(day.people, reference.hindsight(co2, ventilation), rtol=0, atol=1e-11)
    np.testing.assert_allclose(day.co2_smoothed, smooth(co2, 2.0), rtol=0, atol=1e-12)


def test_day_of_many_readings():
    network, reference = small_room(horizon=2, stride=1, n_hidden=3, smoothing=0.0, seed=1)
    co2, ventilation = small_readings(1600)
    day = appended(network, co2, ventilation)
    np.testing.assert_allclose(day.people, reference.free_run(co2, ventilation), rtol=0, atol=1e-11)


def test_copy_is_independent():
    network, _ = small_room(seed=5)
    co2, ventilation = small_readings(30)
    day = appended(network, co2[:15], ventilation[:15], tolerance=1e-3)
    other, people, co2_smoothed = day.copy(), day.people.copy(), day.co2_smoothed
    for reading in zip(co2[15:], ventilation[15:], strict=True):
        other.append(*reading)
    np.testing.assert_array_equal(day.people, people)
    np.testing.assert_array_equal(day.co2_smoothed, co2_smoothed)
    for reading in zip(co2[15:], ventilation[15:], strict=True):
        day.append(*reading)  # the copy has not changed what is stored for the series
    whole = appended(network, co2, ventilation, tolerance=1e-3)
    np.testing.assert_array_equal(day.people, whole.people)
    np.testing.assert_array_equal(other.people, whole.people)


def test_smoothed_co2_is_a_copy():
    network, _ = small_room()
    day = appended(network, *small_readings(9))
    day.co2_smoothed[:] = 0.0
    assert (day.co2_smoothed != 0).all()


def test_tolerance_is_divided_by_the_recent_error_growth(monkeypatch):
    """Errors of one step grow to twice the sum, and the largest growth is forgotten at 5 % per reading."""
    growths, calls = iter([4.0, 1.0, 1.0, 9.0, 1.0]), []

    def revise(weights, day, series, n, newest, limit):
        calls.append((n, newest, limit, day.ventilation[n]))
        return 7, 2, next(growths)

    monkeypatch.setattr(revised_day, "revise", revise)
    network, _ = small_room()
    day = RevisedDay(network, tolerance=0.1)
    for k in range(5):
        day.append(400 + k, 0.1 * k)
    n, newest, limits, ventilation = zip(*calls, strict=True)
    assert n == (0, 1, 2, 3, 4)
    assert newest == (400, 401, 402, 403, 404)
    assert ventilation == pytest.approx((0, 0.1, 0.2, 0.3, 0.4))
    expected = [0.1 / 2, 0.1 / 8, 0.1 / (2 * 3.8), 0.1 / (2 * 3.61), 0.1 / 18]
    assert limits == pytest.approx(expected)
    assert (day.revised, day.in_full, len(day)) == (7, 2, 5)


def test_new_day_is_empty():
    network, _ = small_room()
    day = RevisedDay(network, tolerance=0.0)
    assert (len(day), day.revised, day.in_full, day.people.size) == (0, 0, 0, 0)


@pytest.mark.parametrize("co2", [float("nan"), float("inf")])
def test_invalid_reading_does_not_change_the_day(co2):
    network, _ = small_room()
    day = RevisedDay(network, tolerance=0.0)
    with pytest.raises(oc.InputError, match=f"^co2 must be a finite number of ppm, got {co2}$"):
        day.append(co2, 0.0)
    assert len(day) == 0


def series_of(*, smoothing, lean=False, horizon=30, n_hidden=1000):
    weights = SimpleNamespace(
        feedback=np.zeros((horizon, n_hidden)), smoothing=smoothing, co2_scale=np.ones(2 if lean else 1)
    )
    return revised_day._empty_series(weights)


@pytest.mark.parametrize(
    ("smoothing", "readings", "neurons"),
    [
        (2.0, 52 + 2, 8 + 2),  # b = 1/2: 36 / ln 2 = 51.9, 5 / ln 2 = 7.2
        (1.0, 38 + 2, 6 + 2),  # b = 0.382, ln b = -0.962: 37.4 and 5.2
        (50.0, 255 + 2, 36 + 2),  # b = 0.868, ln b = -0.1413: 254.8 and 35.4
        (1e6, 2048, 128),
        (0.0, 2, 2),
    ],
)
def test_series_are_stored_until_a_change_has_decayed(smoothing, readings, neurons):
    series = series_of(smoothing=smoothing)
    assert series.hidden_reading.shape == (neurons,)
    assert series.hidden.shape == (neurons, 1000)
    for name in ("reading", "co2", "size"):
        assert getattr(series, name).shape == (readings,)
    for name in ("past", "tangent", "gradient", "mixed"):
        assert getattr(series, name).shape == (readings, 30)
    assert (series.reading < 0).all()  # no reading is stored
    assert (series.hidden_reading < 0).all()


def test_lean_room_stores_16_rows_of_neurons():
    assert series_of(smoothing=50.0, lean=True).hidden.shape == (16, 1000)
    assert series_of(smoothing=1.0, lean=True).hidden.shape == (8, 1000)


def test_memory_of_a_room_with_the_settings_of_the_paper():
    """Doubles of 257 readings and of 38 rows of neurons; derivatives are in single precision."""
    series = series_of(smoothing=50.0)
    doubles = 257 * (1 + 1 + 5 + 30 + 30) + 38 * 1000 + 1000 + 30
    integers, singles = 257 + 38, 257 * (30 + 30) + 2 * 1000
    assert sum(values.nbytes for values in series) == 8 * (doubles + integers) + 4 * singles
    assert {name for name, values in series._asdict().items() if values.dtype == np.float32} == {
        "gradient",
        "mixed",
        "slopes",
        "bends",
    }


def test_warm_up_runs_every_step_of_the_kernel(monkeypatch):
    steps = ("revise", "smooth_append", "run_all")
    called = []

    def recorded(name, step):
        def run(*arguments):
            called.append(name)
            return step(*arguments)

        return run

    for name in steps:
        monkeypatch.setattr(revised_day, name, recorded(name, getattr(revised_day, name)))
    revised_day.warm_up.__wrapped__()
    assert set(called) == set(steps)
