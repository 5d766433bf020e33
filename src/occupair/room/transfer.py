"""What other rooms know of a room with few labelled days.

How CO2 answers to people is physics, and much the same in rooms alike: the coefficients of the mass
balance of other rooms say where those of a new one will lie, and how closely. Its habits are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.room.lags import LAGS, lags_in_readings
from occupair.room.mass_balance import Balance, BalanceVariant, Penalty
from occupair.room.model import RoomModel

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

Array = NDArray[np.float64]

WORTH = 300.0
"""Inputs of a new room, over its days, that one room's knowledge of it is worth."""

_TOGETHER = 0.7  # how far coefficients that vary together over rooms are believed to do so here
_OWN_SPREAD = 0.5  # of its mean, the least spread of a coefficient over rooms


@dataclass(frozen=True)
class BalancePrior:
    """Mass balances of other rooms.

    Parameters
    ----------
    balances : dict
        By lag [min], the balance of every room.
    uses_ventilation : bool
        Whether they were trained with ventilation.
    """

    balances: dict[float, tuple[Balance, ...]]
    uses_ventilation: bool

    @property
    def n_rooms(self) -> int:
        """How many rooms there are."""
        return len(next(iter(self.balances.values())))

    def check(self, uses_ventilation: bool) -> None:
        """Refuse a room with ventilation readings when the others had none, or the other way round."""
        if uses_ventilation != self.uses_ventilation:
            theirs, ours = ("with", "without") if self.uses_ventilation else ("without", "with")
            raise InputError(f"the other rooms were trained {theirs} ventilation, these readings are {ours}")

    def penalty(self, lag: float, n_days: float) -> Penalty:
        """Draw the balance of a new room to those of the others, the less the more days it has."""
        balances = self.balances[lag]

        def draw(
            share: float, delay: float, terms: Array, people: Array, weight: Array | None = None
        ) -> tuple[Array, Array]:
            coefs = np.array([_nearest(balance.choices, share, delay).coef for balance in balances])
            start = np.median(coefs, axis=0)
            doubt = np.asarray(np.linalg.inv(_spread(coefs)), dtype=np.float64)
            off = people - terms @ start
            weighted = terms if weight is None else weight[:, np.newaxis] * terms
            penalty = _noise(off, weight) * doubt
            for _ in range(2):  # how noisy the room is shows once the balance fits it
                matrix = WORTH / n_days * penalty
                better = np.linalg.solve(weighted.T @ terms + matrix, weighted.T @ off)
                penalty = _noise(off - terms @ better, weight) * doubt
            return WORTH / n_days * penalty, start

        return draw


def balance_prior(models: Sequence[OccupancyEstimator]) -> BalancePrior:
    """Take from trained estimators what they know of other rooms."""
    if not models:
        raise InputError("rooms must name at least one trained model")
    for model in models:
        if not hasattr(model, "room_"):
            raise InputError("rooms must be trained with layer 'room', the default")
    if len({model.uses_ventilation_ for model in models}) > 1:
        raise InputError("rooms must be all with or all without ventilation")
    balances = {
        minutes: tuple(_balance(model.room_, lag) for model in models) for lag, minutes in enumerate(LAGS)
    }
    return BalancePrior(balances, bool(models[0].uses_ventilation_))


def _balance(room: RoomModel, place: int) -> Balance:
    """Give the mass balance for the ``place``-th of ``LAGS``; rooms that are read seldom have fewer."""
    lag = lags_in_readings(room.interval)[place]
    return next(one.balance for one in room.refinements if one.lag == lag)


def _noise(off: Array, weight: Array | None = None) -> float:
    """Mean square of what a balance is off [people squared]; never 0, or nothing would be penalised."""
    return max(float(np.average(off**2, weights=weight)), 1e-3)


def _nearest(choices: Sequence[BalanceVariant], share: float, delay: float) -> BalanceVariant:
    """Give the balance that counts from the same base and takes CO2 to answer as late, or nearly."""
    return min(choices, key=lambda choice: (abs(choice.share - share), abs(choice.delay - delay)))


def _spread(coefs: Array) -> Array:
    """Covariance of coefficients over rooms; few rooms tell little about which of them vary together."""
    own = np.maximum(coefs.std(axis=0), _OWN_SPREAD * np.abs(coefs.mean(axis=0))) + 1e-6
    if len(coefs) < 3:
        return np.diag(own**2)
    away = coefs - coefs.mean(axis=0)
    return np.asarray(_TOGETHER * away.T @ away / len(coefs) + (1 - _TOGETHER) * np.diag(own**2))
