"""SDU 2018: four rooms of a Danish university building, 15 days, camera counts every minute."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.published_tables import Table, check_room, open_table
from occupair.datasets.regular_grid import artificial_dates
from occupair.readings.schema import check_readings
from occupair.readings.ventilation_scale import Scale, with_scale

ROOM_NUMBERS = (1, 2, 3, 4)
_KEYS = ["DayId", "Time", "Weekday"]

# The commit with the present days; the one before had other days under the same names.
_BASE = (
    "https://raw.githubusercontent.com/EBC-Annex-79/Data-Driven-Occupant-Modeling/"
    "9355e3ba293b659e6fbabde9c156227c2d0f0426/data/sdu-2018-1building-3datatypes/"
)
_CHECKSUMS = {
    "co2_data_room_1.csv": "50a37fe13fa5d52a7eb7b3b2a2e4372309bd5e5e3bbb7710494a301316189702",
    "co2_data_room_2.csv": "be79d819347f57c7a0078ae7f31cde26251f3410244cd4aab9dbf50284ac9bd0",
    "co2_data_room_3.csv": "e681bd5156ef696a140e145d98e673d7c66e88fbc6194c253be0cd68a584b7e4",
    "co2_data_room_4.csv": "75a69107077941b6c3fe14df73d570bc6dcb1f6dd902e236c144ebf0809ca4b9",
    "occ_data_room_1.csv": "f476774c9dfe1720c8f806bd577038f60bda0f9e9f4fcbe0b0be0eee5ba7957c",
    "occ_data_room_2.csv": "95b105d06e0b334658dd47566baa97171f4f1cc7444c51449b7c3807a86ef4be",
    "occ_data_room_3.csv": "20e9bdf0100fc8d6fb5d3253c7b64b1c3e4fd163662607ed00b5df115646a964",
    "occ_data_room_4.csv": "94e68401f4e5bbfbeb22677c72d223e0943f7a7302163675fc97928a211e90f1",
    "vav_data_room_1.csv": "75a93ed5cda80b0642b8beca850da8414c84023684b1a0d6998734b94fe046b7",
    "vav_data_room_2.csv": "7c5440baf42ff471ea94db8bc8ebeb5600e36f68eec50bf34f2b1f02c2b915e9",
    "vav_data_room_3.csv": "5fd8eeacf901e6385abb26dc57568ffc5adce8fffe34188f153e66b9f42ac3af",
    "vav_data_room_4.csv": "8a394ff5b3e46d9449e4f01989f18e04f6515103f12b7afefac85f444fa58d72",
}

DATA_SET = DataSet(
    name="sdu2018",
    title="Room-level Occupant Counts, Airflow and CO2 Data from an Office Building",
    citation=(
        "K. Arendt, A. Johansen, B. N. Jørgensen, M. B. Kjærgaard, C. G. Mattera, F. C. Sangogboye, "
        "J. H. Schwee and C. T. Veje, DATA '18, 2018, pp. 13-14, doi:10.1145/3277868.3277875"
    ),
    licence="CC-BY-4.0",
    page="https://github.com/EBC-Annex-79/Data-Driven-Occupant-Modeling",
    files=tuple(RemoteFile(name, _BASE + name, sha256) for name, sha256 in _CHECKSUMS.items()),
)


def read_sdu2018(folder: str | Path, *, room: int = 1, aligned: bool = True) -> pd.DataFrame:
    """Read one room of SDU 2018: 15 days, one reading per minute.

    Arendt et al. 2018 (``DATA_SET.citation``), CC-BY-4.0. Teaching and office building of the
    University of Southern Denmark, Odense, 2017-03-22 to 2017-04-05. Rooms 1 and 4 are lecture rooms
    (139 m2, 84 seats), rooms 2 and 3 study zones (125 m2, 32 seats). People are counted by 3D stereo
    cameras above the doors; the maximum occupancy is 67, 28, 35 and 39.

    Parameters
    ----------
    folder : path
        Folder with the published ``co2_data_room_N.csv``, ``occ_data_room_N.csv`` and
        ``vav_data_room_N.csv``, plain or gzipped.
    room : int
        1 to 4.
    aligned : bool
        Has no effect: no clock error is known.

    Returns
    -------
    DataFrame
        Readings: ``co2`` [ppm], ``ventilation`` (damper position, 100 % is 1) and ``occupancy`` [people],
        as published. There are no gaps and no corrections.

    Notes
    -----
    **The dates are artificial.** The days were published in shuffled order with a number (``DayId``) and
    a weekday instead of a date. They are assigned increasing dates from 2000-01-01 in that order, with the
    right weekday and never on consecutive days.

    Known faults, inferred from the data and not documented by the publisher. CO2 is updated every five
    minutes. Its baseline is uncalibrated (down to 268 ppm in room 2) and drifts by 40 to 90 ppm between
    days. Rooms 2 and 3 count 1 to 3 people through several nights. Room 3 reaches 907 ppm on day 7 with 0
    or 1 person counted. The change to summer time on 2017-03-26 has no visible effect: on every day the
    damper first opens at 07:30 or later, and CO2 follows the counts best with a delay of about 20 minutes.
    """
    check_room(room, ROOM_NUMBERS)
    co2, occupancy, damper = (
        open_table(folder, f"{kind}_data_room_{room}.csv", [*_KEYS, f"Room {room}"], DATA_SET)
        for kind in ("co2", "occ", "vav")
    )
    for other in (occupancy, damper):
        same_rows(co2, other, _KEYS)
    readings = pd.DataFrame(
        {
            "co2": co2.numbers(f"Room {room}"),
            "ventilation": damper.numbers(f"Room {room}") / 100,
            "occupancy": occupancy.numbers(f"Room {room}"),
        }
    ).set_axis(_times(co2))
    return with_scale(check_readings(readings, source=co2.source), Scale(100.0, "%"))


def same_rows(table: Table, other: Table, keys: list[str]) -> None:
    """Raise unless two tables have the same times in the same order."""
    if not table.frame[keys].equals(other.frame[keys]):
        raise other.source.error(f"times differ from those of {table.source.name}: {', '.join(keys)}")


def _times(table: Table) -> pd.DatetimeIndex:
    """Return artificial dates in the order of the day numbers, with the published time of day."""
    days, weekdays = table.integers("DayId"), table.integers("Weekday")
    weekday_of = weekdays.groupby(days).first()  # in the order of DayId
    wrong = ~weekday_of.between(0, 6)
    if wrong.any():
        raise table.source.error(f"must be from 0 to 6, got {weekday_of[wrong].iloc[0]}", column="Weekday")
    date_of = pd.Series(artificial_dates([[weekday] for weekday in weekday_of]), index=weekday_of.index)
    return pd.DatetimeIndex(days.map(date_of)) + table.clock("Time")
