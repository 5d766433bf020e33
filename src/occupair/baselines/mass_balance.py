"""The CO2 mass balance solved for occupancy, from the rise and the level of CO2 and the ventilation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.rolling import running_mean, running_slope, shifted
from occupair.errors import InputError

DELAYS = (0, 5, 10, 15, 20, 25, 30)  # [min]


@dataclass(kw_only=True, eq=False, repr=False)
class MassBalanceBaseline(Baseline):
    r"""Occupancy from the CO2 mass balance, fitted by least squares.

    .. math:: n = a\,\dot C + (b + c v + d v^2)(C - C_{base}) + e

    Rise and level of CO2 are those of a straight line through the last minutes, ventilation is averaged
    over them, and the background level is a running one (``BackgroundCO2``). The constant ``e`` absorbs
    the error of the background level.

    Mixing and sensor response delay CO2. With a ``lag``, a later balance is more informative; the delay
    and the length of the line are those that fit the training days best.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    windows : sequence of float
        Candidate lengths of the line [min].
    intercept : bool
        Whether to fit the constant ``e``.

    Attributes
    ----------
    coef_ : array of shape (5,)
        a [people min/ppm]; b, c and d [people/ppm]; e [people].
    window_, delay_ : float
        Length of the line, and delay of the CO2 response, at most ``lag`` [min].
    base_ : BackgroundCO2
        Background level.

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=3, seed=1)
    >>> model = MassBalanceBaseline().fit(office)
    >>> bool(oc.metrics.rmse(office["occupancy"], model.estimate(office)) < office["occupancy"].std() / 2)
    True
    """

    windows: tuple[float, ...] = (6, 10, 20, 40)
    intercept: bool = True

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        base, truth = BackgroundCO2.learn(days), np.concatenate(people)
        best: tuple[float, Array, float, float] | None = None
        for window, delay in product(self.windows, delays_within(self.lag)):
            rows = np.vstack([self._terms(day, base, window, delay) for day in days])
            coef = np.linalg.lstsq(rows, truth, rcond=None)[0]
            error = float(np.mean((rows @ coef - truth) ** 2))
            if best is None or error < best[0]:
                best = error, np.asarray(coef, dtype=float), window, delay
        if best is None:
            raise InputError(f"windows must have at least one length in minutes, got {self.windows!r}")
        self.base_ = base
        _, self.coef_, self.window_, self.delay_ = best

    def _terms(self, day: Day, base: BackgroundCO2, window: float, delay: float) -> Array:
        terms = balance_terms(day, base, window=window, delay=delay)
        terms[:, -1] *= self.intercept
        return terms

    def _estimate_day(self, day: Day) -> Array:
        return np.asarray(self.contributions(day).sum(axis=1))

    def contributions(self, day: Day) -> Array:
        """Return the contribution of each term to the estimate, one column per coefficient [people]."""
        return self._terms(day, self.base_, self.window_, self.delay_) * self.coef_


def balance_terms(day: Day, base: BackgroundCO2, *, window: float, delay: float = 0) -> Array:
    """Return the terms of the mass balance ``delay`` minutes after each reading, over a ``window`` [min].

    Returns
    -------
    array of shape (N, 5)
        Rise of CO2 [ppm/min]; CO2 above background, the same times v and times v squared [ppm]; 1.
    """
    length, late = max(day.readings_in(window), 2), round(delay / day.interval)
    rise = running_slope(day.co2, length)
    co2_now = running_mean(day.co2, length) + rise * (length - 1) / 2
    above = co2_now - base.at(day)
    flow = running_mean(day.ventilation, length)
    terms = [rise / day.interval, above, flow * above, flow**2 * above, np.ones(len(day))]
    return np.column_stack([shifted(term, -late) for term in terms])


def delays_within(lag: float) -> tuple[float, ...]:
    """Return the candidate delays of CO2 for estimates with a ``lag`` [min].

    Examples
    --------
    >>> delays_within(12)
    (0, 5, 10, 12)
    """
    return (*(delay for delay in DELAYS if delay < lag), min(lag, DELAYS[-1]))
