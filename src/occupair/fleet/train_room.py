"""Training of one room of a portfolio: what its readings allow, with the reason if that is less than asked.

Readings are checked first. Head counts with severe faults are not used; of those with another clock than CO2,
only the affected days. Without enough head counts, a room is trained with its volume and seats as well, or
starts from other rooms; without any, on volume and seats alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks import Fault, find_faults
from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.fleet.read_room import RawReadings
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_result import Basis, RoomResult, Status
from occupair.fleet.room_verdicts import COUNT_FAULTS, SENSOR_FAULTS, sensor_quality, trust_in
from occupair.fleet.storage import one_line
from occupair.physics.room_properties import room_properties
from occupair.progress import quietly
from occupair.readings.files import read_labelled, read_readings
from occupair.readings.head_counts import WEIGHT, check_labelled, has_label
from occupair.readings.labelled_days import ENOUGH_DAYS, FEWEST_DAYS, labelled_days
from occupair.readings.schema import date_slices, interval_of
from occupair.readings.time_zones import time_zone_name
from occupair.room.pooled_start import POOLED, PooledStart
from occupair.wording import plural

MINUTES_PER_DAY = 1440.0
SAID = ("wrong", "doubtful")
"""Severities of the faults that a result reports."""
EXPECTED = frozenset({"no_counts", "few_days", "no_ventilation"})
"""Kinds of faults that the basis of a model implies."""


@dataclass(frozen=True)
class Plan:
    """How a room is to be trained.

    Parameters
    ----------
    readings : DataFrame
        Readings, without the head counts that are not used.
    labelled_days : int
        Days with head counts and people among them.
    basis, status, reason
        See ``RoomResult``.
    """

    readings: pd.DataFrame
    labelled_days: int
    basis: Basis
    status: Status
    reason: str = ""


@dataclass(frozen=True)
class TrainSettings:
    """Settings of all rooms.

    Parameters
    ----------
    seed : int
        Random seed.
    start : callable, optional
        Returns the rooms of the portfolio to start from for an interval [min]; None: public rooms.
    """

    seed: int = 0
    start: Callable[[float], PooledStart | None] | None = None

    def start_of(self, plan: Plan) -> PooledStart | str:
        """Return the other rooms to start from.

        Those of the portfolio are for rooms with few head counts. Others hardly gain from them, and so have
        the same model as without a portfolio.
        """
        if self.start is None or not 0 < plan.labelled_days < ENOUGH_DAYS:
            return POOLED
        return self.start(interval_of(plan.readings)) or POOLED


def train_room(
    raw: RawReadings, room: str, options: RoomOptions, settings: TrainSettings
) -> tuple[OccupancyEstimator | None, RoomResult]:
    """Train a room on its readings, and return the estimator and what to expect of it.

    The estimator is None if the readings do not allow training; the result has the reason.

    Parameters
    ----------
    raw : RawReadings
        Its readings.
    room : str
        Its name.
    options : RoomOptions
        Its options.
    settings : TrainSettings
        Settings of all rooms.

    Raises
    ------
    InputError
        If the readings or the options are invalid.
    """
    has_size = room_properties(**options.properties) is not None
    readings, refused = _read(raw, options, has_size=has_size)
    faults = find_faults(raw.read(read_readings, lenient=True, **options.reading))
    result = _describe(RoomResult(room, "failed"), readings, faults, options)
    try:
        plan = plan_training(readings, faults, has_size=has_size, refused=refused)
        start = settings.start_of(plan)
        estimator = OccupancyEstimator(random_state=settings.seed, start=start, **options.settings)
        with quietly(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what they say is part of the result
            estimator.fit(plan.readings)
    except InputError as error:
        return None, replace(result, reason=one_line(str(error)))
    return estimator, _assess(result, plan, estimator)


def _read(raw: RawReadings, options: RoomOptions, *, has_size: bool) -> tuple[pd.DataFrame, str]:
    """Return readings, and why their head counts are not used; invalid ones are left out if size is known."""
    try:
        return raw.read(read_labelled, needs_counts=False, **options.reading), ""
    except InputError as error:
        if not has_size:
            raise
        try:
            readings = raw.read(read_readings, occupancy=False, **options.reading)
        except InputError:
            raise error from None  # it is not about the head counts
        return check_labelled(readings, needs_counts=False), f"head counts are unusable ({error})"


def plan_training(
    readings: pd.DataFrame, faults: Sequence[Fault], *, has_size: bool, refused: str = ""
) -> Plan:
    """Return what readings allow.

    Parameters
    ----------
    readings : DataFrame
        Readings of ``read_labelled``.
    faults : sequence of Fault
        Their faults.
    has_size : bool
        Whether volume and seats are known.
    refused : str
        Why head counts were left out already.
    """
    counted = bool(has_label(readings).any())
    if counted:
        readings, refused = _without_faulty_counts(readings, faults)
    known = has_label(readings)
    counts = readings["occupancy"].where(known)
    occupied = int(labelled_days(counts).sum()) if known.any() else 0
    if not known.any() or not (counts > 0).any():
        cause = refused or ("nobody was in the room at any head count" if counted else "")
        if not has_size:
            remedy = "correct them" if refused else "add head counts of days with people"
            raise InputError(f"{cause or 'no head counts'}: {remedy}, or give volume and capacity")
        reason = f"{cause}: trained on volume and seats" if cause else ""
        status: Status = "fallback" if cause else "trained"
        return Plan(_without_counts(readings), 0, "no head counts", status, reason)
    if occupied < FEWEST_DAYS:
        help_ = "volume and seats as well" if has_size else "a start from other rooms"
        few = f"head counts on {plural(occupied, 'whole day')} with people, {FEWEST_DAYS} or more are needed"
        reason = f"{refused or few}: trained with {help_}"
        return Plan(readings, occupied, "few head counts", "fallback", reason)
    if refused:
        return Plan(readings, occupied, "head counts", "fallback", f"{refused}: not used for training")
    return Plan(readings, occupied, "head counts", "trained")


def _without_faulty_counts(readings: pd.DataFrame, faults: Sequence[Fault]) -> tuple[pd.DataFrame, str]:
    """Return readings without head counts that have severe faults, and which those are."""
    severe = [fault for fault in faults if fault.severity == "wrong"]
    for fault in severe:
        if fault.kind in COUNT_FAULTS:
            return _without_counts(readings), f"head counts are unusable ({fault.message.rstrip('.')})"
    affected = np.zeros(len(readings), dtype=bool)
    times = pd.DatetimeIndex(readings.index).tz_localize(None)
    clocks = [fault for fault in severe if fault.kind == "clock"]
    for first, last in (span for fault in clocks for span in fault.spans):
        affected |= (times >= first) & (times < last)
    if not affected.any():
        return readings, ""
    days = len(times[affected].normalize().unique())
    hours = ", ".join(f"{fault.details['offset'] / 60:+.1f} h" for fault in clocks)
    reason = f"clocks of CO2 and head counts differ ({hours}) on {plural(days, 'day')}"
    return _without_counts(readings, affected), reason


def _without_counts(readings: pd.DataFrame, where: NDArray[np.bool_] | None = None) -> pd.DataFrame:
    """Return readings without the head counts at some of them; None: at all."""
    where = np.ones(len(readings), dtype=bool) if where is None else where
    kept = readings.assign(occupancy=readings["occupancy"].mask(where))
    if WEIGHT in kept.columns:
        kept[WEIGHT] = kept[WEIGHT].mask(where, 0.0)
    kept.attrs = readings.attrs
    return kept


def _describe(
    result: RoomResult, readings: pd.DataFrame, faults: Sequence[Fault], options: RoomOptions
) -> RoomResult:
    """Return a result with what is known before training."""
    said = [fault for fault in faults if fault.severity in SAID and fault.kind not in EXPECTED]
    size = room_properties(**options.properties)
    return replace(
        result,
        sensor=sensor_quality(faults),
        findings=" ".join(fault.message for fault in said),
        advice=next((fault.fix for fault in said if fault.fix), ""),
        sensor_finding=next((fault.message for fault in said if fault.kind in SENSOR_FAULTS), ""),
        days=len(date_slices(readings)),
        first=f"{readings.index[0]:%Y-%m-%d}",
        last=f"{readings.index[-1]:%Y-%m-%d}",
        timezone=time_zone_name(pd.DatetimeIndex(readings.index)) or "",
        readings=len(readings),
        interval=interval_of(readings),
        missing=missing_share(readings),
        ventilation="ventilation" in readings.columns,
        capacity=math.nan if size is None else size.capacity,
        volume=math.nan if size is None else size.volume,
    )


def _assess(result: RoomResult, plan: Plan, estimator: OccupancyEstimator) -> RoomResult:
    """Return a result with what training has shown."""
    accuracy: dict[str, Any] = _accuracy(estimator, plan.readings)
    air, expectation = estimator.air_, estimator.expectation_
    trust, trust_reason = trust_in(
        basis=plan.basis,
        sensor=result.sensor,
        nrmse=accuracy["nrmse"],
        coverage=accuracy["coverage"],
        co2_gain=accuracy["co2_gain"],
        missing=result.missing,
        doubt="; ".join(air.doubts) if air is not None else "",
    )
    advice = "head counts on days with people" if expectation is None else expectation.advice
    return replace(
        result,
        status=plan.status,
        basis=plan.basis,
        reason=plan.reason,
        trust=trust,
        trust_reason=trust_reason,
        advice=result.advice or advice,
        labelled_days=plan.labelled_days,
        most_people=estimator.most_people_,
        **accuracy,
    )


def _accuracy(estimator: OccupancyEstimator, readings: pd.DataFrame) -> dict[str, float]:
    """Return errors and coverage on held-out days; NaN if unknown."""
    expectation, comparison = estimator.expectation_, estimator.comparison_
    errors = {} if expectation is None else expectation.errors
    known = has_label(readings)
    counts = readings["occupancy"][known]
    weight = readings[WEIGHT][known] if WEIGHT in readings.columns else None
    spread = (
        math.sqrt(np.average((counts - np.average(counts, weights=weight)) ** 2, weights=weight))
        if known.any()
        else 0.0
    )
    error = errors.get(0.0, math.nan)
    clock = math.nan if comparison is None else comparison.profile_error
    compared = math.nan if comparison is None else comparison.error
    return {
        "error": error,
        "error_10": errors.get(10.0, math.nan),
        "error_20": errors.get(20.0, math.nan),
        "nrmse": error / spread if spread > 0 else math.nan,
        "coverage": math.nan if expectation is None else expectation.coverage,
        "occupied_coverage": math.nan if expectation is None else expectation.occupied_coverage,
        "clock_error": clock,
        "co2_gain": 1 - compared / clock if clock > 0 else math.nan,
    }


def missing_share(readings: pd.DataFrame) -> float:
    """Return the share of readings that are missing on the days that have any [0..1]."""
    expected = len(date_slices(readings)) * MINUTES_PER_DAY / interval_of(readings)
    return max(0.0, 1 - len(readings) / expected)
