"""Rooms of a portfolio in folders, files and URLs as operators have them."""

import os

import fsspec
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from occupair.errors import InputError
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_sources import Part, RoomSource, find_rooms, room_row_groups


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("time,co2\n2024-01-08 08:00,500\n")


def rooms_of(data, **options):
    """Names of the rooms, each with its files relative to the data."""
    found = {}
    for source in find_rooms(str(data), **options):
        found[source.room] = [os.path.relpath(part.url, data) for part in source.parts]
    return found


def write_table(path, rooms, rows_per_group=2):
    """Write a Parquet file with the given values of the column ``room``."""
    times = pd.date_range("2024-01-08", periods=len(rooms), freq="min")
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"time": times, "co2": [500.0] * len(rooms), "room": rooms})
    parquet.write_table(table, path, row_group_size=rows_per_group)


def test_partition_folders_with_one_and_several_files(tmp_path):
    touch(tmp_path, "room=b/1.parquet", "room=b/2.parquet", "room=a/year=2024/x.csv", "Room=c/y.csv.gz")
    assert rooms_of(tmp_path) == {
        "a": ["room=a/year=2024/x.csv"],
        "b": ["room=b/1.parquet", "room=b/2.parquet"],
        "c": ["Room=c/y.csv.gz"],
    }


def test_partition_names_are_unescaped(tmp_path):
    touch(tmp_path, "room=north%2F2.04%20S%C3%BCd/x.csv", "room=100 %/x.csv")
    assert list(rooms_of(tmp_path)) == ["100 %", "north/2.04 Süd"]


@pytest.mark.parametrize(
    "rooms",
    [
        pa.array(["lab", "lab", "lab", "hall", "hall"]),
        pa.array(["lab", "lab", "lab", "hall", "hall"]).dictionary_encode(),
        pa.array([b"lab", b"lab", b"lab", b"hall", b"hall"]),
        pa.array(["lab", "lab", "lab", "hall", "hall"], pa.large_string()),
    ],
    ids=["string", "dictionary", "binary", "large_string"],
)
def test_room_column_of_any_text_type(tmp_path, rooms):
    write_table(tmp_path / "all.parquet", rooms)
    url = str(tmp_path / "all.parquet")
    assert find_rooms(url) == [
        RoomSource("hall", (Part(url, (1, 2)),)),
        RoomSource("lab", (Part(url, (0, 1)),)),
    ]


@pytest.mark.parametrize("numbers", [pa.array([7, 12]), pa.array([7.0, 12.0]), pa.array([7, 12], pa.int8())])
def test_room_numbers_are_names(tmp_path, numbers):
    write_table(tmp_path / "all.parquet", numbers)
    assert list(rooms_of(tmp_path)) == ["12", "7"]


def test_room_row_groups_of_mixed_rows(tmp_path):
    write_table(tmp_path / "all.parquet", ["a", "b", "b", None, "a", "b"])
    assert room_row_groups(str(tmp_path / "all.parquet")) == {"a": (0, 2), "b": (0, 1, 2)}


def test_folder_of_files_with_a_room_column(tmp_path):
    write_table(tmp_path / "jan.parquet", ["a", "b"])
    write_table(tmp_path / "2024/feb.parquet", ["b", "b"])
    assert rooms_of(tmp_path) == {"a": ["jan.parquet"], "b": ["2024/feb.parquet", "jan.parquet"]}


def test_damaged_files_among_good_ones_are_rooms_of_their_own(tmp_path):
    write_table(tmp_path / "good.parquet", ["a", "b"])
    (tmp_path / "0-bytes.parquet").write_bytes(b"")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "good.parquet").read_bytes()[:-20])
    parquet.write_table(pa.table({"co2": [1.0]}), tmp_path / "other.parquet")
    assert rooms_of(tmp_path) == {
        "0-bytes": ["0-bytes.parquet"],
        "a": ["good.parquet"],
        "b": ["good.parquet"],
        "cut": ["cut.parquet"],
        "other": ["other.parquet"],
    }


def test_row_groups_need_a_room_column(tmp_path):
    parquet.write_table(pa.table({"co2": [1.0]}), tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"PAR1")
    parquet.write_table(pa.table({"room": [["a"]]}), tmp_path / "z.parquet")
    for name in ("x", "y", "z"):
        with pytest.raises(
            InputError, match=rf"{name}\.parquet: is not a Parquet file with a column 'room', or is"
        ):
            room_row_groups(str(tmp_path / f"{name}.parquet"))


def test_a_file_per_room_in_nested_folders(tmp_path):
    touch(
        tmp_path,
        "lab.csv",
        "north/2.04.CSV",
        "north/hall.tsv.gz",
        "south/attic.pq",
        "x.csv/y.txt",
        "notes.md",
    )
    assert rooms_of(tmp_path) == {
        "lab": ["lab.csv"],
        "north/2.04": ["north/2.04.CSV"],
        "north/hall": ["north/hall.tsv.gz"],
        "south/attic": ["south/attic.pq"],
        "x.csv/y": ["x.csv/y.txt"],
    }


def test_names_that_differ_by_case_only_are_two_rooms(tmp_path):
    touch(tmp_path, "lab.csv", "Lab.csv")
    assert list(rooms_of(tmp_path)) == ["Lab", "lab"]


def test_single_file_is_one_room(tmp_path):
    touch(tmp_path, "lab.csv", "hall.csv")
    assert [one.room for one in find_rooms(str(tmp_path / "lab.csv"))] == ["lab"]


def test_hidden_files_are_ignored(tmp_path):
    touch(
        tmp_path, "lab.csv", ".lab.csv", "_rooms.parquet", ".git/x.csv", "room=a/_SUCCESS.csv", "_tmp/y.csv"
    )
    assert rooms_of(tmp_path) == {"lab": ["lab.csv"]}


def test_name_that_is_no_text_is_escaped(tmp_path):
    touch(tmp_path, os.fsdecode(b"caf\xe9.csv"), os.fsdecode(b"caf\xe8.csv"))
    first, second = find_rooms(str(tmp_path))
    assert (first.room, second.room) == (r"caf\udce8", r"caf\udce9")
    assert os.fsencode(first.parts[0].url).endswith(b"caf\xe8.csv")


def test_empty_or_missing_folder(tmp_path):
    with pytest.raises(InputError, match=rf"^{tmp_path}: has no readings: no CSV or Parquet files$"):
        find_rooms(str(tmp_path))
    with pytest.raises(InputError, match=rf"^{tmp_path}/x: no such folder or file$"):
        find_rooms(str(tmp_path / "x"))


def test_file_without_rows_of_a_room(tmp_path):
    write_table(tmp_path / "x.parquet", pa.array([None, None], pa.string()))
    with pytest.raises(InputError, match=rf"^{tmp_path}: has no readings: no rows with the name of a room$"):
        find_rooms(str(tmp_path))


def test_options_beside_the_data(tmp_path):
    touch(tmp_path, "lab.csv", "hall.csv")
    (tmp_path / "rooms.csv").write_text("room,capacity\nlab,24\nattic,3\n")
    defaults = RoomOptions(timezone="Europe/Berlin")
    attic, hall, lab = find_rooms(str(tmp_path), defaults=defaults)
    assert (attic.room, attic.parts) == ("attic", ())
    assert hall == RoomSource("hall", (Part(str(tmp_path / "hall.csv")),), defaults)
    assert lab.options == RoomOptions(timezone="Europe/Berlin", properties={"capacity": 24.0})


def test_options_elsewhere_replace_those_beside_the_data(tmp_path):
    touch(tmp_path / "data", "lab.csv", "rooms.csv")
    (tmp_path / "mine.toml").write_text("[rooms.lab]\ncapacity = 24\n")
    (lab,) = find_rooms(str(tmp_path / "data"), options_file=str(tmp_path / "mine.toml"))
    assert lab.options.properties == {"capacity": 24.0}


def test_options_file_of_another_name_in_the_data_is_no_room(tmp_path, monkeypatch):
    touch(tmp_path, "lab.csv")
    (tmp_path / "seats.csv").write_text("room,capacity\nlab,24\n")
    monkeypatch.chdir(tmp_path)
    assert rooms_of(tmp_path, options_file="seats.csv") == {"lab": ["lab.csv"]}


def test_files_named_like_options_are_ignored(tmp_path):
    touch(tmp_path, "lab.csv", "old-rooms.toml", "ROOMS.toml", "north/rooms.toml", "north/rooms.csv")
    assert rooms_of(tmp_path) == {"lab": ["lab.csv"]}


def test_two_options_files_are_an_error(tmp_path):
    touch(tmp_path, "lab.csv", "rooms.csv", "rooms.toml")
    message = r"^rooms\.csv and rooms\.toml are both there: keep one of them, or choose it with --rooms$"
    with pytest.raises(InputError, match=message):
        find_rooms(str(tmp_path))


@pytest.mark.parametrize("name", ["{}/no.csv", "memory://nowhere/no.csv"])
def test_missing_options_file(tmp_path, name):
    touch(tmp_path, "lab.csv")
    name = name.format(tmp_path)
    with pytest.raises(InputError, match=f"^{name}: No such file or directory$"):
        find_rooms(str(tmp_path), options_file=name)


def test_options_file_that_is_a_folder(tmp_path):
    touch(tmp_path, "lab.csv", "rooms.csv/x.md")
    with pytest.raises(InputError, match=f"^{tmp_path}/rooms.csv: cannot be read: Is a directory$"):
        find_rooms(str(tmp_path), options_file=str(tmp_path / "rooms.csv"))


def test_file_patterns_of_options(tmp_path):
    touch(tmp_path, "A_2023.csv", "A_2024.csv", "old/a.csv", "Raum [7].csv", "x1.csv", "other.csv")
    (tmp_path / "rooms.toml").write_text(
        """
        [rooms.lab]
        file = ["A_*.csv", "old/a.csv"]
        [rooms.seven]
        file = "Raum [7].csv"
        [rooms.far]
        file = "https://example.org/far.csv"
        [rooms.one]
        file = "x[0-9].csv"
        [rooms.none]
        file = "nothing*.csv"
        """
    )
    found = {one.room: [part.url for part in one.parts] for one in find_rooms(str(tmp_path))}
    assert found == {
        "far": ["https://example.org/far.csv"],
        "lab": [f"{tmp_path}/{name}" for name in ("A_2023.csv", "A_2024.csv", "old/a.csv")],
        "none": [],
        "one": [f"{tmp_path}/x1.csv"],
        "other": [f"{tmp_path}/other.csv"],
        "seven": [f"{tmp_path}/Raum [7].csv"],
    }


def test_columns_of_rooms_in_one_wide_file(tmp_path):
    touch(tmp_path, "wide.csv")
    (tmp_path / "rooms.csv").write_text("room,file,columns.co2\n1,wide.csv,Raum 1\n2,wide.csv,Raum 2\n")
    assert rooms_of(tmp_path) == {"1": ["wide.csv"], "2": ["wide.csv"]}


@pytest.fixture
def memory():
    """The file system of memory:// URLs, empty."""
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def test_url_of_a_remote_store(memory, tmp_path):
    memory.pipe("/bucket/data/room=Lab%207/1.csv", b"x")
    memory.pipe("/bucket/data/north/hall.csv", b"x")
    memory.pipe("/bucket/data/rooms.csv", b"room,capacity\nLab 7,24\n")
    memory.pipe("/bucket/data2/other.csv", b"x")
    write_table(tmp_path / "all.parquet", ["a", "b"])
    memory.put(str(tmp_path / "all.parquet"), "/bucket/data/all.parquet")
    found = find_rooms("memory://bucket/data/")
    assert [(one.room, one.parts) for one in found] == [
        ("Lab 7", (Part("memory:///bucket/data/room=Lab%207/1.csv"),)),
        ("a", (Part("memory:///bucket/data/all.parquet", (0,)),)),
        ("b", (Part("memory:///bucket/data/all.parquet", (0,)),)),
        ("north/hall", (Part("memory:///bucket/data/north/hall.csv"),)),
    ]
    assert found[0].options.properties == {"capacity": 24.0}


def test_missing_driver_and_unknown_protocol():
    with pytest.raises(InputError, match=r"^gs://b/data: its driver is not installed: .*gcsfs.*$"):
        find_rooms("gs://b/data")
    with pytest.raises(InputError, match=r"^nfs2://b/data: Protocol not known: nfs2$"):
        find_rooms("nfs2://b/data")


def test_store_that_cannot_be_listed(memory, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    memory.pipe("/data/lab.csv", b"x")
    monkeypatch.setattr(type(memory), "find", refuse)
    with pytest.raises(InputError, match=r"^memory://data: cannot be listed: Permission denied$"):
        find_rooms("memory://data")
