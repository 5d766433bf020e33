"""Comparison of the store after the soak test with the readings sent and an undisturbed replay."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from occupair import OccupancyEstimator, read_readings
from occupair.live.messages import EstimateRecord
from occupair.live.store import Store
from occupair.model_file import parse_model
from tools.soak.rooms import Message, Rooms

WARM_UP = dt.timedelta(minutes=20)
"""Time after the first reading or a gap in which the count is unknown, as documented."""
MAX_GAP = 3.5, dt.timedelta(minutes=60)
"""Longest gap that is bridged: multiple of the time between two readings, and upper limit; as documented."""


@dataclass
class Comparison:
    """Differences of the store from what was sent and from an undisturbed replay."""

    rooms: int = 0
    readings: int = 0
    lost: int = 0
    unexpected: int = 0  # readings in the store that were not sent, or with other values
    estimates: int = 0
    missing: int = 0  # estimates in only one of store and replay, or known in only one
    unknown: int = 0  # estimates after the start or a gap, in both
    largest_difference: float = 0.0  # of people, low and high [people]

    @property
    def is_equal(self) -> bool:
        return self.lost + self.unexpected + self.missing == 0 and self.largest_difference <= 1e-9


def compare(
    store: Store,
    rooms: Rooms,
    models: list[Path],
    calibrated: Mapping[int, Mapping[dt.date, bytes]] = MappingProxyType({}),
) -> Comparison:
    """Compare every room.

    Parameters
    ----------
    store : Store
        Store of the service.
    rooms : Rooms
        The rooms.
    models : list of Path
        Trained models.
    calibrated : mapping
        Of each room without a model, the last calibrated model of each day.
    """

    @cache
    def trained(path: Path) -> OccupancyEstimator:
        return OccupancyEstimator.load(path)

    @cache
    def replayed(model: Path, readings: tuple[tuple[dt.datetime, float, float], ...]) -> pd.DataFrame:
        return _estimate(trained(model), readings, rooms)

    found = Comparison(rooms=rooms.number)
    for room in range(rooms.number):
        sent = rooms.stored(room)
        _compare_readings(found, store, rooms.name(room), sent)
        readings = tuple((time, sent[time].co2, sent[time].ventilation) for time in sorted(sent))
        if rooms.is_day_one(room):
            expected = _day_one_estimates(calibrated[room], readings, rooms)
        else:
            expected = replayed(models[rooms.model_of(room)], readings)
        stored = store.estimates(rooms.name(room), None, None, limit=1_000_000)
        _compare_estimates(found, stored, expected, _unknown_times(list(expected.index), rooms))
    return found


def _compare_readings(found: Comparison, store: Store, room: str, sent: dict[dt.datetime, Message]) -> None:
    stored = {one.time: (one.co2, one.ventilation) for one in store.readings(room, None, None)}
    expected = {time: (one.co2, one.ventilation) for time, one in sent.items()}
    found.readings += len(expected)
    found.lost += len(expected.keys() - stored.keys())
    found.unexpected += sum(expected.get(time) != values for time, values in stored.items())


def _estimate(
    model: OccupancyEstimator, readings: tuple[tuple[dt.datetime, float, float], ...], rooms: Rooms
) -> pd.DataFrame:
    """Return the live estimates of a model that is given all readings in order."""
    table = pd.DataFrame(readings, columns=["time", "co2", "ventilation"]).set_index("time")
    grid = read_readings(table, interval=rooms.every, ventilation_full=1.0, timezone="UTC")
    return model.estimate(grid, mode="live", interval=0.9)


def _day_one_estimates(
    calibrated: Mapping[dt.date, bytes], readings: tuple[tuple[dt.datetime, float, float], ...], rooms: Rooms
) -> pd.DataFrame:
    """Return the estimates of each day by the model that was calibrated last on it.

    The first model is from priors; the one after a night applies from midnight on.
    """
    parts = []
    for day, content in calibrated.items():
        estimates = _estimate(parse_model(content), readings, rooms)
        parts.append(estimates[pd.DatetimeIndex(estimates.index).date == day])
    return pd.concat(parts)


def _unknown_times(times: list[pd.Timestamp], rooms: Rooms) -> set[pd.Timestamp]:
    """Return the times at which the count must be unknown."""
    unknown, begin = set(), times[0]
    for before, time in zip([times[0], *times], times, strict=False):
        is_midnight = time.hour == time.minute == 0
        if time - before > min(MAX_GAP[0] * rooms.step, MAX_GAP[1]) or is_midnight:
            begin = time
        if time - begin < WARM_UP and not (begin.hour == begin.minute == 0):
            unknown.add(time)
    return unknown


def _compare_estimates(
    found: Comparison, stored: list[EstimateRecord], expected: pd.DataFrame, unknown: set[pd.Timestamp]
) -> None:
    by_time = {pd.Timestamp(one.time): one for one in stored}
    found.estimates += len(expected)
    found.missing += len(by_time.keys() - set(expected.index))
    for time, row in zip(expected.index, expected.itertuples(), strict=True):
        one = by_time.get(time)
        if one is None or (one.people is None) != (time in unknown):
            found.missing += 1
        elif one.people is None:
            found.unknown += 1
        else:
            for name in ("people", "low", "high"):
                difference = abs(getattr(one, name) - getattr(row, name))
                found.largest_difference = max(
                    found.largest_difference, math.inf if math.isnan(difference) else difference
                )
