"""A DataFrame is read like a file with the same table, in any order of its rows."""

from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occupair as oc
from occupair.readings.files import read_labelled

HEADERS = {
    "Supply air [m3/h]": lambda share: np.round(4800 * share, 1),
    "Klappe [%]": lambda share: np.round(100 * share, 1),
    "fan (Hz)": lambda share: np.round(50 * share, 2),
    "fan": lambda share: np.where(share > 0.5, "on", "off"),
    "Lüftung": lambda share: share > 0.5,
    "ventilation": lambda share: np.round(share, 3),
}
TIMES = [("Zeitstempel", None), ("time", "Europe/Copenhagen"), ("time (UTC)", None), ("time", "UTC")]


@st.composite
def frames(draw):
    """Readings of a few hours at irregular times, with NaN, duplicates and rows in any order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    name, zone = draw(st.sampled_from(TIMES))
    n = draw(st.integers(30, 120))
    steps = rng.integers(1, draw(st.sampled_from([2, 90])), n) + draw(st.sampled_from([60, 300]))
    starts = ["2024-01-08 06:00", "2024-10-27 00:10", "2024-03-31 00:10"]
    if name == "Zeitstempel":
        starts.pop()  # local times, of which an hour does not exist on that day
    start = pd.Timestamp(draw(st.sampled_from(starts)))
    times = pd.DatetimeIndex(start + pd.to_timedelta(np.cumsum(steps), unit="s")).as_unit("us")
    if zone is not None:
        times = times.tz_localize("UTC").tz_convert(zone)
    header = draw(st.sampled_from(list(HEADERS)))
    columns = {
        "Raum-CO2 [ppm]": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.uniform(400, 1500, n), 2)),
        header: HEADERS[header](rng.random(n)),
        "room temperature": 21.5,
        "People": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
    }
    frame = pd.DataFrame(columns, index=times.rename(name))
    frame = frame.iloc[np.sort(np.r_[np.arange(n), rng.integers(0, n, draw(st.integers(0, 3)))])]
    return frame if draw(st.booleans()) else frame.reset_index()


@given(frame=frames(), seed=st.integers(0, 99), shuffled=st.booleans())
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_frame_is_read_like_its_file(tmp_path, frame, seed, shuffled):
    frame.to_csv(tmp_path / "room.csv", index=not isinstance(frame.index, pd.RangeIndex))
    order = np.random.default_rng(seed).permutation(len(frame)) if shuffled else slice(None)
    for read in (oc.read_readings, read_labelled):
        expected, found = (
            read(one, timezone="Europe/Copenhagen") for one in (tmp_path / "room.csv", frame.iloc[order])
        )
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
        assert found.attrs == expected.attrs


def test_read_readings_are_read_again_unchanged():
    zone = ZoneInfo("Europe/Copenhagen")
    times = pd.date_range("2024-03-30", periods=200, freq="15min", tz=zone, unit="us", name="time")
    readings = pd.DataFrame({"co2": 500.0, "ventilation": np.linspace(0, 0.9, 200)}, index=times)
    readings.attrs = {"ventilation_full": 4812.7, "ventilation_unit": "m3/h"}
    again = oc.read_readings(readings)
    pd.testing.assert_frame_equal(again, readings, check_exact=True, check_freq=False)
    assert again.attrs["ventilation_full"] == 4812.7
    assert again.attrs["ventilation_unit"] == "m3/h"


def test_local_times_of_the_repeated_hour_keep_their_order():
    """With a time zone, the second 02:00 is an hour after the first, as in a file."""
    aware = pd.date_range("2024-10-26 12:00", periods=144, freq="10min", tz="Europe/Copenhagen")
    frame = pd.DataFrame({"CO2": 500.0 + np.arange(144)}, index=aware.tz_localize(None))
    read = oc.read_readings(frame, timezone="Europe/Copenhagen")
    assert (read.index == aware).all()
    assert read["co2"].tolist() == frame["CO2"].tolist()


def test_unit_line_and_strings_are_read_as_in_a_file():
    frame = pd.DataFrame(
        {
            "Zeit": ["", "08.01.2024 08:00", "08.01.2024 08:01", "08.01.2024 08:02", None],
            "CO2": ["ppm", "412,5", "n/a", "413", None],
            "Zuluft": ["m³/h", "0", "600,25", "1.200,5", None],
        }
    )
    read = oc.read_readings(frame)
    assert read["co2"].tolist() == [412.5, 412.5, 413]
    assert read["ventilation"].tolist() == [0.0, 0.5, 1.0]
    assert (read.attrs["ventilation_full"], read.attrs["ventilation_unit"]) == (1200.5, "m3/h")


HOUR = pd.date_range("2024-01-08 08:00", periods=3, freq="min")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame({"CO2": []}, index=HOUR[:0]), "readings: has no readings"),
        (pd.DataFrame({"air": [1.0, 2, 3]}, index=HOUR), "readings: has no column 'co2', only 'air'"),
        (pd.DataFrame({"CO2": [1.0, 2, 3]}), "readings: has no column 'time', only 'CO2'"),
        (pd.DataFrame({"CO2": [1.0, 2, 3]}, [0, 2, 5]), "readings: has no column 'time', only 'CO2'"),
        (
            pd.DataFrame({"CO2": [500, "high", 510]}, index=HOUR),
            "readings, row 2, column CO2: must be a number, got 'high'",
        ),
        (
            pd.DataFrame({"CO2": [500, 501, 502]}, index=HOUR[[1, 0, 1]]),
            "readings, row 3, column time: times must increase, got .* twice with different values",
        ),
        (pd.Series([500.0], index=HOUR[:1]), "path must be the name of a file, or a DataFrame, got Series"),
    ],
)
def test_invalid_frame_is_refused(given, message):
    with pytest.raises(oc.InputError, match=message):
        oc.read_readings(given)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda f: f.set_axis(f.index + pd.to_timedelta(np.arange(len(f)) % 7, unit="s")), "times must be a"),
        (lambda f: f.iloc[::-1], "times must increase"),
        (lambda f: f.assign(co2=f["co2"].where(f.index.minute > 5)), "got nothing at"),
        (lambda f: f.reset_index(), "must be a DataFrame with a DatetimeIndex"),
    ],
)
def test_estimator_names_the_function_for_raw_readings(trained_room, last_day, change, rule):
    raw = change(last_day)
    for call in (trained_room.estimate, oc.OccupancyEstimator().fit):
        with pytest.raises(oc.InputError, match=rf"^readings.*{rule}.*: use oc\.read_readings\(df\)"):
            call(raw)
    assert len(trained_room.estimate(oc.read_readings(raw, interval=5)))
