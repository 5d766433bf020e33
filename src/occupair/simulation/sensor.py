"""Model of a CO2 sensor: people passing by, response time, noise and resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sensor:
    """A sensor with first-order response, noise and finite resolution.

    A constant calibration error is not modelled: an estimator is trained and used with the same sensor.

    Attributes
    ----------
    lag : time constant, 63 % of a step [min]
    noise : standard deviation of one reading [ppm]
    resolution : resolution of the output [ppm]
    """

    lag: float
    noise: float
    resolution: float


@dataclass(frozen=True)
class Passing:
    """CO2 spikes from people close to the sensor.

    Attributes
    ----------
    per_person : rate at which each person in the room comes close to the sensor [1/h]
    per_crossing : probability that a person entering or leaving passes close by [-]
    strength : median rise of CO2 at the sensor [ppm]
    strength_spread : standard deviation of its logarithm [-]
    clearing : time constant of the decay [min]
    """

    per_person: float
    per_crossing: float
    strength: float
    strength_spread: float
    clearing: float


def passing_rises(passing: Passing, *, occupancy: Array, crossings: Array, rng: np.random.Generator) -> Array:
    """Return the rise of CO2 at the sensor from people passing by [ppm], one value per minute.

    Parameters
    ----------
    passing
        Rates and strength of the spikes.
    occupancy
        Occupancy in each minute [people].
    crossings
        Number of people entering or leaving in each minute [people].
    rng
        Random generator.

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
    """Return the first-order response to ``air`` [ppm] per minute, with time constant ``lag`` [min].

    Each value applies to the minute before it; the initial state is in equilibrium with the first value.

    Examples
    --------
    >>> follow(np.array([400.0, 500.0, 500.0]), lag=1.0).round(2).tolist()
    [400.0, 463.21, 486.47]
    """
    left = np.exp(-1 / lag)
    shown, _ = lfilter([1 - left], [1.0, -left], air, zi=[left * air[0]])
    return np.asarray(shown)


def read_out(sensor: Sensor, air: Array, noise: Array) -> Array:
    """Return the readings of the sensor in ``air`` [ppm], with standard normal ``noise`` [-].

    Examples
    --------
    >>> sensor = Sensor(lag=2, noise=3, resolution=1)
    >>> read_out(sensor, np.full(3, 400.2), np.array([0.0, 1.0, -1.0])).tolist()
    [400.0, 403.0, 397.0]
    """
    return _digits(sensor, follow(air, lag=sensor.lag), noise)


class LiveSensor:
    """Sensors of several runs, read one minute after the other; equal to ``read_out`` of the whole series.

    Parameters
    ----------
    sensor : Sensor
        Properties of all sensors.

    Examples
    --------
    >>> live = LiveSensor(Sensor(lag=1, noise=3, resolution=1))
    >>> [live.read(np.array([air]), np.zeros(1)).item() for air in (400.0, 500.0, 500.0)]
    [400.0, 463.0, 486.0]
    """

    def __init__(self, sensor: Sensor) -> None:
        self._sensor = sensor
        self._shown: Array | None = None

    def read(self, air: Array, noise: Array) -> Array:
        """Return the next reading of each run [ppm] in ``air`` [ppm], with standard normal ``noise`` [-]."""
        left = np.exp(-1 / self._sensor.lag)
        self._shown = air if self._shown is None else left * self._shown + (1 - left) * air
        return _digits(self._sensor, self._shown, noise)


def _digits(sensor: Sensor, shown: Array, noise: Array) -> Array:
    """Return the output of the sensor [ppm]: the response plus noise, at its resolution."""
    return np.asarray(np.round((shown + sensor.noise * noise) / sensor.resolution) * sensor.resolution)
