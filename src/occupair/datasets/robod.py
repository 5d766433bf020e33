"""ROBOD: a lecture room and an office in Singapore, 29 days, one reading every 5 min."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.published_tables import Table, check_room, open_table
from occupair.datasets.regular_grid import fill_gaps, longest_parts
from occupair.datasets.regular_grid import whole_days as only_whole_days
from occupair.readings.schema import check_readings
from occupair.readings.ventilation_scale import Scale, with_scale

CLOCK_ERROR = pd.Timedelta(hours=8)
"""How early the times of CO2 are."""
INTERVAL = pd.Timedelta(minutes=5)
LONGEST_GAP = 9  # [readings], 45 min
FULL_SPEED_HZ = 50.0  # [Hz], fan at full speed

FANS = {1: "fcu_fan_speed", 3: "ahu_fan_speed"}
"""The fan speed column [Hz] of each room."""

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


SENSOR_COLUMNS = {
    "temperature": "air_temperature",
    "humidity": "indoor_relative_humidity",
    "sound": "sound_pressure_level",
    "light": "illuminance",
    "wifi": "wifi_connected_devices",
    "power": "plug_load_energy",
}
"""Published columns of the optional sensors."""
INDOOR_SENSORS = ("temperature", "humidity", "sound", "light")
"""Optional sensors with the clock of the CO2 sensor."""
WATT_PER_KWH = 12_000.0
"""Mean power [W] of an energy [kWh] used within one interval of 5 min."""


def read_robod(
    folder: str | Path,
    *,
    room: int = 1,
    aligned: bool = True,
    whole_days: bool = True,
    sensors: bool = False,
) -> pd.DataFrame:
    """Read room 1 or 3 of ROBOD: 29 working days in September and December 2021, one reading every 5 min.

    Tekler et al. 2022 (``DATA_SET.citation``), CC-BY-4.0. Building SDE4 of the National University of
    Singapore. Room 1 is a lecture room (118.6 m2, 486 m3, 40 seats) with up to 38 people, room 3 an
    office (98.4 m2, 413 m3, 15 seats) with up to 13.

    Parameters
    ----------
    folder : path
        Folder with the published ``combined_RoomN.csv``, plain or gzipped.
    room : int
        1 or 3.
    aligned : bool
        Whether to shift CO2 eight hours later, see below; False returns the data as published.
    whole_days : bool
        Whether to drop incomplete days: 8 of the 29 once CO2 is aligned, including all Mondays. False
        returns the longest part of each day without a gap: those days then begin at 08:00.
    sensors : bool
        Whether to include temperature, humidity, sound, light, Wi-Fi clients and plug power; NaN where
        missing. Those of the indoor sensors are shifted like CO2.

    Returns
    -------
    DataFrame
        Readings in Singapore time: ``co2`` [ppm], ``ventilation`` (fan speed, 50 Hz is 1) and ``occupancy``
        [people].

    Notes
    -----
    **The clock of the indoor sensors** (CO2, sound, light, humidity) is eight hours early: UTC labelled as
    +08:00. Inferred from the data, not documented by the publisher: among shifts in steps of five minutes,
    CO2 and its rise explain the counts best when shifted 480 minutes later, in both rooms, and the
    correlation of sound level [dB] with the counts is 0.68 and 0.75 instead of -0.02 and -0.22. The other
    clocks are right, including the fans: with CO2 shifted and the fan unchanged R2 is 0.84 (room 1) and
    0.73 (room 3), with both shifted 0.30 and 0.36. Only CO2 is therefore shifted, across midnight; the
    first eight hours of a day that follows a day without data are then unknown. Of the optional sensors,
    temperature, humidity, sound and light are shifted as well; Wi-Fi clients and plug power are not.

    **Ventilation.** Room 1 has the speed of a recirculating fan coil unit, which indicates that the room is
    in use and cooled rather than the supply of outdoor air, but there is no better column. Room 3 has supply
    air flow, damper position and the fan speed of the air handling unit. The flow is the physical quantity,
    but it reads 0 on three days with the damper fully open at 200 Pa, and flow and damper both read 0 on six
    days in December, while CO2 per person is as on other days: sensor failures. With the air handling unit
    on, the flow is otherwise constant near 900 m3/h, so the fan speed carries the same information without
    the failures (R2 as above: fan 0.73, flow 0.38, damper 0.20). Speeds slightly above 50 Hz (up to 50.03)
    count as 1.

    **Corrections.** Gaps are filled with the last value of the day, for at most nine readings (45 min): CO2
    has two gaps of seven readings in room 1 and of six and seven in room 3 (2021-12-14 and 12-20), the fan
    of room 1 one of nine (2021-09-16, at night). With a longer gap, the longest part of the day is used, or
    the day is dropped with ``whole_days``.
    """
    check_room(room, tuple(FANS))
    columns = ["timestamp", "indoor_co2", FANS[room], "occupant_count"]
    columns += SENSOR_COLUMNS.values() if sensors else ()
    table = open_table(folder, f"combined_Room{room}.csv", columns, DATA_SET)
    readings = published = _as_published(table, FANS[room])
    if aligned:
        co2 = readings["co2"]
        readings["co2"] = co2.set_axis(pd.DatetimeIndex(co2.index) + CLOCK_ERROR).reindex(co2.index)
    readings = longest_parts(fill_gaps(readings, limit=LONGEST_GAP), interval=INTERVAL)
    if whole_days:
        readings = only_whole_days(readings, interval=INTERVAL)
        if readings.empty:
            raise table.source.error("has no complete day, see whole_days")
    if sensors:
        readings = readings.join(_sensors(table, pd.DatetimeIndex(published.index), aligned=aligned))
    readings = check_readings(readings, source=f"readings of {table.source.name}")
    return with_scale(readings, Scale(FULL_SPEED_HZ, "Hz"))


def _sensors(table: Table, times: pd.DatetimeIndex, *, aligned: bool) -> pd.DataFrame:
    """Return the optional sensors at the published times, with short gaps filled."""
    found = pd.DataFrame({name: table.numbers(column) for name, column in SENSOR_COLUMNS.items()})
    found = found.set_axis(times)
    found["power"] *= WATT_PER_KWH
    if aligned:
        late = found[list(INDOOR_SENSORS)].set_axis(times + CLOCK_ERROR).reindex(times)
        found[list(INDOOR_SENSORS)] = late
    return fill_gaps(found, limit=LONGEST_GAP)


def _as_published(table: Table, fan: str) -> pd.DataFrame:
    times = table.times("timestamp", "%Y-%m-%d %H:%M %z", example="2021-09-07 00:05 +08:00")
    twice = times.duplicated()
    if twice.any():
        raise table.source.error(f"contains {times[twice][0]} twice", column="timestamp")
    return pd.DataFrame(
        {
            "co2": table.numbers("indoor_co2"),
            "ventilation": (table.numbers(fan) / FULL_SPEED_HZ).clip(upper=1.0),
            "occupancy": table.numbers("occupant_count"),
        }
    ).set_axis(times)
