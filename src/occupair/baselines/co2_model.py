"""A linear model of the room's CO2 with occupancy as input, identified from training days."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Day
from occupair.baselines.rolling import running_mean, shifted


@dataclass(frozen=True)
class CO2Model:
    r"""First-order CO2 balance: :math:`\dot C = g n - (k_0 + k_1 v + k_2 v^2)(C - C_{base}) + h`.

    Parameters
    ----------
    gain : float
        g, CO2 generation per person [ppm/min].
    decay : tuple of three floats
        k0, k1 and k2, removal by ventilation [1/min].
    drift : float
        h, error of the background level [ppm/min].
    base : BackgroundCO2
        Background level.
    """

    gain: float
    decay: tuple[float, float, float]
    drift: float
    base: BackgroundCO2

    def decay_at(self, day: Day) -> Array:
        """Return the removal rate of CO2 above background at each reading, at least 0 [1/min]."""
        k0, k1, k2 = self.decay
        v = day.ventilation
        return np.maximum(k0 + k1 * v + k2 * v**2, 0.0)

    def exhaled(self, day: Day) -> Array:
        """Return the CO2 exhaled since the start of the day, as implied by the readings [ppm].

        The rise of CO2 plus all CO2 removed by ventilation: the cumulative sum of gain times people.
        """
        loss = self.decay_at(day) * (day.co2 - self.base.at(day)) - self.drift
        lost = np.cumsum(shifted(loss, 1)) - loss[0]
        return np.asarray(day.co2 - day.co2[0] + lost * day.interval)


def identify(
    days: list[Day], people: list[Array], base: BackgroundCO2, *, delay: float = 0, span: float = 30
) -> CO2Model:
    """Identify the model by least squares on the balance averaged over ``span`` minutes.

    Averaging reduces the noise of the CO2 rise. The residuals minimised are those of the people,
    n = a dC/dt + (b + c v + d v^2)(C - C_base) + e, with g = 1/a, k = (b, c, d)/a, h = -e/a: head counts
    and CO2 both have errors, and occupancy is the quantity to estimate. Minimising CO2 residuals instead,
    a single day with unexplained CO2 halved the gain (SDU 2018, room 3).

    Parameters
    ----------
    days, people : list
        Training days and their head counts.
    base : BackgroundCO2
        Background level.
    delay : float
        Delay of the CO2 response [min].
    span : float
        Averaging time [min].
    """
    rows = [_summed(day, inside, base, delay, span) for day, inside in zip(days, people, strict=True)]
    terms = np.vstack([row[:, 1:] for row in rows])
    a, b, c, d, e = np.linalg.lstsq(terms, np.concatenate([row[:, 0] for row in rows]), rcond=None)[0]
    a = max(a, 1e-3)
    return CO2Model(float(1 / a), (float(b / a), float(c / a), float(d / a)), -float(e / a), base)


def _summed(day: Day, people: Array, base: BackgroundCO2, delay: float, span: float) -> Array:
    """Return the means of people, rise [ppm/min] and the other terms over the span before each reading."""
    length = day.readings_in(span)
    above, v = day.co2 - base.at(day), day.ventilation
    inputs = [shifted(people, round(delay / day.interval)), above, v * above, v**2 * above]
    inside, *means = [running_mean(shifted(term, 1), length) for term in inputs]
    rise = (day.co2 - shifted(day.co2, length)) / (length * day.interval)
    return np.column_stack([inside, rise, *means, np.ones(len(day))])[min(length, len(day) - 1) :]
