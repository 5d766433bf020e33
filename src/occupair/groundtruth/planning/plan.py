"""Which days are worth labelling next, and how many: by the learning curve, and by where the model is unsure.

How many: see ``occupair.groundtruth.planning.learning_curve``. Which: the next day is the one for which

    (1/2 + width / usual width) * how unlike it is to the days that are labelled or chosen

is most, where width is that of the range which should hold the true count nine times in ten, on average. The
half is for days that a model is sure of only because it never saw their like. With no labelled day the next
is the one that has the most kinds of air (CO2 in steps of 100 ppm, level of the ventilation) that no chosen
one has. The learning curve tells of days like the labelled ones; days that are unlike all of them come first,
and are worth labelling whatever it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.groundtruth.planning.day_similarity import (
    LEVELS,
    UNITS,
    DayProfile,
    dissimilarity,
    nearest_dissimilarity,
    profile_days,
)
from occupair.groundtruth.planning.learning_curve import FEWEST, WORTH, LearningCurve, learning_curve
from occupair.progress import quietly
from occupair.readings.head_counts import WEIGHT, check_labelled, has_label
from occupair.readings.schema import check_readings, date_slices, interval_of

HOURS = 6
"""A day with counts in so many of its hours is labelled."""
WHOLE = 12.0
"""A day with fewer hours of readings is not proposed [h]."""
MOST_DAYS = 7
"""So many are proposed at most unless more are asked for."""
START = 3
"""So many are proposed where nothing tells how many are needed."""
ROUGH = 5
"""Fewer labelled days than this tell a learning curve roughly."""
STEPS = (1, 3, 5)
"""How many more days the gain is told of."""
UNLIKE = 2.0
"""A day so unlike all that are labelled is one that the learning curve knows nothing of."""


@dataclass(frozen=True)
class DayToLabel:
    """A day that is worth labelling.

    Attributes
    ----------
    date : its date
    reason : why, in plain words
    unlike : how unlike it is to days labelled or chosen before it; NaN where there are none
    width : how wide the range of the model is on average [people]; NaN where there is no model
    """

    date: pd.Timestamp
    reason: str
    unlike: float
    width: float


@dataclass(frozen=True)
class Plan:
    """How many days to label next, and which.

    Attributes
    ----------
    labelled : dates of the days that have head counts
    unlabelled : how many days there are to choose from
    curve : the learning curve; None with fewer than three labelled days, or where nobody was ever in
    days : what to label next, the best first
    """

    labelled: tuple[pd.Timestamp, ...]
    unlabelled: int
    curve: LearningCurve | None
    days: tuple[DayToLabel, ...]

    @property
    def alike(self) -> int | None:
        """How many more days like the labelled ones are worth their labelling; None: that cannot be told."""
        return None if self.curve is None else round(self.curve.enough().value) - self.curve.n_days

    @property
    def unlike(self) -> int:
        """How many of the days are unlike all that are labelled or come before them."""
        return sum(day.unlike >= UNLIKE for day in self.days)

    @property
    def advice(self) -> str:
        """Give one line: what to do."""
        if self.curve is None:
            return _without_curve(len(self.labelled))
        n, more, enough = self.curve.n_days, self.alike or 0, self.curve.enough()
        now = f"the next such takes about {_percent(self.curve.gain(1).value)} off the error of"
        now = f"{now} {self.curve.error(n).value:.2f} people"
        if more:
            between = _between(round(enough.low) - n, round(enough.high) - n)
            later = f"from {n + more} days on another takes less than {_percent(WORTH)}"
            return f"Label about {_days(more)} more ({between}): {now}; {later}."
        if self.unlike:
            return f"Label {_days(self.unlike)} unlike the {n} labelled ones; of days like them: {now}."
        return f"The {n} labelled days are enough: {now}, which is less than it costs."

    def notes(self) -> list[str]:
        """Give what else is to be known, one line each."""
        words = []
        if self.curve is not None:
            if self.curve.n_days < ROUGH:
                words.append(f"{_days(self.curve.n_days)} tell this roughly: ask again after the next.")
            if self.unlike:
                are = "is" if self.unlike == 1 else "are"
                words.append(
                    f"{_days(self.unlike)} below {are} unlike all labelled ones: nothing is known of such, "
                    "and the error may be larger there."
                )
        if not self.days:
            words.append(f"There is no day without head counts that has {WHOLE:g} hours of readings.")
        return words


def plan_labels(
    readings: pd.DataFrame,
    *,
    model: OccupancyEstimator | None = None,
    days: int | None = None,
    seed: int = 0,
) -> Plan:
    """Say how many more days are worth labelling in a room, and which.

    Parameters
    ----------
    readings : DataFrame
        All there are: ``occupancy`` is NaN, or not there, on days that are not labelled, or has the weight 0.
    model : OccupancyEstimator, optional
        A trained model of the room, to say where it is unsure; its settings are those of the learning curve.
        If not given, the default estimator is trained on the labelled days.
    days : int, optional
        How many days to choose; if not given as many as are worth it, at most seven, and three where that
        cannot be told or none is.
    seed : int
        What all chance comes from.

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=4, seed=1).iloc[::5]
    >>> plan = plan_labels(office.assign(occupancy=office["occupancy"].where(office.index.day < 5)), days=1)
    >>> len(plan.labelled), plan.curve, len(plan.days)
    (2, None, 1)
    >>> plan.advice
    'Label 3 days, then ask again: 2 labelled days do not tell how much another gains.'
    """
    if days is not None and not (isinstance(days, int | np.integer) and days >= 1):
        raise InputError(f"days must be a whole number, 1 or more, got {days!r}")
    if model is not None and not hasattr(model, "room_"):
        raise InputError("model must be of ours (layer room): the paper's do not say how sure they are")
    readings = _checked(readings)
    labelled, candidates = _sorted_days(readings)
    curve = None
    if len(labelled) >= FEWEST:
        curve = learning_curve(labelled, estimator=model, seed=seed)
    if model is None and any((day["occupancy"] > 0).any() for day in labelled):
        with quietly():
            model = OccupancyEstimator(random_state=seed).fit(_together(labelled, readings))
    widths = _widths(model, candidates, readings)
    looks = profile_days(_together(candidates, readings)) if candidates else []
    known = profile_days(_together(labelled, readings)) if labelled else []
    chosen = tuple(_choose(looks, widths, known, days or MOST_DAYS))
    plan = Plan(tuple(look.date for look in known), len(looks), curve, chosen)
    worth = START if curve is None else max(plan.alike or 0, plan.unlike) or START
    wanted = days or min(worth, MOST_DAYS)
    return replace(plan, days=chosen[:wanted])


def _checked(readings: pd.DataFrame) -> pd.DataFrame:
    """Check readings whose counts may be missing, all of them too."""
    if isinstance(readings, pd.DataFrame) and "occupancy" in readings.columns and has_label(readings).any():
        checked = check_labelled(readings)
        return checked if WEIGHT in checked.columns else checked.assign(**{WEIGHT: 1.0})
    plain = (
        readings.drop(columns=["occupancy", WEIGHT], errors="ignore")
        if isinstance(readings, pd.DataFrame)
        else readings
    )
    checked = check_readings(plain)
    return checked.assign(**{"occupancy": np.nan, WEIGHT: 0.0})


def _sorted_days(readings: pd.DataFrame) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """Give the days that are labelled, and those that could be."""
    interval, labelled, others = interval_of(readings), [], []
    for rows in date_slices(readings):
        day = readings.iloc[rows]
        known = day.index[has_label(day)]
        if len(set(pd.DatetimeIndex(known).hour)) >= HOURS:
            labelled.append(day)
        elif len(day) * interval / 60 >= WHOLE:
            others.append(day)
    return labelled, others


def _together(days: Sequence[pd.DataFrame], readings: pd.DataFrame) -> pd.DataFrame:
    joined = pd.concat(days)
    joined.attrs = dict(readings.attrs)
    return joined


def _widths(
    model: OccupancyEstimator | None, days: Sequence[pd.DataFrame], readings: pd.DataFrame
) -> list[float]:
    """How wide the range of a model is on each day, on average [people]."""
    if model is None or not days:
        return [float("nan")] * len(days)
    with quietly():
        table = model.estimate(_together(days, readings), interval=0.9)
    width = table["high"] - table["low"]
    return [float(width.loc[day.index].mean()) for day in days]


def _choose(
    looks: Sequence[DayProfile], widths: Sequence[float], labelled: Sequence[DayProfile], wanted: int
) -> list[DayToLabel]:
    """Choose days one after the other, so that they differ from each other."""
    unsure = _unsure(widths)
    chosen: list[DayToLabel] = []
    have, air, left = list(labelled), set[tuple[int, int]](), list(range(len(looks)))
    while left and len(chosen) < wanted:
        new = {k: len(looks[k].kinds - air) for k in left}
        far = {k: nearest_dissimilarity(looks[k], have) if have else float("nan") for k in left}
        by_air = not labelled and (not have or max(new.values()) > 0)
        if by_air:
            best = max(left, key=lambda k: (new[k] * unsure[k], looks[k].co2_high - looks[k].co2_low, -k))
            reason = _air_words(looks[best], new[best], first=not have)
        else:
            best = max(left, key=lambda k: (far[k] >= UNLIKE, far[k] * unsure[k], -k))
            reason = _reason(looks[best], have, listed=bool(chosen))
        chosen.append(DayToLabel(looks[best].date, reason, far[best], widths[best]))
        have.append(looks[best])
        air |= looks[best].kinds
        left.remove(best)
    return chosen


def _unsure(widths: Sequence[float]) -> list[float]:
    """How unsure the model is of each day over the usual, and a half; all alike where there is no model."""
    usual = float(np.mean(widths)) if widths else 0.0
    if not usual > 0:
        return [1.0] * len(widths)
    return [0.5 + width / usual for width in widths]


# ---- in words --------------------------------------------------------------------------------------------


def _reason(look: DayProfile, have: Sequence[DayProfile], *, listed: bool) -> str:
    """Say what a day has that those labelled or chosen have not."""
    others = "days labelled or above" if listed else "labelled days"
    words = [
        *_calendar(look, have),
        *_ventilation(look, have, others),
        *_co2(look, have, others),
        *_use(look, have, others),
    ]
    if words:
        return "; ".join(words)
    nearest = min(have, key=lambda other: dissimilarity(look, other))
    return f"most like {nearest.date:%Y-%m-%d}, {_difference(look, nearest)}"


def _calendar(look: DayProfile, have: Sequence[DayProfile]) -> list[str]:
    if any(look.weekend == other.weekend for other in have):
        return []
    return ["the first day of a weekend" if look.weekend else "the first weekday"]


def _ventilation(look: DayProfile, have: Sequence[DayProfile], others: str) -> list[str]:
    more = np.array(look.ventilation) - np.max([other.ventilation for other in have], axis=0)
    level = int(np.argmax(more))
    if more[level] < UNITS["ventilation"] / 2:
        return []
    most = max(other.ventilation[level] for other in have)
    usual = "none" if most * 24 < 0.1 else f"at most {most * 24:.1f} h"
    return [f"ventilation {LEVELS[level]} for {look.ventilation[level] * 24:.1f} h, {others} {usual}"]


def _co2(look: DayProfile, have: Sequence[DayProfile], others: str) -> list[str]:
    words = []
    low, high = min(other.co2_high for other in have), max(other.co2_high for other in have)
    if look.co2_high > high + UNITS["co2_high"] / 4:
        words.append(f"CO2 up to {look.co2_high:.0f} ppm, {others} up to {high:.0f}")
    elif look.co2_high < low - UNITS["co2_high"] / 4:
        words.append(f"CO2 only up to {look.co2_high:.0f} ppm, {others} at least {low:.0f}")
    return words


def _use(look: DayProfile, have: Sequence[DayProfile], others: str) -> list[str]:
    low, high = min(other.hours for other in have), max(other.hours for other in have)
    if not low - UNITS["hours"] / 4 <= look.hours <= high + UNITS["hours"] / 4:
        there = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"
        how_long = f"in use for {look.hours:.1f} h" if look.hours >= 0.5 else "not in use"
        return [f"by its CO2 {how_long}, {others} for {there} h"]
    early, late = min(other.middle for other in have), max(other.middle for other in have)
    if not early - UNITS["middle"] / 4 <= look.middle <= late + UNITS["middle"] / 4:
        when = "earlier" if look.middle < early else "later"
        about = f"{int(look.middle):02d}:{int(look.middle % 1 * 60):02d}"
        return [f"in use {when} than {others}, about {about}"]
    return []


def _difference(look: DayProfile, other: DayProfile) -> str:
    high, hours = look.co2_high - other.co2_high, look.hours - other.hours
    if abs(high) / UNITS["co2_high"] >= abs(hours) / UNITS["hours"]:
        return f"with CO2 up to {look.co2_high:.0f} ppm in place of {other.co2_high:.0f}"
    return f"in use for {look.hours:.1f} h in place of {other.hours:.1f}"


def _air_words(look: DayProfile, new: int, *, first: bool) -> str:
    levels = [LEVELS[level] for level in sorted({level for _, level in look.kinds})]
    air = f"CO2 from {look.co2_low:.0f} to {look.co2_high:.0f} ppm"
    flow = "" if levels == [LEVELS[0]] else f", ventilation {', '.join(levels)}"
    weekend = ", a weekend" if look.weekend else ""
    kinds = f"{new} kinds of air" if first else f"{new} more kinds of air"
    return f"{air}{flow}{weekend}: {kinds}"


def _without_curve(labelled: int) -> str:
    if labelled == 0:
        return (
            f"Label {START} days, then ask again: without a labelled day nothing tells how many are needed."
        )
    if labelled < FEWEST:
        days = "1 labelled day does" if labelled == 1 else f"{labelled} labelled days do"
        return f"Label {START} days, then ask again: {days} not tell how much another gains."
    return f"Label days with people: on the {labelled} labelled ones there is nothing to learn from."


def _days(number: int) -> str:
    return f"{number} {'day' if number == 1 else 'days'}"


def _between(low: int, high: int) -> str:
    low, high = max(low, 0), max(high, 0)
    return f"{low} to {high}" if high < 100 else f"{low} to more than 100"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.095 else f"{100 * share:.0f} %"
