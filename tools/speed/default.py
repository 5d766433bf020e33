"""The default estimator: training, one live reading, a day at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair import OccupancyEstimator, simulate_office
from tools.speed.measuring import best_of, with_peak_memory
from tools.speed.sizes import Sizes
from tools.speed.words import Headline, Section, Table, memory_of, time

DAY = 1440


@dataclass(frozen=True)
class DefaultTimes:
    """What the default estimator takes [s], [MB]."""

    days: int
    fit: float
    memory: float
    update: float
    day: float


def measure(sizes: Sizes) -> DefaultTimes:
    """Train on some days, and run the last one at once and live."""
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
    """Write what the default estimator takes."""
    rows = [
        [
            f"fit, {found.days} days of minutes",
            time(found.fit),
            f"{found.days * DAY / found.fit:,.0f} readings/s",
        ],
        ["one live update", time(found.update), f"{1 / found.update:,.0f} estimates/s"],
        ["a day by estimate()", time(found.day), f"{DAY / found.day:,.0f} estimates/s"],
    ]
    ratio = found.update * DAY / found.day
    words = [
        f"`OccupancyEstimator()`, the estimator for real rooms. A day at once is {np.round(ratio):.0f} times "
        "faster than the same readings live, one by one.",
        f"Training takes {memory_of(found.memory)} above the readings at its peak.",
    ]
    return Section("The default estimator", words, [Table(["", "time", "which is"], rows)])


def default_headlines(found: DefaultTimes) -> list[Headline]:
    """Give what matters most of it."""
    share = found.update / 60
    return [
        Headline(
            "one live update of the default estimator, of a minute",
            f"1/{1 / share:,.0f}",
            time(found.update),
            "60 s",
        )
    ]
