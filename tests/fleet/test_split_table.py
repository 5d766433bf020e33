"""A table of mixed rooms, split into a folder per room."""

import fsspec
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from occupair.errors import InputError
from occupair.fleet.read_room import open_room
from occupair.fleet.room_sources import find_rooms
from occupair.fleet.split_table import split_table
from occupair.readings.files import read_readings

TIMES = pd.date_range("2024-01-08 08:00", periods=30, freq="min")
NAMES = ["lab", "north/2.04", "Süd: 100 %"] * 10


def write(path, rooms, rows=slice(None)):
    table = pa.table({"time": TIMES[rows], "co2": [500.0 + k for k in range(30)][rows], "room": rooms})
    parquet.write_table(table, path, row_group_size=7)


def co2_of_rooms(data):
    """CO2 of each room; times that do not increase would be an error."""
    found = {}
    for source in find_rooms(str(data)):
        with open_room(source) as raw:
            found[source.room] = raw.read(read_readings, occupancy=False, interval=3.0)["co2"].tolist()
    return found


EXPECTED = {name: [500.0 + k for k in range(first, 30, 3)] for first, name in enumerate(NAMES[:3])}


@pytest.mark.parametrize("encode", [False, True])
def test_every_row_is_in_the_folder_of_its_room(tmp_path, encode):
    rooms = pa.array(NAMES)
    write(tmp_path / "all.parquet", rooms.dictionary_encode() if encode else rooms)
    assert split_table(tmp_path / "all.parquet", tmp_path / "out") == 30
    assert co2_of_rooms(tmp_path / "out") == EXPECTED
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_numbers_of_rooms(tmp_path):
    write(tmp_path / "all.parquet", pa.array([7, 12, 100] * 10))
    split_table(tmp_path / "all.parquet", tmp_path / "out")
    assert sorted(co2_of_rooms(tmp_path / "out")) == ["100", "12", "7"]


def test_folder_of_tables_and_urls(tmp_path):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in/1.parquet", NAMES[:15], slice(0, 15))
    write(tmp_path / "in/2.parquet", NAMES[15:], slice(15, 30))
    memory = fsspec.filesystem("memory")
    assert split_table(tmp_path / "in", "memory://split/out") == 30
    assert co2_of_rooms("memory://split/out") == EXPECTED
    memory.rm("/split", recursive=True)


def test_folder_must_be_new(tmp_path):
    write(tmp_path / "all.parquet", NAMES)
    with pytest.raises(InputError, match=rf"^{tmp_path}: is not empty: choose a new folder$"):
        split_table(tmp_path / "all.parquet", tmp_path)
    with pytest.raises(InputError, match=rf"^{tmp_path}/all\.parquet: is not a folder: choose a new folder$"):
        split_table(tmp_path / "all.parquet", tmp_path / "all.parquet")


def test_table_without_a_room_column(tmp_path):
    parquet.write_table(pa.table({"co2": [1.0]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: has no column 'room': nothing to split$"):
        split_table(tmp_path / "x.parquet", tmp_path / "out")


def test_table_that_cannot_be_read(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    for name in ("x.parquet", "none.parquet"):
        with pytest.raises(InputError, match=rf"{name}: cannot be split: \S"):
            split_table(tmp_path / name, tmp_path / "out")
