"""What was counted by hand in an events folder, as passages: counts, gaps in the videos, what is not done."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.groundtruth.counters.counter_series import before_and_after
from occupair.groundtruth.counting.counts import read_book
from occupair.groundtruth.events import Door, read_events
from occupair.groundtruth.passages import UNSURE, check_passages, not_counted
from occupair.readings.source import Source

WEIGHTS = {"counted": 1.0, "unsure": UNSURE, "skipped": 0.0}
"""Of a minute, by what was said of it when it was counted."""


def read_counted(folder: Path | str, *, partial: bool = False) -> pd.DataFrame:
    """Read the passages that were counted in an events folder.

    Parameters
    ----------
    folder : path
        As written by ``occupair groundtruth scan`` and ``occupair groundtruth count``.
    partial : bool
        Whether minutes that are not counted yet are taken as not counted; else they are an error.

    Returns
    -------
    DataFrame
        Passages. A minute that was skipped, or of which a door has no video, has nobody and the weight 0.
    """
    source = Source(str(folder))
    events, book = read_events(folder), read_book(folder).counts
    counts = [count for count in book.values() if count.is_decided]
    places = {(one.door, one.minute) for one in events.minutes} | book.keys()  # a person may add some
    if not counts and not partial and places:
        raise source.error("nothing has been counted yet: run occupair groundtruth count on it")
    undone = places - {count.key for count in counts}
    if undone and not partial:
        door, minute = min(undone, key=lambda place: (place[1], place[0]))
        raise source.error(
            f"{len(undone)} of {len(places)} minutes are not counted yet (the first {door}, "
            f"{minute:%Y-%m-%d %H:%M}): count them, or take what there is with --partial"
        )
    rows = [(one.door, one.minute, one.entered, one.left, WEIGHTS[one.state]) for one in counts]
    rows += [(door, minute, 0, 0, 0.0) for door, minute in undone]
    # a day with a video and nobody in it has been counted: a row says so
    rows += [(name, file.start, 0, 0, 1.0) for name, door in events.doors.items() for file in door.files]
    if not rows:
        raise source.error("has no video and no count")
    table = pd.DataFrame(rows, columns=["door", "time", "entered", "left", "weight"])
    table = table.set_index(pd.DatetimeIndex(table.pop("time")))
    unseen = [part for name, door in events.doors.items() for part in _unseen(name, door)]
    return check_passages(pd.concat([table, *unseen]), source=source)


def _unseen(name: str, door: Door) -> list[pd.DataFrame]:
    """Minutes of which a door has no video: gaps, and the first and last day around its videos."""
    gaps = [not_counted(name, *map(pd.Timestamp, gap)) for gap in door.gaps]
    if not door.files:
        return gaps
    ends = [pd.Timestamp(file.start) + pd.Timedelta(seconds=file.seconds) for file in door.files]
    return gaps + before_and_after(name, pd.Timestamp(door.files[0].start), max(ends).ceil("min"))
