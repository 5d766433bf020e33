"""The live fault detector finds the same stuck sensors as the check of a file."""

import numpy as np
import pandas as pd
import pytest

from occupair.checks.co2_sensor import check_stuck
from occupair.checks.prepared_readings import prepare_readings
from occupair.live.reasons import Reason
from occupair.live.rooms.reading_grid import ReadingGrid
from occupair.live.rooms.sensor_faults import FaultDetector
from occupair.readings.grid import MINUTE


def live_spans(times, values, interval):
    """Return the first and last index of each constant period that the detector finds, reading by reading."""
    grid = ReadingGrid(interval)
    detector = FaultDetector(grid.co2, grid.bridged)
    found = {}
    for index, (time, value) in enumerate(zip(times, values, strict=True)):
        grid.co2.insert(int(time * MINUTE), value)
        fault = detector.fault_at(int(time * MINUTE))
        if fault is not None and fault.reason is Reason.STUCK:
            first = index - int(np.argmax(values[index::-1] != value)) + 1
            found[first if (values[: index + 1] != value).any() else 0] = index
    return list(found.items())


def file_spans(times, values):
    index = pd.Timestamp("2024-01-08") + pd.to_timedelta(times, unit="min")
    readings = prepare_readings(pd.DataFrame({"co2": values}, index=index))
    spans = [span for fault in check_stuck(readings) for span in fault.details["spans"]]
    return [(index.get_loc(start), index.get_loc(end)) for start, end in spans]


@pytest.mark.parametrize("seed", range(60))
def test_live_and_file_find_the_same_stuck_periods(seed):
    """Constant periods and gaps of random length and level, after a day that shows the resolution."""
    rng = np.random.default_rng(seed)
    interval, resolution = rng.choice([1, 5, 15]), rng.choice([0.1, 1, 4, 5, 10, 50])
    times = np.arange(0.0, 4 * 1440, interval)
    people = np.clip(np.sin(2 * np.pi * (times / 1440 - 0.3)), 0, None)
    co2 = 420 + 500 * people + rng.normal(0, 3, times.size)
    for _ in range(rng.integers(5)):
        first = rng.integers(1440 // interval, times.size)
        length = int(rng.choice([100, 170, 190, 400, 1430, 1500]) // interval)
        co2[first : first + length] = rng.choice([co2[first], 420, 433, 440, 900])
    co2 = resolution * np.round(co2 / resolution)
    co2[rng.integers(times.size)] += 1  # an odd step
    kept = np.ones(times.size, bool)
    for _ in range(rng.integers(4)):
        first = rng.integers(1440 // interval, times.size)
        kept[first : first + int(rng.choice([5, 60, 600]) // interval)] = False
    times, co2 = times[kept], co2[kept]
    live, file = live_spans(times, co2, interval), file_spans(times, co2)
    assert [span for span in live if times[span[0]] >= 1440] == [
        span for span in file if times[span[0]] >= 1440
    ]


@pytest.mark.parametrize(
    ("before", "stuck"),
    [
        ([400.0, 650.0], True),  # one step says nothing about the resolution
        ([*[600.0, 610.0] * 30, 611.0, 620.0], False),  # an odd step of a 10 ppm sensor
        ([*[600.0, 601.0] * 30, 640.0], True),
        ([*[600.0, 601.0] * 60, 590.0], False),  # at rest
        ([600.0], True),
    ],
)
def test_400_min_of_constant_co2(before, stuck):
    values = np.array([*before, *before[-1:] * 400])
    times = np.arange(0.0, values.size)
    assert bool(live_spans(times, values, 1)) is stuck
    assert bool(file_spans(times, values)) is stuck


def test_room_at_rest_is_stuck_after_a_day():
    values = np.array([*[900.0, 901.0] * 100, *[420.0] * 1441])
    times = np.arange(0.0, values.size)
    assert live_spans(times, values, 1) == file_spans(times, values) == [(200, 1640)]
    assert live_spans(times[:-1], values[:-1], 1) == file_spans(times[:-1], values[:-1]) == []
