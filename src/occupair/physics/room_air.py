"""Air of a room as identified from its readings: air change rates, base level, outdoor air per person."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from occupair.physics.doubts import SPREAD_PER_DOUBT, find_doubts
from occupair.physics.inferred_counts import InferredCounts

LEVEL_SHARE = 0.02
"""Share of the readings that a ventilation level must have to be reported."""

CONFIDENT = 1.645
"""Standard deviations of the reported range of an air change rate: 90 %."""

SHAPE_SPREAD = 0.25
"""Standard deviation of the logarithm of the people that is due to the shape of the mass balance."""

BASE_SPREAD = 10.0
"""Standard deviation of the base level within a day [ppm]: outdoor CO2 varies with time of day and wind."""

LITRES_PER_SECOND = 1 / 3.6
"""Of one m3/h."""


@dataclass(frozen=True)
class AirChangeRate:
    """Air change rate at one ventilation level, with its 90 % range [1/h].

    ``ventilation`` is in the unit of the readings [0..1]. In a room without a signal it is None, or 0 for the
    rate at night if that is lower.
    """

    ventilation: float | None
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class RoomAir:
    """Air of a room.

    Parameters
    ----------
    rates : tuple of AirChangeRate
        Air change rates at the ventilation levels that occur.
    base_level : float
        CO2 of the empty, aired room [ppm].
    volume : float
        Volume that the head counts suggest, or that was given without any [m3].
    capacity : float
        Seats [people].
    n_days : int
        Number of days with readings.
    n_counts : int
        Number of 5-minute steps with a head count; 0: not calibrated by head counts.
    inferred_share : float
        Share of the training weight that inferred people have; the rest is that of head counts [0..1].
    spread : float
        Standard deviation of the logarithm of the estimates due to inferred people.
    offset : float
        Standard deviation of the estimates due to the base level [people]: that many cannot be seen in CO2.
    doubts : tuple of str
        Reasons not to trust the inferred people.
    """

    rates: tuple[AirChangeRate, ...]
    base_level: float
    volume: float
    capacity: float
    n_days: int
    n_counts: int
    inferred_share: float
    spread: float
    offset: float = 0.0
    doubts: tuple[str, ...] = ()

    @property
    def is_calibrated(self) -> bool:
        """Whether there were head counts."""
        return self.n_counts > 0

    @property
    def outdoor_air_per_person(self) -> float:
        """Outdoor air at the highest ventilation level for each person at capacity [L/s]."""
        return self.rates[-1].rate * self.volume / self.capacity * LITRES_PER_SECOND

    def __str__(self) -> str:
        lines, has_signal = [], all(one.ventilation is not None for one in self.rates)
        for one in self.rates:
            at = f" at ventilation {one.ventilation:.2g}" if has_signal else ""
            if not has_signal and len(self.rates) > 1:
                at = " by day" if one.ventilation is None else " at night"
            lines.append(f"Air change rate{at}: {one.rate:.2g} per hour ({one.low:.2g} to {one.high:.2g}).")
        volume = "Effective volume" if self.is_calibrated else "Volume"
        lines += [
            f"CO2 of the empty room: {self.base_level:.0f} ppm. {volume}: {self.volume:.0f} m3.",
            f"Outdoor air with {self.capacity:g} people: {self.outdoor_air_per_person:.1f} L/s per person.",
        ]
        if not self.is_calibrated:
            lines.append("Not calibrated by head counts yet.")
        return "\n".join([*lines, *(f"Doubtful: {doubt}." for doubt in self.doubts)])


def room_air(inferred: InferredCounts, inferred_share: float) -> RoomAir:
    """Return what was identified, and why it may be wrong.

    Parameters
    ----------
    inferred : InferredCounts
        Calibration and inferred people.
    inferred_share : float
        Share of the training weight that inferred people have [0..1].
    """
    doubts = find_doubts(inferred)
    grid, calibration, room = inferred.grid, inferred.calibration, inferred.room
    levels = _levels(grid.ventilation[~np.isnan(grid.co2)])
    rates = []
    for level in levels:
        rate, spread = calibration.rate(level), calibration.rate_spread(level)
        factor = float(np.exp(CONFIDENT * spread))
        full = grid.full_ventilation
        ventilation = level * full if full is not None else 0.0 if level == 0 else None
        rates.append(AirChangeRate(ventilation, rate, rate / factor, rate * factor))
    busy, scale = levels[-1], float(calibration.air.scale[0, 0])
    spread = math.hypot(calibration.rate_spread(busy), calibration.scale_spread, SHAPE_SPREAD)
    return RoomAir(
        rates=tuple(rates),
        base_level=float(np.median(grid.base[:, -1])),
        volume=room.volume / scale,
        capacity=room.capacity,
        n_days=int((~np.isnan(grid.co2)).any(axis=1).sum()),
        n_counts=inferred.n_counts,
        inferred_share=inferred_share,
        spread=spread * inferred_share**0.5 * SPREAD_PER_DOUBT ** len(doubts),
        offset=BASE_SPREAD * calibration.rate(busy) / (room.rise * scale) * inferred_share**0.5,
        doubts=doubts,
    )


def _levels(ventilation: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    """Return up to three ventilation levels that occur often: without, usual, and high."""
    is_off = ventilation < LEVEL_SHARE
    levels = [0.0] if is_off.mean() > LEVEL_SHARE else []
    on = ventilation[~is_off]
    if on.size > LEVEL_SHARE * ventilation.size:
        levels += sorted({round(float(np.quantile(on, share)), 2) for share in (0.5, 0.95)})
    return levels or [0.0]


def room_air_to_json(air: RoomAir) -> dict[str, Any]:
    """Return the air of a room as plain values."""
    return asdict(air)


def room_air_from_json(values: dict[str, Any]) -> RoomAir:
    """Return the air of a room from plain values; raise ValueError if they are invalid."""
    rates = tuple(
        AirChangeRate(
            None if one["ventilation"] is None else _finite(one["ventilation"]),
            *(_finite(one[name]) for name in ("rate", "low", "high")),
        )
        for one in values["rates"]
    )
    if not rates or not all(isinstance(doubt, str) for doubt in values["doubts"]):
        raise ValueError("air must have air change rates, and doubts in words")
    names = ("base_level", "volume", "capacity", "inferred_share", "spread")
    numbers = {name: _finite(values[name]) for name in names}
    if not numbers["capacity"] > 0:
        raise ValueError("air must have a capacity above 0")
    return RoomAir(
        rates,
        offset=_finite(values.get("offset", 0.0)),
        n_days=int(_finite(values["n_days"])),
        n_counts=int(_finite(values["n_counts"])),
        doubts=tuple(values["doubts"]),
        **numbers,
    )


def _finite(value: Any) -> float:
    number = float(value)
    if not np.isfinite(number) or number < 0:
        raise ValueError(f"air must have finite numbers, 0 or more, got {number}")
    return number
