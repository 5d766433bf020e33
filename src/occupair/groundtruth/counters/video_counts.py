"""Passages counted by a person from the contact sheets of an events folder."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from occupair.groundtruth.counters.counter_records import uncovered_minutes
from occupair.groundtruth.counting.counts import read_book
from occupair.groundtruth.events import Door, read_events
from occupair.groundtruth.passages import UNCERTAIN_WEIGHT, check_passages, not_counted
from occupair.readings.source import Source

WEIGHTS = {"counted": 1.0, "unsure": UNCERTAIN_WEIGHT, "skipped": 0.0}
"""Weight of a minute by the state it was given when it was counted."""
LONGEST_RECORD = dt.timedelta(days=1_100)
"""Longest time from the first to the last minute of a folder."""


def read_video_counts(folder: Path | str, *, partial: bool = False) -> pd.DataFrame:
    """Read the passages counted in an events folder.

    Parameters
    ----------
    folder : path
        As written by ``occupair groundtruth scan`` and ``occupair groundtruth count``.
    partial : bool
        Whether to treat minutes that are still to be counted as not counted; otherwise they are an error.

    Returns
    -------
    DataFrame
        Passages. Skipped minutes, and minutes in which a door has no video, have weight 0.
    """
    source = Source(str(folder))
    events, by_minute = read_events(folder), read_book(folder).counts
    counts = [count for count in by_minute.values() if count.is_decided]
    minutes = {
        (one.door, one.minute) for one in events.minutes
    } | by_minute.keys()  # some may be added by hand
    if not counts and not partial and minutes:
        raise source.error("not counted yet: run 'occupair groundtruth count' on the folder first")
    open_minutes = minutes - {count.key for count in counts}
    if open_minutes and not partial:
        door, minute = min(open_minutes, key=lambda place: (place[1], place[0]))
        raise source.error(
            f"{len(open_minutes)} of {len(minutes)} minutes are not counted yet (first: {door}, "
            f"{minute:%Y-%m-%d %H:%M}): count them, or set --partial to use those counted"
        )
    rows = [(one.door, one.minute, one.entered, one.left, WEIGHTS[one.state]) for one in counts]
    rows += [(door, minute, 0, 0, 0.0) for door, minute in open_minutes]
    # a row at the start of each video: a recorded day without passages is a counted day
    rows += [(name, file.start, 0, 0, 1.0) for name, door in events.doors.items() for file in door.files]
    if not rows:
        raise source.error("contains no videos and no counts")
    times = [row[1] for row in rows] + [
        time for door in events.doors.values() for gap in door.gaps for time in gap
    ]
    _check_times(times, source)
    table = pd.DataFrame(rows, columns=["door", "time", "entered", "left", "weight"])
    table = table.set_index(pd.DatetimeIndex(table.pop("time")))
    unrecorded = [gap for name, door in events.doors.items() for gap in _unrecorded(name, door)]
    return check_passages(pd.concat([table, *unrecorded]), source=source)


def _check_times(times: Sequence[dt.datetime], source: Source) -> None:
    """Raise an InputError unless all times are on one clock and within `LONGEST_RECORD`."""
    if len({time.utcoffset() for time in times}) > 1:
        raise source.error("all times must have the same UTC offset, or none")
    first, last = min(times), max(times)
    if last - first > LONGEST_RECORD:
        raise source.error(f"times must be within {LONGEST_RECORD.days} days, got {first} to {last}")


def _unrecorded(name: str, door: Door) -> list[pd.DataFrame]:
    """Minutes without video, or with only a part of it: gaps, and the rest of the first and last day."""
    gaps = [not_counted(name, pd.Timestamp(begin), pd.Timestamp(end).ceil("min")) for begin, end in door.gaps]
    if not door.files:
        return gaps
    ends = [pd.Timestamp(file.start) + pd.Timedelta(seconds=file.seconds) for file in door.files]
    return gaps + uncovered_minutes(name, pd.Timestamp(door.files[0].start), max(ends).ceil("min"))
