"""Rooms of the soak test: their models, what their sensors send, and the readings that must be stored.

Rooms share few series of readings, so that the undisturbed estimates of every room are affordable.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from occupair import OccupancyEstimator, simulate_office

N_SERIES, N_MODELS = 20, 5
TRAINING_DAYS = 5
FIRST_HOUR = 6
"""Hour of the day at which the simulation starts."""
AHEAD_HOURS, BEHIND_HOURS = (8,), (15,)
"""Hours of the simulation in which the clocks of some devices are wrong."""


class Message(NamedTuple):
    """A reading as a device sends it."""

    room: int
    slot: int  # in which it is sent
    time: dt.datetime  # by the clock of the device
    co2: float
    ventilation: float
    is_regular: bool  # sent at once, with the correct time

    @property
    def payload(self) -> dict[str, str | float]:
        return {"time": self.time.isoformat(), "co2": self.co2, "ventilation": self.ventilation}


@dataclass(frozen=True)
class Rooms:
    """All rooms, with a reading of each in every slot.

    Parameters
    ----------
    number : int
        Number of rooms.
    start : datetime
        Time of the first slot, in UTC.
    hours : int
        Simulated hours.
    every : int
        Time between two readings of a room [min].
    """

    number: int
    start: dt.datetime
    hours: int
    every: int

    @cached_property
    def _series(self) -> list[pd.DataFrame]:
        days = (self.start.hour + self.hours) // 24 + 1
        midnight = self.start.replace(hour=0)
        series = []
        for seed in range(min(N_SERIES, self.number)):
            office = simulate_office(days=days, seed=100 + seed).iloc[:: self.every]
            series.append(office.set_axis(pd.date_range(midnight, periods=len(office), freq=self.step)))
        return series

    @property
    def step(self) -> dt.timedelta:
        return dt.timedelta(minutes=self.every)

    @property
    def slots_per_hour(self) -> int:
        return 60 // self.every

    def time_of(self, slot: int) -> dt.datetime:
        return self.start + slot * self.step

    @property
    def end(self) -> dt.datetime:
        return self.time_of(self.hours * self.slots_per_hour)

    def name(self, room: int) -> str:
        return f"room-{room:05d}"

    def is_day_one(self, room: int) -> bool:
        """Whether a room has no model, but a volume and seats."""
        return room % 1000 == 7

    def posts(self, room: int) -> bool:
        """Whether the readings of a room are sent by HTTP instead of MQTT."""
        return room % 20 == 1

    def model_of(self, room: int) -> int:
        return room // N_SERIES % N_MODELS

    def series_of(self, room: int) -> int:
        return room % N_SERIES

    # ---- messages ----

    def messages(self, room: int) -> Iterator[Message]:
        """Yield what the device of a room sends, in order."""
        n_slots = self.hours * self.slots_per_hour
        held: list[Message] = []
        for slot in range(n_slots):
            message = self._message(room, slot)
            if self._is_held_back(room, slot, n_slots):
                held.append(message._replace(slot=slot + 2, is_regular=False))
            else:
                yield message
                if room % 10 == 6 and slot % 5 == 1:
                    yield message._replace(is_regular=False)  # a duplicate
            while held and held[0].slot == slot:
                yield held.pop()

    def _message(self, room: int, slot: int) -> Message:
        time = self.time_of(slot)
        row = self._series[self.series_of(room)].loc[time]
        error = self._clock_error(room, slot)
        return Message(room, slot, time + error, float(row["co2"]), float(row["ventilation"]), not error)

    def _clock_error(self, room: int, slot: int) -> dt.timedelta:
        hour = slot // self.slots_per_hour
        if room % 50 == 9 and hour in AHEAD_HOURS:
            return dt.timedelta(days=3)
        if room % 50 == 9 and hour in BEHIND_HOURS:
            return -2 * self.step
        return dt.timedelta(0)

    def _is_held_back(self, room: int, slot: int, n_slots: int) -> bool:
        """Whether a message is sent two slots late; not across midnight, when it would be too late."""
        same_day = self.time_of(slot).date() == self.time_of(slot + 2).date()
        return room % 25 == 4 and slot % 7 == 3 and slot + 2 < n_slots and same_day

    def stored(self, room: int) -> dict[dt.datetime, Message]:
        """Return the readings of a room that must be stored: the first of each time, none from the future."""
        found: dict[dt.datetime, Message] = {}
        for message in self.messages(room):
            if message.time <= self.time_of(message.slot):
                found.setdefault(message.time, message)
        return found

    # ---- models and settings ----

    def train(self, folder: Path) -> list[Path]:
        """Train the models on earlier days."""
        found = []
        for seed in range(min(N_MODELS, -(-self.number // N_SERIES))):
            office = simulate_office(days=TRAINING_DAYS, seed=seed).iloc[:: self.every]
            end = self.start.replace(hour=0)
            times = pd.date_range(end=end, periods=len(office) + 1, freq=self.step)[:-1]
            model = OccupancyEstimator(n_hidden=40, random_state=seed, verbose=False)
            found.append(folder / f"model-{seed}.occupair")
            model.fit(office.set_axis(times)).save(found[-1])
        return found

    def settings(self, models: list[Path]) -> str:
        """Return the tables of the settings file after [service] and [mqtt]."""
        lines = ["[limits]", "requests_per_minute = 1000000"]
        for room in range(self.number):
            lines.append(f"[rooms.{self.name(room)}]")
            if self.is_day_one(room):
                lines += ["volume = 180", "capacity = 24", f"interval = {self.every}"]
            else:
                lines.append(f"model = {json.dumps(models[self.model_of(room)].name)}")
            if not self.posts(room):
                topic = f'topic = "soak/{self.name(room)}", shape = "json", time_path = "time"'
                lines.append(f'co2 = {{ {topic}, path = "co2" }}')
                lines.append(f'ventilation = {{ {topic}, path = "ventilation" }}')
        return "\n".join(lines) + "\n"


def first_time() -> dt.datetime:
    """Return the time at which the simulation starts, on a day in the future."""
    tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    return tomorrow.replace(hour=FIRST_HOUR, minute=0, second=0, microsecond=0)
