"""Raw readings of one room, from one file or several."""

import gzip
import os
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from occupair.errors import InputError
from occupair.fleet.read_room import UnavailableError, open_room
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_sources import Part, RoomSource, find_rooms
from occupair.readings.files import read_labelled, read_readings, write_readings

TIMES = pd.date_range("2024-01-08 08:00", periods=6, freq="15min", unit="us")
CO2 = [500.0, 510.5, 520.0, 530.25, 540.0, 550.0]
PEOPLE = [0.0, 1.0, 2.0, 3.0, 2.0, 1.0]
TABLE = pd.DataFrame({"co2": CO2, "occupancy": PEOPLE}, index=TIMES.rename("time"))
GERMAN = {
    "first": "Zeit;CO2;Status;Personen;Status\r\n;[ppm];;;\r\n08.01.2024 08:00;500,0;ok;0;ok\r\n"
    "08.01.2024 08:15;510,5;ok;1;ok\r\n08.01.2024 08:30;520;ok;2;ok\r\n",
    "second": "Raumluft Süd\r\nZeit;CO2;Status;Personen;Status\r\n;[ppm];;;\r\n"
    "08.01.2024 08:45;530,25;ok;3;ok\r\n"
    "08.01.2024 09:00;540,0;ok;2;ok\r\n08.01.2024 09:15;550,0;ok;1;ok\r\n",
}


def read(source):
    with open_room(source) as raw:
        return raw.read(read_labelled, needs_counts=False, **source.options.reading)


def digest(source):
    with open_room(source) as raw:
        return raw.digest


def assert_table(readings, people=PEOPLE):
    assert readings.index.equals(TIMES)
    assert readings["co2"].tolist() == CO2
    assert readings["occupancy"].tolist() == people


def source_of(*paths, **options):
    return RoomSource("lab", tuple(Part(str(path)) for path in paths), RoomOptions(**options))


@pytest.mark.parametrize("name", ["lab.csv", "lab.csv.gz", "lab.parquet"])
def test_single_file(tmp_path, name):
    if name.endswith(".gz"):
        (tmp_path / name).write_bytes(gzip.compress(TABLE.to_csv().encode()))
    else:
        write_readings(TABLE, tmp_path / name)
    assert_table(read(source_of(tmp_path / name)))


@pytest.mark.parametrize("index", ["time", None, "column"])
def test_several_parquet_files_in_any_order(tmp_path, index):
    table = TABLE.reset_index() if index == "column" else TABLE.rename_axis(index)
    table.iloc[3:].to_parquet(tmp_path / "1.parquet")
    table.iloc[:3].to_parquet(tmp_path / "2.parquet")
    assert_table(read(source_of(tmp_path / "1.parquet", tmp_path / "2.parquet")))


def test_several_german_exports(tmp_path):
    (tmp_path / "1.csv").write_bytes(GERMAN["first"].encode("cp1252"))
    (tmp_path / "2.csv.gz").write_bytes(gzip.compress(GERMAN["second"].encode("cp1252")))
    source = source_of(tmp_path / "2.csv.gz", tmp_path / "1.csv", columns=(("occupancy", "Personen"),))
    assert_table(read(source))


def test_overlapping_exports_with_columns_in_another_order(tmp_path):
    TABLE.iloc[:4].to_csv(tmp_path / "1.csv")
    TABLE.iloc[2:].reset_index()[["occupancy", "time", "co2"]].to_csv(tmp_path / "2.csv", index=False)
    assert_table(read(source_of(tmp_path / "1.csv", tmp_path / "2.csv")))


def test_files_with_different_columns_or_units(tmp_path):
    (tmp_path / "1.csv").write_text(GERMAN["first"])
    (tmp_path / "2.csv").write_text(GERMAN["second"].replace("Personen", "Leute"))
    (tmp_path / "3.csv").write_text(GERMAN["second"].replace("[ppm]", "[%]"))
    for other, what in (("2.csv", "columns"), ("3.csv", "units")):
        message = f"^the files of this room have different {what}: export them alike$"
        with pytest.raises(InputError, match=message):
            read(source_of(tmp_path / "1.csv", tmp_path / other))


def test_files_with_different_ventilation_scales(tmp_path):
    table = TABLE.assign(ventilation=0.5)
    for number, full in enumerate((1000.0, 2000.0)):
        part = table.iloc[3 * number : 3 * number + 3].copy()
        part.attrs = {"ventilation_full": full, "ventilation_unit": "m3/h"}
        write_readings(part, tmp_path / f"{number}.parquet")
    with pytest.raises(InputError, match=r"^the files of this room have different units: export them alike$"):
        read(source_of(tmp_path / "0.parquet", tmp_path / "1.parquet"))


def test_ventilation_scale_of_several_files_is_kept(tmp_path):
    table = TABLE.assign(ventilation=0.5)
    table.attrs = {"ventilation_full": 1000.0, "ventilation_unit": "m3/h"}
    for number in range(2):
        write_readings(table.iloc[3 * number : 3 * number + 3], tmp_path / f"{number}.parquet")
    readings = read(source_of(tmp_path / "0.parquet", tmp_path / "1.parquet"))
    assert readings["ventilation"].tolist() == [0.5] * 6
    assert readings.attrs["ventilation_full"] == 1000.0


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("lab", lambda names: pa.array(names)),
        ("lab", lambda names: pa.array(names).dictionary_encode()),
        ("lab", lambda names: pa.array([name.encode() for name in names])),
        ("7", lambda names: pa.array([7 if name == "lab" else 8 for name in names])),
        ("7", lambda names: pa.array([7.0 if name == "lab" else 8.0 for name in names])),
    ],
    ids=["string", "dictionary", "binary", "integer", "float"],
)
@pytest.mark.parametrize("is_sorted", [True, False])
def test_rows_of_a_room_in_a_table_of_rooms(tmp_path, name, make, is_sorted):
    other = TABLE.assign(co2=900.0)
    both = pd.concat([TABLE.assign(room="lab"), other.assign(room="hall")])
    both = both.sort_values("room") if is_sorted else both.sort_index(kind="stable")
    table = pa.Table.from_pandas(both.reset_index(), preserve_index=False)
    table = table.set_column(table.schema.get_field_index("room"), "room", make(both["room"].tolist()))
    parquet.write_table(table, tmp_path / "all.parquet", row_group_size=4)
    found = {one.room: one for one in find_rooms(str(tmp_path))}
    assert len(found) == 2
    assert_table(read(found[name]))


def test_rows_of_a_table_written_with_its_index(tmp_path):
    TABLE.rename_axis(None).assign(room="lab").to_parquet(tmp_path / "all.parquet")
    assert_table(read(find_rooms(str(tmp_path))[0]))


@pytest.mark.parametrize("index", ["time", None])
def test_index_that_repeats_the_times_or_numbers_rows(tmp_path, index):
    table = TABLE.assign(time=TIMES).rename_axis(index)
    table = table if index else table.set_axis(pd.Index([5, 4, 3, 2, 1, 0]))
    table.assign(room="lab").to_parquet(tmp_path / "all.parquet")
    assert_table(read(find_rooms(str(tmp_path))[0]))


def test_nested_columns_are_no_obstacle(tmp_path):
    table = TABLE.reset_index().assign(room="lab")
    table["tags"] = [[k] for k in range(6)]
    table.to_parquet(tmp_path / "all.parquet")
    source = find_rooms(str(tmp_path))[0]
    assert_table(read(source))
    before = digest(source)
    table["tags"] = [[k + 1] for k in range(6)]
    table.to_parquet(tmp_path / "all.parquet")
    assert digest(source) != before


def test_digest_of_a_room_does_not_depend_on_other_rooms(tmp_path):
    lab = TABLE.reset_index().assign(room="lab")
    digests = []
    for others in (900.0, 901.0):
        pd.concat([lab, lab.assign(room="hall", co2=others)]).to_parquet(tmp_path / "all.parquet")
        digests.append([digest(one) for one in find_rooms(str(tmp_path))])
    (hall, unchanged), (other_hall, again) = digests
    assert unchanged == again
    assert hall != other_hall


@pytest.mark.parametrize("n_files", [1, 2])
def test_digest_changes_with_every_value(tmp_path, n_files):
    def write(table):
        for number, rows in enumerate(np.array_split(np.arange(6), n_files)):
            table.iloc[rows].to_csv(tmp_path / f"{number}.csv")
        return digest(source_of(*(tmp_path / f"{number}.csv" for number in range(n_files))))

    changed = TABLE.copy()
    changed.iloc[5, 0] += 0.25
    assert write(TABLE) == write(TABLE) != write(changed)


def test_digest_of_several_files_changes_with_units(tmp_path):
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    digests = set()
    for unit in ("[ppm]", "[%]", ""):
        for path, content in zip(paths, GERMAN.values(), strict=True):
            path.write_text(content.replace("[ppm]", unit))
        digests.add(digest(source_of(*paths)))
    assert len(digests) == 3


def test_files_of_a_remote_store_are_copied_and_deleted(tmp_path):
    memory = fsspec.filesystem("memory")
    memory.pipe("/read/1.csv", TABLE.iloc[:3].to_csv().encode())
    memory.pipe("/read/2.csv", TABLE.iloc[3:].to_csv().encode())
    assert_table(read(source_of("memory://read/1.csv", "memory://read/2.csv")))
    with open_room(source_of("memory://read/1.csv")) as raw:
        copy = raw.table
        assert isinstance(copy, Path)
        assert copy.name == "1.csv"
    assert not copy.exists()
    with pytest.raises(InputError, match=r"^3.csv: file not found$"):
        read(source_of("memory://read/3.csv"))
    memory.rm("/read", recursive=True)


def test_file_that_cannot_be_fetched_may_be_tried_again(monkeypatch):
    memory = fsspec.filesystem("memory")

    def fail(*args, **kwargs):
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(type(memory), "get_file", fail)
    with pytest.raises(UnavailableError, match=r"^1.csv: cannot be fetched: Connection reset by peer$"):
        read(source_of("memory://read/1.csv"))


def test_file_without_permission_may_be_tried_again(tmp_path, monkeypatch):
    def refuse(path, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "lab.csv").write_text("x")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UnavailableError, match=r"^lab\.csv: cannot be read: Permission denied$"):
        read(source_of(tmp_path / "lab.csv"))


def test_room_with_a_problem_or_without_files():
    with pytest.raises(InputError, match=r"^rooms.csv: capacity must be a number, got 'x'$"):
        read(RoomSource("lab", (), RoomOptions(problem="rooms.csv: capacity must be a number, got 'x'")))
    with pytest.raises(InputError, match=r"^no readings: the data have no file of this room$"):
        read(RoomSource("lab", ()))


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "lab.csv", "^lab.csv: is empty$"),
        (b"", "lab.parquet", "^lab.parquet: is not a Parquet file, or is damaged$"),
        (b"", "lab.csv.gz", "^lab.csv.gz: is empty$"),
        (b"\x1f\x8b\x08\x00cut", "lab.csv.gz", "^lab.csv.gz: is not a gzip file, or is truncated$"),
        (b"PAR1 but not really PAR1", "lab.pq", "^lab.pq: is not a Parquet file, or is damaged$"),
        (
            b"time,temperature\n2024-01-08,21\n",
            "lab.csv",
            "^lab.csv: has no column 'co2', only 'temperature'",
        ),
        (b"time,co2\n", "lab.csv", "^lab.csv: has no readings$"),
        (b"\x00\x01\x02\x00\x00\x00\x03", "lab.csv", "^lab.csv: is not text, so not CSV$"),
        (b"<!doctype html><p>Sign in", "lab.csv", "^lab.csv: is a web page or XML, not CSV$"),
    ],
)
@pytest.mark.parametrize("n_files", [1, 2])
def test_damaged_file_is_named_without_its_folder(tmp_path, content, name, message, n_files):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.csv").write_text("time,co2\n2024-01-08 08:00,500\n")
    source = source_of(*[tmp_path / name, tmp_path / "good.csv"][:n_files])
    if n_files == 2 and "temperature" in content.decode("latin-1"):
        message = "^the files of this room have different columns"
    with pytest.raises(InputError, match=message):
        read(source)


def test_missing_file_and_broken_link(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "gone.csv")
    (source,) = find_rooms(str(tmp_path))
    with pytest.raises(InputError, match=r"^link.csv: file not found$"):
        read(source)


def test_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match=r"^pipe.csv: is not a file$"):
        read(source_of(tmp_path / "pipe.csv"))


def test_name_that_is_no_text_is_escaped_in_messages(tmp_path):
    for suffix, message in ((b".csv", "is empty"), (b".parquet", "is not a Parquet file")):
        path = tmp_path / os.fsdecode(b"caf\xe9" + suffix)
        path.write_bytes(b"")
        for source in (source_of(path), source_of(path, path)):
            with pytest.raises(InputError, match=rf"^caf\\udce9\.\w+: {message}"):
                read(source)


def test_readers_share_one_copy(tmp_path):
    write_readings(TABLE, tmp_path / "lab.csv")
    with open_room(source_of(tmp_path / "lab.csv")) as raw:
        assert raw.read(read_readings, lenient=True)["co2"].tolist() == CO2
        assert_table(raw.read(read_labelled))
