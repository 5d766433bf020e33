"""Read passages from counted events folders, door counter exports and MQTT logs, by type of file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pandas as pd

from occupair.errors import InputError
from occupair.groundtruth.counters.counter_tables import read_counter_table
from occupair.groundtruth.counters.mqtt_logs import is_mqtt_log, read_mqtt_log
from occupair.groundtruth.counters.video_counts import read_video_counts
from occupair.groundtruth.passages import check_passages, in_zone
from occupair.readings.source import Source
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import quoted


def read_passages(
    *paths: str | Path,
    timezone: str | None = None,
    dayfirst: bool | None = None,
    columns: Mapping[str, str] | None = None,
    cumulative: bool | None = None,
    partial: bool = False,
) -> pd.DataFrame:
    """Read passages of any number of doors.

    Parameters
    ----------
    *paths
        Events folders counted with ``occupair groundtruth count``; CSV or Parquet exports of door counters
        (``occupair.groundtruth.counters.counter_tables``); MQTT logs
        (``occupair.groundtruth.counters.mqtt_logs``).
    timezone : str, optional
        Time zone of local times; times with an offset are converted to it.
    dayfirst : bool, optional
        Whether 01/02/2024 is 1 February; None to detect.
    columns : mapping, optional
        Column names of a CSV by role: ``time``, ``date``, ``door``, ``direction``, ``entered``, ``left``,
        ``count``.
    cumulative : bool, optional
        Whether counts are running totals, as on a meter; None to detect.
    partial : bool
        Whether to treat minutes of a folder that are still to be counted as not counted; otherwise they are
        an error.

    Returns
    -------
    DataFrame
        Passages, as returned by ``check_passages``.
    """
    if not paths:
        raise InputError("no input: give a counted events folder, a door counter CSV or an MQTT log")
    parse_time_zone(timezone)
    tables: dict[str, pd.DataFrame] = {}
    for path in map(Path, paths):
        if path.is_dir():
            tables[str(path)] = read_video_counts(path, partial=partial)
        elif is_mqtt_log(path):
            tables[str(path)] = read_mqtt_log(path, timezone=timezone, cumulative=cumulative)
        else:
            tables[str(path)] = read_counter_table(
                path, timezone=timezone, dayfirst=dayfirst, columns=columns, cumulative=cumulative
            )
    return combine_passages(tables, timezone=timezone)


def combine_passages(tables: Mapping[str, pd.DataFrame], *, timezone: str | None = None) -> pd.DataFrame:
    """Combine passages of several files, by file name, in one time zone; a door must be in one file only."""
    zoned = {name: in_zone(table, timezone, source=Source(name)) for name, table in tables.items()}
    for (one, first), (other, second) in pairwise(zoned.items()):
        if (_zone(first) is None) != (_zone(second) is None):
            aware, local = (one, other) if _zone(first) is not None else (other, one)
            raise InputError(f"{local}: times have no time zone but those of {aware} do: set --timezone")
    _check_no_duplicates(zoned)
    zone = _zone(next(iter(zoned.values())))
    if zone is not None:
        zoned = {
            name: table.set_axis(pd.DatetimeIndex(table.index).tz_convert(zone))
            for name, table in zoned.items()
        }
    return check_passages(pd.concat(list(zoned.values())))


def _check_no_duplicates(tables: Mapping[str, pd.DataFrame]) -> None:
    """Refuse the same passages in two files, which would count twice."""
    seen: dict[tuple[str, object], str] = {}
    for name, table in tables.items():
        passed = table[table[["entered", "left"]].sum(axis=1) > 0]
        for door, own in passed.groupby("door"):
            for minute in own.index:
                other = seen.setdefault((str(door), minute), name)
                if other != name:
                    raise InputError(
                        f"{name}: passages at door {quoted(door)} at {minute} are also in {other}: "
                        "give each file once, or use different door names"
                    )


def _zone(passages: pd.DataFrame) -> dt.tzinfo | None:
    return pd.DatetimeIndex(passages.index).tz
