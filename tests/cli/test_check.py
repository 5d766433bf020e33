"""The command check: findings, exit status, report and JSON."""

import json

import numpy as np
import pytest
from command import occupair

import occupair as oc
from occupair.cli.shared import print_json


@pytest.fixture(scope="module")
def clean_days():
    """Five days of the simulated office, one reading per minute."""
    return oc.simulate_office(days=5, seed=0)


def test_check_of_good_readings(tmp_path, office):
    oc.write_readings(oc.simulate_office(8, seed=1), tmp_path / "office.csv")
    done = occupair("check", "office.csv", "--out", "check.html", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Fit to train on")
    assert (tmp_path / "check.html").read_text().startswith("<!DOCTYPE html>")


def test_check_of_clock_offset_exits_with_1(tmp_path):
    office = oc.simulate_office(8, seed=1)
    late = office.assign(co2=np.roll(office["co2"], 180))
    oc.write_readings(late, tmp_path / "late.csv")
    done = occupair("check", "late.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "CO2 is timestamped about 3 h late relative to the head counts" in done.stdout


def test_check_notes_utc_times(tmp_path):
    office = oc.simulate_office(8, seed=1).iloc[::5].tz_localize("Europe/Copenhagen")
    oc.write_readings(office.tz_convert("UTC"), tmp_path / "office.csv")
    words = "utc_times: All times are in UTC, and days start at midnight UTC."
    assert words in occupair("check", "office.csv", cwd=tmp_path).stdout
    for zone in ("Europe/Copenhagen", "UTC"):
        assert "utc" not in occupair("check", "office.csv", "--timezone", zone, cwd=tmp_path).stdout


def test_check_reports_failed_reads(tmp_path):
    office = oc.simulate_office(8, seed=1)
    office.iloc[[700, 900], 0] = 0.0
    oc.write_readings(office, tmp_path / "office.csv")
    done = occupair("check", "office.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")  # fit reads them as missing
    assert "DOUBTFUL (check before training)\n  failed_reads: CO2 reads 0 ppm 2 times" in done.stdout


def test_check_reports_all_faults_of_a_file(tmp_path):
    office = oc.simulate_office(8, seed=1).astype({"co2": object, "occupancy": float})
    office.iloc[700, 0] = "Bad"
    office.iloc[1170:1180, 2] = -2
    office.iloc[5000, 2] = 3.5
    office.rename_axis("time").to_csv(tmp_path / "office.csv")
    done = occupair("check", "office.csv", "--out", "page.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "no_number: Row 702, column co2: must be a number, got 'Bad'." in done.stdout
    assert "negative_counts: The head count is negative in 10 readings, down to -2" in done.stdout
    assert "(first 2015-08-03 19:30)" in " ".join(done.stdout.split())
    assert "broken_counts: 1 of" in done.stdout
    assert "non-numeric values" in (tmp_path / "page.html").read_text()
    assert occupair("fit", "office.csv", cwd=tmp_path).returncode == 2


def test_check_prints_json(tmp_path, clean_days):
    faulty = clean_days.copy()
    faulty.loc["2015-08-05 10:00":"2015-08-05 10:10", "co2"] = 65535.0
    faulty.loc["2015-08-06 19:30", "occupancy"] = -2.0
    oc.write_readings(faulty, tmp_path / "room.csv")
    done = occupair("check", "room.csv", "--json", "--out", "room.html", cwd=tmp_path)
    assert done.returncode == 1
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    assert document["file"] == "room.csv"
    assert document["report"] == "room.html"
    assert (tmp_path / "room.html").is_file()
    assert document["fit_to_train"] is False
    assert document["verdict"].startswith("Not fit to train on: 2 faults to fix.")
    assert (document["days"], document["readings"], document["interval"]) == (5, 7200, 1.0)
    assert document["start"] == "2015-08-03T00:00:00"
    assert document["timezone"] is None
    found = {finding["code"]: finding for finding in document["findings"]}
    assert found["failed_reads"] == {
        "code": "failed_reads",
        "severity": "wrong",
        "finding": "CO2 reads 65535 ppm 11 times (first 2015-08-05 10:00): failed reads.",
        "fix": "Delete these rows.",
        "days": ["2015-08-05"],
        "times": [{"start": "2015-08-05T10:00:00", "end": "2015-08-05T10:10:00"}],
        "values": {"readings": 11, "share": 11 / 7200},
    }
    assert found["negative_counts"]["values"] == {"readings": 1, "lowest": -2.0}
    assert all(finding["finding"] for finding in document["findings"])


def test_json_of_check_names_row_and_column(tmp_path):
    lines = [f"2015-08-03 08:{minute:02d},{400 + minute}" for minute in range(30)]
    lines[10] = "2015-08-03 08:10,hot"
    (tmp_path / "room.csv").write_text("time,co2\n" + "\n".join(lines) + "\n")
    document = json.loads(occupair("check", "room.csv", "--json", cwd=tmp_path).stdout)
    found = {finding["code"]: finding for finding in document["findings"]}
    assert found["no_number"]["values"] == {"column": "co2", "row": 12, "rows": 1}
    assert found["no_number"]["fix"].startswith("Treated as missing here, but rejected by fit")


def test_undefined_numbers_are_null_in_json(capsys):
    print_json({"values": {"share": float("nan"), "range": (1.0, float("inf"))}})
    assert json.loads(capsys.readouterr().out) == {"values": {"share": None, "range": [1.0, None]}}
