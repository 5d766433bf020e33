"""UCI 864: a small unventilated office with up to three people, one reading every 30 seconds."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.published_tables import open_table
from occupair.datasets.regular_grid import hold, longest_parts
from occupair.readings.schema import check_readings

INTERVAL = pd.Timedelta(seconds=30)
LONGEST_GAP = pd.Timedelta(minutes=4)
_FILE = "Occupancy_Estimation.csv"

DATA_SET = DataSet(
    name="uci864",
    title="Room Occupancy Estimation",
    citation=(
        "A. P. Singh, V. Jain, S. Chaudhari, F. A. Kraemer, S. Werner and V. Garg, Machine Learning-Based "
        "Occupancy Estimation Using Multivariate Sensor Nodes, IEEE Globecom Workshops, 2018; "
        "UCI Machine Learning Repository, doi:10.24432/C5P605"
    ),
    licence="CC-BY-4.0",
    page="https://archive.ics.uci.edu/dataset/864/room+occupancy+estimation",
    files=(
        RemoteFile(
            _FILE,
            "https://archive.ics.uci.edu/static/public/864/room+occupancy+estimation.zip",
            "c090ee5c94b61762bfec9d22767864490b51030f98cca030f02822468db25d9c",
        ),
    ),
)


def read_uci864(folder: str | Path, *, aligned: bool = True) -> pd.DataFrame:
    """Read UCI 864: seven days in December 2017 and January 2018, every 30 seconds.

    Singh et al. 2018 (``DATA_SET.citation``), CC-BY-4.0. A room of 6 m x 4.6 m with at most three
    people, counted manually; it is occupied on three days (2017-12-22 and 23, 2018-01-10).

    Parameters
    ----------
    folder : path
        Folder with the published ``Occupancy_Estimation.csv``, plain or gzipped.
    aligned : bool
        Has no effect: no clock error is known.

    Returns
    -------
    DataFrame
        Readings: ``co2`` [ppm] and ``occupancy`` [people], without ventilation: heating and air
        conditioning were not in use.

    Notes
    -----
    **Corrections.** Timestamps are 30 or 31 seconds apart, and 133 times 61 or 62 seconds. Each time of a
    regular 30-second grid takes the last reading at or before it, so no value is changed or taken from the
    future; each published reading occurs once or twice. Gaps of up to 4 minutes are filled this way (the
    longest is 215 s). There is one longer gap: 12:42 to 13:08 on 2017-12-22, with three people present;
    only the longer part of that day, from 13:08, is used. Only 2017-12-23 is a complete day.
    """
    table = open_table(folder, _FILE, ["Date", "Time", "S5_CO2", "Room_Occupancy_Count"], DATA_SET)
    times = table.joined_times(("Date", "Time"), "%Y/%m/%d %H:%M:%S", example="2017/12/22 10:49:41")
    if not times.is_monotonic_increasing:
        raise table.source.error("times must be increasing", column="Date Time")
    published = pd.DataFrame(
        {"co2": table.numbers("S5_CO2"), "occupancy": table.numbers("Room_Occupancy_Count")}
    ).set_axis(times)
    held = hold(published, interval=INTERVAL, longest_gap=LONGEST_GAP)
    readings = longest_parts(held, interval=INTERVAL)
    return check_readings(readings, source=f"readings of {table.source.name}")
