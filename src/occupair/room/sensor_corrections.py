"""Corrections of the CO2 estimate by optional sensors.

The estimate from CO2 stays what it is without other sensors. On top of it,

    people = clamp(CO2 estimate + correction),

where the correction is linear in the CO2 estimate and in the features of the sensors
(``occupair.room.sensor_features``), relative to their values in the empty room. Features are clipped to their
range in training, so a sensor out of range cannot cause an absurd count. Products of the CO2 estimate and a
sensor are left out: they fit a single busy day, and fail on the next.

Sensors are ordered by their gain, and there is a correction for each prefix of this order. If a sensor is
missing, the correction of the longest usable prefix applies; without any, the CO2 estimate. A stuck sensor
(``occupair.room.stuck_sensors``) is missing. Outside the open hours nothing is corrected, and where CO2
indicates nobody, less than half a person stays nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock, Inputs
from occupair.room.model import RoomModel
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.sensor_features import N_FEATURES, SensorHistory, episode_features, on_scale
from occupair.room.stuck_sensors import NO_RUN, Run, StuckRule, last_run

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

Runs = Mapping[str, Run]
"""Newest run of equal values of each sensor that has a ``StuckRule``."""

NOBODY = 0.5
"""A corrected estimate below this is 0 where the CO2 estimate is 0 [people]: it would round to 0."""


@dataclass(frozen=True)
class Correction:
    """Correction by the first S sensors, at each of R lags.

    Parameters
    ----------
    low, high : array of shape (R, 4 S)
        Range of the features in training.
    rest : array of shape (R, 4 S)
        Features when nobody is present.
    scale : array of shape (R, 4 S)
        Root mean square deviation from ``rest`` in training.
    coef : array of shape (R, 1 + 4 S)
        Coefficients of the CO2 estimate, as a share of the maximum occupancy, and of the scaled features
        [people].
    intervals : tuple of PredictionIntervals
        Prediction intervals of the corrected estimates at each lag.
    """

    low: Array
    high: Array
    rest: Array
    scale: Array
    coef: Array
    intervals: tuple[PredictionIntervals, ...]

    def people(self, co2_people: Array, features: Array, max_people: float) -> Array:
        """Return the corrected estimates [people].

        Parameters
        ----------
        co2_people : array of shape (R, N)
            Estimates from CO2 [people].
        features : array of shape (R, N, 4 S)
            Features of the sensors.
        max_people : float
            Maximum occupancy in training [people].
        """
        low, high, weights, at_rest = self._by_lag
        clipped = np.minimum(np.maximum(features, low), high)
        delta = (clipped @ weights)[:, :, 0] - at_rest
        delta += self.coef[:, :1] * (co2_people / max(max_people, 1.0))
        return clamp_corrected(co2_people, delta, max_people)

    @cached_property
    def _by_lag(self) -> tuple[Array, Array, Array, Array]:
        """Range, shape (R, 1, 4 S), and weights (R, 4 S, 1) of the features, and their sum at rest (R, 1)."""
        weights = self.coef[:, 1:] / self.scale
        at_rest = (weights * self.rest).sum(axis=1, keepdims=True)
        return self.low[:, np.newaxis], self.high[:, np.newaxis], weights[:, :, np.newaxis], at_rest


def clamp_corrected(co2_people: Array, delta: Array, max_people: float) -> Array:
    """Return CO2 estimate plus correction, clamped; see ``NOBODY`` [people].

    Examples
    --------
    >>> clamp_corrected(np.array([0.0, 0.0, 3.0, 3.0]), np.array([0.4, 2.0, -5.0, 9.0]), 10.0).tolist()
    [0.0, 2.0, 0.0, 10.0]
    """
    people = np.minimum(np.maximum(co2_people + delta, 0.0), max_people)
    return np.where((co2_people == 0) & (people < NOBODY), 0.0, people)


@dataclass(frozen=True)
class SensorCorrections:
    """The corrections of a room.

    Parameters
    ----------
    names : tuple of str
        Sensors in the order of their gain.
    steps : tuple of Correction
        Correction by the first sensor, by the first two, and so on.
    interval : float
        Time between readings [min].
    lags : tuple of int
        Lag of each refinement [readings].
    max_people : float
        Maximum occupancy in training [people].
    hours : OpenHours
        When the room may be occupied.
    stuck : tuple of StuckRule
        When each sensor is stuck; empty in models of earlier versions, for which none ever is.
    """

    names: tuple[str, ...]
    steps: tuple[Correction, ...]
    interval: float
    lags: tuple[int, ...]
    max_people: float
    hours: OpenHours
    stuck: tuple[StuckRule, ...] = ()

    def new_runs(self) -> Runs:
        """Return the runs before the first reading, by sensor."""
        return dict.fromkeys(self.names if self.stuck else (), NO_RUN)

    def relevant_runs(self, runs: Runs) -> Runs:
        """Return the runs of the sensors that may get stuck: those at a resting level start anew."""
        rules = dict(zip(self.names, self.stuck, strict=False))
        return {
            name: run if (run := runs.get(name, NO_RUN)).value not in rule.rest else NO_RUN
            for name, rule in rules.items()
        }

    def without_stuck(self, columns: Mapping[str, Array], runs: Runs) -> tuple[dict[str, Array], Runs]:
        """Return the readings of an episode with NaN where a sensor is stuck, and the runs at its end.

        Parameters
        ----------
        columns : mapping
            Readings of the sensors; NaN if missing.
        runs : mapping
            Runs before the episode.
        """
        found, after = dict(columns), dict(runs)
        for name, rule in zip(self.names, self.stuck, strict=False):
            if name in found:
                values = found[name]
                found[name] = np.where(rule.stuck_readings(values, self.interval, runs[name]), np.nan, values)
                after[name] = last_run(values, runs[name])
        return found, after

    def new_history(self) -> SensorHistory:
        """Return an empty history of the sensors."""
        return SensorHistory(self.names, self.interval, self.lags)

    def features(self, columns: Mapping[str, Array], size: int) -> tuple[Array, Bools]:
        """Return features, shape (R, N, 4 S), and usable sensors, (S, R, N), of an episode of N readings."""
        missing = np.full(size, np.nan)
        found = [
            episode_features(on_scale(name, columns.get(name, missing)), self.interval, self.lags)
            for name in self.names
        ]
        return np.concatenate([one for one, _ in found], axis=2), np.array([usable for _, usable in found])

    def correct(
        self, co2_people: Array, clock: Clock, features: Array, usable: Bools
    ) -> tuple[Array, NDArray[np.int64]]:
        """Correct estimates from CO2.

        Parameters
        ----------
        co2_people : array of shape (R, N)
            Estimates from CO2 [people].
        clock : Clock
            Local time of the N newest readings.
        features, usable
            See ``features``.

        Returns
        -------
        people : array of shape (R, N)
            Corrected estimates [people].
        applied : array of int of shape (R, N)
            Number of sensors whose correction was applied; 0 for the CO2 estimate.
        """
        is_open = np.array([self.hours.at(clock, lag * self.interval) for lag in self.lags])
        applied = np.where(is_open, np.logical_and.accumulate(usable).sum(axis=0), 0)
        people = co2_people
        for size in np.unique(applied[applied > 0]).tolist():
            step = self.steps[size - 1]
            corrected = step.people(co2_people, features[:, :, : N_FEATURES * size], self.max_people)
            people = np.where(applied == size, corrected, people)
        return people, applied


def episode_people(
    model: RoomModel,
    sensors: SensorCorrections,
    inputs: Inputs,
    columns: Mapping[str, Array],
    lag: int,
    confidence: float,
    *,
    hindsight: bool = False,
) -> tuple[Array, Array, Array]:
    """Estimate every reading of an episode as ``RoomModel.episode_people`` does, with the optional sensors.

    Parameters
    ----------
    model, sensors
        The trained room and its corrections.
    inputs : Inputs
        Inputs of the episode.
    columns : mapping
        Readings of the sensors in the episode, from ``without_stuck``; a missing column or NaN: the sensor is
        missing.
    lag : int
        Lag of the refined estimates [readings].
    confidence : float
        Nominal coverage of the prediction interval.
    hindsight : bool
        Whether to use the whole episode; ``lag`` is then the longest one. Corrected estimates stay as they
        are at this lag: they fluctuate less than those from CO2, which the smoothing was found on.

    Returns
    -------
    people, low, high
        Estimate and prediction interval of each reading [people].
    """
    co2_people, if_open = model.people(inputs)
    people, applied = sensors.correct(co2_people, inputs.clock, *sensors.features(columns, len(inputs)))
    found = np.zeros((3, len(inputs)))

    def intervals(k: int, refined: Array, co2_intervals: PredictionIntervals) -> tuple[Array, Array]:
        before = model.refinements[k].lag
        size = applied[k, before:]
        low, high = model.episode_intervals(
            k, inputs, refined, if_open[k, before:], confidence, co2_intervals
        )
        for step in np.unique(size[size > 0]).tolist():
            corrected = sensors.steps[step - 1].intervals[k].around(refined, confidence)
            low, high = (np.where(size == step, *pair) for pair in zip(corrected, (low, high), strict=True))
        return low, high

    for k, one in enumerate(model.refinements):
        if one.lag <= lag:
            refined = people[k, one.lag :]
            found[:, : refined.size] = refined, *intervals(k, refined, one.intervals)
    if hindsight and model.hindsight is not None:
        smoothed = model.in_hindsight(found[0], inputs)
        smoothed = np.where(applied[-1, model.refinements[-1].lag :] > 0, found[0, : smoothed.size], smoothed)
        found[:, : smoothed.size] = smoothed, *intervals(-1, smoothed, model.hindsight.intervals)
    return found[0], found[1], found[2]


def describe_unused(names: Sequence[str], stuck: Sequence[str] = ()) -> str:
    """Return which sensors an estimate does without, and which of them are stuck; "" if none.

    Examples
    --------
    >>> describe_unused(["humidity"])
    'estimated without humidity: no recent reading'
    >>> describe_unused(["wifi", "humidity"], stuck=["wifi"])
    'estimated without wifi, humidity: wifi unchanged for too long'
    """
    if not names:
        return ""
    why = f"{', '.join(stuck)} unchanged for too long" if stuck else "no recent reading"
    return f"estimated without {', '.join(names)}: {why}"
