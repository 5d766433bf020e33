"""The sensor limits against the published rooms, and at their boundaries in files."""

import numpy as np
import pandas as pd
import pytest

from occupair.checks import find_faults
from occupair.checks.prepared_readings import follows_without_gap, prepare_readings, steps_of
from occupair.checks.sensor_limits import (
    COARSE_STEP,
    HIGHEST_CO2,
    LOWEST_CO2,
    largest_step,
    resolution_of,
)
from occupair.datasets import ROOMS, read_room


def kinds(readings):
    return {fault.kind for fault in find_faults(readings)}


def noisy(values):
    """Two days at a 5-minute interval, never constant, with the given values from 10:00 on."""
    times = pd.date_range("2024-01-08", periods=576, freq="5min")
    co2 = 600.0 + np.arange(576) % 7
    co2[120 : 120 + len(values)] = values
    return pd.DataFrame({"co2": co2}, index=times)


@pytest.mark.parametrize("key", ROOMS)
def test_published_rooms_are_within_the_limits(published, key):
    readings = prepare_readings(read_room(key, published(ROOMS[key].dataset)))
    assert readings["co2"].between(LOWEST_CO2, HIGHEST_CO2).all()
    step = np.abs(np.diff(readings["co2"]))[follows_without_gap(readings)]
    assert step.max() <= largest_step(np.median(steps_of(readings)))
    assert (resolution_of(readings["co2"].to_numpy()) >= COARSE_STEP) is (key == "uci864")


@pytest.mark.parametrize(
    ("co2", "failed"), [(149.0, True), (150.0, False), (20_000.0, False), (20_001.0, True)]
)
def test_implausible_co2_is_a_failed_read(co2, failed):
    assert ("failed_reads" in kinds(noisy([co2]))) is failed


@pytest.mark.parametrize(("size", "jumps"), [(394.0, False), (410.0, True)])
def test_change_beyond_400_ppm_is_a_jump(size, jumps):
    assert ("jumps" in kinds(noisy([600.0 + size]))) is jumps


@pytest.mark.parametrize(("readings", "stuck"), [(36, False), (37, True)])
def test_constant_co2_is_stuck_after_180_min(readings, stuck):
    """37 equal readings are 36 intervals of 5 min."""
    assert ("stuck" in kinds(noisy([650.0] * readings))) is stuck
