"""Speed of the default estimator: training, one live update, and a whole day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair import OccupancyEstimator, simulate_office
from tools.speed.formatting import Headline, Section, Table, memory_of, time
from tools.speed.measuring import best_of, with_peak_memory
from tools.speed.sizes import Sizes

DAY = 1440


@dataclass(frozen=True)
class DefaultTimes:
    """Times [s] and peak memory [MB] of the default estimator."""

    days: int
    fit: float
    memory: float
    update: float
    day: float


def measure(sizes: Sizes) -> DefaultTimes:
    """Train on some days, and estimate the last one as a whole and live."""
    days = sizes.days + 5 if sizes.days > 10 else sizes.days
    office = simulate_office(days=days)
    estimator = OccupancyEstimator(random_state=0, verbose=False, **sizes.default)
    _, memory = with_peak_memory(lambda: estimator.fit(office))
    fit = best_of(min(sizes.rounds, 3), lambda: estimator.fit(office))
    today = office.iloc[-DAY:]
    readings = list(zip(today.index, today["co2"], today["ventilation"], strict=True))

    def live_day() -> None:
        room = estimator.live()
        for reading in readings:
            room.update(*reading)

    estimate = best_of(10, lambda: estimator.estimate(today))
    live = best_of(min(sizes.rounds, 3), live_day) / DAY
    return DefaultTimes(days, fit, memory, live, estimate)


def default_section(found: DefaultTimes) -> Section:
    """Return the section."""
    rows = [
        [
            f"fit, {found.days} days at 1 min",
            time(found.fit),
            f"{found.days * DAY / found.fit:,.0f} readings/s",
        ],
        ["one live update", time(found.update), f"{1 / found.update:,.0f} estimates/s"],
        ["estimate() of one day", time(found.day), f"{DAY / found.day:,.0f} estimates/s"],
    ]
    ratio = found.update * DAY / found.day
    text = [
        "`OccupancyEstimator()`, the estimator for real rooms. "
        f"Estimating a whole day at once is {np.round(ratio):.0f} times faster than one live update per "
        "reading.",
        f"Training needs {memory_of(found.memory)} of memory in addition to the readings.",
    ]
    return Section("Default estimator", text, [Table(["", "time", "rate"], rows)])


def default_headlines(found: DefaultTimes) -> list[Headline]:
    """Return the key figures."""
    share = found.update / 60
    return [
        Headline(
            "one live update of the default estimator, share of a minute",
            f"1/{1 / share:,.0f}",
            time(found.update),
            "60 s",
        )
    ]
