"""A grey-box Kalman filter: the CO2 balance with the people as a hidden random walk."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.co2_model import CO2Model, identify
from occupair.baselines.kalman_filter import Noise, Series, fixed_lag, kalman_filter
from occupair.baselines.mass_balance import delays_within
from occupair.baselines.rolling import shifted


class KalmanBaseline(Baseline):
    r"""CO2 and people as two hidden states, of which the sensor sees the first.

    .. math:: \dot C = g n - (k_0 + k_1 v + k_2 v^2)(C - C_{base}) + h + w_C, \quad \dot n = w_n

    The balance is identified by least squares on the training days (``co2_model.identify``), the random
    walk of the people by their mean squared steps there. How far to trust the sensor and the balance, the
    span of the identification and the delay of CO2 (at most ``lag``) are those with the least error on
    the training days. With ``lag`` the estimate is that of a fixed-lag smoother.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    spans : sequence of float
        Spans of the identification to choose from [min].
    air_noise : sequence of float
        Variances of what the balance misses to choose from [ppm squared/min].
    sensor_noise : sequence of float
        Variances of a CO2 reading to choose from [ppm squared].

    Attributes
    ----------
    model_ : CO2Model
        The identified balance.
    noise_ : Noise
        The variances.
    delay_ : float
        How late CO2 answers, as far as ``lag`` allows to wait for it [min].
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        spans: tuple[float, ...] = (10, 30),
        air_noise: tuple[float, ...] = (0.1, 10.0, 100.0),
        sensor_noise: tuple[float, ...] = (1.0, 30.0, 1000.0, 30000.0),
    ) -> None:
        self.lag = lag
        self.spans = spans
        self.air_noise = air_noise
        self.sensor_noise = sensor_noise

    def _learn(self, days: list[Day], people: list[Array]) -> None:
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
        """Squared error on the training days with each noise [people squared]."""
        found = self._smoothed(days * len(levels), model, [one for one in levels for _ in days], delay)
        most = max(float(inside.max()) for inside in people)
        misses = [
            np.sum((np.clip(one, 0, most) - inside) ** 2)
            for one, inside in zip(found, people * len(levels), strict=True)
        ]
        return np.asarray(np.reshape(misses, (len(levels), len(days))).sum(axis=1))

    def _people(self, day: Day) -> Array:
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
