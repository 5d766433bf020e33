"""SDU 2019, compared with its files read by the csv module, and with small artificial files."""

import numpy as np
import pandas as pd
import pytest

from occupair.datasets import read_sdu2019
from occupair.errors import InputError
from occupair.readings.schema import date_slices

SUMMER_OCTOBER = {1, 4, 8, 11, 16, 26, 29, 36}


def by_day(rows):
    """Published values by day number."""
    days = {}
    for row in rows:
        days.setdefault(int(row[3]), []).append(float(row[5]))
    return days


def months(rows):
    return {int(row[3]): int(row[1]) for row in rows}


def is_winter(day, month):
    return month in (11, 12, 1, 2, 3) or (month == 10 and day not in SUMMER_OCTOBER)


def test_44_days_as_published(published, raw_rows):
    readings = read_sdu2019(published("sdu2019"), aligned=False)
    assert len(readings) == 44 * 1440
    assert readings["occupancy"].max() == 80
    assert set(readings.index.day_of_week) == {0}
    files = [("co2", "co2", 1), ("ventilation", "vav", 100), ("occupancy", "occupant_count", 1)]
    for column, kind, scale in files:
        days = by_day(raw_rows("sdu2019", f"{kind}_room_1.csv"))
        expected = np.concatenate([days[number] for number in range(44)])
        np.testing.assert_allclose(readings[column] * scale, expected, rtol=1e-12)


def test_winter_days_are_shifted_by_an_hour(published, raw_rows):
    readings = read_sdu2019(published("sdu2019"))
    as_published = read_sdu2019(published("sdu2019"), aligned=False)
    assert readings["occupancy"].equals(as_published["occupancy"])
    month_of = months(raw_rows("sdu2019", "co2_room_1.csv"))
    winter = [is_winter(day, month_of[day]) for day in range(44)]
    assert sum(winter) == 21
    for day, moved in zip(date_slices(readings), winter, strict=True):
        for column in ("co2", "ventilation"):
            before, after = as_published[column].to_numpy()[day], readings[column].to_numpy()[day]
            expected = np.r_[before[60:], np.full(60, before[-1])] if moved else before
            np.testing.assert_array_equal(after, expected)


def test_alignment_increases_r2(published, raw_rows, explained):
    folder = published("sdu2019")
    readings = {aligned: read_sdu2019(folder, aligned=aligned) for aligned in (True, False)}
    month_of = months(raw_rows("sdu2019", "co2_room_1.csv"))
    winter = np.repeat([is_winter(day, month_of[day]) for day in range(44)], 1440)
    r2 = {aligned: explained(frame[winter], span=15) for aligned, frame in readings.items()}
    assert r2[True] > r2[False] + 0.2
    summer = explained(readings[True][~winter], span=15)
    assert summer > 0.6


def test_aligned_damper_follows_its_schedule(published):
    """The damper opens at 05:30 in the time of the counts, in summer and winter."""

    def openings(readings):
        is_open = readings["ventilation"] > 0
        first = is_open[is_open].groupby(is_open[is_open].index.normalize()).apply(lambda day: day.index[0])
        return pd.Series([f"{time:%H:%M}" for time in first]).value_counts()

    folder = published("sdu2019")
    before = openings(read_sdu2019(folder, aligned=False))
    after = openings(read_sdu2019(folder))
    assert before["06:31"] >= 3
    assert "06:31" not in after
    assert after["05:31"] == before["05:31"] + before["06:31"]


HEADER = "Year,Month,time_of_day_min,DayID,Workday,{}\n"


def write(folder, **changed):
    """Day 1 (June), then day 0 (January, not a working day), 90 minutes each."""
    for kind, column in {"co2": "CO2", "occupant_count": "N", "vav": "damper"}.items():
        rows = [
            f"2018,{(1, 6)[day]},{minute // 60}:{minute % 60:02}:00,{day},{('FALSE', 'TRUE')[day]},{minute}\n"
            for day in (1, 0)
            for minute in range(90)
        ]
        text = HEADER.format(column) + "".join(rows)
        (folder / f"{kind}_room_1.csv").write_text(text.replace(*changed.get(kind, ("", ""))))


def test_artificial_room(tmp_path):
    write(tmp_path)
    readings = read_sdu2019(tmp_path)
    assert [f"{time:%F %a %R}" for time in readings.index[[0, 90]]] == [
        "2000-01-01 Sat 00:00",
        "2000-01-03 Mon 00:00",
    ]
    winter, summer = readings.iloc[:90], readings.iloc[90:]
    assert winter["co2"].tolist() == [*range(60, 90), *[89] * 60]
    np.testing.assert_allclose(winter["ventilation"] * 100, [*range(60, 90), *[89] * 60])
    assert winter["occupancy"].tolist() == summer["occupancy"].tolist() == list(range(90))
    assert summer["co2"].tolist() == list(range(90))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"vav": ("0:05:00", "0:06:00")}, r"vav_room_1.csv: times differ from those of .*co2_room_1.csv"),
        (
            dict.fromkeys(("co2", "vav", "occupant_count"), ("0:05:00", "0:06:00")),
            r"readings of .*co2_room_1.csv, row 7, column time: times must increase",
        ),
        (
            {"occupant_count": (",7\n", ",7.5\n")},
            r"readings of .*co2_room_1.csv, row 8, column occupancy: must be a non-negative integer",
        ),
    ],
)
def test_invalid_file_is_refused(tmp_path, changed, message):
    write(tmp_path, **changed)
    with pytest.raises(InputError, match=message):
        read_sdu2019(tmp_path)
