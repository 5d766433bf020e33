"""Clock offsets between the door counters of a room.

Two effects reveal that the clock of a door disagrees with the others. Conservation: a person who enters by
one door and leaves by another is in the room in between; with a wrong clock the occupancy seems to go
negative. Groups: people leave for lunch or a meeting together, and a group splits over the doors in the
same minute. Both are scored for every offset as log likelihood ratios against agreeing clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from occupair.checks.clock_offset_scores import clock_scores
from occupair.groundtruth.ledger.passage_grid import (
    MINUTE,
    Counts,
    PassageGrid,
    daily_imbalance,
    grid_passages,
)
from occupair.groundtruth.passages import check_passages, not_counted

Floats = NDArray[np.float64]

MAX_OFFSET = 90  # min; larger offsets are whole hours, which CO2 reveals
NATS_PER_PERSON = 4.0  # gain per person less to correct; corresponds to about one error in 50 passages
BACKGROUND_WINDOW = 31  # window over which the usual traffic of a door is averaged [min]
MIN_RATE = 0.003  # lower bound of the usual traffic [people/min]
GROUP_POWER = 1.5  # exponent of the group size beyond the first person
KERNEL = (0.2, 0.6, 0.2)  # a group is spread over neighbouring minutes
FOLLOW = (0.05, 0.1, 0.2, 0.4, 0.8)  # people at other doors per group member; the best fit is used
PRIOR_AGREE = 0.7  # prior probability that the clocks agree
MIN_LOG_ODDS = 0.5  # above this an offset is reported [nat]; its detection rate is measured in the tests
RANGE_LOG_ODDS = 2.0  # offsets within this log odds of the best are included in the range [nat]
MIN_OFFSET_FOR_CO2 = 20  # from this offset on, CO2 can tell which of two clocks is wrong [min]
OFFSETS = np.arange(-MAX_OFFSET, MAX_OFFSET + 1)


@dataclass(frozen=True)
class ClockCorrection:
    """Proposed correction of the clock of a door.

    Attributes
    ----------
    door : name of the door
    minutes : to add to its timestamps; negative if its clock is ahead [min]
    low, high : range of corrections that are about as likely [min]
    log_odds : that the clock is wrong [nat]
    reason : one sentence
    """

    door: str
    minutes: int
    low: int
    high: int
    log_odds: float
    reason: str

    def __str__(self) -> str:
        """Describe the correction in one line."""
        return f"{self.door}: shift by {self.minutes:+d} min: {self.reason}"


def find_clock_corrections(grid: PassageGrid, readings: pd.DataFrame | None = None) -> list[ClockCorrection]:
    """Find doors whose clocks disagree with the others, and the correction of each.

    With two doors, either clock may be wrong. The door with less traffic is then corrected, unless CO2 fits
    better with the other one corrected, which it can tell from 20 min on.
    """
    corrections: list[ClockCorrection] = []
    corrected = grid
    for _ in range(len(grid.doors) - 1):
        found = [(door, *_best_offset(corrected, k)) for k, door in enumerate(corrected.doors)]
        door, offset, log_odds, low, high = max(
            found, key=lambda one: (round(one[2], 6), -_traffic(grid, one[0]), one[0])
        )
        if log_odds < MIN_LOG_ODDS or door in {one.door for one in corrections}:
            break
        if len(grid.doors) == 2 and abs(offset) >= MIN_OFFSET_FOR_CO2 and readings is not None:
            other = next(name for name in grid.doors if name != door)
            if _co2_fit(grid, other, -offset, readings) > _co2_fit(grid, door, offset, readings):
                door, offset, low, high = other, -offset, -high, -low
        reason = _reason(grid, door, offset, low, high)
        corrections.append(ClockCorrection(door, offset, low, high, log_odds, reason))
        corrected = _with_shifted_door(corrected, door, offset)
    return corrections


def correct_clocks(
    passages: pd.DataFrame, corrections: Sequence[ClockCorrection], *, reset: str = "00:00"
) -> pd.DataFrame:
    """Return passages with the timestamps of some doors corrected.

    The days of the ledger do not change: a passage that would leave them is put in the first or the last
    minute, and minutes at either end for which the door has no data any more are not counted. Nor is a day
    that only a wrong clock gave a row, such as a Saturday with an exit of Friday night.
    """
    if not corrections:
        return passages
    grid = grid_passages(passages, reset=reset)
    spans = [(grid.times[run.start], grid.times[run.stop - 1]) for run in grid.runs_of_days()]
    tables = [passages[~passages["door"].isin([one.door for one in corrections])]]
    for one in corrections:
        shift = pd.Timedelta(minutes=one.minutes)
        for first, last in spans:
            own = passages[
                (passages["door"] == one.door) & (passages.index >= first) & (passages.index <= last)
            ]
            times = pd.DatetimeIndex(own.index) + shift
            inside = (times >= first) & (times <= last)
            passed = (own[["entered", "left"]].sum(axis=1) > 0).to_numpy()
            kept = own.set_axis(times.where(times >= first, first).where(times <= last, last))
            tables.append(kept[inside | passed])
            vacated = (first, first + shift) if one.minutes > 0 else (last + MINUTE + shift, last + MINUTE)
            tables.append(not_counted(one.door, *vacated))
    corrected = check_passages(pd.concat([table for table in tables if len(table)]))
    return _without_vacated_days(corrected, grid)


def _without_vacated_days(corrected: pd.DataFrame, grid: PassageGrid) -> pd.DataFrame:
    """Mark the days of a grid as not counted for which no door has data after a clock correction."""
    counted = pd.DatetimeIndex(corrected.index[corrected["weight"] > 0])
    vacated = []
    for day in grid.days:
        first, last = grid.times[day.start], grid.times[day.stop - 1]
        if not ((counted >= first) & (counted <= last)).any():
            vacated += [not_counted(door, first, last + MINUTE) for door in grid.doors]
    return check_passages(pd.concat([corrected, *vacated])) if vacated else corrected


def _best_offset(grid: PassageGrid, door: int) -> tuple[int, float, int, int]:
    """Best offset of a door [min], its log odds [nat], and the range of about equally likely offsets."""
    gain = _group_likelihood(grid, door) - NATS_PER_PERSON * _imbalance(grid, door)
    gain -= gain[MAX_OFFSET]
    usual = 1 / (1 + np.abs(OFFSETS))
    usual[MAX_OFFSET] = 0
    with np.errstate(divide="ignore"):
        prior = np.log((1 - PRIOR_AGREE) * usual / usual.sum()) - np.log(PRIOR_AGREE)
    prior[MAX_OFFSET] = 0.0
    log_odds = gain + prior
    k = int(np.argmax(log_odds))
    if k == MAX_OFFSET:
        return 0, 0.0, 0, 0
    likely = OFFSETS[log_odds >= log_odds[k] - RANGE_LOG_ODDS]
    same_sign = likely[np.sign(likely) == np.sign(OFFSETS[k])]
    return int(OFFSETS[k]), float(log_odds[k]), int(same_sign.min()), int(same_sign.max())


def _imbalance(grid: PassageGrid, door: int) -> Floats:
    """Total correction that balances the ledger at every offset of a door's clock [people]."""
    net = grid.entered - grid.left
    others = net.sum(axis=0) - net[door]
    people = [
        np.sum(daily_imbalance(others + _shifted(net[door], int(offset)), grid.days)) for offset in OFFSETS
    ]
    return np.array(people, dtype=float)


def _group_likelihood(grid: PassageGrid, door: int) -> Floats:
    """Log likelihood that groups pass a door and the others at the same time, at every offset [nat]."""
    by_follow = np.zeros((len(FOLLOW), OFFSETS.size))
    for passed in (grid.entered, grid.left):
        own, others = passed[door], passed.sum(axis=0) - passed[door]
        by_follow += 0.5 * _follow_likelihood(own, others, OFFSETS)
        by_follow += 0.5 * _follow_likelihood(others, own, -OFFSETS)
    return np.asarray(by_follow.max(axis=0))


def _follow_likelihood(leading: Counts, following: Counts, offsets: Counts) -> Floats:
    """Poisson log likelihood ratio of ``following`` with and without groups of ``leading`` at each offset."""
    usual = uniform_filter1d(following.astype(float), BACKGROUND_WINDOW, mode="constant") + MIN_RATE
    groups = np.convolve(np.maximum(leading - 1, 0) ** GROUP_POWER, KERNEL, mode="same")
    at = np.flatnonzero(groups)
    if at.size == 0:
        return np.zeros((len(FOLLOW), offsets.size))
    shifted = at[None, :] + offsets[:, None]
    inside = (shifted >= 0) & (shifted < following.size)
    shifted = np.where(inside, shifted, 0)
    size, people, rate = groups[at], following[shifted], usual[shifted]
    found = [
        np.sum(inside * (people * np.log1p(follow * size / rate) - follow * size), axis=1)
        for follow in FOLLOW
    ]
    return np.asarray(found)


def _shifted(values: Counts, minutes: int) -> Counts:
    """Shift values later; those that would leave the table are added to its end."""
    shifted = np.zeros_like(values)
    if minutes >= 0:
        shifted[minutes:] = values[: values.size - minutes]
        shifted[-1] += values[values.size - minutes :].sum()
    else:
        shifted[:minutes] = values[-minutes:]
        shifted[0] += values[:-minutes].sum()
    return shifted


def _with_shifted_door(grid: PassageGrid, door: str, minutes: int) -> PassageGrid:
    k = grid.doors.index(door)
    entered, left = grid.entered.copy(), grid.left.copy()
    entered[k], left[k] = _shifted(entered[k], minutes), _shifted(left[k], minutes)
    return replace(grid, entered=entered, left=left)


def _traffic(grid: PassageGrid, door: str) -> int:
    k = grid.doors.index(door)
    return int((grid.entered[k] + grid.left[k]).sum())


def _co2_fit(grid: PassageGrid, door: str, minutes: int, readings: pd.DataFrame) -> float:
    """Fraction of the occupancy explained by CO2 if the clock of a door is corrected [0..1]."""
    counts = pd.Series(
        _with_shifted_door(grid, door, minutes).occupancy(), index=grid.times.tz_localize(None)
    )
    times = pd.DatetimeIndex(readings.index).tz_localize(None)
    table = pd.DataFrame({"co2": readings["co2"].to_numpy(dtype=float)}, index=times)
    table["occupancy"] = counts[~counts.index.duplicated()].reindex(times.floor("min")).to_numpy()
    table = table[~table.index.duplicated()].dropna()
    scores = clock_scores(table) if len(table) > 1 else []
    return max((float(one.share(one.total >= 0)[one.zero]) for one in scores), default=0.0)


def _reason(grid: PassageGrid, door: str, offset: int, low: int, high: int) -> str:
    others = " and ".join(name for name in grid.doors if name != door)
    direction, opposite = ("ahead of", "behind") if offset < 0 else ("behind", "ahead")
    span = "" if low == high else f" ({min(abs(low), abs(high))} to {max(abs(low), abs(high))})"
    either = f"; or {others} is as much {opposite}" if len(grid.doors) == 2 else ""
    return (
        f"its clock is about {abs(offset)} min{span} {direction} {others}, judging by groups that pass at "
        f"the same time and by negative occupancy{either}."
    )
