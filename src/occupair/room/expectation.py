"""What to expect of a trained room, from its held-out training days, and what would improve it most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.readings.labelled_days import ENOUGH_DAYS
from occupair.room.model import RoomModel
from occupair.room.prediction_intervals import CONFIDENCE
from occupair.room.profile_comparison import ProfileComparison
from occupair.room.stack import MEMBERS
from occupair.room.training import HeldOutEstimates
from occupair.room.training_days import TrainingDays

Array = NDArray[np.float64]

MANY_DAYS = 2 * ENOUGH_DAYS
"""Labelled days beyond which further days are no longer the first advice."""

_NAMES = {
    "network": "network",
    "balance": "mass balance",
    "trees": "boosted trees",
    "kernel": "kernel regression",
    "profile": "time of day",
}


@dataclass(frozen=True)
class Expectation:
    """Expected accuracy of a trained room.

    Parameters
    ----------
    errors : dict
        By lag [min], the RMSE on held-out days [people].
    coverage, occupied_coverage : float
        Share of the held-out readings, and of the occupied ones, within the 90 % prediction interval at lag
        0 [0..1]; NaN without such readings. The intervals are calibrated on the same days.
    weights : dict
        By member, its weight at lag 0.
    advice : str
        What would improve the estimates most.
    hindsight_error : float, optional
        RMSE in hindsight on held-out days [people].
    """

    errors: dict[float, float]
    coverage: float
    occupied_coverage: float
    weights: dict[str, float]
    advice: str
    hindsight_error: float | None = None

    def __str__(self) -> str:
        errors = ", ".join(
            f"{error:.2f} {'live' if lag == 0 else f'after {lag:g} min'}"
            for lag, error in self.errors.items()
        )
        if self.hindsight_error is not None:
            errors += f", {self.hindsight_error:.2f} in hindsight"
        weights = ", ".join(f"{_NAMES[name]} {100 * weight:.0f} %" for name, weight in self.weights.items())
        lines = [f"Expected error (RMSE on held-out days) [people]: {errors}."]
        if np.isfinite(self.coverage):
            occupied = (
                f", {100 * self.occupied_coverage:.0f} % of those with people"
                if np.isfinite(self.occupied_coverage)
                else ""
            )
            lines.append(
                f"The {100 * CONFIDENCE:.0f} % interval covers {100 * self.coverage:.0f} % of them{occupied}."
            )
        return "\n".join([*lines, f"Weights: {weights}.", f"What would help most: {self.advice}."])


def expect(
    model: RoomModel,
    held_out: HeldOutEstimates,
    comparison: ProfileComparison | None,
    *,
    uses_ventilation: bool,
    uses_sensors: bool,
) -> Expectation:
    """Return what to expect of a room that was trained on two days or more.

    Parameters
    ----------
    model : RoomModel
        The trained room.
    held_out : HeldOutEstimates
        Its held-out estimates.
    comparison : ProfileComparison, optional
        Comparison with the time-of-day profile.
    uses_ventilation, uses_sensors : bool
        Whether the readings have ventilation, and columns of other sensors.
    """
    training = held_out.training
    errors = {
        lag: _rmse(held_out.by_lag[steps] - training.target(steps), _counted_weight(training, steps))
        for lag, steps in zip(training.lags, training.lags_in_readings, strict=True)
    }
    longest, smoothed = training.lags_in_readings[-1], held_out.in_hindsight
    covered, occupied = _covered(model, held_out)
    first = model.refinements[0]
    return Expectation(
        errors,
        float(covered.mean()) if covered.size else np.nan,
        float(covered[occupied].mean()) if occupied.any() else np.nan,
        dict(zip(MEMBERS, first.weights, strict=True)),
        _advice(held_out, comparison, uses_ventilation=uses_ventilation, uses_sensors=uses_sensors),
        None
        if smoothed is None
        else _rmse(smoothed - training.target(longest), _counted_weight(training, longest)),
    )


def _counted_weight(training: TrainingDays, lag: int) -> Array | None:
    """Return the weights of the head counts at a lag, all days concatenated; None: all 1."""
    weights = training.counted_weights(lag)
    return None if weights is None else np.concatenate(weights)


def _rmse(error: Array, weight: Array | None) -> float:
    return float(np.sqrt(np.average(error**2, weights=weight)))


def _covered(model: RoomModel, held_out: HeldOutEstimates) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each labelled reading is within its interval, and whether it is occupied."""
    training, intervals = held_out.training, model.refinements[0].intervals
    low, high = (
        np.concatenate(ends)
        for ends in zip(
            *(
                intervals.around(estimated, CONFIDENCE, intervals.scales_at(inputs))
                for inputs, estimated in zip(training.days, held_out.estimated, strict=True)
            ),
            strict=True,
        )
    )
    people, weight = training.target(0), _counted_weight(training, 0)
    labelled = np.ones(people.size, dtype=bool) if weight is None else weight > 0
    covered = (low <= people) & (people <= high)
    return covered[labelled], (people > 0)[labelled]


def _advice(
    held_out: HeldOutEstimates,
    comparison: ProfileComparison | None,
    *,
    uses_ventilation: bool,
    uses_sensors: bool,
) -> str:
    days, training = held_out.effective_days, held_out.training
    if days < ENOUGH_DAYS:
        return f"head counts on more days ({days:.1f} full days so far, {ENOUGH_DAYS} or more are wanted)"
    if training.labelled_hours_share < 1:
        return f"head counts {_unlabelled_hours(training.sparse.hourly_weights)}"  # type: ignore[union-attr]
    if not uses_ventilation:
        return "a ventilation signal (fan speed, damper position or air flow)"
    if comparison is not None and not comparison.co2_helps and not uses_sensors:
        return "another sensor, such as humidity, sound or Wi-Fi clients: CO2 tells little in this room"
    if days < MANY_DAYS:
        return f"a second week of head counts ({days:.0f} full days so far)"
    return (
        "another sensor, such as humidity, sound or Wi-Fi clients"
        if not uses_sensors
        else "busier days in training"
    )


def _unlabelled_hours(hourly_weights: list[Array]) -> str:
    """Name the longest run of hours without a head count on any day."""
    best = np.fmax.reduce(hourly_weights, axis=0)
    missing = np.isnan(best) | (best == 0)
    runs = np.flatnonzero(np.diff(np.r_[False, missing, False]))
    start, stop = max(zip(runs[::2], runs[1::2], strict=True), key=lambda run: run[1] - run[0])
    return f"between {start:02d}:00 and {stop:02d}:00, where there are none"
