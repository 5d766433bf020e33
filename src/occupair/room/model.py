"""The default estimator of one room: an FS-ELM and the mass balance, averaged, for now and some time ago."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.room.balance import Balance
from occupair.room.features import Moment, room_columns
from occupair.room.hours import OpenHours
from occupair.room.linked_elm import LinkedLayer
from occupair.room.ranges import Ranges
from occupair.room.rows import Rows

Array = NDArray[np.float64]

LAGS = (0.0, 10.0, 20.0)
"""How long after a reading its estimate is refined by what came since [min]."""

FEW = 0.1
"""Share of the most people up to which an estimate is taken for nobody when nobody seems present."""


@dataclass(frozen=True)
class Refinement:
    """What a room says of a reading when ``moment.lag`` more have come.

    Parameters
    ----------
    balance : Balance
        The mass balance.
    moment : Moment
        Where the network looks.
    layer : LinkedLayer
        Its random layer.
    coef : array
        Its read-out of people.
    presence : array
        Its read-out of whether anybody is in: about 1 then, about 0 else.
    threshold : float
        Presence from which on somebody is in.
    ranges : Ranges
        How far off its estimates are.
    """

    balance: Balance
    moment: Moment
    layer: LinkedLayer
    coef: Array
    presence: Array
    threshold: float
    ranges: Ranges

    @property
    def lag(self) -> int:
        """Readings that have come since."""
        return self.moment.lag


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

    def people(self, rows: Rows) -> list[Array]:
        """Estimate, at every row, the people in at the reading that each refinement is for [people]."""
        balances = {one.lag: self._clamped(one.balance.people(rows)) for one in self.refinements}
        said = np.column_stack([balances[lag] for lag in lags_at(self.interval)])
        return [self._people(rows, one, balances[one.lag], said) for one in self.refinements]

    def of_day(self, rows: Rows, wait: int, interval: float = 0.9) -> tuple[Array, Array, Array]:
        """Estimate every reading of an episode by what is known ``wait`` readings after it.

        Parameters
        ----------
        rows : Rows
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
        for one, people in zip(self.refinements, self.people(rows), strict=True):
            if one.lag <= wait:
                then = people[one.lag :]
                found[:, : then.size] = then, *one.ranges.around(then, interval)
        return found[0], found[1], found[2]

    def _people(self, rows: Rows, one: Refinement, balance: Array, said: Array) -> Array:
        columns = one.layer.columns(room_columns(rows, one.balance, one.moment, said))
        people = averaged(self._clamped(columns @ one.coef), balance, self.network_share)
        present = is_present(people, columns @ one.presence, one.threshold, self.most_people)
        return np.where(present & self.hours.at(rows.clock, rows.interval * one.lag), people, 0.0)

    def _clamped(self, people: Array) -> Array:
        return people.clip(0.0, self.most_people)


def averaged(network: Array, balance: Array, share: float | Array) -> Array:
    """Average what the FS-ELM and the mass balance say [people]."""
    return share * network + (1 - share) * balance


def is_present(
    people: Array, presence: Array, threshold: float | Array, most: float | Array
) -> NDArray[np.bool_]:
    """Tell whether anybody is in: where few are estimated, presence has the last word."""
    return (presence >= threshold) | (people >= FEW * most)


def lags_at(interval: float) -> tuple[int, ...]:
    """``LAGS`` in readings, as many as have come after so many minutes.

    Examples
    --------
    >>> lags_at(1.0), lags_at(15.0)
    ((0, 10, 20), (0, 0, 1))
    """
    return tuple(int(lag / interval + 1e-6) for lag in LAGS)
