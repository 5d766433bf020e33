"""Training of the default estimator, and its proof on days left out.

The proof trains anew on the other days, from the mass balance on: nothing of a day left out reaches what is
said of it. Ridges, thresholds and ranges are chosen by that proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.hidden_layer import each_on_a_core
from occupair.metrics import rmse
from occupair.progress import track
from occupair.room.balance import Balance, BaseLevel, fit_balance, least_squares
from occupair.room.features import GROUPS, moment_of, room_columns
from occupair.room.hours import OpenHours, learn_hours
from occupair.room.linked_elm import LinkedLayer, make_layer, read_outs, ridge_pairs
from occupair.room.model import LAGS, Refinement, RoomModel, averaged, is_present, lags_at
from occupair.room.ranges import Ranges
from occupair.room.rows import Clock, Rows, rows_of, stacked
from occupair.room.transfer import OtherRooms

Array = NDArray[np.float64]

EVERY = 3.0
"""Distance of the rows that training looks at [min]: those between are much the same."""

FOLDS = 10
"""The most parts that the days are dealt into for the proof."""

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
    lows : list of float
        The lowest CO2 of each day [ppm].
    """

    days: list[Rows]
    people: dict[int, list[Array]]
    lows: list[float]

    def __len__(self) -> int:
        return len(self.days)

    @cached_property
    def rows(self) -> Rows:
        """All days in one."""
        return stacked(self.days)

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
        return TrainingDays([self.days[k] for k in which], people, [self.lows[k] for k in which])

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
    learned, folds = _learn(training, others), _folds(training, others)
    share = 0.5 * min(1.0, len(training) / ENOUGH_DAYS)
    hours, hours_left_out = learn_hours(training.clocks, training.people[0])
    trained = [
        _refine(learned, folds, lag, share, hours_left_out, settings)
        for lag in track(list(training.people), "training", show=settings.verbose)
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
    days = [stacked([rows.take(slice(None, None, every)) for rows in date]) for date in whole]
    return TrainingDays(days, people, lows)


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
class _Learned:
    """The mass balances of some days, by lag [readings]."""

    training: TrainingDays
    balances: dict[int, Balance]

    def columns(self, rows: Rows, lag: int) -> Array:
        """Give the columns of these or of other days."""
        said = np.column_stack([self.people(rows, each) for each in lags_at(rows.interval)])
        balance = self.balances[lag]
        return room_columns(rows, balance, moment_of(balance, lag), said)

    def people(self, rows: Rows, lag: int) -> Array:
        """Give what the mass balance says [people]."""
        return self.training.clamped(self.balances[lag].people(rows))


@dataclass(frozen=True)
class _Fold:
    """What was learned without some days, those days, and their place among all rows."""

    learned: _Learned
    rows: Rows
    place: NDArray[np.int64]


def _learn(training: TrainingDays, others: OtherRooms | None) -> _Learned:
    base, balances = BaseLevel.learn(training.lows), {}
    for lag, minutes in zip(lags_at(training.rows.interval), LAGS, strict=True):
        penalty = least_squares if others is None else others.penalty(minutes, len(training))
        balances[lag] = fit_balance(training.days, training.people[lag], base, lag=lag, penalty=penalty)
    return _Learned(training, balances)


def _folds(training: TrainingDays, others: OtherRooms | None) -> list[_Fold]:
    """Deal the days into parts, and learn without each; a single day has nobody to learn from."""
    parts = min(FOLDS, len(training))
    if parts < 2:
        return []
    days = np.arange(len(training))
    of_row = np.repeat(days, [len(rows) for rows in training.days])

    def fold(part: int) -> _Fold:
        learned = _learn(training.only(days[days % parts != part].tolist()), others)
        left_out = training.only(days[days % parts == part].tolist())
        return _Fold(learned, left_out.rows, np.flatnonzero(of_row % parts == part))

    return each_on_a_core(fold, range(parts))


def _refine(
    learned: _Learned,
    folds: Sequence[_Fold],
    lag: int,
    share: float,
    hours: Sequence[OpenHours],
    settings: Settings,
) -> tuple[Refinement, Array]:
    """Train what is said of a reading some time later; also what it says of days left out [people]."""
    training, target = learned.training, learned.training.target(lag)
    proofs = {seed: _prove(folds, lag, target, seed, settings) for seed in settings.seeds}
    seed = min(proofs, key=lambda tried: proofs[tried].error)
    proof = proofs[seed]
    columns = learned.columns(training.rows, lag)
    layer = _layer(columns, seed, settings)
    coefs = read_outs(layer, layer.columns(columns), _targets(target), proof.pairs)
    balance_left_out = np.zeros(target.size)
    for fold in folds:
        balance_left_out[fold.place] = fold.learned.people(fold.rows, lag)
    estimated = averaged(proof.people, balance_left_out, share)
    threshold = _threshold(estimated, proof.presence, target, training.most)
    present = is_present(estimated, proof.presence, threshold, training.most)
    before = lag * settings.interval
    is_open = np.concatenate([hours[k].at(clock, before) for k, clock in enumerate(training.clocks)])
    estimated = np.where(present & is_open, estimated, 0.0)
    ranges = Ranges.learn(estimated, target) if folds else Ranges.unknown(training.most)
    balance = learned.balances[lag]
    refinement = Refinement(
        balance=balance,
        moment=moment_of(balance, lag),
        layer=layer,
        coef=coefs[0][:, 0],
        presence=coefs[1][:, 1],
        threshold=threshold,
        ranges=ranges,
    )
    return refinement, estimated


@dataclass(frozen=True)
class _Proof:
    """What a network says of days left out with the best ridges for people and for presence."""

    pairs: tuple[tuple[float, float], tuple[float, float]]
    people: Array
    presence: Array
    error: float


def _prove(folds: Sequence[_Fold], lag: int, target: Array, seed: int, settings: Settings) -> _Proof:
    """Train on the other days of every fold with all ridges, and choose those that do best."""
    pairs = ridge_pairs(settings.ridges)
    if not folds:
        return _Proof((pairs[-1], pairs[-1]), np.zeros(target.size), np.ones(target.size), 0.0)
    said = np.empty((len(pairs), target.size, 2))

    def prove(fold: _Fold) -> None:
        others = fold.learned.training
        columns = fold.learned.columns(others.rows, lag)
        layer, targets = _layer(columns, seed, settings), _targets(others.target(lag))
        outside = layer.columns(fold.learned.columns(fold.rows, lag))
        for k, coef in enumerate(read_outs(layer, layer.columns(columns), targets, pairs)):
            said[k, fold.place] = outside @ coef
        said[:, fold.place, 0] = others.clamped(said[:, fold.place, 0])

    each_on_a_core(prove, folds)
    errors = np.sum((said - _targets(target)) ** 2, axis=1)
    people, presence = (int(best) for best in errors.argmin(axis=0))
    return _Proof(
        (pairs[people], pairs[presence]), said[people, :, 0], said[presence, :, 1], float(errors[people, 0])
    )


def _targets(people: Array) -> Array:
    """Give what the network is to say: people, and whether anybody is in."""
    return np.column_stack([people, people > 0])


def _layer(columns: Array, seed: int, settings: Settings) -> LinkedLayer:
    return make_layer(columns, list(GROUPS.values()), settings.z_max, n_hidden=settings.n_hidden, seed=seed)


def _threshold(estimated: Array, presence: Array, people: Array, most: float) -> float:
    """Choose the threshold of presence that leaves the least squared error; the highest of several."""
    errors = [
        float(
            np.sum((np.where(is_present(estimated, presence, threshold, most), estimated, 0.0) - people) ** 2)
        )
        for threshold in THRESHOLDS
    ]
    return THRESHOLDS[len(errors) - 1 - int(np.argmin(errors[::-1]))]
