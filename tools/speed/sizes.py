"""How large the work is: as in the paper, or small, to try the script out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sizes:
    """What is measured.

    Parameters
    ----------
    days : int
        Training days of 1,440 minutes.
    n_hidden : int
        Neurons, L.
    rounds : int
        Runs of each contender, of which the best counts.
    n_draws : int
        Random layers to choose from.
    epochs : int
        Of scikit-learn's MLP.
    growth_days, growth_hidden, growth_horizon : tuple of int
        Sizes to follow the cost over: training days, neurons, horizon [min].
    growth_training : int
        Training days where the cost of a live day is followed.
    samples : int
        Readings of a day at which Eq. (26) is written out.
    rooms, lone_rooms, paper_rooms : tuple of int
        Rooms that are stepped: by the default estimator, by Eq. (26) one by one, and by it together.
    default : dict
        What of the default estimator is changed: nothing, but to try the script out.
    """

    days: int
    n_hidden: int
    rounds: int
    n_draws: int
    epochs: int
    growth_days: tuple[int, ...]
    growth_hidden: tuple[int, ...]
    growth_horizon: tuple[int, ...]
    growth_training: int
    samples: int
    rooms: tuple[int, ...]
    lone_rooms: tuple[int, ...]
    paper_rooms: tuple[int, ...]
    default: Mapping[str, Any] = field(default_factory=dict)


FULL = Sizes(
    days=25,
    n_hidden=1000,
    rounds=7,
    n_draws=100,
    epochs=10,
    growth_days=(6, 12, 25),
    growth_hidden=(250, 500, 1000, 2000),
    growth_horizon=(15, 30, 60, 120),
    growth_training=10,
    samples=24,
    rooms=(1_000, 10_000, 50_000),
    lone_rooms=(128, 2_000),
    paper_rooms=(512, 5_000, 50_000),
)

QUICK = Sizes(
    days=4,
    n_hidden=60,
    rounds=1,
    n_draws=10,
    epochs=1,
    growth_days=(1, 2),
    growth_hidden=(20, 40),
    growth_horizon=(15, 30),
    growth_training=2,
    samples=4,
    rooms=(10, 20),
    lone_rooms=(2, 4),
    paper_rooms=(2, 4),
    default={"n_hidden": 20, "ridge": 1.0},
)
