"""How far the estimates of a room can be trusted, and whether its CO2 sensor needs a technician."""

from __future__ import annotations

import math
from collections.abc import Sequence

from occupair.checks import Fault
from occupair.fleet.room_result import Basis, SensorQuality, Trust
from occupair.room.profile_comparison import MAX_ERROR_RATIO

SENSOR_FAULTS = frozenset(
    {"failed_reads", "stuck", "jumps", "low_baseline", "reset", "drift", "moving_baseline", "coarse"}
)
"""Kinds of faults of the CO2 sensor, which a technician can fix."""

COUNT_FAULTS = frozenset({"unrelated", "negative_counts", "broken_counts", "passages", "counter_drift"})
"""Kinds of faults of the head counts; if severe, the counts are not used."""

GOOD_NRMSE = 0.6
"""Largest nRMSE of trusted estimates. Always estimating the mean has 1; the default estimator has 0.485 on
the mean of the public rooms and 0.6 in the most difficult of them."""
POOR_NRMSE = 0.85
"""nRMSE from which on estimates are hardly better than the mean."""
LEAST_COVERAGE = 0.8
"""Share of held-out readings that the 90 % interval of trusted estimates has to cover."""
MOST_MISSING = 0.5
"""Share of missing readings from which on estimates are poor: the count is unknown most of the time."""


def sensor_quality(faults: Sequence[Fault]) -> SensorQuality:
    """Return the state of the CO2 sensor given the faults of its readings.

    Examples
    --------
    >>> sensor_quality([]), sensor_quality([Fault("stuck", "wrong", "CO2 is constant.")])
    ('good', 'faulty')
    """
    severities = {fault.severity for fault in faults if fault.kind in SENSOR_FAULTS}
    return "faulty" if "wrong" in severities else "check" if "doubtful" in severities else "good"


def trust_in(
    *,
    basis: Basis,
    sensor: SensorQuality,
    nrmse: float,
    coverage: float,
    co2_gain: float,
    missing: float,
    doubt: str = "",
) -> tuple[Trust, str]:
    """Return how far estimates can be trusted, and why not further.

    Parameters
    ----------
    basis, sensor, nrmse, coverage, co2_gain, missing
        See ``RoomResult``; NaN if unknown.
    doubt : str
        Doubt about the size of a room without head counts.

    Examples
    --------
    >>> known = {"sensor": "good", "nrmse": 0.5, "coverage": 0.9, "co2_gain": 0.3, "missing": 0.0}
    >>> trust_in(basis="head counts", **known)
    ('good', '')
    >>> trust_in(basis="few head counts", **known)
    ('limited', 'too few head counts to assess the error')
    """
    poor = [
        (sensor == "faulty", "the CO2 sensor is faulty"),
        (missing > MOST_MISSING, "most readings are missing"),
        (nrmse > POOR_NRMSE, "the error is almost that of a constant estimate"),
        (1 - co2_gain > MAX_ERROR_RATIO, "CO2 adds almost nothing to the time of day"),
    ]
    limited = [
        (basis == "no head counts", "there are no head counts to assess the error"),
        (basis == "few head counts", "too few head counts to assess the error"),
        (bool(doubt), doubt),
        (sensor == "check", "the CO2 sensor should be checked"),
        (nrmse > GOOD_NRMSE, "the error is large"),
        (coverage < LEAST_COVERAGE, "the prediction interval is too narrow"),
        (basis == "head counts" and math.isnan(nrmse), "the error is unknown"),
    ]
    for trust, reasons in (("poor", poor), ("limited", limited)):
        found = [text for holds, text in reasons if holds]
        if found:
            return trust, "; ".join(found)  # type: ignore[return-value]
    return "good", ""
