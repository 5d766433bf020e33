"""Many rooms at once: how long one reading of all of them takes, and how many a minute is enough for."""

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
from occupair.elm.hidden_layer import each_on_a_core
from tools.speed.many_default_rooms import ManyDefaultRooms
from tools.speed.many_paper_rooms import ManyPaperRooms
from tools.speed.measuring import PATIENCE, in_own_process, seconds, with_peak_memory
from tools.speed.room_clocks import Indices
from tools.speed.sizes import Sizes
from tools.speed.words import Headline, Section, Table, memory_of, ratio, time

Array = NDArray[np.float64]

CORES = os.cpu_count() or 1
MINUTE = 60.0  # [s], between two readings
DAYS = 3  # to train a room on; the one after is run
TRAINED = 5  # rooms that differ; more are the same once more, each with numbers of its own in memory
FIRST = 8 * 60  # minute of the day at which the rooms begin
BEFORE = 160  # readings until Eq. (26) takes as long as it takes from then on
READINGS = 8  # that are timed, of which the best counts; fewer if they take long
TOLERANCE, STILL = 1e-3, 1e-4  # [people], [ppm]: Eq. (26) right to about as much, alone and together


class Stepper(Protocol):
    """What takes a reading of every room."""

    def update(self, time: pd.Timestamp, co2: Array, ventilation: Array, /) -> object:
        """Take one [ppm], [0..1]."""


class OneByOne:
    """Rooms by Eq. (26), each on its own, some of them on each core."""

    def __init__(self, estimators: list[OccupancyEstimator]) -> None:
        self._rooms = [estimator.live(tolerance=TOLERANCE, lean=True) for estimator in estimators]

    def update(self, time: pd.Timestamp, co2: Array, ventilation: Array, /) -> None:
        readings = list(zip(self._rooms, co2.tolist(), ventilation.tolist(), strict=True))

        def step(part: int) -> None:
            for room, reading, flow in readings[part::CORES]:
                room.update(time, reading, flow)

        each_on_a_core(step, range(CORES))


class Trained(NamedTuple):
    """Some rooms, and what is read in them from now on: one row a minute, one column a room."""

    rooms: list[OccupancyEstimator]
    times: pd.DatetimeIndex
    co2: Array
    ventilation: Array

    def feed(self, rooms: Stepper, which: Indices, minutes: range) -> list[float]:
        """Take the readings of some minutes; how long each took [s]."""
        return [
            seconds(lambda k=k: rooms.update(self.times[k], self.co2[k, which], self.ventilation[k, which]))  # type: ignore[misc]
            for k in minutes
        ]


def default_together(trained: Trained, which: Indices) -> Stepper:
    """Start rooms of the default estimator."""
    rooms = ManyDefaultRooms([trained.rooms[k].room_ for k in which])
    trained.feed(rooms, which, range(BEFORE - 1, BEFORE))
    return rooms


def paper_one_by_one(trained: Trained, which: Indices) -> Stepper:
    """Start rooms by Eq. (26), each on its own, and run them until an update takes as long as any later."""
    rooms = OneByOne([trained.rooms[k] for k in which])
    trained.feed(rooms, which, range(BEFORE))
    return rooms


def paper_together(trained: Trained, which: Indices) -> Stepper:
    """Run few rooms by Eq. (26) for as long, and start many as those are then: the same in less time."""
    few = ManyPaperRooms(trained.rooms, still=STILL)
    trained.feed(few, np.arange(len(trained.rooms)), range(BEFORE))
    return few.take(which)


class Kind(NamedTuple):
    """A way to step many rooms."""

    is_paper: bool
    start: Callable[[Trained, Indices], Stepper]
    rooms: Callable[[Sizes], tuple[int, ...]]


KINDS = {
    "default estimator, together": Kind(False, default_together, lambda sizes: sizes.rooms),
    "Eq. (26), one by one": Kind(True, paper_one_by_one, lambda sizes: sizes.lone_rooms),
    "Eq. (26), together": Kind(True, paper_together, lambda sizes: sizes.paper_rooms),
}


@dataclass(frozen=True)
class Stepped:
    """So many rooms, stepped."""

    rooms: int
    seconds: float  # for one reading of each
    memory: float  # of rooms and step together [MB]

    @property
    def most_rooms(self) -> float:
        """Rooms that one reading a minute could be taken of, if it went on like this."""
        return self.rooms * MINUTE / self.seconds


def train(is_paper: bool, sizes: Sizes) -> Trained:
    """Train the paper's or the default estimator in some offices."""
    settings = {"n_draws": 1, "random_state": 0, "verbose": False}
    paper = OccupancyEstimator.paper(n_hidden=sizes.n_hidden)
    untrained = (paper if is_paper else OccupancyEstimator(**sizes.default)).set_params(**settings)
    rooms, days = [], []
    for office in (simulate_office(days=DAYS + 1, seed=seed) for seed in range(min(TRAINED, sizes.rounds))):
        rooms.append(clone(untrained).fit(office.iloc[: DAYS * 1440]))
        days.append(office.iloc[DAYS * 1440 + FIRST :])
    co2, flow = (np.column_stack([day[name] for day in days]) for name in ("co2", "ventilation"))
    return Trained(rooms, pd.DatetimeIndex(days[0].index), co2, flow)


def step(kind: str, n: int, trained: Trained) -> Stepped:
    """Step ``n`` rooms through some readings."""
    which = np.arange(n) % len(trained.rooms)

    def run() -> float:
        rooms, times = KINDS[kind].start(trained, which), [0.0]
        while len(times) <= READINGS and sum(times) < PATIENCE:
            minute = BEFORE + len(times) - 1
            times += trained.feed(rooms, which, range(minute, minute + 1))
        return min(times[1:])

    best, memory = with_peak_memory(run)
    return Stepped(n, best, memory)


def measure(sizes: Sizes) -> dict[str, list[Stepped]]:
    """Step fewer and more rooms, each number of them in a process of its own."""
    trained = {is_paper: in_own_process(train, is_paper, sizes) for is_paper in (False, True)}
    return {
        name: [in_own_process(step, name, n, trained[kind.is_paper]) for n in kind.rooms(sizes)]
        for name, kind in KINDS.items()
    }


def rooms_section(found: dict[str, list[Stepped]]) -> Section:
    """Write what a reading of many rooms takes."""
    each = [f"{memory_of(_each(runs))} a room ({kind})" for kind, runs in found.items()]
    words = [
        "One reading of every room, a minute apart; each room has numbers of its own in memory.",
        "Together is `ManyRooms` for the default estimator and `ManyPaperRooms` for Eq. (26), on all cores; "
        f"one by one is `live(tolerance={TOLERANCE:g}, lean=True)`, on all cores as well.",
        f"By Eq. (26) estimates are right to about {TOLERANCE:g} people, and the rooms have run for {BEFORE} "
        "readings before; one by one they are fewer, because each takes memory.",
        "At most is how many rooms take a minute for a reading, at the time for each room of that row, if "
        f"memory allows: {', '.join(each)}.",
    ]
    heads = ["rooms", "over the first", "one reading of all", "for each room", "memory", "at most"]
    rows = [
        [
            f"{one.rooms:,}, {kind}",
            ratio(one.seconds / runs[0].seconds),
            time(one.seconds),
            time(one.seconds / one.rooms),
            memory_of(one.memory),
            f"{one.most_rooms:,.0f} rooms",
        ]
        for kind, runs in found.items()
        for one in runs
    ]
    return Section("Many rooms", words, [Table(heads, rows)])


def _each(runs: list[Stepped]) -> float:
    """Memory that one more room takes [MB]."""
    return (runs[-1].memory - runs[0].memory) / (runs[-1].rooms - runs[0].rooms)


def rooms_headlines(found: dict[str, list[Stepped]]) -> list[Headline]:
    """Give what matters most of it."""
    return [
        Headline(
            f"one reading of {runs[-1].rooms:,} rooms ({kind}), of a minute",
            f"1/{MINUTE / runs[-1].seconds:,.0f}",
            f"{time(runs[-1].seconds)}, {memory_of(runs[-1].memory)}",
            time(MINUTE),
        )
        for kind, runs in found.items()
    ]
