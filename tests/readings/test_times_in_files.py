"""Times in files: notations, UTC offsets, time zones and clock changes."""

import pandas as pd
import pytest
from readings.plain_file import GOOD

import occupair as oc
from occupair.readings.schema import episode_slices


@pytest.mark.parametrize("offset", ["+01:00", "+0100", "+01", " +01:00", "+01:00 "])
def test_utc_offset_in_any_notation(csv, offset):
    text = f"time,co2\n2024-01-08T00:00{offset},420\n2024-01-08T00:01{offset},421\n"
    for zone in (None, "Europe/Copenhagen"):
        index = oc.read_readings(csv(text), timezone=zone).index
        assert index[0].isoformat() == "2024-01-08T00:00:00+01:00"


def test_z_is_utc(csv):
    index = oc.read_readings(csv("time,co2\n2024-01-08T00:00Z,420\n2024-01-08T00:01+00:00,421\n")).index
    assert index[1].utcoffset() == pd.Timedelta(0)


@pytest.mark.parametrize(
    "times", [["2024-01-08", "2024-01-08 00:01"], ["2024-01-08 00:00:00.250", "2024-01-08 00:01:00.250"]]
)
def test_iso_time_variants(csv, times):
    assert len(oc.read_readings(csv(f"time,co2\n{times[0]},420\n{times[1]},421\n"))) == 2


@pytest.mark.parametrize(
    "word", ["now", "today", "8", "2024-01-08 25:00", "2024-13-01 00:00", "9.1.2024 00:01"]
)
def test_invalid_time_is_rejected(csv, word):
    with pytest.raises(oc.InputError, match=f"row 3, column time: must be a time such as .*, got '{word}'"):
        oc.read_readings(csv(GOOD.replace("2024-01-08 08:01", word)))


def test_offsets_without_time_zone_keep_their_local_midnight(csv):
    text = "time,co2\n2024-01-08T00:00+08:00,420\n2024-01-08T00:01+08:00,421\n"
    index = oc.read_readings(csv(text)).index
    assert index[0].hour == 0
    assert index[0].utcoffset() == pd.Timedelta(hours=8)


def test_utc_times_are_converted_to_the_time_zone(csv):
    text = "time,co2\n2024-01-07T16:00Z,420\n2024-01-07T16:01Z,421\n"
    assert oc.read_readings(csv(text), timezone="Asia/Singapore").index[0].hour == 0


def clock_change(first, last, zone="Europe/Copenhagen"):
    times = pd.date_range(first, last, freq="30min", tz=zone)
    return times, times.strftime("%Y-%m-%d %H:%M"), times.strftime("%Y-%m-%dT%H:%M%z")


@pytest.mark.parametrize("day", ["2024-03-31", "2024-10-27"])
def test_clock_change_with_time_zone_is_valid(csv, day):
    times, local, with_offset = clock_change(f"{day} 00:00", f"{day} 23:30")
    for text in (local, with_offset, local[::-1], with_offset[::-1]):
        path = csv("time,co2\n" + "".join(f"{time},420\n" for time in text))
        readings = oc.read_readings(path, timezone="Europe/Copenhagen")
        assert (readings.index == times).all()
        assert len(episode_slices(readings)) == 1


def test_skipped_hour_without_time_zone_is_a_gap(csv):
    _, local, with_offset = clock_change("2024-03-31 00:00", "2024-03-31 23:30")
    readings = oc.read_readings(csv("time,co2\n" + "".join(f"{time},420\n" for time in local)))
    assert episode_slices(readings) == [slice(0, 4), slice(4, 46)]
    with pytest.raises(
        oc.InputError, match="offsets must be equal: give the time zone of the room, such as --timezone"
    ):
        oc.read_readings(csv("time,co2\n" + "".join(f"{time},420\n" for time in with_offset)))


@pytest.mark.parametrize("turn", [1, -1])
def test_repeated_hour_without_time_zone_asks_for_it(csv, turn):
    _, local, _ = clock_change("2024-10-27 00:00", "2024-10-27 23:30")
    text = "".join(f"{time},{420 + k}\n" for k, time in enumerate(local))
    lines = text.splitlines(keepends=True)[::turn]
    with pytest.raises(
        oc.InputError, match=r"column time: times must increase, .* \(if the clocks changed, set"
    ):
        oc.read_readings(csv("time,co2\n" + "".join(lines)))


def test_ambiguous_hour_occurring_once_is_summer_time(csv):
    text = "time,co2\n" + "".join(f"2024-10-27 {hour:02}:{m:02},420\n" for hour in (1, 2, 3) for m in (0, 30))
    index = oc.read_readings(csv(text), timezone="Europe/Copenhagen").index
    assert [time.utcoffset().seconds // 3600 for time in index] == [2, 2, 2, 2, 1, 1]


def test_unknown_time_zone_and_nonexistent_time_are_rejected(csv):
    with pytest.raises(
        oc.InputError, match="timezone must be a time zone name such as Europe/Copenhagen, got 'Mars/Olympus'"
    ):
        oc.read_readings(csv(GOOD), timezone="Mars/Olympus")
    skipped = "time,co2\n2024-03-31 02:30,420\n2024-03-31 02:31,420\n"  # clocks go from 2:00 to 3:00
    with pytest.raises(
        oc.InputError,
        match="row 2, column time: 2024-03-31 02:30:00 does not exist in the time zone Europe/Copenhagen",
    ):
        oc.read_readings(csv(skipped), timezone="Europe/Copenhagen")


def test_mixed_times_with_and_without_offset_are_rejected(csv):
    text = GOOD.replace("08:01,", "08:01+01:00,")
    with pytest.raises(oc.InputError, match="row 3, column time: UTC offsets must be stated at all times"):
        oc.read_readings(csv(text), timezone="Europe/Copenhagen")


@pytest.mark.parametrize("dayfirst", [True, False])
def test_ambiguous_dates_ask_for_dayfirst(csv, dayfirst):
    path = csv("time,co2\n01/02/2024 08:00,420\n01/02/2024 08:01,420\n")
    assert oc.read_readings(path, dayfirst=dayfirst).index[0].month == (2 if dayfirst else 1)


def test_empty_date_and_time_columns_are_rejected(csv):
    with pytest.raises(oc.InputError, match=r"office\.csv: has 2 columns that match time, 'Date' and 'Time'"):
        oc.read_readings(csv("Date,Time,co2\n,,420\n,,421\n"))


def test_appended_export_is_not_called_a_clock_change(csv):
    day = ["2024-01-08 08:00,500", "2024-01-08 08:05,510", "2024-01-09 08:00,500"]
    path = csv("\n".join(["time,co2", *day, *day[:2]]))
    message = "got 2024-01-08 08:00:00 after 2024-01-09 08:00:00: sort the rows, and use each export once"
    with pytest.raises(oc.InputError, match=message):
        oc.read_readings(path)


@pytest.mark.parametrize("header", ["Date,Timestamp", "Timestamp,Date", "Timestamp,Time"])
def test_complete_time_is_preferred_to_a_date_or_a_time_of_day(csv, header):
    cells = {"Date": "2024-01-08", "Timestamp": "2024-01-08 0{}:00", "Time": "0{}:00"}
    rows = [",".join(cells[name].format(hour) for name in header.split(",")) for hour in (7, 8, 9)]
    text = f"{header},CO2\n" + "".join(f"{row},420\n" for row in rows)
    times = oc.read_readings(csv(text)).index
    assert list(times) == list(pd.date_range("2024-01-08 07:00", periods=3, freq="h"))
