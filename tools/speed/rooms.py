"""Speed of many rooms: time of one reading of each, and the number of rooms that a minute suffices for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from occupair import OccupancyEstimator, simulate_office
from occupair.elm.cores import each_on_a_core
from tools.speed.formatting import Headline, Section, Table, memory_of, ratio, time
from tools.speed.many_default_rooms import ManyDefaultRooms
from tools.speed.many_paper_rooms import ManyPaperRooms
from tools.speed.measuring import PATIENCE, in_own_process, seconds, with_peak_memory
from tools.speed.room_clocks import Indices
from tools.speed.sizes import Sizes

Array = NDArray[np.float64]

CORES = os.cpu_count() or 1
MINUTE = 60.0  # time between readings [s]
DAYS = 3  # training days of a room; the next day is run
TRAINED = 5  # distinct rooms; larger numbers repeat them, each with its own memory
FIRST = 8 * 60  # minute of the day at which the rooms start
READINGS = 8  # timed readings, of which the best counts; fewer if they take long
TOLERANCE, STILL = 1e-3, 1e-4  # [people], [ppm]: similar accuracy of Eq. (26) one by one and batched


class Stepper(Protocol):
    """Updates all rooms with one reading each."""

    def update(self, time: pd.Timestamp, co2: Array, ventilation: Array, /) -> object:
        """Add one reading to each room [ppm], [0..1]."""


class OneByOne:
    """Separate rooms with Eq. (26), distributed over the cores."""

    def __init__(self, estimators: list[OccupancyEstimator]) -> None:
        self._rooms = [estimator.live(tolerance=TOLERANCE, lean=True) for estimator in estimators]

    def update(self, time: pd.Timestamp, co2: Array, ventilation: Array, /) -> None:
        readings = list(zip(self._rooms, co2.tolist(), ventilation.tolist(), strict=True))

        def step(part: int) -> None:
            for room, reading, flow in readings[part::CORES]:
                room.update(time, reading, flow)

        each_on_a_core(step, range(CORES))


class Trained(NamedTuple):
    """Trained rooms and their next readings, one row per minute and one column per room."""

    rooms: list[OccupancyEstimator]
    times: pd.DatetimeIndex
    co2: Array
    ventilation: Array
    warm_up: int  # readings before the timed ones

    def feed(self, rooms: Stepper, which: Indices, minutes: range) -> list[float]:
        """Update with the readings of some minutes; return the time of each [s]."""
        return [
            seconds(lambda k=k: rooms.update(self.times[k], self.co2[k, which], self.ventilation[k, which]))  # type: ignore[misc]
            for k in minutes
        ]


def default_batched(trained: Trained, which: Indices) -> Stepper:
    """Start rooms with the default estimator, batched."""
    rooms = ManyDefaultRooms([trained.rooms[k].room_ for k in which])
    trained.feed(rooms, which, range(trained.warm_up - 1, trained.warm_up))
    return rooms


def paper_one_by_one(trained: Trained, which: Indices) -> Stepper:
    """Start separate rooms with Eq. (26) and run them until the update time is stationary."""
    rooms = OneByOne([trained.rooms[k] for k in which])
    trained.feed(rooms, which, range(trained.warm_up))
    return rooms


def paper_batched(trained: Trained, which: Indices) -> Stepper:
    """Run few rooms with Eq. (26) until the update time is stationary, and start many from their state."""
    few = ManyPaperRooms(trained.rooms, still=STILL)
    trained.feed(few, np.arange(len(trained.rooms)), range(trained.warm_up))
    return few.take(which)


class Kind(NamedTuple):
    """A way to update many rooms."""

    is_paper: bool
    start: Callable[[Trained, Indices], Stepper]
    rooms: Callable[[Sizes], tuple[int, ...]]


KINDS = {
    "default estimator, batched": Kind(False, default_batched, lambda sizes: sizes.rooms),
    "Eq. (26), one by one": Kind(True, paper_one_by_one, lambda sizes: sizes.lone_rooms),
    "Eq. (26), batched": Kind(True, paper_batched, lambda sizes: sizes.paper_rooms),
}


@dataclass(frozen=True)
class Stepped:
    """Time and memory of a number of rooms."""

    rooms: int
    seconds: float  # for one reading of each
    memory: float  # of the rooms and the update [MB]

    @property
    def max_rooms(self) -> float:
        """Number of rooms with one reading a minute each, extrapolated linearly."""
        return self.rooms * MINUTE / self.seconds


def train(is_paper: bool, sizes: Sizes) -> Trained:
    """Train the paper's or the default estimator on simulated offices."""
    settings = {"n_draws": 1, "random_state": 0, "verbose": False}
    paper = OccupancyEstimator.paper(n_hidden=sizes.n_hidden)
    untrained = (paper if is_paper else OccupancyEstimator(**sizes.default)).set_params(**settings)
    rooms, days = [], []
    for office in (simulate_office(days=DAYS + 1, seed=seed) for seed in range(min(TRAINED, sizes.rounds))):
        rooms.append(clone(untrained).fit(office.iloc[: DAYS * 1440]))
        days.append(office.iloc[DAYS * 1440 + FIRST :])
    co2, ventilation = (np.column_stack([day[name] for day in days]) for name in ("co2", "ventilation"))
    return Trained(rooms, pd.DatetimeIndex(days[0].index), co2, ventilation, sizes.warm_up)


def step(kind: str, n: int, trained: Trained) -> Stepped:
    """Update ``n`` rooms with some readings."""
    which = np.arange(n) % len(trained.rooms)

    def run() -> float:
        rooms, times = KINDS[kind].start(trained, which), [0.0]
        while len(times) <= READINGS and sum(times) < PATIENCE:
            minute = trained.warm_up + len(times) - 1
            times += trained.feed(rooms, which, range(minute, minute + 1))
        return min(times[1:])

    best, memory = with_peak_memory(run)
    return Stepped(n, best, memory)


def measure(sizes: Sizes) -> dict[str, list[Stepped]]:
    """Measure all numbers of rooms, each in a fresh process."""
    trained = {is_paper: in_own_process(train, is_paper, sizes) for is_paper in (False, True)}
    return {
        name: [in_own_process(step, name, n, trained[kind.is_paper]) for n in kind.rooms(sizes)]
        for name, kind in KINDS.items()
    }


def rooms_section(found: dict[str, list[Stepped]], sizes: Sizes) -> Section:
    """Return the section."""
    each = [f"{memory_of(_each(runs))} per room ({kind})" for kind, runs in found.items()]
    text = [
        "One reading of every room, at an interval of one minute; "
        "each room has its own parameters in memory.",
        "Batched rooms keep parameters and histories in shared arrays: `ManyDefaultRooms` for the default "
        "estimator and `ManyPaperRooms` for Eq. (26), on all cores. One by one is "
        f"`live(tolerance={TOLERANCE:g}, lean=True)`, also on all cores.",
        f"With Eq. (26) estimates are accurate to about {TOLERANCE:g} people, "
        f"and each room has already run for {sizes.warm_up} readings. "
        "Fewer rooms are run one by one, because each needs more memory.",
        "Maximum is the number of rooms that can be updated within one minute at the time per room of that "
        f"row, given enough memory: {', '.join(each)}.",
    ]
    heads = ["rooms", "relative to first", "one reading of all", "per room", "memory", "maximum"]
    rows = [
        [
            f"{one.rooms:,}, {kind}",
            ratio(one.seconds / runs[0].seconds),
            time(one.seconds),
            time(one.seconds / one.rooms),
            memory_of(one.memory),
            f"{one.max_rooms:,.0f} rooms",
        ]
        for kind, runs in found.items()
        for one in runs
    ]
    return Section("Many rooms", text, [Table(heads, rows)])


def _each(runs: list[Stepped]) -> float:
    """Return the memory of one additional room [MB]."""
    return (runs[-1].memory - runs[0].memory) / (runs[-1].rooms - runs[0].rooms)


def rooms_headlines(found: dict[str, list[Stepped]]) -> list[Headline]:
    """Return the key figures."""
    return [
        Headline(
            f"one reading of {runs[-1].rooms:,} rooms ({kind}), share of a minute",
            f"1/{MINUTE / runs[-1].seconds:,.0f}",
            f"{time(runs[-1].seconds)}, {memory_of(runs[-1].memory)}",
            time(MINUTE),
        )
        for kind, runs in found.items()
    ]
