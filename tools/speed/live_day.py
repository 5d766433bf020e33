"""Speed of one live day by Eq. (26), where every reading revises the estimates of the whole day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from occupair import OccupancyEstimator, simulate_office
from tools.speed.formatting import Headline, Section, Table, ratio, time
from tools.speed.measuring import seconds
from tools.speed.sizes import Sizes

Array = NDArray[np.float64]

Readings = list[tuple[Any, float, float]]

DAY = 1440
TOLERANCES = (1e-6, 1e-3)
EARLY, LATE = 5 * 60, 23 * 60  # minutes of the day at which updates are compared


class Reference:
    """Reference implementation of Eq. (26) for a trained estimator, with RS precomputed."""

    def __init__(self, estimator: OccupancyEstimator) -> None:
        self.RS, self.b = estimator.regressor_.input_weights_, estimator.regressor_.bias_
        self.beta, self.most = estimator.regressor_.coef_, estimator.most_people_
        self.horizon, self.stride = estimator.layer_.horizon, estimator.layer_.stride
        self.smoothing = estimator.smoothing_

    def people(self, co2: Array, ventilation: Array) -> Array:
        """Smooth all readings so far, Eq. (25), and estimate all of them from midnight on, Eq. (16)."""
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
    """Times of a day and of its updates [s], and the difference from the reference [people]."""

    day: float
    early: float
    late: float
    difference: float


@dataclass(frozen=True)
class LiveDay:
    """Reference and occupair on one day, by tolerance."""

    n_hidden: int
    horizon: int
    reference: Updates
    by_tolerance: dict[float, Updates]
    samples: int

    def gain(self, tolerance: float) -> float:
        """Return the speed-up over the reference implementation."""
        return self.reference.day / self.by_tolerance[tolerance].day


def measure(n_hidden: int, horizon: int, days: int, samples: int, rounds: int) -> LiveDay:
    """Train on some days and run the next day live."""
    office = simulate_office(days=days + 1)
    settings = {"n_hidden": n_hidden, "horizon": horizon, "n_draws": 1, "random_state": 0, "verbose": False}
    estimator = OccupancyEstimator.paper(**settings).fit(office.iloc[: days * DAY])
    today = office.iloc[days * DAY :]
    co2, ventilation = today["co2"].to_numpy(), today["ventilation"].to_numpy()
    reference, readings = Reference(estimator), list(zip(today.index, co2, ventilation, strict=True))
    minutes = [round((k + 0.5) * DAY / samples) for k in range(samples)]

    def run_reference(minute: int) -> Array:
        return reference.people(co2[: minute + 1], ventilation[: minute + 1])

    expected = {minute: run_reference(minute) for minute in minutes}
    differences = {x: _difference(estimator, readings, expected, x) for x in TOLERANCES}
    slow: list[list[float]] = []
    fast: dict[float, list[Array]] = {x: [] for x in TOLERANCES}
    for _ in range(rounds):
        slow.append([seconds(lambda m=minute: run_reference(m)) for minute in minutes])  # type: ignore[misc]
        for x in TOLERANCES:
            fast[x].append(_update_times(estimator, readings, x))
    reference_updates = _reference_updates(np.min(slow, axis=0), run_reference)
    return LiveDay(
        n_hidden,
        horizon,
        reference_updates,
        {x: _updates(np.array(fast[x]), differences[x]) for x in TOLERANCES},
        samples,
    )


def _difference(
    estimator: OccupancyEstimator, readings: Readings, expected: dict[int, Array], tolerance: float
) -> float:
    """Return the largest difference of any estimate of the day, after each update of the reference."""
    room, largest = estimator.live(tolerance=tolerance), 0.0
    for minute, reading in enumerate(readings):
        room.update(*reading)
        if minute in expected:
            largest = max(largest, float(np.abs(room.people - expected[minute]).max()))
    return largest


def _update_times(estimator: OccupancyEstimator, readings: Readings, tolerance: float) -> Array:
    room, times = estimator.live(tolerance=tolerance), [perf_counter()]
    for reading in readings:
        room.update(*reading)
        times.append(perf_counter())
    return np.diff(times)


def _updates(times: Array, difference: float) -> Updates:
    """Summarise the runs: the shortest day, and mean update times over half an hour early and late."""
    early, late = (float(times[:, m - 15 : m + 15].min(axis=0).mean()) for m in (EARLY, LATE))
    return Updates(float(times.sum(axis=1).min()), early, late, difference)


def _reference_updates(sampled: Array, run_reference: Callable[[int], Array]) -> Updates:
    """Extrapolate to a day: update time grows linearly, so updates at the middle of equal parts suffice."""
    early, late = (min(seconds(lambda m=m: run_reference(m)) for _ in range(3)) for m in (EARLY, LATE))  # type: ignore[misc]
    return Updates(float(sampled.mean()) * DAY, early, late, 0.0)


def live_section(found: LiveDay) -> Section:
    """Return the section."""
    heads = ["Eq. (26)", "speed-up", "one day", "update at 05:00", "update at 23:00", "largest difference"]
    rows = [["reference implementation", ratio(1.0), *_times(found.reference), ""]]
    rows += [
        [f"occupair, tolerance {x:g}", ratio(found.gain(x)), *_times(one), f"{one.difference:.1e}"]
        for x, one in found.by_tolerance.items()
    ]
    text = [
        f"One day of one room: 1,440 readings, {found.n_hidden:,} neurons, horizon {found.horizon} min, with "
        "`live(tolerance=...)` and `update`.",
        "The reference implementation follows the paper: after every reading it smooths the day so far and "
        "estimates it again from midnight on, in numpy, with R S precomputed.",
        "Its time for a day is extrapolated: the time of an update is proportional to the number of readings "
        f"so far, so {found.samples} updates, at the middle of equal parts of the day, are measured.",
        "The largest difference is that from the reference, over all estimates of the day after each of "
        "these updates [people]. Update times of occupair are means over half an hour.",
    ]
    return Section("Eq. (26) live", text, [Table(heads, rows)])


def _times(one: Updates) -> list[str]:
    return [time(one.day), time(one.early), time(one.late)]


def live_headlines(found: LiveDay) -> list[Headline]:
    """Return the key figures."""
    return [
        Headline(
            f"live day by Eq. (26) within {x:g} people, relative to the reference",
            f"1/{found.gain(x):,.0f}",
            time(one.day),
            time(found.reference.day),
        )
        for x, one in found.by_tolerance.items()
    ]


@dataclass(frozen=True)
class LiveGrowth:
    """Live days by number of neurons and by horizon."""

    by_neurons: list[LiveDay]
    by_horizon: list[LiveDay]


def live_growth(sizes: Sizes) -> LiveGrowth:
    """Run live days with smaller and larger networks."""

    def day(n_hidden: int, horizon: int) -> LiveDay:
        return measure(
            n_hidden, horizon, sizes.growth_training, max(sizes.samples // 3, 2), min(sizes.rounds, 3)
        )

    return LiveGrowth(
        [day(n_hidden, 30) for n_hidden in sizes.growth_hidden],
        [day(sizes.n_hidden, horizon) for horizon in sizes.growth_horizon],
    )


def live_growth_tables(found: LiveGrowth) -> list[Table]:
    """Return the scaling tables."""
    return [
        _growth_table("neurons L, live", [(one.n_hidden, one) for one in found.by_neurons]),
        _growth_table("horizon [min], live", [(one.horizon, one) for one in found.by_horizon]),
    ]


def _growth_table(head: str, days: list[tuple[int, LiveDay]]) -> Table:
    heads = [head, *(f"speed-up at {x:g}" for x in TOLERANCES), *(f"one day at {x:g}" for x in TOLERANCES)]
    rows = [
        [
            f"{size:,}",
            *(ratio(one.gain(x)) for x in TOLERANCES),
            *(time(one.by_tolerance[x].day) for x in TOLERANCES),
            time(one.reference.day),
        ]
        for size, one in days
    ]
    return Table([*heads, "reference"], rows)
