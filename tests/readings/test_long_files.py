"""Long files: parsed in blocks of rows, with the same result and bounded memory."""

import gzip
import os
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.errors import InputError
from occupair.readings import number_column
from occupair.readings.files import read_labelled

FORMATS = {
    "ISO": ("%Y-%m-%d %H:%M:%S", ",", ".", ["0", "1"]),
    "day first, decimal comma": ("%d/%m/%Y %H:%M", ";", ",", ["0,25", "0,75"]),
    "on and off": ("%d.%m.%Y %H:%M", "\t", ",", ["Ein", "Aus"]),
    "UTC offset": ("%Y-%m-%dT%H:%M+01:00", ",", ".", ["0 %", "80 %"]),
}


def lines_of(name, rows=100):
    """Lines of a file from 26 to 28 January: only dates of the last days tell day from month."""
    form, delimiter, mark, air = FORMATS[name]
    times = pd.date_range("2024-01-26", periods=rows, freq="30min").strftime(form)
    co2 = [f"{410 + k * 1.25:.2f}".replace(".", mark) for k in range(rows)]
    rows = zip(times, co2, (air * rows)[:rows], map(str, np.arange(rows) % 4), strict=True)
    return [delimiter.join(row) for row in [("time", "co2", "ventilation", "occupancy"), *rows]]


@pytest.mark.parametrize("name", FORMATS)
def test_block_size_does_not_change_readings(tmp_path, monkeypatch, name):
    path = tmp_path / "room.csv"
    path.write_text("\n".join(lines_of(name)))
    whole = read_labelled(path)
    monkeypatch.setattr(number_column, "BLOCK", 30)
    pd.testing.assert_frame_equal(read_labelled(path), whole)
    assert len(whole) == 100


@pytest.mark.parametrize(("column", "rule"), [(0, "must be a time"), (1, "must be a number")])
def test_error_in_a_later_block_names_its_row(tmp_path, monkeypatch, column, rule):
    monkeypatch.setattr(number_column, "BLOCK", 30)
    lines = lines_of("ISO")
    cells = lines[60].split(",")
    cells[column] = "high"
    lines[60] = ",".join(cells)
    (tmp_path / "room.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match=f"room.csv, row 61, column .*: {rule}.*, got 'high'"):
        oc.read_readings(tmp_path / "room.csv")


def test_file_that_can_be_read_only_once(tmp_path):
    content = "\n".join(lines_of("ISO")).encode()
    (tmp_path / "room.csv").write_bytes(content)
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for written in (content, gzip.compress(content)):
        writer = threading.Thread(target=pipe.write_bytes, args=(written,))
        writer.start()
        pd.testing.assert_frame_equal(read_labelled(pipe), read_labelled(tmp_path / "room.csv"))
        writer.join()


def test_memory_of_reading_is_a_small_multiple_of_the_readings(tmp_path, monkeypatch):
    monkeypatch.setattr(number_column, "BLOCK", 4_000)
    rng, n = np.random.default_rng(0), 40_000
    table = pd.DataFrame(
        {"co2": 500 + 100 * rng.random(n), "ventilation": rng.random(n), "occupancy": 1.0},
        index=pd.date_range("2024-01-01", periods=n, freq="min", name="time"),
    )
    table.to_csv(tmp_path / "long.csv")
    read_labelled(tmp_path / "long.csv")  # what is imported on first use
    tracemalloc.start()
    try:
        readings = read_labelled(tmp_path / "long.csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Before version 3 pandas keeps a text in a Python object each.
    multiple = 9 if int(pd.__version__.partition(".")[0]) >= 3 else 18
    assert peak < multiple * readings.memory_usage().sum()
