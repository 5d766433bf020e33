"""Names of output files."""

import os

import pytest
from command import occupair

import occupair as oc
from occupair.output_names import check_suffix


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("people.csv", "table"),
        ("PEOPLE.CSV", "table"),
        ("people.parquet", "table"),
        ("people", "table"),
        ("/dev/null", "report"),
        ("check.html", "report"),
        ("room.occupair", "model"),
        ("backup.zip", "backup"),
    ],
)
def test_suffix_of_the_format_is_accepted(name, form):
    check_suffix(name, form)


def test_pipe_may_have_any_suffix(tmp_path):
    os.mkfifo(tmp_path / "people.xlsx")
    check_suffix(tmp_path / "people.xlsx", "table")


@pytest.mark.parametrize(
    ("command", "name", "rule"),
    [
        ("simulate --out {}", "office.xlsx", "must end in .csv or .parquet (spreadsheet programs open CSV)"),
        ("simulate --out {}", "office.csv.gz", "must end in .csv or .parquet"),
        ("estimate no.occupair no.csv --out {}", "people.xlsx", "must end in .csv or .parquet"),
        ("estimate no.occupair no.csv --out {}", "people.json", "must end in .csv or .parquet"),
        ("groundtruth occupancy door.csv --out {}", "labelled.ods", "must end in .csv or .parquet"),
        ("check no.csv --out {}", "check.pdf", "must end in .html (a browser can print it to PDF)"),
        ("reproduce --out {}", "report.pdf", "must end in .html"),
        ("benchmark --out {}", "rooms.csv", "must end in .html"),
        ("fit no.csv --out {}", "model.csv", "must end in .occupair"),
        ("fit no.csv --out {}", "model.pkl", "must end in .occupair"),
        ("tune no.csv --out {}", "model.xlsx", "must end in .occupair"),
        ("backup --store sqlite:///no.db {}", "backup.tar", "must end in .zip"),
    ],
)
def test_suffix_of_another_format_is_refused(tmp_path, command, name, rule):
    done = occupair(*command.format(name).split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"occupair: {name}: {rule}")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_readings_are_not_written_as_another_format(tmp_path, office):
    with pytest.raises(oc.InputError, match=r"office.xlsx: must end in .csv or .parquet"):
        oc.write_readings(office, tmp_path / "office.xlsx")
    assert list(tmp_path.iterdir()) == []
