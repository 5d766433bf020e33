"""Training data of the default estimator: the inputs of each day, and the head counts at each lag.

Head counts may be sparse and have weights. The CO2 and ventilation of all readings are used, but an input is
a training sample for a lag only if there is a head count at that lag; its weight is that of the head count.
Days without head counts are not used, unless people were inferred from CO2, see `occupair.physics`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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

SAMPLE_INTERVAL = 3.0
"""Time between training samples [min]; the readings between them add little information."""

HOUR = 60
"""Resolution at which the labelled part of a day is measured [min]."""


HEADROOM = 1.0
"""How far estimates may exceed the largest head count of few days, relative to it.

Few head counts hardly include the fullest hour. A mass balance that starts from other rooms is reliable
beyond the occupancies that it has seen; one fitted to few days alone is not, and has no headroom.
"""

NO_HEADROOM_DAYS = 8
"""Number of labelled days from which on estimates do not exceed the largest head count."""


@dataclass(frozen=True)
class LabelledEpisode:
    """Readings without a gap, with head counts."""

    co2: Array  # [ppm]
    ventilation: Array  # [0..1]
    clock: Clock
    people: Array  # [people]; ignored where the weight is 0
    weight: Array | None = None  # weight of each head count [0..1]; None: all 1
    sensors: Mapping[str, Array] | None = None  # optional sensors by name; NaN if missing
    inferred: NDArray[np.bool_] | None = None  # inferred from CO2, not counted

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each reading has a head count."""
        return np.ones(self.people.size, dtype=bool) if self.weight is None else self.weight > 0


@dataclass(frozen=True)
class SparseLabels:
    """Weights of the head counts, where they are not complete or not all of weight 1.

    Parameters
    ----------
    weights : dict
        By lag [readings], for each day the weight of the head count at that lag [0..1]; 0 if there is none.
    unobserved : list of array
        Minutes of each day without head counts, see ``unobserved_minutes``.
    hourly_weights : list of array of shape (24,)
        Largest head count weight in each hour of each day [0..1]; NaN where there are no readings.
    counted_weights, counted_hourly_weights : dict, list of array
        ``weights`` and ``hourly_weights`` of actual head counts: 0 where a count is inferred.
    """

    weights: dict[int, list[Array]]
    unobserved: list[Minutes]
    hourly_weights: list[Array]
    counted_weights: dict[int, list[Array]]
    counted_hourly_weights: list[Array]

    def subset(self, days: Sequence[int]) -> SparseLabels:
        """Return the labels of some days."""

        def by_lag(weights: dict[int, list[Array]]) -> dict[int, list[Array]]:
            return {lag: [by_day[k] for k in days] for lag, by_day in weights.items()}

        return SparseLabels(
            by_lag(self.weights),
            [self.unobserved[k] for k in days],
            [self.hourly_weights[k] for k in days],
            by_lag(self.counted_weights),
            [self.counted_hourly_weights[k] for k in days],
        )


@dataclass(frozen=True)
class TrainingDays:
    """Training samples of a room by day.

    Parameters
    ----------
    days : list of Inputs
        Inputs of each day.
    people : dict
        By lag [readings], for each day the head counts at that lag [people]; 0 where not known.
    lows : list of float
        Lowest CO2 of each day [ppm].
    lags : tuple of float
        Lags of the estimates to train [min].
    sparse : SparseLabels, optional
        None if head counts are complete and of weight 1.
    headroom : float
        How far estimates may exceed the maximum occupancy if there are few labelled days, relative to it.
    """

    days: list[Inputs]
    people: dict[int, list[Array]]
    lows: list[float]
    lags: tuple[float, ...]
    sparse: SparseLabels | None = None
    headroom: float = 0.0

    def __len__(self) -> int:
        return len(self.days)

    @property
    def interval(self) -> float:
        """Time between readings [min]."""
        return self.days[0].interval

    @property
    def lags_in_readings(self) -> tuple[int, ...]:
        """Each of ``lags`` as a number of readings."""
        return lags_in_readings(self.lags, self.interval)

    @cached_property
    def max_people(self) -> float:
        """Maximum occupancy [people]."""
        return max(float(day.max()) for day in self.people[0])

    @property
    def clocks(self) -> list[Clock]:
        """Local time of the inputs of each day."""
        return [inputs.clock for inputs in self.days]

    def target(self, lag: int) -> Array:
        """Return the head counts ``lag`` readings before each input, all days concatenated [people]."""
        return np.concatenate(self.people[lag])

    @cached_property
    def people_limit(self) -> float:
        """Upper limit of the estimates [people]: above the maximum occupancy with few labelled days."""
        few = max(1.0 - self.informative_days / NO_HEADROOM_DAYS, 0.0)
        return self.max_people * (1 + self.headroom * few)

    def clamp(self, people: Array) -> Array:
        """Clamp estimates to the range from 0 to ``people_limit`` [people]."""
        return people.clip(0.0, self.people_limit)

    def subset(self, days: Sequence[int]) -> TrainingDays:
        """Return some of the days."""
        people = {lag: [by_day[k] for k in days] for lag, by_day in self.people.items()}
        sparse = None if self.sparse is None else self.sparse.subset(days)
        return replace(
            self,
            days=[self.days[k] for k in days],
            people=people,
            lows=[self.lows[k] for k in days],
            sparse=sparse,
        )

    @property
    def effective_days(self) -> float:
        """Number of fully labelled days that the head counts are equivalent to."""
        if self.sparse is None:
            return float(len(self))
        return max(sum(float(np.nanmean(hours)) for hours in self.sparse.counted_hourly_weights), 0.01)

    @property
    def informative_days(self) -> float:
        """Number of fully labelled days that tell as much as the head counts and the inferred ones.

        The hours of a day are alike: a quarter of them tells half as much as all. Head counts here and there
        on many days therefore tell more than the same number on one day.
        """
        if self.sparse is None:
            return float(len(self))
        shares = [float(np.nanmean(hours)) for hours in self.sparse.hourly_weights]
        return max(float(np.sum(np.sqrt(shares))), 0.01)

    @property
    def labelled_hours_share(self) -> float:
        """Share of the hours of the day with a head count on any day [0..1]."""
        if self.sparse is None:
            return 1.0
        best = np.fmax.reduce(self.sparse.hourly_weights, axis=0)
        return float(np.mean(best[~np.isnan(best)] > 0))

    def weights(self, lag: int) -> list[Array] | None:
        """Return the weights of the head counts at a lag for each day; None: all 1."""
        return None if self.sparse is None else self.sparse.weights[lag]

    def weight(self, lag: int) -> Array | None:
        """Return the weights of the head counts at a lag, all days concatenated; None: all 1."""
        return None if self.sparse is None else np.concatenate(self.sparse.weights[lag])

    def counted_weights(self, lag: int) -> list[Array] | None:
        """Return the weights of actual head counts at a lag for each day; None: all 1."""
        return None if self.sparse is None else self.sparse.counted_weights[lag]

    def labelled(self, lag: int) -> slice | NDArray[np.bool_]:
        """Select the inputs with a head count at a lag, all days concatenated; all inputs if none has."""
        weight = self.weight(lag)
        return slice(None) if weight is None or not weight.any() else weight > 0

    def split(self, values: Array) -> list[Array]:
        """Split concatenated values by day."""
        return np.split(values, np.cumsum([len(day) for day in self.days])[:-1])


def prepare_training_days(
    dates: Sequence[Sequence[LabelledEpisode]],
    *,
    interval: float,
    smoothing: float,
    lags: tuple[float, ...] = LAGS,
) -> TrainingDays:
    """Return the training samples of the days that have head counts.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day.
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    lags : tuple of float
        Lags of the estimates to train [min], 0 first, increasing.
    """
    steps = lags_in_readings(lags, interval)
    is_sparse = any(episode.weight is not None for date in dates for episode in date)
    dates = [date for date in dates if any(episode.known.any() for episode in date)]
    days, lows, chosen = [], [], []
    for date in dates:
        all_inputs = [_inputs(episode, interval, smoothing, lags[-1]) for episode in date]
        chosen.append([choose_samples(episode, interval, steps) for episode in date])
        samples = [inputs.take(which) for inputs, which in zip(all_inputs, chosen[-1], strict=True)]
        days.append(concatenate_inputs(samples))
        lows.append(min(float(inputs.lowest_co2[-1]) for inputs in all_inputs))

    def at_lag(lag: int, values: Callable[[LabelledEpisode], Array]) -> list[Array]:
        return [
            np.concatenate(
                [_before(values(one), lag)[which] for one, which in zip(date, samples, strict=True)]
            )
            for date, samples in zip(dates, chosen, strict=True)
        ]

    people = {lag: at_lag(lag, _known_people) for lag in steps}
    if not is_sparse:
        return TrainingDays(days, people, lows, lags)
    weights = {lag: at_lag(lag, _weight) for lag in steps}
    counted = {lag: at_lag(lag, _counted_weight) for lag in steps}
    for lag, minutes in zip(steps, lags, strict=True):
        if not any(day.any() for day in counted[lag]):
            raise InputError(
                f"readings must continue without a gap for {minutes:g} min after at least one head count"
            )
    unobserved = [_unobserved(date, interval) for date in dates]
    hourly, counted_hourly = (
        [_hourly_weights(date, weight) for date in dates] for weight in (_weight, _counted_weight)
    )
    labels = SparseLabels(weights, unobserved, hourly, counted, counted_hourly)
    return TrainingDays(days, people, lows, lags, labels)


def labelled_samples(
    dates: Sequence[Sequence[LabelledEpisode]], interval: float, lags: Sequence[int]
) -> list[tuple[LabelledEpisode, NDArray[np.int64]]]:
    """Return the episodes of the days that have head counts, in order, and the readings that are samples."""
    episodes = [one for date in dates if any(one.known.any() for one in date) for one in date]
    return [(one, np.arange(one.people.size)[choose_samples(one, interval, lags)]) for one in episodes]


def choose_samples(
    episode: LabelledEpisode, interval: float, lags: Sequence[int]
) -> slice | NDArray[np.int64]:
    """Choose every n-th reading of each run of readings that have a head count of one weight at some lag.

    Parameters
    ----------
    episode : LabelledEpisode
        The readings.
    interval : float
        Time between readings [min].
    lags : sequence of int
        Lags of the estimates [readings].
    """
    every = max(round(SAMPLE_INTERVAL / interval), 1)
    if episode.weight is None:
        return slice(None, None, every)
    chosen = np.zeros(episode.people.size, dtype=bool)
    for lag in lags:
        weight = _before(episode.weight, lag)
        known = weight > 0
        place = np.arange(known.size)
        starts = known & (weight != np.append(0.0, weight[:-1]))
        start = np.maximum.accumulate(np.where(starts, place, 0))
        chosen |= known & ((place - start) % every == 0)
    return np.flatnonzero(chosen)


def _known_people(episode: LabelledEpisode) -> Array:
    return episode.people if episode.weight is None else np.where(episode.known, episode.people, 0.0)


def _weight(episode: LabelledEpisode) -> Array:
    return np.ones(episode.people.size) if episode.weight is None else episode.weight


def _counted_weight(episode: LabelledEpisode) -> Array:
    weight = _weight(episode)
    return weight if episode.inferred is None else np.where(episode.inferred, 0.0, weight)


def _unobserved(date: Sequence[LabelledEpisode], interval: float) -> Minutes:
    minute = np.concatenate([episode.clock.minute for episode in date])
    known = np.concatenate([episode.known for episode in date])
    return unobserved_minutes(minute, known, interval)


def _hourly_weights(date: Sequence[LabelledEpisode], weight: Callable[[LabelledEpisode], Array]) -> Array:
    """Return the largest head count weight in each hour of a day; NaN where there are no readings."""
    largest = np.full(1440 // HOUR, np.nan)
    for episode in date:
        np.fmax.at(largest, (episode.clock.minute // HOUR).astype(int), weight(episode))
    return largest


def _inputs(episode: LabelledEpisode, interval: float, smoothing: float, longest_lag: float) -> Inputs:
    return episode_inputs(
        episode.co2,
        episode.ventilation,
        episode.clock,
        interval=interval,
        smoothing=smoothing,
        longest_lag=longest_lag,
    )


def _before(values: NDArray[T], lag: int) -> NDArray[T]:
    """Return the value ``lag`` readings before each reading, or the first value of the episode."""
    return values[np.maximum(np.arange(values.size) - lag, 0)]
