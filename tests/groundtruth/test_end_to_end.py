"""From people who walk through two doors to a model of the room, all the way, by the command line."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from command import occupair
from groundtruth.counter_study import CAPACITY, DAY, WEEK, planted, stretch, write_counters
from groundtruth.render import Passage, render
from groundtruth.simulated_doors import office, rmse

import occupair as oc
from occupair.groundtruth.counting.walk import Walk
from occupair.groundtruth.events import read_events

MINUTES = 6


@pytest.fixture(scope="module")
def filmed(tmp_path_factory):
    """A morning's stretch at two doors, filmed, scanned and counted by one who knows the truth."""
    folder = tmp_path_factory.mktemp("filmed")
    passages, gained = stretch(*office(2, seed=1), MINUTES, least=6)
    for door, own in passages.groupby("door"):
        walks = [
            Passage(
                at=(time - gained.index[0]).total_seconds(),
                way="in" if row.entered else "out",
                look=number,
                side=("left", "right")[number % 2],
                height=150 + 10 * (number % 4),
            )
            for number, (time, row) in enumerate(own.iterrows())
        ]
        render(folder / f"{door}_{gained.index[0]:%Y%m%d_%H%M%S}.mp4", minutes=MINUTES, passages=walks)
    return folder, passages, gained


@pytest.fixture(scope="module")
def scanned(filmed):
    folder = filmed[0]
    done = occupair("groundtruth", "scan", *sorted(folder.glob("*.mp4")), "--out", "events", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\d+ times as fast as real time", done.stdout)
    assert "Next: occupair groundtruth count events" in done.stdout
    return folder / "events"


def robot(events, passages, *, until=None):
    """Press the keys of somebody who sees all that happens in the minutes that are shown."""
    walk = Walk(events)
    true = passages.set_axis(passages.index.floor("min")).groupby(["door", "time"])[["entered", "left"]].sum()
    while walk.at is not None and (until is None or walk.at < until):
        number = walk.at
        minute = walk.minutes[number]
        entered, left = true.loc[minute.key] if minute.key in true.index else (0, 0)
        for _ in range(entered):
            walk.change(number, entered=1)
        for _ in range(left):
            walk.change(number, left=1)
        walk.decide(number, "counted")
    return walk


def test_every_minute_with_a_passage_is_among_the_candidates(filmed, scanned):
    passages = filmed[1].rename_axis("time")
    true = {(row.door, time.floor("min").to_pydatetime()) for time, row in passages.iterrows()}
    found = {(one.door, one.minute) for one in read_events(scanned).minutes}
    assert true <= found
    assert len(found) <= 2 * MINUTES


def test_film_scan_count_occupancy(filmed, scanned):
    folder, passages, gained = filmed
    passages = passages.rename_axis("time")
    half = len(read_events(scanned).minutes) // 2
    robot(scanned, passages, until=half)
    early = occupair("groundtruth", "occupancy", scanned, "--out", "early.csv", cwd=folder)
    assert early.returncode == 2
    assert "minutes are not counted yet" in early.stderr
    assert not (folder / "early.csv").exists()
    robot(scanned, passages)  # goes on where it was
    done = occupair("groundtruth", "occupancy", scanned, "--out", "counted.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    counted = pd.read_csv(folder / "counted.csv", index_col="time", parse_dates=True)
    np.testing.assert_array_equal(counted["occupancy"][gained.index], gained)


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    """A week of two door counters with all kinds of errors, the room's readings, and a clean day."""
    folder = tmp_path_factory.mktemp("week")
    single, truth = office(WEEK + 1, seed=1)
    air = oc.simulate_office(WEEK + 1, seed=1).drop(columns="occupancy")
    clean = air.iloc[WEEK * DAY :].assign(occupancy=truth.iloc[WEEK * DAY :])
    write_counters(planted(single[single.index < clean.index[0]], 1), folder)
    true = truth.iloc[: WEEK * DAY]
    oc.write_readings(air.iloc[: WEEK * DAY], folder / "room.csv")
    oc.write_readings(air.iloc[: WEEK * DAY].assign(occupancy=true), folder / "true.csv")
    oc.write_readings(clean, folder / "clean.csv")
    return folder, true


def reckoned(folder, name, *options):
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


def evaluated(folder, name):
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
    return reckoned(folder, "raw.csv"), reckoned(folder, "corrected.csv", "--apply")


def test_what_is_wrong_is_said_and_nothing_is_changed_unasked(week, ledgers):
    (said, raw), (also, _) = ledgers
    assert "clock: south: its clock is about 3 min late" in said
    assert "drift: The counters drift" in said
    assert said.count("left_at_reset: ") == WEEK
    assert "Proposed, and made with --apply: the smallest change" in said
    assert "  south: move by -3 min" in said
    assert "Corrected: the smallest change" in also
    ends = raw["occupancy"][raw.index.strftime("%H:%M") == "23:59"]
    assert (ends > 0).all()  # as counted


def test_corrected_it_is_near_the_truth(week, ledgers):
    _, true = week
    (_, raw), (_, corrected) = ledgers
    off_raw, off_corrected = rmse(raw["occupancy"], true), rmse(corrected["occupancy"], true)
    assert off_raw > 3
    assert off_corrected < 0.8
    wrong = (corrected["occupancy"] - true).abs()
    trusted = corrected["occupancy_weight"] > 0.9
    assert wrong[trusted].mean() < wrong[~trusted].mean() / 2  # it knows where it may be wrong
    assert corrected["occupancy"].between(0, CAPACITY).all()


def test_a_model_of_corrected_counts_is_nearly_one_of_the_truth(week, ledgers):
    folder, _ = week
    errors = {name: evaluated(folder, f"{name}.csv") for name in ("true", "corrected", "raw")}
    assert errors["corrected"] < 1.15 * errors["true"]
    assert errors["raw"] > 1.3 * errors["corrected"]


def test_counts_below_nobody_are_said_and_not_written_as_head_counts(tmp_path, week):
    folder, _ = week
    passages = {"07:30:12": "out", "09:00:40": "in", "09:00:55": "in", "17:00:08": "out"}
    rows = [f"2015-08-03 {time},{way}" for time, way in passages.items()]
    (tmp_path / "door.csv").write_text("\n".join(["time,direction", *rows, ""]))
    options = ["--readings", folder / "room.csv", "--out", "labelled.csv"]
    done = occupair("groundtruth", "occupancy", "door.csv", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "negative: 2015-08-03 07:30" in done.stdout
    assert done.stderr == (
        "occupair: labelled.csv: 90 head counts below 0 are left empty, with the weight 0: see --apply\n"
    )
    done = occupair("fit", "labelled.csv", "--hidden", 5, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1350 of them with a head count" in done.stdout
