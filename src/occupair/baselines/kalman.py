"""A grey-box Kalman filter: the CO2 balance with occupancy as a hidden random walk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.co2_model import CO2Model, identify
from occupair.baselines.kalman_filter import Noise, Series, fixed_lag, kalman_filter
from occupair.baselines.mass_balance import delays_within
from occupair.baselines.rolling import shifted


@dataclass(kw_only=True, eq=False, repr=False)
class KalmanBaseline(Baseline):
    r"""CO2 and occupancy as two hidden states, the first of which is measured.

    .. math:: \dot C = g n - (k_0 + k_1 v + k_2 v^2)(C - C_{base}) + h + w_C, \quad \dot n = w_n

    The balance is identified by least squares on the training days (``co2_model.identify``); the variance
    of the random walk is the mean squared step of the head counts. The noise of sensor and balance, the
    averaging time of the identification and the delay of CO2 (at most ``lag``) are those with the lowest
    error on the training days. With ``lag``, a fixed-lag smoother gives the estimate.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    spans : sequence of float
        Candidate averaging times of the identification [min].
    air_noise : sequence of float
        Candidate process noise variances of the balance [ppm squared/min].
    sensor_noise : sequence of float
        Candidate measurement noise variances [ppm squared].

    Attributes
    ----------
    model_ : CO2Model
        Identified balance.
    noise_ : Noise
        Noise variances.
    delay_ : float
        Delay of the CO2 response, at most ``lag`` [min].
    """

    spans: tuple[float, ...] = (10, 30)
    air_noise: tuple[float, ...] = (0.1, 10.0, 100.0)
    sensor_noise: tuple[float, ...] = (1.0, 30.0, 1000.0, 30000.0)

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        base, walk = BackgroundCO2.learn(days), _random_walk(days, people)
        levels = [replace(walk, air=q, sensor=r) for q, r in product(self.air_noise, self.sensor_noise)]
        best: tuple[float, CO2Model, Noise, float] | None = None
        for span, delay in product(self.spans, delays_within(self.lag)):
            model = identify(days, people, base, delay=delay, span=span)
            errors = self._errors(days, people, model, levels, delay)
            least = int(np.argmin(errors))
            if best is None or errors[least] < best[0]:
                best = float(errors[least]), model, levels[least], delay
        assert best is not None
        _, self.model_, self.noise_, self.delay_ = best

    def _errors(
        self, days: list[Day], people: list[Array], model: CO2Model, levels: list[Noise], delay: float
    ) -> Array:
        """Return the squared error on the training days for each noise level [people squared]."""
        found = self._smoothed(days * len(levels), model, [one for one in levels for _ in days], delay)
        most = max(float(inside.max()) for inside in people)
        misses = [
            np.sum((np.clip(one, 0, most) - inside) ** 2)
            for one, inside in zip(found, people * len(levels), strict=True)
        ]
        return np.asarray(np.reshape(misses, (len(levels), len(days))).sum(axis=1))

    def _estimate_day(self, day: Day) -> Array:
        return self._smoothed([day], self.model_, [self.noise_], self.delay_)[0]

    def _smoothed(self, days: list[Day], model: CO2Model, noise: list[Noise], delay: float) -> list[Array]:
        ahead, late = self._ahead(days[0]), round(delay / days[0].interval)
        series = Series.of(days, model)
        people = fixed_lag(kalman_filter(series, noise, days[0].interval), series, ahead - late)
        return [shifted(people[: len(day), j], -late) for j, day in enumerate(days)]


def _random_walk(days: list[Day], people: list[Array]) -> Noise:
    steps = np.concatenate([np.diff(inside) for inside in people])
    start = float(np.mean([inside[0] ** 2 for inside in people]))
    walk = float(np.mean(steps**2)) / days[0].interval if steps.size else 0.0
    return Noise(people=max(walk, 1e-6), air=0.0, sensor=0.0, start=start)
