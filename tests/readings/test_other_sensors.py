"""Optional sensors in files and tables: columns, units, missing values."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings.files import read_labelled, read_readings, write_readings
from occupair.readings.other_sensors import SENSORS, check_sensor_values
from occupair.readings.schema import check_readings
from occupair.readings.sensor_columns import RULES, matching_columns

NAMES = {
    "temperature": [
        "Room temperature [°C]",
        "Raumtemperatur",
        "Température (°C)",
        "Temperatura",
        "Temperatur",
        "temperatuur",
        "sensor.office_temperature",
    ],
    "humidity": [
        "Relative Humidity",
        "rel. Luftfeuchte [%]",
        "Humidité",
        "Humedad",
        "Luftfugtighed",
        "luchtvochtigheid",
        "RH",
    ],
    "sound": [
        "sound_pressure_level",
        "Schallpegel dB",
        "Niveau sonore",
        "ruido",
        "lydniveau",
        "geluidsniveau",
    ],
    "light": [
        "illuminance",
        "Helligkeit [lx]",
        "Éclairement",
        "luminosidad",
        "lysstyrke",
        "lichtsterkte",
        "Lux",
    ],
    "wifi": ["wifi_connected_devices", "WLAN-Clients", "Wi-Fi clients"],
    "power": ["Plug load power [W]", "Wirkleistung", "Puissance (W)", "potencia", "power"],
    "motion": ["PIR", "Bewegungsmelder", "motion detected", "mouvement", "movimiento", "beweging"],
}
OTHERS = [
    "Outdoor temperature",
    "Außentemperatur",
    "supply air temperature",
    "temperature setpoint",
    "dew point temperature",
    "outdoor_relative_humidity",
    "wifi signal strength",
    "lighting_energy",
    "fan power",
    "occupant_presence",
    "device battery",
    "co2",
    "Zeit",
]


@pytest.mark.parametrize(("sensor", "name"), [(s, name) for s, names in NAMES.items() for name in names])
def test_name_is_recognised_as_one_sensor(sensor, name):
    assert [one for one in RULES if matching_columns([name], one, {})] == [sensor]


@pytest.mark.parametrize("name", OTHERS)
def test_name_of_something_else_is_not_a_sensor(name):
    assert [one for one in RULES if matching_columns([name], one, {})] == []


def _write(folder, text):
    path = folder / "room.csv"
    path.write_text(text)
    return path


def test_columns_are_read_and_missing_cells_stay_missing(tmp_path):
    path = _write(
        tmp_path,
        "time,co2,Humidity,Temperature [°F],Power [kW],PIR\n"
        "2024-01-08 08:00,500,,68,0.25,on\n"
        "2024-01-08 08:05,501,41.5,n/a,,off\n",
    )
    readings = read_readings(path)
    assert readings["humidity"].tolist()[1:] == [41.5]
    assert np.isnan(readings["humidity"].iloc[0])
    assert readings["temperature"].iloc[0] == pytest.approx(20.0)
    assert readings["power"].iloc[0] == 250.0
    assert readings["motion"].tolist() == [1.0, 0.0]
    assert readings["co2"].tolist() == [500.0, 501.0]


def test_value_is_held_for_an_hour_and_no_longer(tmp_path):
    times = pd.date_range("2024-01-08 08:00", periods=19, freq="5min")
    humidity = [41.0] + [None] * 18
    readings = read_readings(pd.DataFrame({"co2": 500.0, "humidity": humidity}, index=times))
    assert readings["humidity"].notna().sum() == 13  # 08:00 to 09:00
    assert len(readings) == 19


def test_invalid_values_are_missing_and_no_error(tmp_path):
    path = _write(
        tmp_path,
        "time,co2,humidity,light\n2024-01-08 08:00,500,-40,dark\n2024-01-08 08:05,501,250,dark\n",
    )
    readings = read_readings(path)
    assert "humidity" not in readings.columns
    assert "light" not in readings.columns
    assert len(readings) == 2


def test_ambiguous_columns_are_not_read_unless_one_is_named(tmp_path):
    path = _write(
        tmp_path,
        "time,co2,Temperature A,Temperature B\n2024-01-08 08:00,500,20,21\n2024-01-08 08:05,500,20,21\n",
    )
    readings = read_readings(path)
    assert "temperature" not in readings.columns
    assert "has 2 columns that match temperature" in readings.attrs["columns"]["temperature"]
    named = read_readings(path, columns={"temperature": "Temperature B"})
    assert named["temperature"].tolist() == [21.0, 21.0]
    with pytest.raises(InputError, match="has no column 'Temp C', given as temperature"):
        read_readings(path, columns={"temperature": "Temp C"})


def test_sensors_can_be_ignored(tmp_path):
    path = _write(tmp_path, "time,co2,humidity\n2024-01-08 08:00,500,40\n2024-01-08 08:05,500,41\n")
    assert list(read_readings(path, sensors=False).columns) == ["co2"]


def test_rows_with_the_same_time_may_differ_in_a_sensor(tmp_path):
    path = _write(
        tmp_path,
        "time,co2,humidity\n2024-01-08 08:00,500,40\n2024-01-08 08:00,500,41\n2024-01-08 08:05,500,42\n",
    )
    assert read_readings(path)["humidity"].tolist() == [40.0, 42.0]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_written_readings_are_read_back(tmp_path, suffix):
    times = pd.date_range("2024-01-08 08:00", periods=3, freq="5min", name="time")
    table = pd.DataFrame({"co2": [500.0, 510.0, 520.0], "occupancy": [1.0, 2.0, 3.0]}, index=times)
    for number, name in enumerate(SENSORS):
        table[name] = np.linspace(0.0, 1.0, 3) * (1 if name == "motion" else 10 + number)
    write_readings(table, tmp_path / f"room{suffix}")
    again = read_labelled(tmp_path / f"room{suffix}")
    pd.testing.assert_frame_equal(again[table.columns], table, check_freq=False, check_index_type=False)


def test_check_readings_keeps_sensors_and_replaces_invalid_values():
    times = pd.date_range("2024-01-08 08:00", periods=3, freq="5min")
    table = pd.DataFrame(
        {"co2": 500.0, "humidity": [40.0, np.nan, 140.0], "light": ["1", "x", ""]}, index=times
    )
    checked = check_readings(table)
    assert np.isnan(checked["humidity"]).tolist() == [False, True, True]
    assert np.isnan(checked["light"]).tolist() == [False, True, True]


def test_live_values_are_checked():
    assert check_sensor_values(None) == {}
    assert check_sensor_values({"motion": 1, "power": float("nan")}) == {"motion": 1.0}
    with pytest.raises(InputError, match=r"sensors must be among temperature, .*, got 'humdity'"):
        check_sensor_values({"humdity": 40.0})
    with pytest.raises(InputError, match="humidity must be a number or None, got '40'"):
        check_sensor_values({"humidity": "40"})
