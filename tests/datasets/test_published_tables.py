"""Published tables, plain or gzipped, and their error messages."""

import gzip

import pandas as pd
import pytest

from occupair.datasets import DATASETS
from occupair.datasets.published_tables import check_room, open_table
from occupair.errors import InputError

ROBOD = DATASETS["robod"]


def table(folder, text, columns=("a", "b")):
    (folder / "t.csv").write_text(text)
    return open_table(folder, "t.csv", columns, ROBOD)


def test_plain_and_gzipped_files_are_equal(tmp_path):
    plain = table(tmp_path, "a,b\n1,2\n").frame
    (tmp_path / "t.csv").unlink()
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n", mtime=0))
    pd.testing.assert_frame_equal(open_table(tmp_path, "t.csv", ["a"], ROBOD).frame, plain)


def test_missing_file_message_says_how_to_download(tmp_path):
    message = (
        r"contains neither t.csv nor t.csv.gz of robod, download it with 'occupair datasets fetch robod'"
    )
    with pytest.raises(InputError, match=message):
        open_table(tmp_path, "t.csv", [], ROBOD)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c\n1,2\n", r"t.csv: has no column 'b', only 'a', 'c'"),
        ("", r"t.csv: is empty"),
        ("a,b\n", r"t.csv: has no readings"),
        ('a,b\n"1,2\n', r"t.csv: is not a CSV table: .*EOF inside string"),
    ],
)
def test_invalid_table_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        table(tmp_path, text)


def test_binary_file_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(InputError, match=r"is a binary file, not a CSV table"):
        open_table(tmp_path, "t.csv", [], ROBOD)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20]])
def test_damaged_gzip_is_refused(tmp_path, content):
    (tmp_path / "t.csv.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"t.csv.gz: cannot be read: "):
        open_table(tmp_path, "t.csv", [], ROBOD)


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda t: t.numbers("b"), r"t.csv, row 3, column b: must be a number, got 'x'"),
        (lambda t: t.integers("a"), r"t.csv, row 3, column a: must be an integer, got 1.5"),
        (lambda t: t.clock("b"), r"t.csv, row 2, column b: must be a time such as 07:30:00, got '2'"),
        (
            lambda t: t.times("b", "%Y", example="2021"),
            r"t.csv, row 2, column b: must be a time such as 2021, got '2'",
        ),
        (
            lambda t: t.joined_times(("a", "b"), "%Y %H", example="2021 10"),
            r"t.csv, row 2, column a b: must be a time such as 2021 10, got '1.0 2'",
        ),
    ],
)
def test_invalid_value_is_located(tmp_path, take, message):
    with pytest.raises(InputError, match=message):
        take(table(tmp_path, "a,b\n1,2\n1.5,x\n"))


def test_time_of_day_with_one_digit_hour(tmp_path):
    clock = table(tmp_path, "a,b\n1,7:30:00\n2,17:05:30\n").clock("b")
    assert list(clock) == [pd.Timedelta(hours=7.5), pd.Timedelta(hours=17, minutes=5, seconds=30)]


def test_unknown_room_is_refused():
    check_room(3, (1, 3))
    with pytest.raises(InputError, match=r"room must be one of 1, 3, got 2"):
        check_room(2, (1, 3))
