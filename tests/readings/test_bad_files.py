"""Unusual and faulty files: read correctly, or rejected in one line by every command."""

import gzip
import io
import re
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.cli import main

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x02"


@pytest.fixture(scope="module")
def table(slow_office):
    """Three days of an office as strings, at an interval of 5 min."""
    part = slow_office.iloc[: 3 * 288]
    columns = {
        "time": part.index.strftime("%Y-%m-%d %H:%M"),
        "co2": [f"{value:.1f}" for value in part["co2"]],
        "ventilation": [f"{value:g}" for value in part["ventilation"]],
        "occupancy": [f"{value:.0f}" for value in part["occupancy"]],
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def model(tmp_path_factory, estimator):
    path = tmp_path_factory.mktemp("model") / "room.occupair"
    estimator.save(path)
    return path


def csv(table, sep=",", **options):
    return table.to_csv(index=False, lineterminator="\n", sep=sep, **options)


def times(table, form):
    return table.assign(time=pd.to_datetime(table["time"]).dt.strftime(form))


def with_cells(table, column, **cells):
    """Replace cells of one column by row, as in ``r10="Bad"``."""
    changed = table.copy()
    for row, cell in cells.items():
        changed.loc[int(row[1:]), column] = cell
    return changed


def since_1970(table, unit):
    return table.assign(time=(pd.to_datetime(table["time"]) - pd.Timestamp(0)) // pd.Timedelta(f"1{unit}"))


def midnights_as_24(table):
    stamps = pd.to_datetime(table["time"])
    before = (stamps - pd.Timedelta(days=1)).dt.strftime("%Y-%m-%d 24:00")
    return table.assign(time=table["time"].where(table["time"].str.slice(11) != "00:00", before))


def german(table):
    names = {"time": "Zeit", "ventilation": "Lüftung", "occupancy": "Personen"}
    return csv(table.map(lambda cell: cell.replace(".", ",")).rename(columns=names), sep=";")


def archive():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    return content.getvalue()


def occupair(capsys, *arguments):
    """Run a command and return its exit status and output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["occupair", *map(str, arguments)])
        patch.setenv("COLUMNS", "200")
        try:
            main()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
    return status, *capsys.readouterr()


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


MEANT = {
    "tabs": lambda t: csv(t, sep="\t"),
    "bars": lambda t: csv(t, sep="|"),
    "utf-8 with byte order mark": lambda t: csv(t).encode("utf-8-sig"),
    "utf-16 with byte order mark": lambda t: csv(t).encode("utf-16"),
    "utf-16 big-endian": lambda t: csv(t).encode("utf-16-be"),
    "utf-32": lambda t: csv(t).encode("utf-32"),
    "latin-1, decimal commas": lambda t: german(t).encode("latin-1"),
    "sep= line": lambda t: "sep=;\n" + csv(t, sep=";"),
    "unit line": lambda t: csv(t).replace("occupancy\n", "occupancy\n,ppm,0..1,people\n", 1),
    "format line": lambda t: csv(t).replace("occupancy\n", "occupancy\nyyyy-mm-dd hh:mm,ppm,0-1,\n", 1),
    "quoted": lambda t: csv(t, quoting=1),
    "24:00": lambda t: csv(midnights_as_24(t)),
    "am and pm": lambda t: csv(times(t, "%d.%m.%Y %I:%M %p")),
    "month first": lambda t: csv(times(t, "%m/%d/%Y %I:%M:%S %p")),
    "gzip": lambda t: gzip.compress(csv(t).encode()),
    "newest first": lambda t: csv(t[::-1]),
    "trailing delimiters": lambda t: csv(t, sep=";").replace("\n", ";\n"),
    "CR line ends": lambda t: csv(t).replace("\n", "\r"),
    "comment lines": lambda t: "# logger 7\n#\n" + csv(t),
    "units in cells": lambda t: csv(t.assign(co2=t["co2"] + " ppm")),
    "very long lines": lambda t: csv(t.assign(note="x" * 3000)),
    "CO2 in percent": lambda t: csv(
        t.assign(co2=[f"{float(c) / 1e4:.6f}" for c in t["co2"]]).rename(columns={"co2": "CO2 [%]"})
    ),
}


@pytest.mark.parametrize("name", MEANT)
def test_unusual_file_is_read(tmp_path, table, name):
    expected = oc.read_readings(written(tmp_path, "plain.csv", csv(table)))
    readings = oc.read_readings(written(tmp_path, "room.csv", MEANT[name](table)))
    assert (readings.index == expected.index).all()
    np.testing.assert_allclose(readings, expected, atol=1e-6)


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_epoch_times_are_utc(tmp_path, table, unit):
    readings = oc.read_readings(written(tmp_path, "room.csv", csv(since_1970(table, unit))))
    assert readings.index[0] == pd.Timestamp(table["time"][0], tz="UTC")
    assert len(readings) == len(table)


def test_thousands_separators_are_read(tmp_path, table):
    doubled = table.assign(co2=[f"{3 * float(c):,.0f}" for c in table["co2"]])
    readings = oc.read_readings(written(tmp_path, "room.csv", csv(doubled)))
    np.testing.assert_allclose(readings["co2"], 3 * table["co2"].astype(float), atol=0.5)


REFUSED = {
    "empty file": ("room.csv", lambda t: "", "is empty"),
    "blank lines": ("room.csv", lambda t: "\n \n\n", "is empty"),
    "header only": ("room.csv", lambda t: "time,co2,ventilation,occupancy\n", "has no readings"),
    "binary": ("room.csv", lambda t: bytes(range(256)) * 20, "is not text, so not CSV"),
    "an image": ("room.csv", lambda t: PNG * 20, "is not text, so not CSV"),
    "a spreadsheet": ("room.xlsx", lambda t: archive(), "is a spreadsheet or a zip archive, not CSV: save"),
    "a web page": ("room.csv", lambda t: "<!DOCTYPE html><html></html>", "is a web page or XML"),
    "not Parquet": ("room.parquet", csv, "is not a Parquet file, or is damaged"),
    "truncated gzip": (
        "room.csv.gz",
        lambda t: gzip.compress(csv(t).encode())[:-99],
        "is not a gzip file, or is trunc",
    ),
    "space delimiter": (
        "room.csv",
        lambda t: csv(t).replace(" ", "T").replace(",", " "),
        "has only one column, .*: use comma, semicolon, tab or \\|",
    ),
    "two delimiters": (
        "room.csv",
        lambda t: csv(t).replace(",", ";", 3),
        "has 4 columns in the header but one in the first row, .*: use the same",
    ),
    "one column": (
        "room.csv",
        lambda t: csv(t[["co2"]]),
        "has no column 'time', only 'co2'; if it has",
    ),
    "no header": (
        "room.csv",
        lambda t: csv(t, header=False),
        "must have a header line with the column names .*, got '2015",
    ),
    "CO2 twice": (
        "room.csv",
        lambda t: csv(t).replace("ventilation", "co2", 1),
        "has two columns 'co2': rename or delete one",
    ),
    "two rooms": (
        "room.csv",
        lambda t: csv(t.assign(b=t["co2"]).rename(columns={"co2": "CO2 north", "b": "CO2 south"})),
        "has 2 columns that match co2, 'CO2 north' and 'CO2 south': choose one with --column co2=",
    ),
    "no CO2": ("room.csv", lambda t: csv(t.drop(columns="co2")), "has no column 'co2', only"),
    "empty CO2": ("room.csv", lambda t: csv(t.assign(co2="")), "column co2: has only empty cells"),
    "CO2 always 0": (
        "room.csv",
        lambda t: csv(t.assign(co2="0")),
        "column co2: has no readings: all cells",
    ),
    "unstated percent": (
        "room.csv",
        lambda t: csv(t.assign(co2=[f"{float(c) / 1e4:.5f}" for c in t["co2"]])),
        r"column co2: must be in ppm .*, got at most 0\.\d+: if this is percent, multiply by 10000",
    ),
    "mg/m3": (
        "room.csv",
        lambda t: csv(t.rename(columns={"co2": "CO2 (mg/m³)"})),
        r"column CO2 \(mg/m³\): must be in ppm, got mg/m3: multiply by 0.55",
    ),
    "ambiguous dates": (
        "room.csv",
        lambda t: csv(times(t.iloc[:288], "%m/%d/%Y %H:%M")),
        "row 2, column time: .* may start with the day or the month: use --dayfirst",
    ),
    "no times": (
        "room.csv",
        lambda t: csv(t.assign(time="soon")),
        "row 2, column time: must be a time such as",
    ),
    "spreadsheet day numbers": (
        "room.csv",
        lambda t: csv(t.assign(time=[f"{45300 + k / 288:.5f}" for k in range(len(t))])),
        r"must be a time .*, got '45300.00000' \(a spreadsheet day number\?",
    ),
    "several UTC offsets": (
        "room.csv",
        lambda t: csv(t.assign(time=[f"{s}+0{1 + k // 400}:00" for k, s in enumerate(t["time"])])),
        "row 402, column time: UTC offsets must be equal: give .* --timezone",
    ),
    "commas as delimiter and decimal mark": (
        "room.csv",
        lambda t: csv(t).replace(".", ",").replace('"', ""),
        r"has \d columns in the first row but 4 in the header: with decimal commas",
    ),
    "long row": (
        "room.csv",
        lambda t: csv(t) + "2015-08-09 00:00,1,2,3,4,5\n",
        r"is not a CSV table: row 866 has 6 columns, the header 4: quote cells with a delimiter",
    ),
    "unclosed quote": (
        "room.csv",
        lambda t: csv(t) + '2015-08-09 00:00,"4\n',
        "is not a CSV table: the quote that opens in row 866 is never closed",
    ),
    "one reading": ("room.csv", lambda t: csv(t.iloc[:1]), "needs at least two readings in one day, got 1"),
    "missing file": ("nowhere.csv", None, "No such file or directory"),
    "a folder": (".", None, "Is a directory"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_file_is_rejected_in_one_line(tmp_path, capsys, table, model, name):
    file, content, message = REFUSED[name]
    path = tmp_path / file if content is None else written(tmp_path, file, content(table))
    for command in (["check", path], ["fit", path, "--out", tmp_path / "m"], ["estimate", model, path]):
        status, out, err = occupair(capsys, *command)
        assert (status, out) == (2, "")
        assert err.startswith(f"occupair: {path}")
        assert err.count("\n") == 1
        assert re.search(message, err), err


FOUND = {
    "text among numbers": (
        lambda t: csv(with_cells(t, "co2", r10="Bad", r11="Error", r12="#N/A", r13="---")),
        "no_number: Row 12, column co2: must be a number, got 'Bad' (and 1 more like it).",
        "row 12, column co2: must be a number, got 'Bad'",
    ),
    "totals line": (
        lambda t: csv(t) + "Total,412345.1,,5123\n",
        "no_time: Row 866, column time: must be a time such as",
        "row 866, column time: must be a time such as 2024-03-28 08:00 or .*, got 'Total'",
    ),
    "unsorted rows": (
        lambda t: csv(pd.concat([t[:100], t[200:], t[100:200]])),
        "times: Row 766, column time: times must increase,",
        "row 766, column time: times must increase",
    ),
    "duplicate time": (
        lambda t: csv(pd.concat([t[:100], with_cells(t[99:100], "co2", r99="999"), t[100:]])),
        "times: Row 102, column time: times must increase,",
        "row 102, column time: times must increase, got .* twice with different values: delete one",
    ),
    "clock set back": (
        lambda t: csv(pd.concat([t[:36], t[24:]])).replace("2015-08-03", "2015-10-25"),
        "(if the clocks changed, set the time zone with --timezone)",
        "row 38, column time: times must increase",
    ),
    "negative head count": (
        lambda t: csv(with_cells(t, "occupancy", r500="-1", r501="-2")),
        "negative_counts: The head count is negative in 2 readings, down to -2",
        "row 502, column occupancy: must be a non-negative integer, got -1",
    ),
    "fractional head count": (
        lambda t: csv(with_cells(t, "occupancy", r500="2.5")),
        "broken_counts: 1 of 864 head counts are not integers (first 2.5 at 2015-08-04 17:40)",
        "row 502, column occupancy: must be a non-negative integer, got 2.5",
    ),
    "negative CO2": (
        lambda t: csv(with_cells(t, "co2", r500="-5", r501="65535")),
        "failed_reads: CO2 reads -5, 65535 ppm 2 times",
        "row 502, column co2: must be from 0 to 1000000 ppm, got -5",
    ),
    "infinite CO2": (
        lambda t: csv(with_cells(t, "co2", r500="inf")),
        "failed_reads: CO2 reads inf ppm 1 time",
        "row 502, column co2: must be from 0 to 1000000 ppm, got inf",
    ),
    "damper at 150 %": (
        lambda t: csv(
            with_cells(t, "ventilation", r5="150", r6="150", r7="150").rename(
                columns={"ventilation": "damper [%]"}
            )
        ),
        "ventilation_range: Ventilation must be from 0 to 1 (80 % is 0.8), got 0 to 1.5",
        r"row 7, column damper \[%\]: must be from 0 to 100 \[%\], got 150",
    ),
    "on among numbers": (
        lambda t: csv(with_cells(t, "ventilation", r5="on", r6="80")),
        "no_number: Row 7, column ventilation: must be a number, got 'on'",
        "row 7, column ventilation: must be a number like '.*', got 'on'",
    ),
    "no head counts": (
        lambda t: csv(t.drop(columns="occupancy")),
        "no_counts: There are no head counts",
        "has no column 'occupancy'",
    ),
    "empty head counts": (
        lambda t: csv(t.assign(occupancy="")),
        "no_counts: There are no head counts",
        "column occupancy: has only empty cells",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_check_reports_what_fit_rejects(tmp_path, capsys, table, name):
    content, finding, refusal = FOUND[name]
    path = written(tmp_path, "room.csv", content(table))
    status, out, err = occupair(capsys, "check", path)
    assert (status, err) == (1, "")
    told = " ".join(out.split())
    assert finding in told
    assert "no_counts" in told or "few_days" in told  # the other checks still run
    status, out, err = occupair(capsys, "fit", path, "--out", tmp_path / "m")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert re.search(refusal, err), err


def test_lenient_reading_keeps_incomplete_rows(tmp_path, table):
    path = written(
        tmp_path, "room.csv", csv(table.assign(occupancy=table["occupancy"].where(table.index < 300)))
    )
    readings = oc.read_readings(path, lenient=True)
    assert len(readings) == 864
    assert readings["occupancy"].notna().sum() == 300
    assert len(oc.read_readings(path)) == 300


def test_lenient_reading_of_a_clean_file_is_equal(tmp_path, table):
    path = written(tmp_path, "room.csv", csv(table))
    lenient = oc.read_readings(path, lenient=True)
    pd.testing.assert_frame_equal(lenient, oc.read_readings(path))
    assert lenient.attrs["problems"] == []
