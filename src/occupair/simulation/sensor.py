"""What a CO2 sensor makes of the air around it: people passing, lag, noise, whole ppm."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sensor:
    """A sensor that follows the air slowly and rounds.

    Its calibration error is left out: it is constant for one sensor, and whoever learns from a room
    learns from the sensor that hangs in it.

    Attributes
    ----------
    lag : time to follow 63 % of a step [min]
    noise : standard deviation of one reading [ppm]
    resolution : smallest step it shows [ppm]
    """

    lag: float
    noise: float
    resolution: float


@dataclass(frozen=True)
class Passing:
    """People near the sensor: how often, and what their breath does to the air around it.

    Attributes
    ----------
    per_person : visits near the sensor by each person in the room [1/h]
    per_crossing : chance that somebody coming in or going out passes close by [-]
    strength : median rise of CO2 around the sensor at one visit [ppm]
    strength_spread : standard deviation of its logarithm [-]
    clearing : time in which 63 % of the rise has blown away [min]
    """

    per_person: float
    per_crossing: float
    strength: float
    strength_spread: float
    clearing: float


def passing_rises(passing: Passing, *, occupancy: Array, crossings: Array, rng: np.random.Generator) -> Array:
    """Rise of CO2 around the sensor from people passing it [ppm], one value per minute.

    Parameters
    ----------
    passing
        How often and how strong.
    occupancy
        People in the room in each minute [people].
    crossings
        People coming in or going out in each minute [people].
    rng
        Source of chance.

    Examples
    --------
    >>> passing = Passing(per_person=1, per_crossing=1, strength=50, strength_spread=0, clearing=2)
    >>> nobody, rng = np.zeros(3), np.random.default_rng(0)
    >>> passing_rises(passing, occupancy=nobody, crossings=nobody, rng=rng).tolist()
    [0.0, 0.0, 0.0]
    """
    visits = rng.poisson(occupancy * passing.per_person / 60 + crossings * passing.per_crossing)
    minutes = np.repeat(np.arange(len(visits)), visits)
    strength = passing.strength * np.exp(passing.strength_spread * rng.standard_normal(len(minutes)))
    puffs = np.bincount(minutes, weights=strength, minlength=len(visits))
    return np.asarray(lfilter([1.0], [1.0, -np.exp(-1 / passing.clearing)], puffs))


def follow(air: Array, *, lag: float) -> Array:
    """Follow ``air`` [ppm], one value per minute, with a first-order ``lag`` [min].

    Each value is taken to have surrounded the sensor for the minute before it; before the first one
    the air had always been like it.

    Examples
    --------
    >>> follow(np.array([400.0, 500.0, 500.0]), lag=1.0).round(2).tolist()
    [400.0, 463.21, 486.47]
    """
    left = np.exp(-1 / lag)
    shown, _ = lfilter([1 - left], [1.0, -left], air, zi=[left * air[0]])
    return np.asarray(shown)


def read_out(sensor: Sensor, air: Array, noise: Array) -> Array:
    """Read the ``air`` [ppm] around the sensor, with standard normal ``noise`` [-].

    Examples
    --------
    >>> sensor = Sensor(lag=2, noise=3, resolution=1)
    >>> read_out(sensor, np.full(3, 400.2), np.array([0.0, 1.0, -1.0])).tolist()
    [400.0, 403.0, 397.0]
    """
    shown = follow(air, lag=sensor.lag) + sensor.noise * noise
    return np.asarray(np.round(shown / sensor.resolution) * sensor.resolution)
