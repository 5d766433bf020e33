"""Written readings are read back unchanged: values, times, time zone, ventilation unit and scale."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occupair as oc

SCALES = [
    (1.0, "0..1"),
    (1.0, "on/off"),
    (100.0, "%"),
    (80.0, "%"),
    (50.0, "Hz"),
    (60.0, "Hz"),
    (4800.0, "m3/h"),
    (4812.7, "m3/h"),
    (1.35, "m3/s"),
    (1333.3, "l/s"),
    (2825.0, "cfm"),
    (1450.0, "rpm"),
    (10.0, "V"),
    (3.0, "steps"),
    (851.25, "unknown"),
    (100.0, "unknown"),
]
ZONES = [
    None,
    "UTC",
    "Europe/Copenhagen",
    "America/New_York",
    "Asia/Kolkata",
    "Etc/GMT+5",
    "+01:00",
    "-03:30",
]
STARTS = ["2024-01-08 07:00", "2024-03-30 22:00", "2024-10-26 22:00", "2024-11-02 22:00"]  # clock changes


@st.composite
def readings(draw):
    """A few hours of readings, perhaps over a clock change, as if read from a file in some unit."""
    full, unit = draw(st.sampled_from(SCALES))
    times = pd.date_range(draw(st.sampled_from(STARTS)), periods=40, freq="15min", tz="UTC")
    zone = draw(st.sampled_from(ZONES))
    if zone is None:
        times = times.tz_localize(None)
    elif zone[0] in "+-":
        times = times.tz_convert(pd.Timestamp(f"2024-01-01 00:00{zone}").tz)
    else:
        times = times.tz_convert(dt.UTC if zone == "UTC" else ZoneInfo(zone))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if unit == "on/off":
        raw = rng.integers(0, 2, len(times)).astype(float)
    elif unit == "steps":
        raw = rng.integers(0, 4, len(times)).astype(float)
    else:
        raw = np.round(rng.uniform(0, full, len(times)), draw(st.integers(0, 6)))
    columns = {
        "co2": np.round(rng.uniform(400, 1500, len(times)), 2),
        "ventilation": np.clip(raw / full, 0, 1),
        "occupancy": rng.integers(0, 20, len(times)).astype(float),
    }
    table = pd.DataFrame(columns, index=times.as_unit("us").rename("time"))
    kept = np.r_[True, True, rng.random(len(times) - 2) > draw(st.sampled_from([0.0, 0.2]))]
    table = table[kept]
    table.attrs = {"ventilation_full": full, "ventilation_unit": unit}
    return table


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@given(written=readings())
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_readings_scale_and_time_zone_are_read_back(tmp_path, suffix, written):
    path = tmp_path / f"room.{suffix}"
    oc.write_readings(written, path)
    read = oc.read_readings(path)
    pd.testing.assert_frame_equal(read, written, check_exact=True, check_freq=False)
    assert str(read.index.tz) == str(written.index.tz)
    for name in ("ventilation_full", "ventilation_unit"):
        assert read.attrs[name] == written.attrs[name]


def test_written_scale_does_not_depend_on_the_values(tmp_path):
    """A week with little ventilation keeps the scale of the whole year."""
    times = pd.date_range("2024-01-08", periods=48, freq="30min")
    quiet = pd.DataFrame({"co2": 500.0, "ventilation": 0.25}, index=times)
    quiet.attrs = {"ventilation_full": 4800.0, "ventilation_unit": "m3/h"}
    oc.write_readings(quiet, tmp_path / "quiet.csv")
    table = pd.read_csv(tmp_path / "quiet.csv")
    assert table.columns.tolist() == ["time", "co2", "ventilation [0..4800 m3/h]"]
    assert (table["ventilation [0..4800 m3/h]"] == 1200).all()
    assert (oc.read_readings(tmp_path / "quiet.csv")["ventilation"] == 0.25).all()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_written_file_is_read_with_the_scale_of_training(tmp_path, suffix):
    """2400 m3/h is half of the 4800 m3/h in the file, and three quarters of the 3200 m3/h in training."""
    times = pd.date_range("2024-01-08", periods=48, freq="30min")
    table = pd.DataFrame({"co2": 500.0, "ventilation": 0.5}, index=times)
    table.attrs = {"ventilation_full": 4800.0, "ventilation_unit": "m3/h"}
    oc.write_readings(table, tmp_path / f"room.{suffix}")
    read = oc.read_readings(tmp_path / f"room.{suffix}", ventilation_full=3200, ventilation_unit="m3/h")
    assert (read["ventilation"] == 0.75).all()
    with pytest.raises(oc.InputError, match="ventilation is in m3/h, but was in % in training"):
        oc.read_readings(tmp_path / f"room.{suffix}", ventilation_full=100, ventilation_unit="%")


def test_time_zone_option_takes_precedence_over_the_file(tmp_path):
    times = pd.date_range("2024-03-30", periods=200, freq="15min", tz="Europe/Copenhagen")
    oc.write_readings(pd.DataFrame({"co2": 500.0}, index=times), tmp_path / "room.csv")
    read = oc.read_readings(tmp_path / "room.csv", timezone="America/New_York")
    assert str(read.index.tz) == "America/New_York"
    assert (read.index == times).all()
