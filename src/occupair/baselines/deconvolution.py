"""Regularised deconvolution: the occupancy that a linear CO2 model needs to explain the readings."""

from __future__ import annotations

from itertools import product

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.co2_model import CO2Model, identify
from occupair.baselines.mass_balance import delays_within
from occupair.baselines.rolling import shifted

SMOOTHNESS = (16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0)


class DeconvolutionBaseline(Baseline):
    r"""People found as the unknown input of an identified CO2 model, over a sliding window.

    After Ebadat et al. ("Regularized deconvolution-based approaches for estimating room occupancies"): a
    linear model from people to CO2 is identified on the training days; then the occupancy over the last
    ``horizon`` minutes is the one that explains CO2 with the least total of squared misfit and squared
    steps, :math:`\min_n \sum (C - C(n))^2 + \lambda \sum (\Delta n)^2`, and its last value is the
    estimate, or with ``lag`` the value that much earlier.

    We write the balance as a running total (``CO2Model.exhaled``), in which ventilation is already
    accounted for: the misfit is then the same quadratic whatever the ventilation does, and the solution
    is one fixed linear filter. People below zero are clipped rather than constrained. Lambda and the
    delay of CO2 (at most ``lag``) are those with the least error on the training days.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    horizon : float
        Length of the sliding window [min].
    spans : sequence of float
        Spans of the identification to choose from [min].
    smoothness : sequence of float
        Lambdas to choose from [ppm squared min squared per person squared].

    Attributes
    ----------
    model_ : CO2Model
        The identified model.
    smoothness_, delay_ : float
        The lambda and the delay [min] chosen.
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        horizon: float = 90,
        spans: tuple[float, ...] = (10, 30),
        smoothness: tuple[float, ...] = SMOOTHNESS,
    ) -> None:
        self.lag = lag
        self.horizon = horizon
        self.spans = spans
        self.smoothness = smoothness

    def _learn(self, days: list[Day], people: list[Array]) -> None:
        base, truth = BackgroundCO2.learn(days), np.concatenate(people)
        best: tuple[float, CO2Model, float, float] | None = None
        for span, delay in product(self.spans, delays_within(self.lag)):
            model = identify(days, people, base, delay=delay, span=span)
            for smoothness in self.smoothness:
                found = np.concatenate([self._deconvolved(day, model, smoothness, delay) for day in days])
                error = float(np.mean((np.clip(found, 0, truth.max()) - truth) ** 2))
                if best is None or error < best[0]:
                    best = error, model, smoothness, delay
        assert best is not None
        _, self.model_, self.smoothness_, self.delay_ = best

    def _people(self, day: Day) -> Array:
        return self._deconvolved(day, self.model_, self.smoothness_, self.delay_)

    def _deconvolved(self, day: Day, model: CO2Model, smoothness: float, delay: float) -> Array:
        late = round(delay / day.interval)
        older = self._ahead(day) - late
        length = max(day.readings_in(self.horizon), older + 2)
        weights = filter_weights(length, older, gain=model.gain, smoothness=smoothness, interval=day.interval)
        exhaled = np.concatenate([np.zeros(length - 1), model.exhaled(day)])
        return shifted(np.convolve(exhaled, weights[::-1], mode="valid"), -self._ahead(day))


def filter_weights(length: int, older: int, *, gain: float, smoothness: float, interval: float) -> Array:
    """Weights on a window of running totals that give the people ``older`` readings before its end.

    The total at reading k is an unknown start plus gain times interval times the people at readings up
    to k; the normal equations of misfit plus steps are solved once.

    Parameters
    ----------
    length : int
        Readings in the window.
    older : int
        Which reading is asked for, counted back from the last.
    gain : float
        What one person adds [ppm/min].
    smoothness : float
        Weight of the squared steps [ppm squared min squared per person squared].
    interval : float
        Time between readings [min].
    """
    totals = np.tril(np.full((length, length), gain * interval))
    totals[:, 0] = 1.0  # the people at the first reading are in the unknown start
    steps = np.diff(np.eye(length), axis=0)[1:]
    normal = totals.T @ totals + smoothness / interval**2 * (steps.T @ steps)
    weights: Array = np.linalg.solve(normal, totals.T)[length - 1 - older]
    return weights
