"""Label planning: how many more days are worth labelling, and which.

How many follows from the learning curve (``occupair.groundtruth.planning.learning_curve``). The next day is
the one that maximises

    (1/2 + width / mean width) * dissimilarity to the most similar day labelled or recommended

where width is the mean width of the model's 90 % prediction interval on that day. The 1/2 is for days on
which the model is confident only because it has never seen one like them. Without labelled days, the next
day is the one with the most air conditions (CO2 in steps of 100 ppm, ventilation level) that no recommended
day has. The learning curve only applies to days similar to the labelled ones; days dissimilar to all of
them come first and are worth labelling regardless of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.groundtruth.planning.day_similarity import DayProfile, nearest_dissimilarity, profile_days
from occupair.groundtruth.planning.learning_curve import MIN_DAYS, MIN_GAIN, LearningCurve, learning_curve
from occupair.groundtruth.planning.reasons import air_reason, difference_reason
from occupair.progress import quietly
from occupair.readings.head_counts import WEIGHT, check_labelled, has_label
from occupair.readings.labelled_days import ENOUGH_DAYS, labelled_days
from occupair.readings.schema import check_readings, date_slices, interval_of
from occupair.wording import plural

MIN_HOURS = 12.0
"""A day with fewer hours of readings is not recommended [h]."""
MAX_RECOMMENDED = 7
"""Most days recommended unless more are requested."""
DEFAULT_RECOMMENDED = 3
"""Days recommended if none are needed."""
STEPS = (1, 3, 5)
"""Numbers of additional days for which the gain is reported."""
DISSIMILAR = 2.0
"""From this dissimilarity to all labelled days on, the learning curve does not apply to a day."""


@dataclass(frozen=True)
class DayToLabel:
    """A recommended day.

    Attributes
    ----------
    date : its date
    reason : why it is recommended
    unlike : dissimilarity to the most similar day labelled or recommended before it; NaN if there is none
    width : mean width of the model's 90 % prediction interval [people]; NaN without a model
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
    labelled : dates of the labelled days
    occupied : number of labelled days with people
    unlabelled : number of days to choose from
    curve : the learning curve; None with fewer than three labelled days, or if the room was always empty
    days : recommended days, best first
    """

    labelled: tuple[pd.Timestamp, ...]
    occupied: int
    unlabelled: int
    curve: LearningCurve | None
    days: tuple[DayToLabel, ...]

    @property
    def alike(self) -> int | None:
        """Number of further days similar to the labelled ones that are worth labelling; None if unknown.

        As many as the learning curve recommends, and at least those missing to `ENOUGH_DAYS` with people.
        """
        if self.curve is None:
            return None
        return max(round(self.curve.enough().value) - self.curve.n_days, ENOUGH_DAYS - self.occupied)

    @property
    def unlike(self) -> int:
        """Number of recommended days that are dissimilar to all days labelled or recommended before them."""
        return sum(day.unlike >= DISSIMILAR for day in self.days)

    @property
    def advice(self) -> str:
        """The recommendation in one sentence."""
        if self.curve is None:
            return _advice_without_curve(len(self.labelled), self.occupied)
        n, more, enough = self.curve.n_days, self.alike or 0, self.curve.enough()
        gain = f"the next similar day reduces the error of {self.curve.error(n).value:.2f} people by about"
        gain = f"{gain} {_percent(self.curve.gain(1).value)}"
        if self.occupied < ENOUGH_DAYS:
            return f"{_more_days(self.occupied, more)}; {gain}."
        if more:
            between = _between(round(enough.low) - n, round(enough.high) - n)
            later = f"from {n + more} days on, each reduces it by less than {_percent(MIN_GAIN)}"
            return f"Label about {plural(more, 'more day')} ({between}): {gain}; {later}."
        if self.unlike:
            return f"Label {plural(self.unlike, 'day')} dissimilar to the {n} labelled ones; {gain}."
        return f"The {n} labelled days are enough: {gain}, which is not worth the effort."

    def notes(self) -> list[str]:
        """Return further remarks, one line each."""
        lines = []
        if self.curve is not None:
            if self.curve.n_days < ENOUGH_DAYS:
                days = plural(self.curve.n_days, "labelled day")
                lines.append(f"A rough estimate from {days}: run again after labelling the next.")
            if self.unlike:
                are = "is" if self.unlike == 1 else "are"
                lines.append(
                    f"{plural(self.unlike, 'day')} below {are} dissimilar to all labelled days: the error on "
                    "such days is unknown and may be larger."
                )
        if not self.days:
            lines.append(f"No unlabelled day has at least {MIN_HOURS:g} hours of readings.")
        return lines


def plan_labels(
    readings: pd.DataFrame,
    *,
    model: OccupancyEstimator | None = None,
    days: int | None = None,
    seed: int = 0,
) -> Plan:
    """Recommend how many more days to label in a room, and which.

    Parameters
    ----------
    readings : DataFrame
        All readings; on unlabelled days ``occupancy`` is NaN or missing, or its weight is 0.
    model : OccupancyEstimator, optional
        A trained model of the room, whose prediction intervals and settings are used. By default the default
        estimator is trained on the labelled days.
    days : int, optional
        Number of days to recommend; by default as many as are worth labelling, at most seven, or three if
        none are needed.
    seed : int
        Random seed.

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=4, seed=1).iloc[::5]
    >>> plan = plan_labels(office.assign(occupancy=office["occupancy"].where(office.index.day < 5)), days=1)
    >>> len(plan.labelled), plan.curve, len(plan.days)
    (2, None, 1)
    >>> plan.advice
    'Label 3 more days with people, then run again: 2 are too few, 5 are a good start.'
    """
    if days is not None and not (isinstance(days, int | np.integer) and days >= 1):
        raise InputError(f"days must be a positive integer, got {days!r}")
    if model is not None and not hasattr(model, "room_"):
        raise InputError("model must have layer 'room': the paper's estimators have no prediction intervals")
    readings = _check_readings(readings)
    labelled, candidates = _split_days(readings)
    curve = None
    if len(labelled) >= MIN_DAYS:
        curve = learning_curve(labelled, estimator=model, seed=seed)
    if model is None and any((day["occupancy"] > 0).any() for day in labelled):
        with quietly():
            model = OccupancyEstimator(random_state=seed).fit(_join(labelled, readings))
    widths = _interval_widths(model, candidates, readings)
    profiles = profile_days(_join(candidates, readings)) if candidates else []
    known = profile_days(_join(labelled, readings)) if labelled else []
    recommended = tuple(_recommend(profiles, widths, known, days or MAX_RECOMMENDED))
    occupied = sum(bool((day["occupancy"] > 0).any()) for day in labelled)
    plan = Plan(tuple(profile.date for profile in known), occupied, len(profiles), curve, recommended)
    number = ENOUGH_DAYS - occupied if curve is None else max(plan.alike or 0, plan.unlike)
    number = number if number > 0 else DEFAULT_RECOMMENDED
    return replace(plan, days=recommended[: days or min(number, MAX_RECOMMENDED)])


def _check_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Check readings that may have head counts on some days or none."""
    if isinstance(readings, pd.DataFrame) and "occupancy" in readings.columns and has_label(readings).any():
        checked = check_labelled(readings)
        return checked if WEIGHT in checked.columns else checked.assign(**{WEIGHT: 1.0})
    unlabelled = (
        readings.drop(columns=["occupancy", WEIGHT], errors="ignore")
        if isinstance(readings, pd.DataFrame)
        else readings
    )
    checked = check_readings(unlabelled)
    return checked.assign(**{"occupancy": np.nan, WEIGHT: 0.0})


def _split_days(readings: pd.DataFrame) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """Return the labelled days, and the unlabelled days that could be labelled."""
    interval, labelled, candidates = interval_of(readings), [], []
    for rows in date_slices(readings):
        day = readings.iloc[rows]
        if len(labelled_days(day["occupancy"][has_label(day)])):
            labelled.append(day)
        elif len(day) * interval / 60 >= MIN_HOURS:
            candidates.append(day)
    return labelled, candidates


def _join(days: Sequence[pd.DataFrame], readings: pd.DataFrame) -> pd.DataFrame:
    joined = pd.concat(days)
    joined.attrs = dict(readings.attrs)
    return joined


def _interval_widths(
    model: OccupancyEstimator | None, days: Sequence[pd.DataFrame], readings: pd.DataFrame
) -> list[float]:
    """Mean width of the model's 90 % prediction interval on each day [people]."""
    if model is None or not days:
        return [float("nan")] * len(days)
    with quietly():
        table = model.estimate(_join(days, readings), interval=0.9)
    width = table["high"] - table["low"]
    return [float(width.loc[day.index].mean()) for day in days]


def _recommend(
    profiles: Sequence[DayProfile], widths: Sequence[float], labelled: Sequence[DayProfile], number: int
) -> list[DayToLabel]:
    """Choose days one after another, each dissimilar to those labelled and chosen before."""
    uncertainty = _uncertainty(widths)
    chosen: list[DayToLabel] = []
    known, covered, remaining = list(labelled), set[tuple[int, int]](), list(range(len(profiles)))
    while remaining and len(chosen) < number:
        new = {k: len(profiles[k].air_conditions - covered) for k in remaining}
        unlike = {k: nearest_dissimilarity(profiles[k], known) if known else float("nan") for k in remaining}
        by_air = not labelled and (not known or max(new.values()) > 0)
        if by_air:
            best = max(
                remaining,
                key=lambda k: (new[k] * uncertainty[k], profiles[k].co2_high - profiles[k].co2_low, -k),
            )
            reason = air_reason(profiles[best], new[best], first=not known)
        else:
            best = max(remaining, key=lambda k: (unlike[k] >= DISSIMILAR, unlike[k] * uncertainty[k], -k))
            reason = difference_reason(profiles[best], known, any_recommended=bool(chosen))
        chosen.append(DayToLabel(profiles[best].date, reason, unlike[best], widths[best]))
        known.append(profiles[best])
        covered |= profiles[best].air_conditions
        remaining.remove(best)
    return chosen


def _uncertainty(widths: Sequence[float]) -> list[float]:
    """Interval width of each day relative to the mean, plus 1/2; all 1 without a model."""
    usual = float(np.mean(widths)) if widths else 0.0
    if not usual > 0:
        return [1.0] * len(widths)
    return [0.5 + width / usual for width in widths]


def _advice_without_curve(labelled: int, occupied: int) -> str:
    if labelled >= MIN_DAYS and occupied == 0:
        return (
            f"Label days with people in the room: the {labelled} labelled days offer nothing to learn from."
        )
    return f"{_more_days(occupied, ENOUGH_DAYS - occupied)}."


def _more_days(occupied: int, more: int) -> str:
    """Ask for days with people until there are ``ENOUGH_DAYS``."""
    if occupied == 0:
        return f"Label {plural(more, 'day')} with people, then run again"
    few = "1 is" if occupied == 1 else f"{occupied} are"
    label = f"Label {plural(more, 'more day')} with people, then run again"
    return f"{label}: {few} too few, {ENOUGH_DAYS} are a good start"


def _between(low: int, high: int) -> str:
    low, high = max(low, 0), max(high, 0)
    return f"{low} to {high}" if high < 100 else f"{low} to more than 100"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %" if fraction < 0.095 else f"{100 * fraction:.0f} %"
