"""SDU 2019: a lecture room of the same Danish building, 44 working days, camera counts every minute."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.published_tables import Table, check_room, open_table
from occupair.datasets.regular_grid import artificial_dates
from occupair.datasets.sdu2018 import same_rows
from occupair.readings.schema import check_readings
from occupair.readings.ventilation_scale import Scale, with_scale

ROOM_NUMBERS = (1, 2, 3)
WINTER_MONTHS = (11, 12, 1, 2, 3)
WINTER_DAYS_OF_OCTOBER = (17, 32)
"""The days (``DayID``) between the clock change on 2018-10-28 and the end of that month."""

CLOCK_ERROR = pd.Timedelta(minutes=60)
"""How late the times of CO2 and ventilation are in winter."""

_KEYS = ["Year", "Month", "time_of_day_min", "DayID", "Workday"]
_ARTICLES = "https://api.figshare.com/v2/collections/4505813/articles"
_CHECKSUMS = {
    "co2_room_1.csv": "60bf781d07f9ac69c370d61d8ed59ba2e5839aed1c86d1db50df55b9761a74c2",
    "occupant_count_room_1.csv": "989c8cb3276d72bcdcf099db721781895cb1cf1af8dc7c6cf1856cafcf59ef45",
    "vav_room_1.csv": "b815e9840163a1a5cb120b3efd04a1fe1b4388867d1afeebf96bfd858d5f9871",
}

DATA_SET = DataSet(
    name="sdu2019",
    title=(
        "Room-level occupant counts and environmental quality from heterogeneous sensing modalities "
        "in a smart building"
    ),
    citation=(
        "J. H. Schwee, A. Johansen, B. N. Jørgensen, M. B. Kjærgaard, C. G. Mattera, F. C. Sangogboye "
        "and C. Veje, Scientific Data 6, 287, 2019, doi:10.1038/s41597-019-0274-4"
    ),
    licence="CC0-1.0",
    page="https://doi.org/10.6084/m9.figshare.c.4505813",
    files=tuple(RemoteFile(name, _ARTICLES, sha256) for name, sha256 in _CHECKSUMS.items()),
)


def read_sdu2019(folder: str | Path, *, room: int = 1, aligned: bool = True) -> pd.DataFrame:
    """Read one room of SDU 2019: 44 working days from March 2018 to February 2019, one reading per minute.

    Schwee et al. 2019 (``DATA_SET.citation``), CC0. The building of ``read_sdu2018``; room 1 is a
    lecture room with up to 80 people, counted by cameras above its doors.

    Parameters
    ----------
    folder : path
        Folder with the published ``co2_room_N.csv``, ``occupant_count_room_N.csv`` and ``vav_room_N.csv``
        (of the filled data), plain or gzipped.
    room : int
        1 to 3. Only room 1 was analysed, and ``DATA_SET`` downloads only its files.
    aligned : bool
        Whether to shift CO2 and damper 60 minutes earlier on winter days, see below; False returns the
        data as published.

    Returns
    -------
    DataFrame
        Readings: ``co2`` [ppm], ``ventilation`` (damper position, 100 % is 1) and ``occupancy`` [people].
        There are no gaps, and no corrections other than the clock.

    Notes
    -----
    **The dates are artificial.** The days were published in shuffled order with a number (``DayID``),
    year, month and whether they are working days. They are assigned increasing dates from 2000-01-03 in
    the order of their numbers, all Mondays (Saturdays if not a working day), because the weekday is unknown
    and must not carry information. The month of these dates has no meaning.

    **Clocks.** On winter-time days, CO2 and damper are 60 minutes late relative to the counts. These are
    21 of the 44 days: November to March (including all three days of March), and days 17 and 32 in October.
    Inferred from the data, not documented by the publisher: the damper schedule opens at 05:30 on summer
    days and at 06:30 on winter days, while people arrive at 06:00 all year. In a regression on CO2 and its
    rise, the counts of winter days have a higher R2 with CO2 shifted by 60 minutes on 19 of 21 days
    (exceptions: 6 and 30, where CO2 explains nothing), those of summer days without the shift on 21 of 23
    (exceptions: 25 and 34, with at most 13 and 4 people). CO2 and damper thus have timestamps in UTC, and
    the counts are two hours behind local time: after the correction all times are two hours behind local
    time. The days are not consecutive, so the last hour of a corrected day is unknown and repeats the last
    value of CO2 and damper.

    Other faults: CO2 is updated every five minutes, and is stuck for 347 minutes on day 7 and 1016 minutes
    on day 30.

    The address in ``DATA_SET`` queries figshare for the zip of the collection; it is untested.
    """
    check_room(room, ROOM_NUMBERS)
    co2 = open_table(folder, f"co2_room_{room}.csv", [*_KEYS, "CO2"], DATA_SET)
    occupancy = open_table(folder, f"occupant_count_room_{room}.csv", [*_KEYS, "N"], DATA_SET)
    damper = open_table(folder, f"vav_room_{room}.csv", [*_KEYS, "damper"], DATA_SET)
    for other in (occupancy, damper):
        same_rows(co2, other, _KEYS)
    times = _times(co2)
    published = pd.DataFrame(
        {
            "co2": co2.numbers("CO2"),
            "ventilation": damper.numbers("damper") / 100,
            "occupancy": occupancy.numbers("N"),
        }
    ).set_axis(times)
    source = f"readings of {co2.source.name}"
    readings = check_readings(published.sort_index(), source=source)  # before the shift
    if aligned:
        readings = _winter_aligned(readings, times[_is_winter(co2)])
    return with_scale(check_readings(readings, source=source), Scale(100.0, "%"))


def _times(table: Table) -> pd.DatetimeIndex:
    """Return artificial dates in the order of the day numbers, with the published time of day."""
    days = table.integers("DayID")
    is_workday = (table.frame["Workday"].astype(str).str.lower() == "true").groupby(days).first()
    weekdays = [[0 if workday else 5] for workday in is_workday]
    date_of = pd.Series(artificial_dates(weekdays), index=is_workday.index)
    return pd.DatetimeIndex(days.map(date_of)) + table.clock("time_of_day_min")


def _is_winter(table: Table) -> pd.Series[bool]:
    october = table.integers("DayID").isin(WINTER_DAYS_OF_OCTOBER) & (table.integers("Month") == 10)
    return table.integers("Month").isin(WINTER_MONTHS) | october


def _winter_aligned(readings: pd.DataFrame, winter: pd.DatetimeIndex) -> pd.DataFrame:
    """Shift CO2 and damper on winter days one hour earlier, within each day."""
    late = readings.loc[readings.index.isin(winter), ["co2", "ventilation"]]
    times = pd.DatetimeIndex(late.index)
    # no two days are consecutive: nothing spills over
    earlier = late.set_axis(times - CLOCK_ERROR).reindex(times)
    moved = readings.copy()
    moved.loc[times, ["co2", "ventilation"]] = earlier.groupby(times.normalize()).ffill()
    return moved
