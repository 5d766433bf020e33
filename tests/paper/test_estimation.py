"""Estimates for a table of readings, episode by episode, against Eqs. (22), (24) and (26)."""

import io

import numpy as np
import pandas as pd
import pytest
from paper.small_rooms import small_readings, small_room

from occupair.paper.estimation import estimate_readings
from occupair.progress import progress_to

EPISODES = {
    "2024-01-08 22:00": 9,
    "2024-01-08 23:00": 3,
    "2024-01-08 23:30": 2,
    "2024-01-09 00:00": 4,
    "2024-01-09 01:00": 14,
}
"""Start and number of readings; the second and third episode are not longer than the horizon."""


@pytest.fixture
def readings():
    times = [pd.date_range(start, periods=n, freq="5min") for start, n in EPISODES.items()]
    co2, ventilation = small_readings(32)
    return pd.DataFrame({"co2": co2, "ventilation": ventilation}, index=np.concatenate(times))


def by_episode(estimate, readings, **options):
    """Return the estimates of each episode, 0 for one that is not longer than the horizon."""
    parts = np.split(readings[["co2", "ventilation"]].to_numpy(), np.cumsum(list(EPISODES.values()))[:-1])
    people = [estimate(*part.T, **options) if len(part) > 3 else np.zeros(len(part)) for part in parts]
    return np.concatenate(people)


@pytest.mark.parametrize("mode", ["live", "hindsight", "drifting"])
@pytest.mark.parametrize("feedback", [0.2, 0.0])
def test_modes_match_the_equations(readings, mode, feedback):
    network, reference = small_room(feedback=feedback, seed=5)
    found = estimate_readings(readings, network, mode=mode)
    expected = by_episode(getattr(reference, mode), readings)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert (expected != by_episode(reference.free_run, readings)).any()  # smoothing matters


@pytest.mark.parametrize("wait", [1, 2, 4])
def test_refined_estimates_match_equation_26(readings, wait):
    network, reference = small_room(seed=5)
    found = estimate_readings(readings, network, mode="live", wait=wait)
    np.testing.assert_allclose(found, by_episode(reference.live, readings, wait=wait), rtol=0, atol=1e-6)


def test_long_wait_equals_hindsight(readings):
    network, reference = small_room(seed=5)
    found = estimate_readings(readings, network, mode="live", wait=50)
    np.testing.assert_allclose(found, by_episode(reference.hindsight, readings), rtol=0, atol=1e-6)


def test_missing_ventilation_is_zero(readings):
    network, reference = small_room(seed=5)
    readings["ventilation"] = 0.0
    expected = by_episode(reference.live, readings)
    found = estimate_readings(readings.drop(columns="ventilation"), network, mode="live")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_progress_is_reported(readings):
    network, _ = small_room()
    reports = []
    with progress_to(lambda *report: reports.append(report)):
        estimate_readings(readings, network, mode="drifting")
    assert reports == [("estimating", done, 32) for done in range(33)]


@pytest.mark.parametrize("verbose", [True, False, None])
def test_verbose_shows_a_bar(readings, verbose, monkeypatch):
    network, _ = small_room()
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    estimate_readings(readings, network, mode="drifting", verbose=verbose)
    assert ("estimating" in shown.getvalue()) is bool(verbose)
