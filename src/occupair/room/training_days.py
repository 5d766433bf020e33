"""What the default estimator is trained on: rows of days, and how many were in at or before each of them.

Head counts may be known at some readings only, and be trusted more or less. CO2 and ventilation of all
readings are looked at all the same; a row teaches what was so long before it if there is a count of then, by
its weight. Days without a count teach nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.room.inputs import Clock, Inputs, concatenate_inputs, episode_inputs
from occupair.room.lags import LAGS, lags_in_readings
from occupair.room.open_hours import Minutes, unobserved_minutes

Array = NDArray[np.float64]
T = TypeVar("T", bound=np.generic)

EVERY = 3.0
"""Distance of the rows that training looks at [min]: those between are much the same."""

HOUR = 60
"""A day is worth as much of a whole one as its hours have counts; so long is an hour [min]."""


@dataclass(frozen=True)
class LabelledEpisode:
    """Readings without a gap, with head counts."""

    co2: Array  # [ppm]
    ventilation: Array  # [0..1]
    clock: Clock
    people: Array  # [people]; anything where the weight is 0
    weight: Array | None = None  # how far each count is to be trusted [0..1]; None: all fully

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether there is a count."""
        return np.ones(self.people.size, dtype=bool) if self.weight is None else self.weight > 0


@dataclass(frozen=True)
class SparseLabels:
    """What is to be known where head counts are not all there and fully trusted.

    Parameters
    ----------
    weights : dict
        By lag [readings], how far the count so long before each row of each day is to be trusted [0..1]; 0
        where there is none.
    unasked : list of array
        Minutes of each day about which no count tells.
    trust : list of array of shape (24,)
        How far the best count of each hour of each day is to be trusted [0..1]; NaN where it was not read.
    """

    weights: dict[int, list[Array]]
    unasked: list[Minutes]
    trust: list[Array]

    def only(self, which: Sequence[int]) -> SparseLabels:
        """Give some of the days."""
        weights = {lag: [days[k] for k in which] for lag, days in self.weights.items()}
        return SparseLabels(weights, [self.unasked[k] for k in which], [self.trust[k] for k in which])


@dataclass(frozen=True)
class TrainingDays:
    """The days a room is trained on, thinned out.

    Parameters
    ----------
    days : list of Inputs
        What was known on each.
    people : dict
        By lag [readings], how many were in so long before each row of each day [people]; 0 if not known.
    lows : list of float
        The lowest CO2 of each day [ppm].
    gaps : SparseLabels, optional
        None if all head counts are there, and fully trusted.
    """

    days: list[Inputs]
    people: dict[int, list[Array]]
    lows: list[float]
    gaps: SparseLabels | None = None

    def __len__(self) -> int:
        return len(self.days)

    @property
    def interval(self) -> float:
        """Time between readings [min]."""
        return self.days[0].interval

    @cached_property
    def most(self) -> float:
        """The most people that were in [people]."""
        return max(float(day.max()) for day in self.people[0])

    @property
    def clocks(self) -> list[Clock]:
        """Local time of the rows of each day."""
        return [rows.clock for rows in self.days]

    def target(self, lag: int) -> Array:
        """People in ``lag`` readings before each row, all days in one."""
        return np.concatenate(self.people[lag])

    def clamped(self, people: Array) -> Array:
        """Keep estimates between nobody and the most that were in."""
        return people.clip(0.0, self.most)

    def only(self, which: Sequence[int]) -> TrainingDays:
        """Give some of the days."""
        people = {lag: [days[k] for k in which] for lag, days in self.people.items()}
        gaps = None if self.gaps is None else self.gaps.only(which)
        return TrainingDays([self.days[k] for k in which], people, [self.lows[k] for k in which], gaps)

    @property
    def worth(self) -> float:
        """How many days with all counts they are worth."""
        if self.gaps is None:
            return float(len(self))
        return max(sum(float(np.nanmean(hours)) for hours in self.gaps.trust), 0.01)

    @property
    def covered(self) -> float:
        """Share of the hours of the day that have a count on any of the days [0..1]."""
        if self.gaps is None:
            return 1.0
        best = np.fmax.reduce(self.gaps.trust, axis=0)
        return float(np.mean(best[~np.isnan(best)] > 0))

    def weights(self, lag: int) -> list[Array] | None:
        """How far counts ``lag`` readings before each row of each day are to be trusted; None: all fully."""
        return None if self.gaps is None else self.gaps.weights[lag]

    def weight(self, lag: int) -> Array | None:
        """Give the same of all days in one."""
        return None if self.gaps is None else np.concatenate(self.gaps.weights[lag])

    def taught(self, lag: int) -> slice | NDArray[np.bool_]:
        """Rows that teach what was ``lag`` readings before them, of all days in one; all if none does."""
        weight = self.weight(lag)
        return slice(None) if weight is None or not weight.any() else weight > 0

    def split(self, rows: Array) -> list[Array]:
        """Give what belongs to each day."""
        return np.split(rows, np.cumsum([len(day) for day in self.days])[:-1])


def prepare_training_days(
    dates: Sequence[Sequence[LabelledEpisode]], *, interval: float, smoothing: float
) -> TrainingDays:
    """Look at every day as the estimator will, and thin it out; days without a count are left out."""
    every, lags = max(round(EVERY / interval), 1), lags_in_readings(interval)
    has_gaps = any(episode.weight is not None for date in dates for episode in date)
    dates = [date for date in dates if any(episode.known.any() for episode in date)]
    days, lows, chosen = [], [], []
    for date in dates:
        whole = [_rows(episode, interval, smoothing) for episode in date]
        chosen.append([_looked_at(episode, lags, every) for episode in date])
        days.append(
            concatenate_inputs([rows.take(which) for rows, which in zip(whole, chosen[-1], strict=True)])
        )
        lows.append(min(float(rows.low[-1]) for rows in whole))

    def before(lag: int, of: Callable[[LabelledEpisode], Array]) -> list[Array]:
        return [
            np.concatenate([_before(of(one), lag)[which] for one, which in zip(date, rows, strict=True)])
            for date, rows in zip(dates, chosen, strict=True)
        ]

    people = {lag: before(lag, _known_people) for lag in lags}
    if not has_gaps:
        return TrainingDays(days, people, lows)
    weights = {lag: before(lag, _weight) for lag in lags}
    for lag, minutes in zip(lags, LAGS, strict=True):
        if not any(day.any() for day in weights[lag]):
            raise InputError(f"readings: no head count is followed by readings for {minutes:g} min")
    unasked = [_unasked(date, interval) for date in dates]
    return TrainingDays(days, people, lows, SparseLabels(weights, unasked, [_trust(date) for date in dates]))


def _looked_at(episode: LabelledEpisode, lags: Sequence[int], every: int) -> slice | NDArray[np.int64]:
    """Choose rows: every so many of each stretch in which there are counts of so long before."""
    if episode.weight is None:
        return slice(None, None, every)
    chosen = np.zeros(episode.people.size, dtype=bool)
    for lag in lags:
        known = _before(episode.known, lag)
        place = np.arange(known.size)
        start = np.maximum.accumulate(np.where(known & ~np.append(False, known[:-1]), place, 0))
        chosen |= known & ((place - start) % every == 0)
    return np.flatnonzero(chosen)


def _known_people(episode: LabelledEpisode) -> Array:
    return episode.people if episode.weight is None else np.where(episode.known, episode.people, 0.0)


def _weight(episode: LabelledEpisode) -> Array:
    return np.ones(episode.people.size) if episode.weight is None else episode.weight


def _unasked(date: Sequence[LabelledEpisode], interval: float) -> Minutes:
    minute, known = (
        np.concatenate([episode.clock.minute for episode in date]),
        np.concatenate([episode.known for episode in date]),
    )
    return unobserved_minutes(minute, known, interval)


def _trust(date: Sequence[LabelledEpisode]) -> Array:
    """Give how far the best count of each hour of a day is to be trusted; NaN where it was not read."""
    best = np.full(1440 // HOUR, np.nan)
    for episode in date:
        np.fmax.at(best, (episode.clock.minute // HOUR).astype(int), _weight(episode))
    return best


def _rows(episode: LabelledEpisode, interval: float, smoothing: float) -> Inputs:
    return episode_inputs(
        episode.co2, episode.ventilation, episode.clock, interval=interval, smoothing=smoothing
    )


def _before(values: NDArray[T], lag: int) -> NDArray[T]:
    """Give what was ``lag`` readings before each reading; before the first, what was then."""
    return values[np.maximum(np.arange(values.size) - lag, 0)]
