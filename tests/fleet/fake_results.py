"""Results of a made-up portfolio: realistic names, findings, reasons and scores from a random seed."""

from __future__ import annotations

import math
from datetime import date, timedelta

import numpy as np

from occupair.fleet.room_result import RoomResult
from occupair.wording import plural

KINDS = (
    ("office", 4, 40),
    ("meeting", 12, 90),
    ("classroom", 32, 210),
    ("open-plan", 60, 600),
    ("lecture", 180, 1400),
)
SUFFIXES = ("", "", "", "", " (north)", " A", " Süd")
LAST_DAY = date(2025, 3, 30)


def fake_results(count: int, *, seed: int = 0) -> list[RoomResult]:
    """Return the results of ``count`` rooms, the same for the same seed."""
    rng = np.random.default_rng(seed)
    return [_result(k, rng) for k in range(count)]


def _result(k: int, rng: np.random.Generator) -> RoomResult:
    kind, seats, volume = KINDS[rng.integers(len(KINDS))]
    suffix = SUFFIXES[rng.integers(len(SUFFIXES))]
    room = f"B{k // 250 + 1:02d}-{k // 50 % 5}.{k % 50 + 1:02d} {kind}{suffix}"
    capacity = float(seats + rng.integers(0, seats // 2 + 1)) if rng.random() < 0.9 else math.nan
    days = int(rng.integers(20, 400))
    sensor = ("good", "check", "faulty")[int(np.searchsorted((0.80, 0.965), rng.random()))]
    common = {
        "capacity": capacity,
        "volume": round(volume * rng.uniform(0.7, 1.4)) if rng.random() < 0.7 else math.nan,
        "fingerprint": rng.bytes(16).hex(),
    }
    failure = rng.random()
    if failure < 0.025:
        reason, unread = _failure(room, rng)
        advice = "Export the readings again, then repeat the fit: finished rooms are not trained again."
        known = {} if unread else _readings(days, rng)
        return RoomResult(
            room, "failed", reason=reason, advice=advice, **known, **common, seconds=rng.uniform(0, 2)
        )
    common |= {
        **_readings(days, rng),
        "model": f"models/{room}.occupair",
        "seconds": float(rng.gamma(3, 3)),
        "model_bytes": 90_000,
    }
    findings = _findings(sensor, rng)
    common["sensor_finding"] = findings
    labelled = int(rng.integers(5, min(days, 90))) if rng.random() < 0.82 else int(rng.integers(0, 3))
    most = float(max(1, round(seats * rng.uniform(0.4, 1.1))))
    if labelled == 0:
        return RoomResult(
            room, "fallback", "no head counts",
            "nobody was in the room at any head count: trained on volume and seats", "limited",
            "there are no head counts to assess the error", sensor, findings,
            "Count people on 5 days, at least once an hour.", labelled_days=0, most_people=most, **common,
        )  # fmt: skip
    basis, reason = (
        ("head counts", "")
        if labelled >= 5
        else (
            "few head counts",
            f"head counts on {plural(labelled, 'whole day')} with people, 5 or more are needed: "
            "trained with volume and seats as well",
        )
    )
    level = rng.beta(2.4, 5) * (1.5 if sensor == "good" else 2.3) + (0.15 if basis != "head counts" else 0.05)
    deviation = most * rng.uniform(0.2, 0.35)
    error = level * deviation
    clock = error / max(0.05, 1 - np.clip(rng.normal(0.62 - 0.6 * level, 0.16), -0.6, 0.92))
    trust = (
        "poor"
        if level > 0.85 or sensor == "faulty"
        else "limited"
        if level > 0.6 or basis != "head counts"
        else "good"
    )
    coverage = float(np.clip(rng.normal(0.9, 0.035), 0.4, 1))
    why = {
        "good": "",
        "limited": "the error is large" if level > 0.6 else "too few head counts to assess the error",
        "poor": "the CO2 sensor is faulty"
        if sensor == "faulty"
        else "the error is almost that of a constant estimate",
    }[trust]
    advice = {
        "good": "",
        "limited": "Label more days: 5 to 10 days with head counts every hour.",
        "poor": "Have the sensor repaired, then train again."
        if sensor == "faulty"
        else "Add ventilation readings.",
    }[trust]
    return RoomResult(
        room, "fallback" if reason else "trained", basis, reason, trust, why, sensor, findings, advice,
        labelled_days=labelled, most_people=most, nrmse=level,
        error=error, error_10=error * 0.87, error_20=error * 0.82,
        coverage=coverage, occupied_coverage=max(0.3, coverage - 0.04), clock_error=float(clock),
        co2_gain=float(1 - error / clock), **common,
    )  # fmt: skip


def _readings(days: int, rng: np.random.Generator) -> dict:
    late = int(rng.integers(0, 90)) if rng.random() < 0.05 else 0
    last = LAST_DAY - timedelta(days=late)
    interval = float(rng.choice([1, 5, 5, 10, 15]))
    missing = float(rng.beta(1, 30))
    return {
        "days": days,
        "first": str(last - timedelta(days=days - 1)),
        "last": str(last),
        "readings": int(days * 1440 / interval * (1 - missing)),
        "interval": interval,
        "missing": missing,
        "ventilation": bool(rng.random() < 0.6),
    }


def _failure(room: str, rng: np.random.Generator) -> tuple[str, bool]:
    """Return why a room failed, and whether its readings could not be read at all."""
    file, row = f"s3://campus/readings/{room}.parquet", int(rng.integers(2, 90_000))
    value = ("n/a", "err", "#REF!")[int(rng.integers(3))]
    return [
        (f"{file}: is not a Parquet file, or is damaged", True),
        (f"{file}: has no readings", True),
        (f"{file}, row {row}, column co2: must be a number, got {value!r}", True),
        (f"{file}: needs at least two readings in one day, got {rng.integers(0, 2)}", False),
        (f"readings must cover at least 5 days, one per fold, got {rng.integers(1, 5)}", False),
        ("no head counts: add head counts of days with people, or volume and capacity", False),
        (f"took more than 600 s on worker 10.0.{rng.integers(9)}.{rng.integers(250)}", False),
    ][int(rng.choice(7, p=[0.12, 0.2, 0.15, 0.13, 0.2, 0.17, 0.03]))]


def _findings(sensor: str, rng: np.random.Generator) -> str:
    day = LAST_DAY - timedelta(days=int(rng.integers(1, 60)))
    ppm, times = int(rng.integers(90, 380)), int(rng.integers(1, 30))
    faulty = (
        f"CO2 is stuck at one value {plural(times, 'time')} ({day} 10:05 to {day} 16:40): "
        "the sensor or its connection hung.",
        f"CO2 reads 0 ppm {times * 7} times (first {day} 07:12): failed reads.",
        f"CO2 falls to {ppm} ppm, less than the 400 ppm of outdoor air: the sensor is not calibrated.",
        f"CO2 jumps by more than 800 ppm between two readings {times + 2} times "
        f"(by up to {900 + ppm} ppm, first {day} 14:00).",
    )
    check = (
        f"The CO2 baseline drifts: the daily lows rise by {ppm} ppm over {times + 30} days "
        f"(+{ppm // 3} ppm per month).",
        f"The CO2 baseline was reset at {day} 03:00: the daily lows fall by {ppm} ppm and stay there.",
        f"CO2 changes in steps of {50 + times} ppm or more, {times} of them between empty and full.",
    )
    notes = (
        "CO2 is read every 1 min but updated only every 5 min.",
        "There is no ventilation column. It is assumed constant.",
    )
    parts = []
    if sensor == "faulty":
        parts.append(faulty[int(rng.choice(4, p=[0.4, 0.2, 0.25, 0.15]))])
    if sensor != "good":
        parts += [check[int(rng.integers(3))]] if sensor == "check" or rng.random() < 0.3 else []
    if rng.random() < 0.35:
        parts.append(notes[int(rng.integers(2))])
    return " ".join(parts)
