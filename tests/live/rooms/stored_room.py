"""A room with what a store would hold of it, and rooms with simple readings."""

import datetime as dt
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from occupair.live.messages import Co2Mean, Quality, Reading, ReadingOutcome, to_microseconds
from occupair.live.rooms.engine import run_batched
from occupair.live.rooms.restore import restore_since
from occupair.live.rooms.room import Room
from occupair.live_rooms import LiveRooms

MINUTES = dt.timedelta(minutes=1)
UTC, ZONE = dt.UTC, ZoneInfo("Europe/Copenhagen")
NOW = dt.datetime(2024, 1, 11, 12, tzinfo=UTC)


def reading(time, co2=None, ventilation=None, received=None):
    time = pd.Timestamp(time).to_pydatetime().astimezone(UTC)
    return Reading("lab", time, co2, ventilation, "http", received or time)


def readings_of(frame):
    return [
        reading(time, co2, flow)
        for time, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


def run(estimation):
    """Run one estimation and return its result."""
    result = run_batched({"lab": estimation}, LiveRooms([]))["lab"]
    if isinstance(result, Exception):
        raise result
    return result


class StoredRoom:
    """A room and what a store would hold of it: its readings and the newest estimate of every time."""

    def __init__(self, room):
        self.room, self.estimates, self.outcomes, self.readings = room, {}, [], []

    def add(self, readings):
        for one in readings:
            self.add_batch([one])
        return self

    def add_batch(self, readings):
        outcomes, estimates = run(self.room.add_readings(readings))
        self.outcomes += outcomes
        self.estimates.update({estimate.time: estimate for estimate in estimates})
        self.readings += [
            one
            for one, outcome in zip(readings, outcomes, strict=True)
            if outcome is not ReadingOutcome.DUPLICATE
        ]

    def restart(self, with_estimates=True):
        """Restore a new room from what is stored."""
        old = self.room
        self.room = Room(old.id, old.zone, old.model)
        if self.readings:
            newest = max(one.time for one in self.readings)
            since = restore_since(newest, self.room.zone)
            readings = sorted((r for r in self.readings if r.time >= since), key=lambda r: r.time)
            estimates = self.estimates.values() if with_estimates else ()
            newest_estimates = [one for one in estimates if one.time > newest - 40 * MINUTES]
            run(self.room.restore(readings, newest_estimates, self.co2_means()))
        return self

    def co2_means(self):
        """The mean CO2 of each quarter of an hour, as a store returns it."""
        valid = [one for one in self.estimates.values() if one.quality is not Quality.SUSPECT]
        table = pd.DataFrame({"time": [to_microseconds(one.time) for one in valid]})
        table["co2"] = [one.co2 for one in valid]
        means = table.sort_values("time").groupby(table["time"] // 900_000_000)
        return [Co2Mean(*row) for row in zip(means["time"].min(), means["co2"].mean(), strict=True)]


def assert_same(one, other):
    assert list(one) == list(other)
    for time, expected in other.items():
        got = one[time]
        for name in ("people", "low", "high", "people_refined", "co2_smoothed"):
            assert getattr(got, name) == pytest.approx(getattr(expected, name), abs=1e-6), (time, name)
        assert (got.co2, got.ventilation, got.quality) == (
            expected.co2,
            expected.ventilation,
            expected.quality,
        )


def fed(model, minutes, co2, ventilation=0.5):
    """Return a room with a reading every five minutes until now."""
    room = Room("lab", ZONE, model)
    values = co2 if callable(co2) else (lambda _: co2)
    for k in range(minutes // 5, -1, -1):
        run(room.add_readings([reading(NOW - dt.timedelta(minutes=5 * k), values(k), ventilation)]))
    return room


def wavy(k):
    return 600.0 + 3 * (k % 7)
