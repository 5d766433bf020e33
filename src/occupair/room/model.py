"""The default estimator of one room: an FS-ELM and the mass balance, averaged, for now and some time ago."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.room.features import FeatureSettings, FeatureSettingsArrays, room_features
from occupair.room.inputs import Inputs
from occupair.room.lags import lags_in_readings
from occupair.room.linked_elm import LinkedLayer
from occupair.room.mass_balance import Balance, BalanceEvaluator, BaseLevel, stack_base_levels
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import PredictionIntervals

Array = NDArray[np.float64]

FEW = 0.1
"""Share of the most people up to which an estimate is taken for nobody when nobody seems present."""


@dataclass(frozen=True)
class Refinement:
    """What a room says of a reading when ``moment.lag`` more have come.

    Parameters
    ----------
    balance : Balance
        The mass balance.
    moment : FeatureSettings
        Where the network looks.
    layer : LinkedLayer
        Its random layer.
    coef : array
        Its read-out of people.
    presence : array
        Its read-out of whether anybody is in: about 1 then, about 0 else.
    threshold : float
        Presence from which on somebody is in.
    ranges : PredictionIntervals
        How far off its estimates are.
    """

    balance: Balance
    moment: FeatureSettings
    layer: LinkedLayer
    coef: Array
    presence: Array
    threshold: float
    ranges: PredictionIntervals

    @property
    def lag(self) -> int:
        """Readings that have come since."""
        return self.moment.lag

    @cached_property
    def read_outs(self) -> Array:
        """Read-outs of people and of presence beside each other."""
        return np.column_stack([self.coef, self.presence])


class _Together(NamedTuple):
    """What the R refinements of a room need of a row, put stack_base_levels."""

    heard: BalanceEvaluator  # the balances of LAGS
    own: list[int]  # which of LAGS each refinement is for
    base: BaseLevel
    moments: FeatureSettingsArrays
    thresholds: Array  # of shape (R, 1)


@dataclass(frozen=True)
class RoomModel:
    """A trained room.

    Parameters
    ----------
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    most_people : float
        The most people seen in training [people].
    network_share : float
        Part of the FS-ELM in the average; the rest is the mass balance.
    hours : OpenHours
        When the room may be in use.
    refinements : tuple of Refinement
        For each of ``LAGS`` that the interval allows, the shortest first.
    """

    interval: float
    smoothing: float
    most_people: float
    network_share: float
    hours: OpenHours
    refinements: tuple[Refinement, ...]

    def people(self, rows: Inputs) -> tuple[Array, Array]:
        """Estimate, at every row, the people in at the reading that each refinement is for [people].

        Returns
        -------
        people, if_open : array of shape (R, N)
            A row for each refinement: what is said, and what would be said if the room kept no hours.
        """
        parts = self._together
        said = self._clamped(parts.heard.people(rows))
        columns = room_features(rows, parts.base, parts.moments, said)
        network, presence = self._read(columns)
        people = averaged(self._clamped(network), said[parts.own], self.network_share)
        present = is_present(people, presence, parts.thresholds, self.most_people)
        is_open = self.hours.at(rows.clock, rows.interval * parts.moments.lag)
        if_open = np.where(present, people, 0.0)
        return np.where(is_open, if_open, 0.0), if_open

    def of_day(self, rows: Inputs, wait: int, interval: float = 0.9) -> tuple[Array, Array, Array]:
        """Estimate every reading of an episode by what is known ``wait`` readings after it.

        Parameters
        ----------
        rows : Inputs
            What was known at each reading of the episode. Its last readings wait until it ends.
        wait : int
            Readings that an estimate waits for.
        interval : float
            Probability that the range holds the true count.

        Returns
        -------
        people, low, high
            An estimate for each reading, and its range [people].
        """
        found = np.zeros((3, len(rows)))
        for one, people, if_open in zip(self.refinements, *self.people(rows), strict=True):
            if one.lag <= wait:
                then = people[one.lag :]
                low, high = one.ranges.around(then, interval)
                found[:, : then.size] = then, low, np.maximum(high, if_open[one.lag :])
        return found[0], found[1], found[2]

    def _read(self, columns: Array) -> tuple[Array, Array]:
        """Give what the network of each refinement says of people and of presence."""
        said = np.empty((2, len(self.refinements), len(columns)))
        for k, one in enumerate(self.refinements):
            said[:, k] = (one.layer.columns(columns[:, k]) @ one.read_outs).T
        return said[0], said[1]

    def _clamped(self, people: Array) -> Array:
        return np.minimum(np.maximum(people, 0.0), self.most_people)

    @cached_property
    def _together(self) -> _Together:
        lags, balances = lags_in_readings(self.interval), {one.lag: one.balance for one in self.refinements}
        return _Together(
            heard=BalanceEvaluator([balances[lag] for lag in lags]),
            own=[lags.index(one.lag) for one in self.refinements],
            base=stack_base_levels([one.balance.base for one in self.refinements]),
            moments=FeatureSettingsArrays.of([one.moment for one in self.refinements]),
            thresholds=np.array([[one.threshold] for one in self.refinements]),
        )


def averaged(network: Array, balance: Array, share: float | Array) -> Array:
    """Average what the FS-ELM and the mass balance say [people]."""
    return share * network + (1 - share) * balance


def is_present(
    people: Array, presence: Array, threshold: float | Array, most: float | Array
) -> NDArray[np.bool_]:
    """Tell whether anybody is in: where few are estimated, presence has the last word."""
    return (presence >= threshold) | (people >= FEW * most)
