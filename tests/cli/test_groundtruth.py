"""The groundtruth commands: output, files, and one-line errors."""

import inspect
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from command import occupair
from groundtruth.counting_folder import make_folder, served

import occupair as oc
from occupair.groundtruth.counters.read_passages import read_passages
from occupair.groundtruth.counting.counts import Count, read_book, read_counts, write_book
from occupair.groundtruth.events import read_events
from occupair.groundtruth.ledger.clock_offsets import ClockCorrection
from occupair.groundtruth.ledger.ledger import build_ledger, label_readings

COMMANDS = ["", "scan", "count", "occupancy", "plan"]
MINUTES = [("north", "08:31"), ("south", "08:40"), ("north", "17:02")]


@pytest.fixture
def events(tmp_path):
    """An events folder with three minutes, not counted yet."""
    return make_folder(tmp_path / "events", MINUTES)


def count_all(folder, numbers=((2, 0), (1, 0), (0, 3))):
    """Count all minutes of a folder: entries and exits of each."""
    book = read_book(folder)
    for one, (entered, left) in zip(read_events(folder).minutes, numbers, strict=True):
        book.put((one.door, one.minute), Count(one.door, one.minute, entered, left, "counted"))
    write_book(folder, book)


@pytest.fixture(scope="module")
def room(tmp_path_factory, slow_office):
    """Readings of four days, every 15 min, three days of them labelled."""
    path = tmp_path_factory.mktemp("room") / "room.csv"
    office = slow_office.iloc[::3]
    last = office.index >= office.index[3 * 96]
    oc.write_readings(office.assign(occupancy=office["occupancy"].mask(last)), path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    done = occupair("groundtruth", *command.split(), "--help")
    assert done.returncode == 0
    assert f"Example: occupair groundtruth {command}" in done.stdout


def test_no_command_lists_all_commands():
    done = occupair("groundtruth")
    assert all(command in done.stdout + done.stderr for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan", "none.mp4"], "none.mp4: no such file or folder"),
        (
            ["scan", "a.mp4", "--start", "noon"],
            "--start must be a time such as '2024-01-08 08:00', got 'noon'",
        ),
        (
            ["scan", "a.mp4", "--door", "=x"],
            "--door must be NAME, or NAME=PATTERN if repeated, got =x",
        ),
        (
            ["scan", "a.mp4", "--door", "north", "--door", "south"],
            "--door must be NAME, or NAME=PATTERN if repeated, got north, south",
        ),
        (["scan", "a.mp4", "--sensitivity", 2], "sensitivity must be 0 to 1, got 2.0"),
        (["scan", "a.mp4"], "a.mp4: "),
        (["count", "none"], "none: "),
        (["count", "."], "."),
        (["occupancy", "none.csv", "--out", "b.csv"], "none.csv: "),
        (
            ["occupancy", "door.csv", "--out", "door.csv"],
            "--out door.csv would overwrite the input file door.csv",
        ),
        (
            ["occupancy", "door.csv", "--out", "b.csv", "--reset", "25:00"],
            "reset must be a time of day such as",
        ),
        (
            ["occupancy", "door.csv", "--out", "b.csv", "--column", "entered"],
            "--column must be ours=theirs, e.g. ",
        ),
        (
            ["occupancy", "door.csv", "--out", "b.csv", "--column", "x=y"],
            "columns (--column) must be names for time, ",
        ),
        (
            ["occupancy", "door.csv", "--out", "b.csv", "--readings", "air.csv"],
            "air.csv: readings: no reading falls on a day",
        ),
        (["plan", "none.csv"], "none.csv: "),
        (["plan", "air.csv", "--model", "air.csv"], "air.csv"),
    ],
)
def test_invalid_input_prints_one_line(tmp_path, arguments, message):
    (tmp_path / "a.mp4").write_bytes(b"no video")
    (tmp_path / "door.csv").write_text("time,entered,left\n2024-01-08 08:31,3,0\n2024-01-08 17:02,0,3\n")
    times = pd.date_range("2020-01-08", periods=300, freq="5min")
    oc.write_readings(pd.DataFrame({"co2": 500.0}, index=times), tmp_path / "air.csv")
    before = {path.name for path in tmp_path.iterdir()}
    done = occupair("groundtruth", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"occupair: {message}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} - {"events"} == before


def test_defaults_match_the_library():
    """Defaults are repeated in the command line so that --help does not import the library."""
    from occupair.cli import groundtruth
    from occupair.groundtruth.counting import server
    from occupair.groundtruth.ledger.ledger import build_ledger
    from occupair.groundtruth.video.scan import scan_videos

    for ours, theirs in ((groundtruth.scan, scan_videos), (groundtruth.occupancy, build_ledger)):
        given, taken = (inspect.signature(function).parameters for function in (ours, theirs))
        for name in given.keys() & taken.keys() - {"videos", "passages", "readings"}:
            assert given[name].default == taken[name].default, name
    assert inspect.signature(groundtruth.count).parameters["port"].default == server.PORT


def test_missing_extras_are_reported(tmp_path, events, monkeypatch):
    monkeypatch.setattr(
        "occupair.cli.service.find_spec", lambda name: None if name == "uvicorn" else find_spec(name)
    )
    message = (
        "occupair: groundtruth count requires packages that are not installed: pip install 'occupair[live]'\n"
    )
    assert occupair("groundtruth", "count", events) == (2, "", message)
    monkeypatch.setitem(sys.modules, "cv2", None)
    done = occupair("groundtruth", "scan", "a.mp4", cwd=tmp_path)
    assert done == (2, "", "occupair: scanning videos needs OpenCV: pip install 'occupair[video]'\n")


def test_count_serves_the_page_until_interrupted(events):
    count_all(events)
    sheets = [one.sheet for one in read_events(events).minutes]
    assert all(sheet.exists() for sheet in sheets)
    command = [sys.executable, "-m", "occupair", "groundtruth", "count", str(events)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--no-browser", "--delete-pictures"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "PYTHONUNBUFFERED": "1",
            "PYTHONWARNINGS": "error",
            "COLUMNS": "300",
        },
    )
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=20)
    assert first.startswith("Counting page at http://127.0.0.1:")
    assert f"Next: occupair groundtruth occupancy {events} --readings" in rest
    assert (process.returncode, errors) == (0, "")
    assert not any(sheet.exists() for sheet in sheets)  # all are counted
    assert len(read_counts(events)) == 3


def test_sheets_are_not_deleted_while_another_process_counts(events):
    count_all(events)
    with served(events):
        done = occupair("groundtruth", "count", events, "--delete-pictures", "--no-browser")
    assert done == (2, "", f"occupair: {events}: already being counted by another program\n")
    assert all(one.sheet.exists() for one in read_events(events).minutes)


def test_occupancy_of_counted_folder(tmp_path, events):
    done = occupair("groundtruth", "occupancy", events, "--out", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "not counted yet: run 'occupair groundtruth count' on the folder first" in done.stderr
    count_all(events)
    done = occupair("groundtruth", "occupancy", events, "--out", "a.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a.csv: 1 day, 2 doors, up to 3 people; " in done.stdout
    assert "gap: " in done.stdout  # half an hour at noon without a video
    assert done.stderr == (
        "occupair: training also needs CO2: set --readings to label the readings of the room\n"
    )
    people = pd.read_csv(tmp_path / "a.csv", index_col="time", parse_dates=True)["occupancy"]
    at = [people[f"2024-01-08 {time}"] for time in ("08:30", "08:31", "08:40", "17:01", "17:02")]
    assert at == [0, 2, 3, 3, 0]


def test_partial_option_accepts_partly_counted_folder(tmp_path, events):
    book = read_book(events)
    one = read_events(events).minutes[0]
    book.put((one.door, one.minute), Count(one.door, one.minute, 2, 0, "counted"))
    write_book(events, book)
    done = occupair("groundtruth", "occupancy", events, "--out", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "2 of 3 minutes are not counted yet" in done.stderr
    done = occupair("groundtruth", "occupancy", events, "--out", "a.csv", "--partial", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_corrections_are_only_applied_with_apply(tmp_path):
    (tmp_path / "lobby.csv").write_text(
        "Date;In;Out\n2024-01-08 08:31;3;0\n2024-01-08 09:10;2;0\n2024-01-08 17:02;0;4\n"
    )
    files = ["lobby.csv", "--column", "entered=In", "--column", "left=Out"]
    raw = occupair("groundtruth", "occupancy", *files, "--out", "raw.csv", cwd=tmp_path)
    assert "left_at_reset: 2024-01-08: 1 person left in the room" in raw.stdout
    assert "Balance by door:\n  lobby: 20 % fewer exits than entries (5 entries, 4 exits)\n" in raw.stdout
    assert "entry counted twice or exit missed, between 08:31 and 17:02." in raw.stdout
    assert (
        "Proposed corrections (apply with --apply): the smallest change that balances every day."
        in raw.stdout
    )
    made = occupair("groundtruth", "occupancy", *files, "--out", "made.csv", "--apply", cwd=tmp_path)
    assert "Corrections applied: the smallest change that balances every day." in made.stdout
    ends = [pd.read_csv(tmp_path / name)["occupancy"].iloc[-1] for name in ("raw.csv", "made.csv")]
    assert ends == [1, 0]
    fine = (tmp_path / "lobby.csv").read_text().replace("0;4", "0;5")
    (tmp_path / "lobby.csv").write_text(fine)
    done = occupair("groundtruth", "occupancy", *files, "--out", "fine.csv", cwd=tmp_path)
    assert done.stdout.startswith(
        "Every day is balanced; no issues found.\n"
        "Balance by door:\n  lobby: as many exits as entries (5 each)\n"
    )


def test_clock_correction_of_filmed_doors_labels_no_other_day(tmp_path):
    """Nights are not filmed; readings before and after the filmed day get no head count."""
    events = make_folder(tmp_path / "events", MINUTES)
    count_all(events)
    ledger = build_ledger(read_passages(events))
    clock = ClockCorrection("south", -20, -20, -20, 9.0, "planted")
    for minutes in (-20, 20):
        moved = ledger.apply([], clock_corrections=[replace(clock, minutes=minutes)])
        times = pd.date_range("2024-01-07", "2024-01-10", freq="5min", inclusive="left")
        labelled = label_readings(moved, pd.DataFrame({"co2": 900.0}, index=times))
        assert set(labelled.dropna().index.day) == {8}
        filmed = labelled[labelled["occupancy_weight"] > 0].index
        # 08:00 to 18:00 at both doors, one of them moved
        first, last = max(480, 480 + minutes), min(1080, 1080 + minutes)
        assert (filmed[0], filmed[-1]) == (
            pd.Timestamp("2024-01-08") + pd.Timedelta(minutes=first),
            pd.Timestamp("2024-01-08") + pd.Timedelta(minutes=last - 5),
        )


def test_plan_recommends_number_and_days(room, slow_office):
    done = occupair("groundtruth", "plan", room)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert "reduces the error of" in lines[0]
    assert lines[1] == "A rough estimate from 3 labelled days: run again after labelling the next."
    assert any(line.startswith("1 ") and line.endswith("measured on held-out days") for line in lines)
    assert any(line.startswith("8 ") and "predicted, " in line and " % lower (" in line for line in lines)
    date = slow_office.index[-1]
    assert any(line.startswith(f"{date:%a %Y-%m-%d}  ") for line in lines)
    assert "people wide" in " ".join(done.stdout.split())


def test_plan_as_json_with_a_model(room, tmp_path):
    model = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(oc.read_readings(room))
    model.save(tmp_path / "a.occupair")
    options = ["--json", "--model", tmp_path / "a.occupair", "--days", 1]
    done = occupair("groundtruth", "plan", room, *options)
    assert (done.returncode, done.stderr) == (0, "")
    plan = json.loads(done.stdout)
    assert set(plan["curve"]["gain"]) == {"1", "3", "5"}
    assert len(plan["labelled"]) == 3
    assert [day["date"] for day in plan["days"]] == [
        f"{oc.read_readings(room, occupancy=False).index[-1]:%Y-%m-%d}"
    ]


def test_plan_without_head_counts(tmp_path, slow_office):
    oc.write_readings(slow_office.drop(columns="occupancy"), tmp_path / "air.csv")
    oc.write_readings(slow_office.assign(occupancy=np.nan), tmp_path / "empty.csv")
    for name in ("air.csv", "empty.csv"):
        done = occupair("groundtruth", "plan", name, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Label 5 days with people, then run again.")
        assert done.stdout.count(" air conditions") == 1 + done.stdout.count(" more air conditions")
