"""One live day by Eq. (26): after every reading the whole day is thought through again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from occupair import OccupancyEstimator, simulate_office
from tools.speed.measuring import seconds
from tools.speed.sizes import Sizes
from tools.speed.words import Headline, Section, Table, ratio, time

Array = NDArray[np.float64]

Readings = list[tuple[Any, float, float]]

DAY = 1440
TOLERANCES = (1e-6, 1e-3)
EARLY, LATE = 5 * 60, 23 * 60  # minutes of the day whose updates are compared


class WrittenOut:
    """A trained estimator's numbers, run by Eq. (26) as it stands, but for RS, which is multiplied once."""

    def __init__(self, estimator: OccupancyEstimator) -> None:
        self.RS, self.b = estimator.regressor_.input_weights_, estimator.regressor_.bias_
        self.beta, self.most = estimator.regressor_.coef_, estimator.most_people_
        self.horizon, self.stride = estimator.layer_.horizon, estimator.layer_.stride
        self.smoothing = estimator.smoothing_

    def people(self, co2: Array, ventilation: Array) -> Array:
        """Smooth all readings so far, Eq. (25), and estimate them all again from midnight on, Eq. (16)."""
        c, v, l, s = self._smooth(co2), ventilation, self.horizon, self.stride  # noqa: E741
        o = np.zeros(co2.size)
        for k in range(l, co2.size):
            P = c[k - l : k + 1]
            y = np.concatenate([P, P[s:] - P[:-s], P[1:] - P[:-1], o[k - l : k], v[k - l : k + 1]])
            h = 1 / (1 + np.exp(-(self.RS @ y + self.b)))
            o[k] = min(max(self.beta @ h, 0.0), self.most)
        return o

    def _smooth(self, co2: Array) -> Array:
        bands = np.empty((2, co2.size))
        bands[0], bands[1] = -self.smoothing, 1 + 2 * self.smoothing
        bands[1, [0, -1]] = 1 + self.smoothing
        return np.asarray(solveh_banded(bands, co2))


@dataclass(frozen=True)
class Updates:
    """What the updates of a day take [s], and how far they are from the equation [people]."""

    day: float
    early: float
    late: float
    difference: float


@dataclass(frozen=True)
class LiveDay:
    """One day, written out and by tolerance."""

    n_hidden: int
    horizon: int
    written: Updates
    by_tolerance: dict[float, Updates]
    samples: int

    def gain(self, tolerance: float) -> float:
        """How many times faster than written out."""
        return self.written.day / self.by_tolerance[tolerance].day


def measure(n_hidden: int, horizon: int, days: int, samples: int, rounds: int) -> LiveDay:
    """Train on some days, and run the next one live."""
    office = simulate_office(days=days + 1)
    settings = {"n_hidden": n_hidden, "horizon": horizon, "n_draws": 1, "random_state": 0, "verbose": False}
    estimator = OccupancyEstimator.paper(**settings).fit(office.iloc[: days * DAY])
    today = office.iloc[days * DAY :]
    co2, ventilation = today["co2"].to_numpy(), today["ventilation"].to_numpy()
    written, readings = WrittenOut(estimator), list(zip(today.index, co2, ventilation, strict=True))
    minutes = [round((k + 0.5) * DAY / samples) for k in range(samples)]

    def write_out(minute: int) -> Array:
        return written.people(co2[: minute + 1], ventilation[: minute + 1])

    right = {minute: write_out(minute) for minute in minutes}
    differences = {x: _difference(estimator, readings, right, x) for x in TOLERANCES}
    slow: list[list[float]] = []
    fast: dict[float, list[Array]] = {x: [] for x in TOLERANCES}
    for _ in range(rounds):
        slow.append([seconds(lambda m=minute: write_out(m)) for minute in minutes])  # type: ignore[misc]
        for x in TOLERANCES:
            fast[x].append(_update_times(estimator, readings, x))
    written_updates = _written_updates(np.min(slow, axis=0), write_out)
    return LiveDay(
        n_hidden,
        horizon,
        written_updates,
        {x: _updates(np.array(fast[x]), differences[x]) for x in TOLERANCES},
        samples,
    )


def _difference(
    estimator: OccupancyEstimator, readings: Readings, right: dict[int, Array], tolerance: float
) -> float:
    """Give the largest difference of any estimate of the day, after each update that was written out."""
    room, largest = estimator.live(tolerance=tolerance), 0.0
    for minute, reading in enumerate(readings):
        room.update(*reading)
        if minute in right:
            largest = max(largest, float(np.abs(room.people - right[minute]).max()))
    return largest


def _update_times(estimator: OccupancyEstimator, readings: Readings, tolerance: float) -> Array:
    room, times = estimator.live(tolerance=tolerance), [perf_counter()]
    for reading in readings:
        room.update(*reading)
        times.append(perf_counter())
    return np.diff(times)


def _updates(times: Array, difference: float) -> Updates:
    """Sum up the best day; an update early and late is the mean of half an hour, each the best of days."""
    early, late = (float(times[:, m - 15 : m + 15].min(axis=0).mean()) for m in (EARLY, LATE))
    return Updates(float(times.sum(axis=1).min()), early, late, difference)


def _written_updates(sampled: Array, write_out: Callable[[int], Array]) -> Updates:
    """Updates grow evenly through the day, so those in the middle of equal parts of it give the whole."""
    early, late = (min(seconds(lambda m=m: write_out(m)) for _ in range(3)) for m in (EARLY, LATE))  # type: ignore[misc]
    return Updates(float(sampled.mean()) * DAY, early, late, 0.0)


def live_section(found: LiveDay) -> Section:
    """Write what a live day takes."""
    heads = ["Eq. (26)", "speed-up", "a day", "update at 05:00", "update at 23:00", "largest difference"]
    rows = [["written out", ratio(1.0), *_times(found.written), ""]]
    rows += [
        [f"occupair, tolerance {x:g}", ratio(found.gain(x)), *_times(one), f"{one.difference:.1e}"]
        for x, one in found.by_tolerance.items()
    ]
    words = [
        f"One day of one room, 1,440 readings, {found.n_hidden:,} neurons, horizon {found.horizon} min, by "
        "`live(tolerance=...)` and `update`.",
        "Written out is what the paper says: after every reading smooth the day so far and estimate it again "
        "from midnight on, in numpy, with RS multiplied once.",
        "Its day is not run whole: an update takes time in proportion to the readings so far, so "
        f"{found.samples} updates, in the middle of as many equal parts of the day, give the sum.",
        "The largest difference is of all estimates of the day as they were after each of those updates "
        "[people]. An update of ours is the mean of half an hour.",
    ]
    return Section("Eq. (26) live", words, [Table(heads, rows)])


def _times(one: Updates) -> list[str]:
    return [time(one.day), time(one.early), time(one.late)]


def live_headlines(found: LiveDay) -> list[Headline]:
    """Give what matters most of it."""
    return [
        Headline(
            f"a live day by Eq. (26) to {x:g} people, against written out",
            f"1/{found.gain(x):,.0f}",
            time(one.day),
            time(found.written.day),
        )
        for x, one in found.by_tolerance.items()
    ]


@dataclass(frozen=True)
class LiveGrowth:
    """A live day by neurons, and by horizon."""

    by_neurons: list[LiveDay]
    by_horizon: list[LiveDay]


def live_growth(sizes: Sizes) -> LiveGrowth:
    """Run live days of smaller and larger networks."""

    def day(n_hidden: int, horizon: int) -> LiveDay:
        return measure(
            n_hidden, horizon, sizes.growth_training, max(sizes.samples // 3, 4), min(sizes.rounds, 3)
        )

    return LiveGrowth(
        [day(n_hidden, 30) for n_hidden in sizes.growth_hidden],
        [day(sizes.n_hidden, horizon) for horizon in sizes.growth_horizon],
    )


def live_growth_tables(found: LiveGrowth) -> list[Table]:
    """Write how a live day grows."""
    return [
        _growth_table("neurons L, live", [(one.n_hidden, one) for one in found.by_neurons]),
        _growth_table("horizon min, live", [(one.horizon, one) for one in found.by_horizon]),
    ]


def _growth_table(head: str, days: list[tuple[int, LiveDay]]) -> Table:
    heads = [head, *(f"speed-up at {x:g}" for x in TOLERANCES), *(f"a day at {x:g}" for x in TOLERANCES)]
    rows = [
        [
            f"{size:,}",
            *(ratio(one.gain(x)) for x in TOLERANCES),
            *(time(one.by_tolerance[x].day) for x in TOLERANCES),
            time(one.written.day),
        ]
        for size, one in days
    ]
    return Table([*heads, "written out"], rows)
