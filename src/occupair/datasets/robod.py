"""ROBOD: a lecture room and an office in Singapore, 29 days, one reading every five minutes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.published_tables import Table, check_room, open_table
from occupair.datasets.regular_grid import bridge, longest_parts
from occupair.datasets.regular_grid import whole_days as only_whole_days
from occupair.readings.schema import check_readings

EARLY = pd.Timedelta(hours=8)
INTERVAL = pd.Timedelta(minutes=5)
LONGEST_HOLE = 9  # readings, 45 min
MAINS = 50.0  # Hz, a fan at full speed

FANS = {1: "fcu_fan_speed", 3: "ahu_fan_speed"}
"""The column [Hz] that says how much air is moved, for each room."""

_BASE = "https://raw.githubusercontent.com/ideas-lab-nus/robod/e9d1abecdc2836060067f2c9871135ee9eb1c94e/Data/"
_CHECKSUMS = {
    "combined_Room1.csv": "34a3d7a1946945c5321f06fbe38639d74e47e40fdd0df086c635d3ed73a63f3d",
    "combined_Room3.csv": "be7dcfabe03ee398a54c680fc338ac1768d2a099dff14f9f3f2baab92bdddaab",
}

DATA_SET = DataSet(
    name="robod",
    title="ROBOD, room-level occupancy and building operation dataset",
    citation=(
        "Z. D. Tekler, E. Ono, Y. Peng, S. Zhan, B. Lasternas and A. Chong, Building Simulation 15, "
        "2022, pp. 2127-2137, doi:10.1007/s12273-022-0925-9"
    ),
    licence="CC-BY-4.0",
    page="https://github.com/ideas-lab-nus/robod",
    files=tuple(RemoteFile(name, _BASE + name, sha256) for name, sha256 in _CHECKSUMS.items()),
)


def read_robod(
    folder: str | Path, *, room: int = 1, aligned: bool = True, whole_days: bool = True
) -> pd.DataFrame:
    """Read room 1 or 3 of ROBOD: 29 working days in September and December 2021, every five minutes.

    Tekler et al. 2022 (``DATA_SET.citation``), CC-BY-4.0. Building SDE4 of the National University of
    Singapore. Room 1 is a lecture room (118.6 m2, 486 m3, 40 seats) with up to 38 people, room 3 an
    office (98.4 m2, 413 m3, 15 seats) with up to 13.

    Parameters
    ----------
    folder : path
        Has the publisher's ``combined_RoomN.csv``, or the same ending in ``.csv.gz``.
    room : int
        1 or 3.
    aligned : bool
        Stamp CO2 eight hours later, see below. False leaves it where it was published.
    whole_days : bool
        Leave out days that are not whole: 8 of the 29 once CO2 is aligned, all Mondays among them.
        False keeps the longest unbroken part of each day: those days then begin at 08:00.

    Returns
    -------
    DataFrame
        Readings in Singapore's time: ``co2`` [ppm], ``ventilation`` (speed of the fan, 50 Hz is 1) and
        ``occupancy`` [people].

    Notes
    -----
    **The clock of the indoor sensors** (CO2, sound, light, humidity) is eight hours early: UTC labelled
    +08:00. Found in the data, not the publisher's word: tried in steps of five minutes, CO2 and its
    rise explain the counts best when stamped 480 minutes later, in both rooms, and sound [dB]
    correlates with the counts 0.68 and 0.75 then against -0.02 and -0.22 as published. Everything
    else is right, fans included: with CO2 moved and the fan left where it is R2 is 0.84 (room 1) and
    0.73 (room 3), with both moved 0.30 and 0.36. So only CO2 is moved, by its stamps, across midnights;
    the first eight hours of a day that follows a day without data are then unknown.

    **Ventilation.** Room 1 has the speed of its fan coil, which recirculates: it says that the room is
    in use and cooled more than how much outdoor air comes in, but there is nothing better. Room 3 has
    supply air flow, damper and the speed of the air handler's fan. The flow is what matters physically,
    but it reads 0 on three days with the damper fully open at 200 Pa, and flow and damper both read 0
    on six days in December, while the CO2 per person stays what it is on other days: dead sensors, not
    still air. When the air handler runs, the flow is otherwise steady near 900 m3/h, so the fan's speed
    says the same without the dead days (R2 as above: fan 0.73, flow 0.38, damper 0.20). Speeds a little
    above 50 Hz (up to 50.03) count as 1.

    **Repairs.** Empty cells are filled with the last value of the day, for at most nine readings (45
    min): CO2 has two holes of seven readings in room 1 and of six and seven in room 3 (2021-12-14 and
    12-20), the fan of room 1 one of nine (2021-09-16, at night). Where a hole is longer, the day keeps
    its longest unbroken part, or is left out with ``whole_days``.
    """
    check_room(room, tuple(FANS))
    columns = ["timestamp", "indoor_co2", FANS[room], "occupant_count"]
    table = open_table(folder, f"combined_Room{room}.csv", columns, DATA_SET)
    readings = _as_published(table, FANS[room])
    if aligned:
        co2 = readings["co2"]
        readings["co2"] = co2.set_axis(pd.DatetimeIndex(co2.index) + EARLY).reindex(co2.index)
    readings = longest_parts(bridge(readings, limit=LONGEST_HOLE), interval=INTERVAL)
    if whole_days:
        readings = only_whole_days(readings, interval=INTERVAL)
        if readings.empty:
            raise table.source.error("has no whole day, see whole_days")
    return check_readings(readings, source=f"readings of {table.source.name}")


def _as_published(table: Table, fan: str) -> pd.DataFrame:
    times = table.times("timestamp", "%Y-%m-%d %H:%M %z", example="2021-09-07 00:05 +08:00")
    twice = times.duplicated()
    if twice.any():
        raise table.source.error(f"has {times[twice][0]} twice", column="timestamp")
    return pd.DataFrame(
        {
            "co2": table.numbers("indoor_co2"),
            "ventilation": (table.numbers(fan) / MAINS).clip(upper=1.0),
            "occupancy": table.numbers("occupant_count"),
        }
    ).set_axis(times)
