"""Whether the doors of a room are stamped by the same clock.

Two things tell how far the clock of one door is off against the others. Conservation: who comes in at one
door and leaves by another is in the room in between; where a clock is off fewer than nobody seem to be in.
Company: who leaves for lunch or a meeting does not leave alone, and a group that passes parts over the
doors in the same minute. Both are weighed for every offset, as log likelihoods above that of right clocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from occupair.checks.clock_offset_scores import clock_scores
from occupair.groundtruth.ledger.days import LedgerDays, Whole
from occupair.groundtruth.passages import check_passages

Numbers = NDArray[np.float64]

FURTHEST = 90  # min; a clock that is off by more is off by hours, which CO2 tells
PERSON = 4.0  # nat for each person fewer by whom the ledger does not close: an error in 50 passages or so
BACKGROUND = 31  # min over which the usual coming and going at a door is averaged
LEAST_RATE = 0.003  # people/min at the quietest
BURST = 1.5  # power of the number of people beyond the first who pass in a minute, by which the others follow
KERNEL = (0.2, 0.6, 0.2)  # a group is split over neighbouring minutes
FOLLOW = (0.05, 0.1, 0.2, 0.4, 0.8)  # people at other doors for each of them; the one that fits best is taken
RIGHT = 0.7  # chance, before anything is known, that the clocks agree
TOLD = 0.5  # nat above even odds, from which a clock is told to be off; see tests for how often that is right
AS_GOOD = 2.0  # nat; offsets that are less likely by no more than this may be it as well
CO2_TELLS = 20  # min; from this on CO2 tells which of two clocks is off
OFFSETS = np.arange(-FURTHEST, FURTHEST + 1)


@dataclass(frozen=True)
class ClockShift:
    """A door whose clock is off.

    Attributes
    ----------
    door : its name
    minutes : by how much its passages are to be moved; it is late, and moved earlier, when negative [min]
    low, high : from which to which move it may be as well [min]
    sureness : log odds that its clock is off [nat]
    why : one plain sentence
    """

    door: str
    minutes: int
    low: int
    high: int
    sureness: float
    why: str

    def __str__(self) -> str:
        """Give the shift as one line."""
        return f"{self.door}: move by {self.minutes:+d} min: {self.why}"


def find_clock_shifts(days: LedgerDays, readings: pd.DataFrame | None = None) -> list[ClockShift]:
    """Find doors whose clocks are off against the others, and by how much.

    Of two doors either may be wrong. The one at which fewer pass is then moved, unless CO2 fits better with
    the other one moved, which it can tell of 20 min and more.
    """
    shifts: list[ClockShift] = []
    moved = days
    for _ in range(len(days.doors) - 1):
        found = [(door, *_best(moved, k)) for k, door in enumerate(moved.doors)]
        door, offset, sure, low, high = max(
            found, key=lambda one: (round(one[2], 6), -_traffic(days, one[0]), one[0])
        )
        if sure < TOLD or door in {shift.door for shift in shifts}:
            break
        if len(days.doors) == 2 and abs(offset) >= CO2_TELLS and readings is not None:
            other = next(name for name in days.doors if name != door)
            if _explained(days, other, -offset, readings) > _explained(days, door, offset, readings):
                door, offset, low, high = other, -offset, -high, -low
        shifts.append(ClockShift(door, offset, low, high, sure, _why(days, door, offset, low, high)))
        moved = _moved(moved, door, offset)
    return shifts


def move_clocks(passages: pd.DataFrame, shifts: list[ClockShift]) -> pd.DataFrame:
    """Give passages with the clocks of some doors put right."""
    if not shifts:
        return passages
    minutes = passages["door"].map({shift.door: shift.minutes for shift in shifts}).fillna(0)
    times = pd.DatetimeIndex(passages.index) + pd.to_timedelta(minutes.to_numpy(), unit="min")
    return check_passages(passages.set_axis(times))


def _best(days: LedgerDays, door: int) -> tuple[int, float, int, int]:
    """Best move of a door [min], how sure it is [nat], and from which to which it may be as well."""
    gain = _company(days, door) - PERSON * _short(days, door)
    gain -= gain[FURTHEST]
    usual = 1 / (1 + np.abs(OFFSETS))
    usual[FURTHEST] = 0
    with np.errstate(divide="ignore"):
        prior = np.log((1 - RIGHT) * usual / usual.sum()) - np.log(RIGHT)
    prior[FURTHEST] = 0.0
    odds = gain + prior
    k = int(np.argmax(odds))
    if k == FURTHEST:
        return 0, 0.0, 0, 0
    as_good = OFFSETS[odds >= odds[k] - AS_GOOD]
    near = as_good[np.sign(as_good) == np.sign(OFFSETS[k])]
    return int(OFFSETS[k]), float(odds[k]), int(near.min()), int(near.max())


def _short(days: LedgerDays, door: int) -> Numbers:
    """How many people would have to be changed to close the ledger, at every offset of a door's clock."""
    net = days.entered - days.left
    own, rest = net[door], net.sum(axis=0) - net[door]
    starts = np.array([day.start for day in days.days])
    before_rest = np.cumsum(rest)
    changes = np.empty(OFFSETS.size)
    for k, offset in enumerate(OFFSETS):
        total = before_rest + np.cumsum(_later(own, int(offset)))
        base = np.where(starts > 0, total[starts - 1], 0)
        lowest = np.minimum(np.minimum.reduceat(total, starts) - base, 0)
        end = total[[day.stop - 1 for day in days.days]] - base
        changes[k] = np.sum(-lowest + (end - lowest))
    return changes


def _company(days: LedgerDays, door: int) -> Numbers:
    """Log likelihood that groups at a door and at the others pass together, at every offset [nat]."""
    by_follow = np.zeros((len(FOLLOW), OFFSETS.size))
    for passed in (days.entered, days.left):
        own, rest = passed[door], passed.sum(axis=0) - passed[door]
        by_follow += 0.5 * _following(own, rest, OFFSETS) + 0.5 * _following(rest, own, -OFFSETS)
    return np.asarray(by_follow.max(axis=0))


def _following(leads: Whole, follows: Whole, offsets: Whole) -> Numbers:
    """Poisson log likelihood of ``follows`` with bursts of ``leads`` moved by offsets, above that without."""
    usual = uniform_filter1d(follows.astype(float), BACKGROUND, mode="constant") + LEAST_RATE
    burst = np.convolve(np.maximum(leads - 1, 0) ** BURST, KERNEL, mode="same")
    at = np.flatnonzero(burst)
    if at.size == 0:
        return np.zeros((len(FOLLOW), offsets.size))
    there = at[None, :] + offsets[:, None]
    inside = (there >= 0) & (there < follows.size)
    there = np.where(inside, there, 0)
    size, people, rate = burst[at], follows[there], usual[there]
    found = [
        np.sum(inside * (people * np.log1p(follow * size / rate) - follow * size), axis=1)
        for follow in FOLLOW
    ]
    return np.asarray(found)


def _later(values: Whole, minutes: int) -> Whole:
    """Move values later; what would leave the table stays at its end."""
    moved = np.zeros_like(values)
    if minutes >= 0:
        moved[minutes:] = values[: values.size - minutes]
        moved[-1] += values[values.size - minutes :].sum()
    else:
        moved[:minutes] = values[-minutes:]
        moved[0] += values[:-minutes].sum()
    return moved


def _moved(days: LedgerDays, door: str, minutes: int) -> LedgerDays:
    k = days.doors.index(door)
    entered, left = days.entered.copy(), days.left.copy()
    entered[k], left[k] = _later(entered[k], minutes), _later(left[k], minutes)
    return replace(days, entered=entered, left=left)


def _traffic(days: LedgerDays, door: str) -> int:
    k = days.doors.index(door)
    return int((days.entered[k] + days.left[k]).sum())


def _explained(days: LedgerDays, door: str, minutes: int, readings: pd.DataFrame) -> float:
    """Share of the head counts that CO2 explains if a door's clock is moved [0..1]."""
    counts = pd.Series(_moved(days, door, minutes).occupancy(), index=days.times.tz_localize(None))
    times = pd.DatetimeIndex(readings.index).tz_localize(None)
    table = pd.DataFrame({"co2": readings["co2"].to_numpy(dtype=float)}, index=times)
    table["occupancy"] = counts[~counts.index.duplicated()].reindex(times.floor("min")).to_numpy()
    table = table[~table.index.duplicated()].dropna()
    scores = clock_scores(table) if len(table) > 1 else []
    return max((float(one.share(one.total >= 0)[one.zero]) for one in scores), default=0.0)


def _why(days: LedgerDays, door: str, offset: int, low: int, high: int) -> str:
    others = " and ".join(name for name in days.doors if name != door)
    way = "late" if offset < 0 else "early"
    span = "" if low == high else f" (from {min(abs(low), abs(high))} to {max(abs(low), abs(high))})"
    either = f"; or {others} is as much {'early' if offset < 0 else 'late'}" if len(days.doors) == 2 else ""
    return (
        f"its clock is about {abs(offset)} min{span} {way} against {others}, by when people pass together "
        f"and by when too few seem to be in{either}."
    )
