"""Passages read from door counter exports, MQTT logs and counted events folders."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair import InputError
from occupair.groundtruth.counters.counter_records import passages_from_records
from occupair.groundtruth.counters.read_passages import read_passages
from occupair.groundtruth.counting.counts import Book, Count, write_book
from occupair.groundtruth.events import CandidateMinute, Door, Events, Recording, write_events
from occupair.readings.source import Source


def lines(passages):
    """Minutes as "08:31 north +2 -1"; uncounted ones are marked with ?, uncertain ones with ~."""
    marks = {1.0: "", 0.5: " ~", 0.0: " ?"}
    return [
        f"{time:%H:%M} {row.door} +{row.entered} -{row.left}{marks[row.weight]}"
        for time, row in zip(passages.index, passages.itertuples(), strict=True)
        if row.entered + row.left > 0 or row.weight < 1
    ]


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


SINGLE = {
    "words.csv": "time,direction\n2024-01-08 08:31:02,in\n2024-01-08 08:31:50,in\n2024-01-08 17:02:10,out\n",
    "german.csv": "Zeit;Richtung\n08.01.2024 08:31:02;Eingang\n08.01.2024 08:31:50;Eingang\n"
    "08.01.2024 17:02:10;Ausgang\n",
    "signs.tsv": "Timestamp\tdir\tcount\n2024-01-08T08:31:02\t1\t2\n2024-01-08T17:02:10\t-1\t1\n",
    "newest_first.csv": "time,event\n2024-01-08 17:02:10,exit\n2024-01-08 08:31:50,enter\n"
    "2024-01-08 08:31:02,enter\n",
    "counts.csv": "time,In,Out\n2024-01-08 08:31:02,1,0\n2024-01-08 08:31:50,1,0\n2024-01-08 17:02:10,0,1\n",
    "epoch.csv": "ts,people_in,people_out\n1704702662,1,0\n1704702710,1,0\n1704733330,0,1\n",
}


@pytest.mark.parametrize("name", SINGLE)
def test_one_row_per_passage(tmp_path, name):
    door = name.split(".")[0]
    assert lines(read_passages(written(tmp_path, name, SINGLE[name]))) == [
        f"08:31 {door} +2 -0",
        f"17:02 {door} +0 -1",
    ]


def test_counts_per_minute(tmp_path):
    path = written(
        tmp_path,
        "lobby.csv",
        "time,in,out\n"
        + "".join(
            f"2024-01-08 08:{minute:02d},{int(minute == 31)},{int(minute == 40)}\n" for minute in range(60)
        ),
    )
    passages = read_passages(path)
    assert [line for line in lines(passages) if "?" not in line] == ["08:31 lobby +1 -0", "08:40 lobby +0 -1"]
    unseen = passages.index[passages["weight"] == 0]
    assert (len(unseen), unseen[0].hour, unseen[-1].minute) == (
        23 * 60,
        0,
        59,
    )  # one hour of the day is covered


def test_quarter_hour_counts_are_spread_and_uncertain(tmp_path):
    text = "start;Door A in;Door A out\n8.1.2024 08:00;3;0\n8.1.2024 08:15;0;0\n8.1.2024 08:30;0;1\n"
    passages = read_passages(written(tmp_path, "a.csv", text))
    day = passages.between_time("08:00", "08:44")
    assert day["entered"].sum() == 3
    assert day["left"].sum() == 1
    assert [f"{time:%H:%M}" for time in day.index[day["entered"] > 0]] == ["08:02", "08:07", "08:12"]
    assert (day.loc["2024-01-08 08:00":"2024-01-08 08:14", "weight"] == 0.5).all()
    assert (day.loc["2024-01-08 08:15":"2024-01-08 08:29", "weight"] == 1.0).all()
    assert set(day["door"]) == {"door a"}


def test_gap_between_intervals_has_weight_zero(tmp_path):
    rows = [f"2024-01-08 {hour:02d}:{minute:02d},0,0\n" for hour in range(24) for minute in range(0, 60, 5)]
    without_noon = [row for row in rows if not row.startswith("2024-01-08 12:")]
    passages = read_passages(written(tmp_path, "a.csv", "time,in,out\n" + "".join(without_noon)))
    missing = passages.index[passages["weight"] == 0]
    assert (len(missing), f"{missing[0]:%H:%M}", f"{missing[-1]:%H:%M}") == (60, "12:00", "12:59")


def test_missing_values_have_weight_zero(tmp_path):
    rows = [f"2024-01-08 {hour:02d}:00,{'-' if hour == 3 else 0},0\n" for hour in range(24)]
    passages = read_passages(written(tmp_path, "a.csv", "time,in,out\n" + "".join(rows)))
    assert len(passages[passages["weight"] == 0]) == 60


def test_wide_and_long_tables_of_several_doors_are_equal(tmp_path):
    wide = "time,north in,north out,south in,south out\n2024-01-08 08:31,2,0,0,0\n2024-01-08 09:00,0,0,1,1\n"
    long = (
        "time,door,in,out\n2024-01-08 08:31,north,2,0\n2024-01-08 08:31,south,0,0\n"
        "2024-01-08 09:00,north,0,0\n2024-01-08 09:00,south,1,1\n"
    )
    one = read_passages(
        written(tmp_path, "wide.csv", wide),
    )
    other = read_passages(written(tmp_path, "long.csv", long))
    assert one[["door", "entered", "left"]].sum(numeric_only=True).tolist() == [3, 1]
    pd.testing.assert_frame_equal(one, other)


TOTALS = [65520, 65525, 65530, 65535, 2, 7, 11, 15]


def polled(entered, left=None, freq="min", start="2024-01-08 08:00"):
    times = pd.date_range(start, periods=len(entered), freq=freq)
    left = np.zeros(len(entered)) if left is None else left
    return pd.DataFrame({"door": "a", "entered": np.array(entered, float), "left": left}, index=times)


def test_wrapped_total_is_differenced():
    passages = passages_from_records(polled(TOTALS), source=Source("a"))
    counted = passages[passages["entered"] > 0]
    assert counted["entered"].tolist() == [5, 5, 5, 3, 5, 4, 4]
    assert f"{counted.index[0]:%H:%M}" == "08:00"  # after the first record
    assert (counted["weight"] == 1).all()


def test_reset_during_traffic_is_uncertain():
    passages = passages_from_records(polled([10, 14, 19, 25, 2, 6, 9, 11]), source=Source("a"))
    assert passages["entered"].sum() == 4 + 5 + 6 + 2 + 4 + 3 + 2
    assert [f"{time:%H:%M}" for time in passages.index[passages["weight"] == 0.5]] == ["08:03"]


def test_reset_at_night_is_certain():
    day = np.cumsum([0] * 480 + [1] * 60 + [0] * 900)
    passages = passages_from_records(
        polled(np.r_[day, day], np.r_[day, day], start="2024-01-08"), source=Source("a")
    )
    assert passages["entered"].sum() == 120
    assert (passages["weight"] == 0.5).sum() == 0


def test_irregular_totals_are_placed_at_the_record():
    at = pd.to_datetime(
        [
            "2024-01-08 00:01:00",
            "2024-01-08 08:31:07",
            "2024-01-08 08:33:09",
            "2024-01-08 12:00:01",
            "2024-01-08 12:40:11",
            "2024-01-08 17:00:30",
            "2024-01-08 17:44:02",
        ]
    )
    records = pd.DataFrame({"door": "a", "entered": [7, 8, 9, 10, 11, 12, 13], "left": 3}, index=at)
    found = passages_from_records(records, source=Source("a"))
    assert [f"{time:%H:%M}" for time in found.index[found["entered"] > 0]] == [
        "08:31", "08:33", "12:00", "12:40", "17:00", "17:44"
    ]  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=12, max_size=60),
    st.sampled_from([2**16, 10**4, 10**6]),
    st.integers(0, 200),
)
def test_wrapping_totals_give_the_true_passages(people, modulus, before_the_end):
    people = np.array(people)
    totals = (np.vstack([[0, 0], np.cumsum(people, axis=0)]) + modulus - before_the_end) % modulus
    found = passages_from_records(polled(totals[:, 0], totals[:, 1]), cumulative=True, source=Source("a"))
    assert found[["entered", "left"]].sum().tolist() == people.sum(axis=0).tolist()
    assert (found["weight"] == 0.5).sum() == 0  # wrapped, never reset


def entries_after(seconds):
    """Entries every minute, each followed by another after some seconds, and one exit."""
    first = pd.date_range("2024-01-08 08:30", periods=len(seconds), freq="min")
    times = first.append(first + pd.to_timedelta(seconds, unit="s")).append(first[:1] + pd.Timedelta("1s"))
    entered = [1] * 2 * len(seconds) + [0]
    records = pd.DataFrame({"door": "a", "entered": entered, "left": [1 - n for n in entered]}, index=times)
    return passages_from_records(records.sort_index(kind="stable"), source=Source("a"), single=True)


def test_repeats_within_seconds_are_marked():
    found = entries_after([1] * 6)
    assert found["entered_again"].tolist() == [1] * 6
    assert found["left_again"].sum() == 0


def test_people_walking_behind_one_another_are_no_repeats():
    """As many follow after 3 s as after 1 s."""
    found = entries_after([1, 3] * 6)
    assert found["entered"].sum() == 24
    assert found["entered_again"].sum() == 0


@pytest.mark.parametrize("topics", ['{door} {{"in": {entered}, "out": {left}}}', "{door}/in {entered}"])
def test_regular_mqtt_counts_are_spread_over_their_intervals(tmp_path, topics):
    """A message every 5 minutes, some seconds late, with the passages since the previous one."""
    lines = []
    for k, entered in enumerate([0, 3, 0, 5, 1, 0, 2, 0]):
        time = pd.Timestamp("2024-01-08 08:05:02") + pd.Timedelta(minutes=5 * k)
        text = topics.format(door="office/north", entered=entered, left=0)
        lines.append(f"{time.isoformat()} {text}")
    (tmp_path / "doors.log").write_text("\n".join(lines) + "\n")
    found = read_passages(tmp_path / "doors.log")
    passed = found[found["entered"] > 0]
    assert (passed["weight"] == 0.5).all()
    by_interval = passed["entered"].groupby(passed.index.floor("5min")).sum()
    assert {f"{time:%H:%M}": people for time, people in by_interval.items()} == {
        "08:05": 3,
        "08:15": 5,
        "08:20": 1,
        "08:30": 2,
    }


MQTT = {
    "topics": "2024-01-08T08:31:07+0100 office/north/in 1\n2024-01-08T08:31:30+0100 office/north/in 1\n"
    "2024-01-08T08:40:00+0100 office/south/battery 93\n2024-01-08T17:02:10+0100 office/south/out 1\n",
    "objects": '2024-01-08T08:31:07+0100 office/north {"in": 2, "out": 0}\n'
    '2024-01-08T17:02:10+0100 office/south {"in": 0, "out": 1, "rssi": -61}\n',
    "directions": '2024-01-08T08:31:07+0100 office/doors {"door": "north", "direction": "in", "count": 2}\n'
    '2024-01-08T17:02:10+0100 office/doors {"door": "south", "direction": "OUT"}\n',
    "bare words": "2024-01-08 08:31:07 office/north enter\n\n2024-01-08 08:31:09 office/north enter\n"
    "2024-01-08 08:33:00 office/north offline\n2024-01-08 17:02:10 office/south exit\n",
    "epochs": "1704702667.25 office/north/entered 1\n1704702690.5 office/north/entered 1\n"
    "1704733330.0 office/south/left 1\n",
    "json": '{"tst":"2024-01-08T08:31:07.123456Z+0100","topic":"office/north/in","qos":0,"payload":"2"}\n'
    '{"tst":"2024-01-08T17:02:10.123456Z+0100","topic":"office/south/out","qos":0,"payload":"1"}\n',
    "totals": "".join(
        f"2024-01-08T08:{k:02d}:00+0100 office/north/in {70 + 2 * (k > 31)}\n"
        f"2024-01-08T08:{k:02d}:00+0100 office/south/out {k // 9}\n"
        for k in range(60)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in MQTT if name != "totals"])
def test_mqtt_log_formats(tmp_path, name):
    passages = read_passages(written(tmp_path, "doors.log", MQTT[name]))
    assert lines(passages) == ["08:31 north +2 -0", "17:02 south +0 -1"]


def test_mqtt_log_of_running_totals(tmp_path):
    passages = read_passages(written(tmp_path, "doors.log", MQTT["totals"]), cumulative=True)
    day = passages.between_time("08:00", "08:59")
    assert [line for line in lines(day) if "north" in line] == [
        "08:31 north +2 -0",
        "08:59 north +0 -0 ?",  # after the last record
    ]
    assert day["left"].sum() == 6


def test_mqtt_times_are_converted_to_the_time_zone(tmp_path):
    path = written(tmp_path, "doors.log", MQTT["topics"])
    passages = read_passages(path, timezone="Asia/Singapore")
    assert f"{passages.index[0]:%H:%M %z}" == "15:31 +0800"


def counted_folder(folder, counts, candidates, gaps=()):
    at = {
        f"{time:%H:%M}": time
        for time in pd.date_range("2024-01-08", periods=1440, freq="min").to_pydatetime()
    }
    video = Recording("n.mp4", dt.datetime(2024, 1, 8), 86400.0, 1)
    doors = {"north": Door((video,), tuple((at[a], at[b]) for a, b in gaps)), "south": Door((video,))}
    minutes = [CandidateMinute(door, at[time], 0.5, folder / door / "a.jpg") for door, time in candidates]
    write_events(Events(folder, doors, minutes))
    book = Book()
    for door, time, entered, left, state in counts:
        book.put((door, at[time]), Count(door, at[time], entered, left, state))
    write_book(folder, book)
    return folder


COUNTED = [
    ("north", "08:31", 2, 0, "counted"),
    ("south", "12:00", 0, 1, "unsure"),
    ("north", "17:00", 0, 0, "skipped"),
]
CANDIDATES = [("north", "08:31"), ("south", "12:00"), ("north", "17:00")]


def test_counted_folder(tmp_path):
    passages = read_passages(counted_folder(tmp_path, COUNTED, CANDIDATES, gaps=[("13:00", "13:02")]))
    assert lines(passages) == [
        "08:31 north +2 -0",
        "12:00 south +0 -1 ~",
        "13:00 north +0 -0 ?",
        "13:01 north +0 -0 ?",
        "17:00 north +0 -0 ?",
    ]


def test_partly_counted_folder_needs_partial(tmp_path):
    counted_folder(tmp_path, COUNTED[:1], CANDIDATES)
    rule = r"2 of 3 minutes are not counted yet \(first: south, 2024-01-08 12:00\): .* --partial"
    with pytest.raises(InputError, match=rule):
        read_passages(tmp_path)
    assert lines(read_passages(tmp_path, partial=True)) == [
        "08:31 north +2 -0", "12:00 south +0 -0 ?", "17:00 north +0 -0 ?"
    ]  # fmt: skip


def test_uncounted_folder_is_an_error(tmp_path):
    counted_folder(tmp_path, [], CANDIDATES)
    with pytest.raises(
        InputError, match="not counted yet: run 'occupair groundtruth count' on the folder first"
    ):
        read_passages(tmp_path)


def test_video_without_candidates_is_a_counted_day(tmp_path):
    passages = read_passages(counted_folder(tmp_path, [], []))
    assert len(passages) == 2
    assert (passages[["entered", "left"]].sum() == 0).all()
    assert (passages["weight"] == 1).all()


def test_several_files_are_combined(tmp_path):
    one = written(tmp_path, "north.csv", "time,direction\n2024-01-08 08:31:02,in\n")
    other = written(tmp_path, "south.log", "2024-01-08 17:02:10 office/south/door out\n")
    assert [line.split()[1] for line in lines(read_passages(one, other))] == ["north", "door"]
    (tmp_path / "again").mkdir()
    copy = written(tmp_path, "again/north.csv", one.read_text())
    with pytest.raises(
        InputError, match=r"passages at door 'north' at .* are also in .*: give each file once"
    ):
        read_passages(one, copy)
    with pytest.raises(
        InputError, match=r"north.csv: times have no time zone but those of .*log do: set --timezone"
    ):
        read_passages(one, written(tmp_path, "aware.log", MQTT["topics"]))


def test_repeated_hour_in_autumn_is_resolved(tmp_path):
    text = "time,direction\n2024-10-27 02:30:00,in\n2024-10-27 02:50:00,in\n2024-10-27 02:10:00,out\n"
    passages = read_passages(written(tmp_path, "a.csv", text), timezone="Europe/Paris")
    assert [f"{time:%H:%M %z}" for time in passages.index] == ["02:30 +0200", "02:50 +0200", "02:10 +0100"]


INVALID_TABLES = {
    "time,co2\n2024-01-08 08:00,512\n": "has no columns of entries and exits and no direction column",
    "time,in\n2024-01-08 08:00,1\n": "has a column that may be entered but none that may be left",
    "time,in,out\n2024-01-08 08:00,1.5,0\n": "row 2, column in: must be a non-negative integer",
    "time,in,out\n2024-01-08 08:00,-2,0\n": "must be a non-negative integer, got -2",
    "time,in,out\n2024-01-08 08:00,1,0\n2024-01-08 08:05,1e999,0\n": "row 3, column in: must be a",
    "time,in,out\n2024-01-08 08:00,many,0\n": "row 2, column in: must be a number, got 'many'",
    "time,direction\n2024-01-08 08:00,in\n2024-01-08 08:01,up\n2024-01-08 08:02,in\n": "row 3, column "
    "direction: must be a direction such as in or out, got 'up'",
    "time,direction\nyesterday,in\n": "must be a time such as",
    "in,out\n1,0\n": "has no column 'time'",
    "time,a in,b in,in,inside,out\n2024-01-08 08:00,1,1,1,1,1\n": "has 2 columns that may be entered, ",
    "time,north in,north out,south in\n2024-01-08 08:00,1,0,0\n": "has 'south in' but no column",
}


@pytest.mark.parametrize("text", INVALID_TABLES)
def test_invalid_table_raises_one_line_error(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read_passages(written(tmp_path, "a.csv", text))
    assert INVALID_TABLES[text] in str(caught.value)
    assert "\n" not in str(caught.value)


INVALID_LOGS = {
    "2024-01-08T08:31:07 a/north/in 1\nnonsense\n": "row 2: must be a time, a topic and a payload",
    "2024-01-08T08:31:07 a/north/in lots\n": "row 1, column payload: must be a number, in or out",
    "2024-01-08T08:31:07 a/north/in 1.5\n": "must be an integer from 0 to 1000000000000, got 1.5",
    "2024-01-08T08:31:07 a/north/battery 93\n": "contains no message with a direction (in or out)",
}


@pytest.mark.parametrize("text", INVALID_LOGS)
def test_invalid_log_raises_one_line_error(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read_passages(written(tmp_path, "a.log", text))
    assert INVALID_LOGS[text] in str(caught.value)


def test_column_names_can_be_given(tmp_path):
    path = written(tmp_path, "a.csv", "when,plus,minus\n2024-01-08 08:00,1,0\n2024-01-08 08:01,0,1\n")
    passages = read_passages(path, columns={"time": "when", "entered": "plus", "left": "minus"})
    assert passages[["entered", "left"]].sum().tolist() == [1, 1]
    with pytest.raises(
        InputError, match=r"has no column 'nope' \(given for entered\), only 'when', 'plus', 'minus'"
    ):
        read_passages(path, columns={"time": "when", "entered": "nope", "left": "minus"})
    with pytest.raises(
        InputError, match=r"columns \(--column\) must be names for time, date, door, .*, got 'room'"
    ):
        read_passages(path, columns={"room": "when"})


def test_no_input_is_an_error():
    with pytest.raises(
        InputError, match="no input: give a counted events folder, a door counter CSV or an MQTT log"
    ):
        read_passages()


def test_records_decades_apart_are_rejected(tmp_path):
    path = tmp_path / "lobby.csv"
    path.write_text("time,in,out\n2013-01-08 08:00,1,0\n2024-01-08 08:00,2,1\n2024-01-09 08:00,3,1\n")
    with pytest.raises(InputError, match="must be within 3653 days, got 2013-01-08 08:00:00 to 2024-01-09"):
        read_passages(path)


def test_topics_that_are_no_unicode_are_escaped(tmp_path):
    path = tmp_path / "doors.log"
    path.write_text('{"tst": "2024-01-08T08:00:00+0100", "topic": "\\ud800", "payload": "in"}\n')
    assert read_passages(path)["door"].tolist() == [r"\ud800"]
