"""Regularised deconvolution: occupancy as the input that explains the CO2 readings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.co2_model import CO2Model, identify
from occupair.baselines.mass_balance import delays_within
from occupair.baselines.rolling import shifted

SMOOTHNESS = (16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0)


@dataclass(kw_only=True, eq=False, repr=False)
class DeconvolutionBaseline(Baseline):
    r"""Occupancy as the unknown input of an identified CO2 model, over a sliding window.

    After Ebadat et al. ("Regularized deconvolution-based approaches for estimating room occupancies"): a
    linear model from occupancy to CO2 is identified on the training days. The occupancy over the last
    ``horizon`` minutes then minimises the sum of squared misfit and squared steps,
    :math:`\min_n \sum (C - C(n))^2 + \lambda \sum (\Delta n)^2`. Its last
    value is the estimate, or with ``lag`` the value that much earlier.

    The balance is written as a cumulative sum (``CO2Model.exhaled``) that accounts for ventilation: the
    misfit is then the same quadratic form at any ventilation rate, and the solution is a fixed linear
    filter. Negative estimates are clipped rather than constrained. Lambda and the delay of CO2 (at most
    ``lag``) are those with the lowest error on the training days.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    horizon : float
        Length of the sliding window [min].
    spans : sequence of float
        Candidate averaging times of the identification [min].
    smoothness : sequence of float
        Candidate values of lambda [ppm squared min squared per person squared].

    Attributes
    ----------
    model_ : CO2Model
        The identified model.
    smoothness_, delay_ : float
        Selected lambda and delay [min].
    """

    horizon: float = 90
    spans: tuple[float, ...] = (10, 30)
    smoothness: tuple[float, ...] = SMOOTHNESS

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
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

    def _estimate_day(self, day: Day) -> Array:
        return self._deconvolved(day, self.model_, self.smoothness_, self.delay_)

    def _deconvolved(self, day: Day, model: CO2Model, smoothness: float, delay: float) -> Array:
        late = round(delay / day.interval)
        older = self._ahead(day) - late
        length = max(day.readings_in(self.horizon), older + 2)
        weights = filter_weights(length, older, gain=model.gain, smoothness=smoothness, interval=day.interval)
        exhaled = np.concatenate([np.zeros(length - 1), model.exhaled(day)])
        return shifted(np.convolve(exhaled, weights[::-1], mode="valid"), -self._ahead(day))


def filter_weights(length: int, older: int, *, gain: float, smoothness: float, interval: float) -> Array:
    """Return the filter weights that estimate the people ``older`` readings before the end of a window.

    The cumulative sum at reading k is an unknown start plus gain times interval times the people at
    readings up to k; the normal equations of misfit plus steps are solved once.

    Parameters
    ----------
    length : int
        Readings in the window.
    older : int
        Reading to estimate, counted back from the last.
    gain : float
        CO2 generation per person [ppm/min].
    smoothness : float
        Weight of the squared steps [ppm squared min squared per person squared].
    interval : float
        Time between readings [min].
    """
    totals = np.tril(np.full((length, length), gain * interval))
    totals[:, 0] = 1.0  # the first reading is part of the unknown start
    steps = np.diff(np.eye(length), axis=0)[1:]
    normal = totals.T @ totals + smoothness / interval**2 * (steps.T @ steps)
    weights: Array = np.linalg.solve(normal, totals.T)[length - 1 - older]
    return weights
