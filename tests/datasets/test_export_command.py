"""The command datasets export: public rooms as files of a building management system."""

import pytest
from command import occupair

import occupair as oc
from occupair.datasets import read_robod


@pytest.fixture(scope="module")
def robod(published):
    return read_robod(published("robod"), room=3, whole_days=False)


def export(folder, *options, room="robod-3"):
    return occupair("datasets", "export", room, *options, "--out", "office.csv", cwd=folder)


def test_help_has_an_example():
    assert "Example: occupair datasets export robod-3" in occupair("datasets", "export", "--help").stdout


def test_listing_names_the_rooms():
    assert "    rooms: robod-1, robod-3\n" in occupair("datasets").stdout


def test_exported_days_are_read_back(robod, tmp_path):
    done = export(tmp_path, "--from", "2021-09-08", "--to", "2021-09-13")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "office.csv: 672 readings of 3 days, 2021-09-08 to 2021-09-13, up to 8 people."
    assert (
        lines[1] == "robod-3: office, 98.4 m2, 413 m3, 15 seats, a reading every 5 min."
    )  # Tekler et al. 2022
    assert lines[2].startswith("CC-BY-4.0: Z. D. Tekler")
    again, expected = oc.read_readings(tmp_path / "office.csv"), robod["2021-09-08":"2021-09-13"]
    assert again.equals(expected.set_axis(expected.index.as_unit("us")))


def test_number_of_days_counts_days_with_data(robod, tmp_path):
    assert (
        "192 readings of 1 day, 2021-09-10," in export(tmp_path, "--from", "2021-09-09", "--days", 1).stdout
    )


def test_head_counts_can_be_left_out(robod, tmp_path):
    export(tmp_path, "--days", 1, "--no-occupancy")
    assert list(oc.read_readings(tmp_path / "office.csv").columns) == ["co2", "ventilation"]


def test_clock_errors_can_be_kept(published, tmp_path):
    export(tmp_path, "--days", 1, "--as-published")
    (row,) = [line for line in (tmp_path / "office.csv").read_text().splitlines() if " 12:00" in line]
    early = read_robod(published("robod"), room=3, aligned=False, whole_days=False)
    assert float(row.split(",")[1]) == early["co2"]["2021-09-07 12:00"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--from", "2022-01-01"), "robod-3: no readings in this period, only from 2021-09-07 to 2021-12-23"),
        (("--from", "1.9.2021"), "--from must be a date such as 2026-09-01, got '1.9.2021'"),
        (
            ("--from", "2021-09-10", "--to", "2021-09-07"),
            "--to must not be before --from, got 2021-09-07 and 2021-09-10",
        ),
        (("--to", "2021-09-10", "--days", "2"), "--days and --to exclude each other: drop one"),
    ],
)
def test_wrong_period_is_refused(robod, tmp_path, options, message):
    done = export(tmp_path, *options)
    assert (done.returncode, done.stderr) == (2, f"occupair: {message}\n")
    assert not (tmp_path / "office.csv").exists()


def test_unknown_room_is_refused(tmp_path):
    assert "unknown room 'attic', choose from sdu2018-1" in export(tmp_path, room="attic").stderr
