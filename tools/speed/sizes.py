"""Problem sizes: those of the paper, and small ones to test the script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sizes:
    """Problem sizes of one run.

    Parameters
    ----------
    days : int
        Training days of 1,440 minutes.
    n_hidden : int
        Number of neurons, L.
    rounds : int
        Runs of each contender; the best counts.
    n_draws : int
        Number of random layers to choose from.
    epochs : int
        Epochs of scikit-learn's MLP.
    growth_days, growth_hidden, growth_horizon : tuple of int
        Sizes for the scaling tables: training days, neurons, horizon [min].
    growth_training : int
        Training days of the live days in the scaling tables.
    samples : int
        Readings of a day at which the reference implementation of Eq. (26) is run.
    rooms, lone_rooms, paper_rooms : tuple of int
        Numbers of rooms: default estimator, Eq. (26) one by one, Eq. (26) batched.
    warm_up : int
        Readings of a room before the timed ones, until the update time of Eq. (26) is stationary.
    long_records : tuple of int
        Days of the long records, one reading per minute.
    default : dict
        Parameters of the default estimator that differ from the defaults; only in quick runs.
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
    warm_up: int
    long_records: tuple[int, ...]
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
    warm_up=160,
    long_records=(70, 350, 1826),
)

QUICK = Sizes(
    days=2,
    n_hidden=10,
    rounds=1,
    n_draws=2,
    epochs=1,
    growth_days=(1,),
    growth_hidden=(5,),
    growth_horizon=(15,),
    growth_training=1,
    samples=2,
    rooms=(2, 3),
    lone_rooms=(1, 2),
    paper_rooms=(1, 2),
    warm_up=2,
    long_records=(1, 2),
    default={"n_hidden": 5, "ridge": 1.0},
)

HUGE_RECORD = 6945
"""Days of the longest record, ten million minutes; measured on request."""
