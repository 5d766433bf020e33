"""How far the figures of a report are right: public rooms, by estimates and by head counts.

The model of a room is trained on the first half of its days. On the other days, the figures from hindsight
estimates are compared with the same figures from head counts.
"""

from __future__ import annotations

import warnings

import pandas as pd

from occupair.benchmark.score_tables import Table, markdown
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS, read_room
from occupair.estimator import OccupancyEstimator
from occupair.progress import quietly, track
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.room_order import count_limit, hindsight_counts
from occupair.utilisation.room_usage import RoomInfo, RoomUsage, room_usage

HEADS = (
    "room",
    "days",
    "mean people",
    "true",
    "hours in use",
    "true",
    "highest peak",
    "true",
    "unused seats",
    "true",
)


def accuracy_table() -> str:
    """Return the figures of all benchmark rooms as a table in Markdown."""
    rows = [_row(name) for name in track(BENCHMARK_ROOMS, "rooms", show=None)]
    return markdown(Table(list(HEADS), rows))


def halves(readings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the readings of the first half of the days, and the others."""
    days = pd.DatetimeIndex(readings.index).normalize()
    middle = days.unique()[len(days.unique()) // 2]
    return readings[days < middle], readings[days >= middle]


def both_usages(name: str) -> tuple[RoomUsage, RoomUsage]:
    """Return the use of a room in the second half of its days, by estimates and by head counts."""
    training, others = halves(read_room(name))
    with quietly(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        estimator = OccupancyEstimator(random_state=0).fit(training)
        counts = hindsight_counts(estimator, others.drop(columns="occupancy"))
    info = RoomInfo(name, capacity=ROOMS[name].seats)
    opening = OpeningHours("08:00-18:00", "mon-sun")  # some data sets have no real dates
    truth = others[["occupancy"]].set_axis(["people"], axis=1)
    estimated = room_usage(info, counts, opening, limit=count_limit(estimator))
    return estimated, room_usage(info, truth, opening)


def _row(name: str) -> list[str]:
    estimated, true = both_usages(name)

    def interval(value: float, low: float, high: float) -> str:
        return f"{value:.1f} ({low:.1f} to {high:.1f})"

    seats = [
        "–" if one.seats is None else f"{one.seats.least}{'*' if one.is_interval_at_limit else ''}"
        for one in (estimated, true)
    ]
    hours = [
        float(estimated.good[column].sum()) / max(estimated.open_days, 1)
        for column in ("in_use_low", "in_use_high")
    ]
    return [
        name,
        f"{estimated.open_days}",
        interval(estimated.mean(), estimated.mean("low"), estimated.mean("high")),
        f"{true.mean():.1f}",
        interval(estimated.hours_per_day, *hours),
        f"{true.hours_per_day:.1f}",
        interval(estimated.peak(), estimated.peak("peak_low"), estimated.peak("peak_high")),
        f"{true.peak():.0f}",
        *seats,
    ]
