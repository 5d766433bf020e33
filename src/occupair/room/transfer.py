"""Prior for a room with few labelled days, from other trained rooms.

The response of CO2 to people is physics and similar in similar rooms: the mass balance coefficients of other
rooms show where those of a new room are likely to lie, and how widely they vary. Usage patterns are specific
to a room and are not transferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.room.balance_shapes import covariance, nearest, shrink_towards
from occupair.room.lags import LAGS, lag_in_readings
from occupair.room.mass_balance import Balance, Penalty
from occupair.room.model import RoomModel
from occupair.room.pooled_start import PooledStart

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

Array = NDArray[np.float64]

PRIOR_SAMPLES = 300.0
"""Training samples, divided by the number of days, that the prior is equivalent to."""


@dataclass(frozen=True)
class BalancePrior:
    """Mass balances of other rooms.

    Parameters
    ----------
    balances : dict
        By lag [min], the balance of every room.
    uses_ventilation : bool
        Whether the rooms were trained with ventilation.
    pooled : PooledStart, optional
        Read-outs that the network starts from; None: those of the package.
    """

    balances: dict[float, tuple[Balance, ...]]
    uses_ventilation: bool
    pooled: PooledStart | None = None

    @property
    def n_rooms(self) -> int:
        """Number of rooms."""
        return len(next(iter(self.balances.values())))

    def check(self, uses_ventilation: bool) -> None:
        """Raise if only one of the new room and the other rooms has ventilation readings."""
        if uses_ventilation != self.uses_ventilation:
            theirs, ours = ("with", "without") if self.uses_ventilation else ("without", "with")
            raise InputError(
                f"readings must match the other rooms, which were trained {theirs} ventilation: "
                f"these are {ours} ventilation"
            )

    def penalty(self, lag: float, n_days: float) -> Penalty:
        """Return a penalty that shrinks a balance towards the other rooms, less so with more days."""
        by_weight = [sorted(one.variants, key=lambda one: -one.weight) for one in self.balances[lag]]

        def shrink(
            low_share: float, delay: float, terms: Array, people: Array, weight: Array | None = None
        ) -> tuple[Array, Array]:
            coefs = np.array([nearest(variants, low_share, delay).coef for variants in by_weight])
            precision = np.asarray(np.linalg.inv(covariance(coefs)), dtype=np.float64)
            return shrink_towards(
                np.median(coefs, axis=0), precision, terms, people, weight, n_samples=PRIOR_SAMPLES / n_days
            )

        return shrink


def balance_prior(models: Sequence[OccupancyEstimator]) -> BalancePrior:
    """Return the prior given by trained estimators of other rooms."""
    if not models:
        raise InputError("rooms must contain at least one trained model, got none")
    for model in models:
        if not hasattr(model, "room_"):
            raise InputError("rooms must all be trained with layer 'room', the default")
    if len({model.uses_ventilation_ for model in models}) > 1:
        raise InputError("rooms must either all be trained with ventilation or all without")
    balances = {lag: tuple(_balance(model.room_, lag) for model in models) for lag in LAGS}
    return BalancePrior(balances, bool(models[0].uses_ventilation_))


def _balance(room: RoomModel, lag: float) -> Balance:
    """Return the mass balance of a room at a lag [min], or at the longest shorter one that it has.

    At long intervals several lags share one balance.
    """
    readings = lag_in_readings(lag, room.interval)
    return [one.balance for one in room.refinements if one.lag <= readings][-1]
