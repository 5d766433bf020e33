"""What to report of a room, and its counts from a model and readings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.progress import quietly
from occupair.room.prediction_intervals import CONFIDENCE
from occupair.utilisation.bad_days import SensorFaults
from occupair.utilisation.calendar_events import CalendarEvent
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.room_usage import NO_COUNTS, RoomInfo, RoomUsage, room_usage

DAY = pd.Timedelta(days=1)


@dataclass(frozen=True)
class RoomOrder:
    """What to report of a room.

    Parameters
    ----------
    room : RoomInfo
        The room.
    opening : OpeningHours
        Opening hours.
    first, last : Timestamp, optional
        First and last day, as midnights without time zone; by default those of the data.
    events : tuple of CalendarEvent, optional
        Meetings; None if no calendar was given.
    """

    room: RoomInfo
    opening: OpeningHours
    first: pd.Timestamp | None = None
    last: pd.Timestamp | None = None
    events: tuple[CalendarEvent, ...] | None = None

    def period(self, zone: Any, *, before: int = 0) -> tuple[pd.Timestamp | None, pd.Timestamp | None]:
        """Return the begin and the end of the period in a time zone, with ``before`` more days."""
        begin = None if self.first is None else local_midnight(self.first - before * DAY, zone)
        return begin, None if self.last is None else local_midnight(self.last + DAY, zone)

    def usage(
        self,
        counts: pd.DataFrame,
        *,
        faults: SensorFaults | None = None,
        notes: tuple[str, ...] = (),
        limit: float | None = None,
    ) -> RoomUsage:
        """Return the use of the room from its counts; those outside the period are ignored."""
        begin, end = self.period(pd.DatetimeIndex(counts.index).tz)
        inside = np.ones(len(counts), dtype=bool)
        if begin is not None:
            inside &= counts.index >= begin
        if end is not None:
            inside &= counts.index < end
        counts = counts[inside]
        if len(counts) < 2:
            return RoomUsage(self.room, problem=NO_COUNTS)
        return room_usage(
            self.room,
            counts,
            self.opening,
            faults=faults,
            events=None if self.events is None else self._meetings(pd.DatetimeIndex(counts.index)),
            first=self.first,
            last=self.last,
            notes=notes,
            limit=limit,
        )

    def _meetings(self, times: pd.DatetimeIndex) -> list[CalendarEvent]:
        """Return the meetings from the first to the last day, in the time zone of the counts."""
        zone, days = times.tz, times.tz_localize(None).normalize()
        begin = local_midnight(days[0] if self.first is None else self.first, zone)
        end = local_midnight((days[-1] if self.last is None else self.last) + DAY, zone)
        events = [_in_zone(event, zone) for event in self.events or ()]
        return [event for event in events if event.start < end and event.end > begin]


def _in_zone(event: CalendarEvent, zone: Any) -> CalendarEvent:
    if zone is None:
        return event._replace(start=event.start.tz_localize(None), end=event.end.tz_localize(None))
    if event.start.tzinfo is None:
        raise InputError(
            "counts have a UTC offset, and meetings are in local time: give the time zone of the room, such "
            "as --timezone Europe/Copenhagen"
        )
    return event._replace(start=event.start.tz_convert(zone), end=event.end.tz_convert(zone))


def local_midnight(day: pd.Timestamp, zone: Any) -> pd.Timestamp:
    """Return the first moment of a day in a time zone; None is local time."""
    if zone is None:
        return day
    return day.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")


def usage_or_problem(read: Callable[[Any], RoomUsage], source: Any) -> RoomUsage:
    """Return the use of a room; if its data cannot be used, the reason is its problem.

    Parameters
    ----------
    read : callable
        Returns the use of the room from ``source``.
    source : object
        Where the data of the room are; ``source.order`` is a `RoomOrder`.

    Raises
    ------
    OSError
        If a database or a file system fails, which concerns all rooms.
    """
    try:
        return read(source)
    except OSError:
        raise
    except InputError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  # one room must not end the report of all
        problem = f"unexpected error, please report it: {type(error).__name__}: {error}"
    return RoomUsage(source.order.room, problem=" ".join(problem.split()))


def hindsight_counts(estimator: OccupancyEstimator, readings: pd.DataFrame) -> pd.DataFrame:
    """Return the best estimate of every reading, with 90 % intervals if the model has them.

    Parameters
    ----------
    estimator : OccupancyEstimator
        Trained estimator.
    readings : DataFrame
        Readings, without those of a faulty sensor.
    """
    confidence = CONFIDENCE if hasattr(estimator, "room_") else None
    with quietly():
        found = estimator.estimate(readings, mode="hindsight", interval=confidence)
    return found.to_frame() if isinstance(found, pd.Series) else found


def count_limit(estimator: OccupancyEstimator) -> float:
    """Return the largest count that a model can state [people]."""
    limit = estimator.room_.people_limit if hasattr(estimator, "room_") else None
    return float(estimator.most_people_ if limit is None else limit)
