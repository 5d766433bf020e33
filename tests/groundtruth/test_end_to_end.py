"""From passages at two doors to a model of the room, end to end on the command line."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from command import occupair
from groundtruth.counter_study import CAPACITY, DAY, WEEK, busy_period, planted, write_counters
from groundtruth.render import Passage, render
from groundtruth.simulated_doors import office, rmse

import occupair as oc
from occupair.groundtruth.counting.session import CountingSession
from occupair.groundtruth.events import read_events

pytestmark = pytest.mark.slow

MINUTES = 3  # of video at each door
STEP = 5  # min between readings


@pytest.fixture(scope="module")
def filmed(tmp_path_factory):
    """Rendered videos of a few minutes at two doors, the passages, and the change of occupancy."""
    folder = tmp_path_factory.mktemp("filmed")
    passages, gained = busy_period(*office(2, seed=1), MINUTES, min_passages=4)
    for door, own in passages.groupby("door"):
        rendered = [
            Passage(
                at=(time - gained.index[0]).total_seconds(),
                way="in" if row.entered else "out",
                look=number,
                side=("left", "right")[number % 2],
                height=150 + 10 * (number % 4),
            )
            for number, (time, row) in enumerate(own.iterrows())
        ]
        render(folder / f"{door}_{gained.index[0]:%Y%m%d_%H%M%S}.mp4", minutes=MINUTES, passages=rendered)
    return folder, passages, gained


@pytest.fixture(scope="module")
def scanned(filmed):
    folder = filmed[0]
    done = occupair("groundtruth", "scan", *sorted(folder.glob("*.mp4")), "--out", "events", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\d+ times real time", done.stdout)
    assert "Next: occupair groundtruth count events" in done.stdout
    return folder / "events"


def count_correctly(events, passages, *, until=None):
    """Enter the true counts of the candidate minutes."""
    session = CountingSession(events)
    true = passages.set_axis(passages.index.floor("min")).groupby(["door", "time"])[["entered", "left"]].sum()
    while session.at is not None and (until is None or session.at < until):
        number = session.at
        minute = session.minutes[number]
        entered, left = true.loc[minute.key] if minute.key in true.index else (0, 0)
        for _ in range(entered):
            session.change(number, entered=1)
        for _ in range(left):
            session.change(number, left=1)
        session.decide(number, "counted")
    return session


def test_minutes_with_passages_are_candidates(filmed, scanned):
    passages = filmed[1].rename_axis("time")
    true = {(row.door, time.floor("min").to_pydatetime()) for time, row in passages.iterrows()}
    found = {(one.door, one.minute) for one in read_events(scanned).minutes}
    assert true <= found
    assert len(found) <= 2 * MINUTES


def test_counted_videos_give_the_true_occupancy(filmed, scanned):
    folder, passages, gained = filmed
    passages = passages.rename_axis("time")
    half = len(read_events(scanned).minutes) // 2
    count_correctly(scanned, passages, until=half)
    early = occupair("groundtruth", "occupancy", scanned, "--out", "early.csv", cwd=folder)
    assert early.returncode == 2
    assert "minutes are not counted yet" in early.stderr
    assert not (folder / "early.csv").exists()
    count_correctly(scanned, passages)  # resumes
    done = occupair("groundtruth", "occupancy", scanned, "--out", "counted.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    counted = pd.read_csv(folder / "counted.csv", index_col="time", parse_dates=True)
    np.testing.assert_array_equal(counted["occupancy"][gained.index], gained)


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    """A week of two door counters with errors, readings every 5 minutes, and an error-free day."""
    folder = tmp_path_factory.mktemp("week")
    single, truth = office(WEEK + 1, seed=1)
    truth = truth.iloc[::STEP]
    air = oc.simulate_office(WEEK + 1, seed=1).drop(columns="occupancy").iloc[::STEP]
    counted = WEEK * DAY // STEP
    clean = air.iloc[counted:].assign(occupancy=truth.iloc[counted:])
    write_counters(planted(single[single.index < clean.index[0]], 1), folder)
    true = truth.iloc[:counted]
    oc.write_readings(air.iloc[:counted], folder / "room.csv")
    oc.write_readings(air.iloc[:counted].assign(occupancy=true), folder / "true.csv")
    oc.write_readings(clean, folder / "clean.csv")
    return folder, true


def run_occupancy(folder, name, *options):
    files = [
        "north.csv",
        "south.csv",
        "--readings",
        "room.csv",
        "--capacity",
        CAPACITY,
        "--out",
        name,
        *options,
    ]
    done = occupair("groundtruth", "occupancy", *files, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, pd.read_csv(folder / name, index_col="time", parse_dates=True)


def model_error(folder, name):
    model = name.replace(".csv", ".occupair")
    for command in (["check", name], ["fit", name, "--out", model]):
        done = occupair(*command, cwd=folder)
        assert done.returncode in (0, 1 if command[0] == "check" else 0), done.stderr
        assert done.stderr == ""
    done = occupair("evaluate", model, "clean.csv", "--json", cwd=folder)
    return json.loads(done.stdout)["rmse"]


@pytest.fixture(scope="module")
def ledgers(week):
    folder, _ = week
    return run_occupancy(folder, "raw.csv"), run_occupancy(folder, "corrected.csv", "--apply")


def test_issues_are_reported_and_not_corrected_without_apply(week, ledgers):
    (report, raw), (applied, _) = ledgers
    assert "clock: south: its clock is about 3 min" in report
    assert "ahead of north" in report
    assert "drift: Counter drift: " in report
    assert report.count("left_at_reset: ") == WEEK
    assert "Proposed corrections (apply with --apply): the smallest change" in report
    assert "  south: shift by -3 min" in report
    assert "Corrections applied: the smallest change" in applied
    ends = raw["occupancy"][raw.index.strftime("%H:%M") == "23:55"]
    assert (ends > 0).all()  # as counted


def test_corrected_occupancy_is_close_to_the_truth(week, ledgers):
    _, true = week
    (_, raw), (_, corrected) = ledgers
    raw_error, corrected_error = rmse(raw["occupancy"], true), rmse(corrected["occupancy"], true)
    assert raw_error > 3
    assert corrected_error < 0.8
    wrong = (corrected["occupancy"] - true).abs()
    trusted = corrected["occupancy_weight"] > 0.9
    assert wrong[trusted].mean() < wrong[~trusted].mean() / 2  # errors are where the weight is low
    assert corrected["occupancy"].between(0, CAPACITY).all()


def test_model_from_corrected_counts_is_nearly_as_good_as_from_the_truth(week, ledgers):
    folder, _ = week
    errors = {name: model_error(folder, f"{name}.csv") for name in ("true", "corrected", "raw")}
    assert errors["corrected"] < 1.15 * errors["true"]
    assert errors["raw"] > 1.3 * errors["corrected"]


def test_negative_occupancy_is_reported_and_left_empty(tmp_path, week):
    folder, _ = week
    passages = {"07:30:12": "out", "09:00:40": "in", "09:00:55": "in", "17:00:08": "out"}
    rows = [f"2015-08-03 {time},{way}" for time, way in passages.items()]
    (tmp_path / "door.csv").write_text("\n".join(["time,direction", *rows, ""]))
    options = ["--readings", folder / "room.csv", "--out", "labelled.csv"]
    done = occupair("groundtruth", "occupancy", "door.csv", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "negative: 2015-08-03 07:30" in done.stdout
    assert done.stderr == (
        "occupair: labelled.csv: 18 negative head counts are left empty with weight 0: see --apply\n"
    )
    done = occupair("fit", "labelled.csv", "--hidden", 5, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "270 of them labelled" in done.stdout
