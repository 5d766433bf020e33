"""UCI 357: presence in an office with one or two people, one reading per minute."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.published_tables import open_table
from occupair.datasets.regular_grid import longest_parts
from occupair.readings.schema import check_readings

INTERVAL = pd.Timedelta(minutes=1)
_BASE = "https://raw.githubusercontent.com/LuisM78/Occupancy-detection-data/master/"
_CHECKSUMS = {  # in the order of their times
    "datatest.txt": "1b92c7c1b2838963464fa891a610cf3c5db4becb7189189b29b330107a584c7f",
    "datatraining.txt": "b2c4d0ce2b9e4e453c476f7125ef31aeec2d1f5c7f5572d0e80de3df6521ab56",
    "datatest2.txt": "d026d1bd5aeccd4aff4f3b3710d48e40613bd5fc370db7e61bbdcaa50d985095",
}

DATA_SET = DataSet(
    name="uci357",
    title="Occupancy Detection",
    citation=(
        "L. M. Candanedo and V. Feldheim, Accurate occupancy detection of an office room from light, "
        "temperature, humidity and CO2 measurements using statistical learning models, Energy and "
        "Buildings 112, 2016, pp. 28-39; UCI Machine Learning Repository, doi:10.24432/C5X01N"
    ),
    licence="CC-BY-4.0",
    page="https://github.com/LuisM78/Occupancy-detection-data",
    files=tuple(RemoteFile(name, _BASE + name, sha256) for name, sha256 in _CHECKSUMS.items()),
)


def read_uci357(folder: str | Path, *, aligned: bool = True) -> pd.DataFrame:
    """Read UCI 357: 17 days in February 2015, one reading per minute.

    Candanedo and Feldheim 2016 (``DATA_SET.citation``), CC-BY-4.0. An office in Mons, Belgium.

    Parameters
    ----------
    folder : path
        Folder with the published ``datatest.txt``, ``datatraining.txt`` and ``datatest2.txt``, plain or
        gzipped.
    aligned : bool
        Has no effect: no clock error is known.

    Returns
    -------
    DataFrame
        Readings: ``co2`` [ppm] and ``occupancy``, without ventilation.

    Notes
    -----
    **Occupancy is presence, not a count**: 0 is empty, 1 is occupied. Scores in people are not
    meaningful.

    **Corrections.** Timestamps are 59 to 61 seconds apart and are rounded to the minute; no value is
    changed and no reading is lost. There are gaps between the three files. On 2015-02-04 the first ends at
    10:43 and the second begins at 17:51: the longer part of that day, the morning, is used. 2015-02-10
    ends at 09:33 and 2015-02-11 begins at 14:48.
    """
    published = pd.concat([_read_file(folder, name) for name in _CHECKSUMS])
    readings = longest_parts(published, interval=INTERVAL)
    return check_readings(readings, source=f"readings of {folder}")


def _read_file(folder: str | Path, name: str) -> pd.DataFrame:
    table = open_table(folder, name, ["date", "CO2", "Occupancy"], DATA_SET)
    times = table.times("date", "%Y-%m-%d %H:%M:%S", example="2015-02-02 14:19:59")
    readings = pd.DataFrame({"co2": table.numbers("CO2"), "occupancy": table.numbers("Occupancy")})
    readings = readings.set_axis(times.round(INTERVAL))
    presence = readings["occupancy"].isin([0, 1])
    if not presence.all():
        wrong = int((~presence).to_numpy().argmax())
        got = table.frame["Occupancy"].iloc[wrong]
        raise table.source.error(f"must be 0 or 1, got {got}", row=wrong, column="Occupancy")
    return readings
