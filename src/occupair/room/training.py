"""Training of the default estimator: everything it learns is proved on days left out of the training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.metrics import rmse
from occupair.progress import track
from occupair.room.balance import Balance, BaseLevel, fit_balance, least_squares
from occupair.room.features import GROUPS, moment_of, room_columns
from occupair.room.hours import OpenHours, learn_hours
from occupair.room.linked_elm import LinkedLayer, ReadOut, make_layer, solve_by_days
from occupair.room.model import LAGS, Refinement, RoomModel, averaged, is_present, lags_at
from occupair.room.ranges import Ranges
from occupair.room.rows import Clock, Rows, rows_of, stacked
from occupair.room.transfer import OtherRooms

Array = NDArray[np.float64]

EVERY = 3.0
"""Distance of the rows that training looks at [min]: those between are much the same."""

FOLDS = 10
"""The most parts that the days are dealt into to choose ridges."""

ENOUGH_DAYS = 6
"""Days from which on the FS-ELM has half of the say; with fewer, less."""

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Presence from which on somebody is in, to choose from."""


@dataclass(frozen=True)
class Episode:
    """Readings without a gap, with head counts."""

    co2: Array  # [ppm]
    ventilation: Array  # [0..1]
    clock: Clock
    people: Array  # [people]


@dataclass(frozen=True)
class Settings:
    """What training is told.

    Parameters
    ----------
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    z_max : tuple of float
        Influence of each of ``GROUPS``, Eq. (13).
    n_hidden : int
        Neurons.
    ridges : tuple of float
        Ridges of the neurons to choose from.
    seeds : tuple of int
        Random layers to try; the one with the least error on days left out is kept.
    verbose : bool, optional
        Whether to show progress; None does so on a terminal, when it takes long.
    """

    interval: float
    smoothing: float
    z_max: tuple[float, ...]
    n_hidden: int
    ridges: tuple[float, ...]
    seeds: tuple[int, ...]
    verbose: bool | None = None


@dataclass(frozen=True)
class TrainingDays:
    """The days a room is trained on, thinned out.

    Parameters
    ----------
    days : list of Rows
        What was known on each.
    people : dict
        By lag [readings], how many were in so long before each row of each day [people].
    most : float
        The most people that were in [people].
    base : BaseLevel
        The base level.
    """

    days: list[Rows]
    people: dict[int, list[Array]]
    most: float
    base: BaseLevel

    @cached_property
    def rows(self) -> Rows:
        """All days in one."""
        return stacked(self.days)

    @cached_property
    def parts(self) -> list[NDArray[np.int64]]:
        """Rows of each part that the days are dealt into."""
        day = np.repeat(np.arange(len(self.days)), [len(rows) for rows in self.days])
        folds = min(FOLDS, len(self.days))
        return [np.flatnonzero(day % folds == fold) for fold in range(folds)]

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

    def split(self, rows: Array) -> list[Array]:
        """Give what belongs to each day."""
        return np.split(rows, np.cumsum([len(day) for day in self.days])[:-1])


@dataclass(frozen=True)
class LeftOut:
    """What the estimator says of training days when it is trained on the others, at lag 0.

    Parameters
    ----------
    clock : list of Clock
        Times of each day.
    people, estimated : list of array
        The truth, and what it says [people].
    """

    clock: list[Clock]
    people: list[Array]
    estimated: list[Array]

    @property
    def error(self) -> float:
        """RMSE [people]."""
        return rmse(np.concatenate(self.people), np.concatenate(self.estimated))


def fit_room(
    dates: Sequence[Sequence[Episode]], settings: Settings, others: OtherRooms | None = None
) -> tuple[RoomModel, LeftOut]:
    """Train a room.

    Parameters
    ----------
    dates : sequence of sequence of Episode
        The episodes of each local day.
    settings : Settings
        What training is told.
    others : OtherRooms, optional
        Rooms to start from.

    Returns
    -------
    model, left_out
        The trained room, and its proof.
    """
    training = prepare(dates, settings)
    lags = lags_at(settings.interval)
    balances = {
        lag: _balance(training, lag, minutes, others) for lag, minutes in zip(lags, LAGS, strict=True)
    }
    said = np.column_stack([training.clamped(balances[lag].left_out) for lag in lags])
    share = 0.5 * min(1.0, len(training.days) / ENOUGH_DAYS)
    hours, hours_left_out = learn_hours(training.clocks, training.people[0])
    trained = [
        _refine(training, balances[lag], said, share, hours_left_out, settings)
        for lag in track(list(balances), "training", show=settings.verbose)
    ]
    refinements = tuple(refinement for refinement, _ in trained)
    model = RoomModel(settings.interval, settings.smoothing, training.most, share, hours, refinements)
    return model, LeftOut(training.clocks, training.people[0], training.split(trained[0][1]))


def prepare(dates: Sequence[Sequence[Episode]], settings: Settings) -> TrainingDays:
    """Look at every day as the estimator will, and thin it out."""
    every = max(round(EVERY / settings.interval), 1)
    whole = [[_rows(episode, settings) for episode in date] for date in dates]
    lows = [min(float(rows.low[-1]) for rows in date) for date in whole]
    people = {
        lag: [
            np.concatenate([_people_before(episode.people, lag)[::every] for episode in date])
            for date in dates
        ]
        for lag in lags_at(settings.interval)
    }
    return TrainingDays(
        days=[stacked([rows.take(slice(None, None, every)) for rows in date]) for date in whole],
        people=people,
        most=max(float(episode.people.max()) for date in dates for episode in date),
        base=BaseLevel.learn(lows),
    )


def _rows(episode: Episode, settings: Settings) -> Rows:
    return rows_of(
        episode.co2,
        episode.ventilation,
        episode.clock,
        interval=settings.interval,
        smoothing=settings.smoothing,
    )


def _people_before(people: Array, lag: int) -> Array:
    """People ``lag`` readings before each reading; before the first, as many as then."""
    return people[np.maximum(np.arange(people.size) - lag, 0)]


@dataclass(frozen=True)
class _Balanced:
    """A mass balance, and what it says of the training days left out [people]."""

    lag: int
    balance: Balance
    left_out: Array


def _balance(training: TrainingDays, lag: int, minutes: float, others: OtherRooms | None) -> _Balanced:
    penalty = least_squares if others is None else others.penalty(minutes, len(training.days))
    balance, left_out = fit_balance(
        training.days, training.people[lag], training.base, lag=lag, penalty=penalty
    )
    return _Balanced(lag, balance, np.concatenate(left_out))


def _refine(
    training: TrainingDays,
    balanced: _Balanced,
    said: Array,
    share: float,
    hours: Sequence[OpenHours],
    settings: Settings,
) -> tuple[Refinement, Array]:
    """Train what is said of a reading some time later; also what it says of days left out [people]."""
    lag, target = balanced.lag, training.target(balanced.lag)
    moment = moment_of(balanced.balance, lag)
    columns = room_columns(training.rows, balanced.balance, moment, said)
    layer, people = _best_network(columns, target, training.parts, settings)
    presence = solve_by_days(
        layer, layer.columns(columns), (target > 0).astype(float), training.parts, settings.ridges
    )
    estimated = averaged(training.clamped(people.left_out), training.clamped(balanced.left_out), share)
    threshold = _threshold(estimated, presence.left_out, target, training.most)
    present = is_present(estimated, presence.left_out, threshold, training.most)
    is_open = np.concatenate(
        [hours[k].at(clock, lag * settings.interval) for k, clock in enumerate(training.clocks)]
    )
    estimated = np.where(present & is_open, estimated, 0.0)
    several = len(training.days) > 1
    ranges = Ranges.learn(estimated, target) if several else Ranges.unknown(training.most)
    return Refinement(
        balanced.balance, moment, layer, people.coef, presence.coef, threshold, ranges
    ), estimated


def _best_network(
    columns: Array, target: Array, parts: Sequence[NDArray[np.int64]], settings: Settings
) -> tuple[LinkedLayer, ReadOut]:
    """Train a network on each random layer and keep the best on days left out."""
    layers = [
        make_layer(columns, list(GROUPS.values()), settings.z_max, n_hidden=settings.n_hidden, seed=seed)
        for seed in settings.seeds
    ]
    solved = [
        (layer, solve_by_days(layer, layer.columns(columns), target, parts, settings.ridges))
        for layer in layers
    ]
    return min(solved, key=lambda pair: pair[1].error)


def _threshold(estimated: Array, presence: Array, people: Array, most: float) -> float:
    """Choose the threshold of presence that leaves the least squared error; the highest of several."""
    errors = [
        float(
            np.sum((np.where(is_present(estimated, presence, threshold, most), estimated, 0.0) - people) ** 2)
        )
        for threshold in THRESHOLDS
    ]
    return THRESHOLDS[len(errors) - 1 - int(np.argmin(errors[::-1]))]
