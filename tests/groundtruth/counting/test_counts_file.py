"""The file of counts: what is read, what is written, and what is rejected."""

import datetime as dt
import json
import os

import pytest
from groundtruth.counting_folder import at

from occupair.errors import InputError
from occupair.groundtruth.counting.counts import Book, Count, read_book, read_counts, write_book


def write(folder, **changes):
    folder.mkdir(exist_ok=True)
    row = {"door": "north", "minute": "2024-01-08T08:31:00", "entered": 2, "left": 1, "state": "counted"}
    whole = {"format": "occupair counts", "version": 1, "counts": [row | changes.pop("row", {})]} | changes
    (folder / "counts.json").write_text(json.dumps(whole))
    return folder


def test_read_counts(tmp_path):
    north = Count("north", dt.datetime(2024, 1, 8, 8, 31), 2, 1, "counted")
    assert read_counts(write(tmp_path / "a")) == [north]
    assert read_counts(tmp_path) == []  # nobody has counted yet


def test_book_round_trip(tmp_path):
    book = Book(at=at("08:31"), order="door", deletes=True, revision=7, seconds=[4.5, 6.0])
    book.put(at("09:02"), Count(*at("09:02"), 3, 0, "unsure"))
    book.put(at("08:31"), Count(*at("08:31"), 1, 0, "begun"))
    book.put(at("08:31"), Count(*at("08:31"), 1, 2, "counted"))
    book.put(at("10:15", 'Süd "B"'), Count(*at("10:15", 'Süd "B"'), 0, 4, "begun"))
    book.marked, book.deleted = {at("10:15")}, {at("09:02")}
    write_book(tmp_path, book)
    assert read_book(tmp_path) == book
    assert [count.minute.hour for count in read_counts(tmp_path)] == [
        8,
        9,
    ]  # what is only begun is not counted
    assert os.listdir(tmp_path) == ["counts.json"]


def test_utc_offset_is_preserved(tmp_path):
    minute = dt.datetime.fromisoformat("2024-01-08T08:31:00+01:00")
    write_book(tmp_path, Book(counts={("a", minute): Count("a", minute, 1, 0, "counted")}))
    assert read_counts(tmp_path)[0].minute.isoformat() == "2024-01-08T08:31:00+01:00"


BAD = {
    "no format": (
        {"format": "something"},
        'must be an occupair counts file, with "format": "occupair counts"',
    ),
    "version": ({"version": 2}, "version must be 1, got 2"),
    "no list": ({"counts": {}}, "counts must be a list"),
    "negative": (
        {"row": {"entered": -1}},
        r"counts\[0\].entered must be an integer from 0 to 999, got -1",
    ),
    "half": ({"row": {"left": 1.5}}, r"counts\[0\].left must be an integer from 0 to 999, got 1.5"),
    "truth": ({"row": {"left": True}}, r"counts\[0\].left must be an integer from 0 to 999, got True"),
    "state": ({"row": {"state": "done"}}, r"counts\[0\].state must be counted, unsure, skipped, got 'done'"),
    "begun": (
        {"row": {"state": "begun"}},
        r"counts\[0\].state must be counted, unsure, skipped, got 'begun'",
    ),
    "minute": ({"row": {"minute": "8:31"}}, r"counts\[0\].minute must be a time such as .*, got '8:31'"),
    "door": ({"row": {"door": ""}}, r"counts\[0\].door must be the name of a door, got ''"),
    "row": ({"counts": [3]}, r"counts\[0\] must be an object, got 3"),
    "order": ({"counting": {"order": "up"}}, "counting.order must be time or door, got 'up'"),
    "revision": (
        {"counting": {"revision": -1}},
        "counting.revision must be a non-negative integer, got -1",
    ),
    "counting": ({"counting": []}, "counting must be an object"),
    "history": (
        {"counting": {"history": [{"door": "a", "minute": "2024-01-08T08:31:00", "before": 3}]}},
        r"counting.history\[0\].before must be an object or null, got 3",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_file_is_a_one_line_error(tmp_path, name):
    changes, line = BAD[name]
    with pytest.raises(InputError, match=f"counts.json: {line}$"):
        read_counts(write(tmp_path, **changes))


def test_duplicate_minute_is_rejected(tmp_path):
    row = {"door": "a", "minute": "2024-01-08T08:31:00", "entered": 0, "left": 0, "state": "counted"}
    with pytest.raises(InputError, match=r"counts\[1\]: a at 2024-01-08T08:31:00 occurs twice"):
        read_counts(write(tmp_path, counts=[row, row]))
    other = row | {"minute": "2024-01-08T08:31:00+01:00"}
    with pytest.raises(InputError, match="either all times must have a UTC offset or none"):
        read_counts(write(tmp_path, counts=[row, other]))


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"{", "must be JSON, but line 1 is not: .*"), (b"\xff\xfe", "must be JSON in UTF-8")],
)
def test_invalid_json_is_a_one_line_error(tmp_path, content, line):
    (tmp_path / "counts.json").write_bytes(content)
    with pytest.raises(InputError, match=f"counts.json: {line}$"):
        read_counts(tmp_path)
