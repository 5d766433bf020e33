"""One day of one room by Eq. (26), updated by ``occupair.paper.live_kernel``."""

from __future__ import annotations

import math
from copy import copy
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import RandomLayer
from occupair.errors import InputError
from occupair.paper.features import Layer
from occupair.paper.live_kernel import DayState, SeriesState, revise, run_all, smooth_append
from occupair.paper.live_weights import LiveWeights, settled_smoother
from occupair.paper.network import Network

Array = NDArray[np.float64]

LEAN_HIDDEN = 16
"""Readings whose neurons a lean network stores."""
FORGET = 0.95
"""Decay of the largest observed error growth, per reading."""


class RevisedDay:
    """A day on which every reading updates the estimates of earlier readings.

    Parameters
    ----------
    network : Network
        The trained estimator, with feedback.
    tolerance : float
        Largest difference from the exact Eq. (26) [people].

    Attributes
    ----------
    revised, in_full : int
        Estimates updated by the newest reading, and how many of them were evaluated in full.
    """

    def __init__(self, network: Network, *, tolerance: float) -> None:
        self._weights = network.live_weights
        self._day = DayState(*np.zeros((len(DayState._fields), 1024)))  # empty for the first horizon
        self._series = _empty_series(self._weights)
        self._tolerance = tolerance
        self._growth = 1.0
        self._n = self.revised = self.in_full = 0

    def append(self, co2: float, ventilation: float) -> None:
        """Add the next reading [ppm], [0..1]."""
        if not math.isfinite(co2):
            raise InputError(f"co2 must be a finite number of ppm, got {co2}")
        n = self._n
        if n == self._day.people.size:
            self._day = DayState(*(np.append(values, np.zeros(512)) for values in self._day))
        self._day.ventilation[n] = ventilation
        limit = self._tolerance / (2.0 * self._growth)
        self.revised, self.in_full, growth = revise(
            self._weights, self._day, self._series, n, float(co2), limit
        )
        self._growth = max(growth, FORGET * self._growth)
        self._n += 1

    def restore(self, co2: Array, ventilation: Array) -> None:
        """Set the state of a new day to that after these readings: one run over all of them, Eq. (26)."""
        n = co2.size
        self._day = DayState(*np.zeros((len(DayState._fields), max(1024, n + 512))))
        self._day.ventilation[:n] = ventilation
        for k, reading in enumerate(co2.tolist()):
            smooth_append(self._day, self._weights.smoothing, k, reading)
        run_all(self._weights, self._day, n, np.zeros(self._weights.coef.size))
        self._n = n

    def copy(self) -> RevisedDay:
        """Return an independent copy of the day."""
        other = copy(self)
        other._day = DayState(*(values.copy() for values in self._day))
        other._series = SeriesState._make(values.copy() for values in self._series)
        return other

    def __len__(self) -> int:
        return self._n

    @property
    def people(self) -> Array:
        """Current estimates of all readings of the day [people]: Eq. (26), step 2."""
        return self._day.people[: self._n]

    @property
    def co2_smoothed(self) -> Array:
        """Locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._day.co2[: self._n].copy()

    @property
    def co2_now(self) -> float:
        """Smoothed CO2 of the newest reading [ppm]."""
        return float(self._day.co2[self._n - 1])


def _empty_series(w: LiveWeights) -> SeriesState:
    """Allocate series for the readings in which a change decays by e^36, and neurons for a decay by e^5."""
    horizon, n_hidden = w.feedback.shape
    fading = -math.log(settled_smoother(w.smoothing)[1]) if w.smoothing > 0 else math.inf
    n_series, n_stored = min(math.ceil(36 / fading) + 2, 2048), min(math.ceil(5 / fading) + 2, 128)
    n_stored = min(n_stored, LEAN_HIDDEN) if w.co2_scale.size > 1 else n_stored
    return SeriesState(
        reading=np.full(n_series, -1),
        co2=np.zeros(n_series),
        size=np.zeros(n_series),
        terms=np.zeros((n_series, 5)),
        past=np.zeros((n_series, horizon)),
        tangent=np.zeros((n_series, horizon)),
        gradient=np.zeros((n_series, horizon), np.float32),
        mixed=np.zeros((n_series, horizon), np.float32),
        hidden_reading=np.full(n_stored, -1),
        hidden=np.zeros((n_stored, n_hidden)),
        move=np.zeros(n_hidden),
        slopes=np.zeros(n_hidden, np.float32),
        bends=np.zeros(n_hidden, np.float32),
        steps=np.zeros(horizon),
    )


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Compile the kernel, or load it from the cache, so that no reading has to wait for it.

    Called by the first day of the paper's estimator in a process. Compilation takes some 10 seconds once per
    installation, loading a few tenths of a second.
    """
    random = RandomLayer(np.ones((5, 1)), np.ones(1))
    layer = Layer("elm", horizon=1, stride=1)
    scale = {"c": 1.0, "o": 1.0, "v": 1.0}
    network = Network(layer, smoothing=1.0, most_people=1.0, random=random, scale=scale, coef=np.ones(1))
    day = RevisedDay(network, tolerance=1.0)
    day.restore(np.ones(2), np.ones(2))
    day.append(1.0, 1.0)
