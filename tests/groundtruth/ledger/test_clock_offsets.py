"""Clock offsets between doors: detected with the right size, and not reported if the clocks agree."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.simulated_doors import doubled, missed, off, office, rmse
from groundtruth.written_passages import written

from occupair.groundtruth.ledger.clock_offsets import find_clock_corrections
from occupair.groundtruth.ledger.ledger import build_ledger
from occupair.groundtruth.ledger.passage_grid import grid_passages
from occupair.groundtruth.passages import check_passages
from occupair.simulation import simulate_office


def corrections(single, readings=None):
    return find_clock_corrections(grid_passages(check_passages(single)), readings)


@pytest.mark.parametrize("minutes", [3, -3, 12])
def test_offset_between_two_doors_is_found(minutes):
    single, truth = office(15, seed=2)
    planted = off(single, minutes)
    [correction] = corrections(planted)
    assert correction.door == "south"  # the door with less traffic
    assert correction.minutes == -minutes
    assert correction.low <= -minutes <= correction.high
    direction = "ahead of" if minutes > 0 else "behind"
    assert f"its clock is about {abs(minutes)} min" in correction.reason
    assert f"{direction} north" in correction.reason
    ledger = build_ledger(planted)
    assert [issue.size for issue in ledger.issues if issue.kind == "clock"] == [abs(minutes)]
    assert rmse(ledger.apply().occupancy, truth) < 0.1 < rmse(ledger.occupancy, truth)
    assert ledger.apply().clock_corrections == []


def test_three_minute_offset_detection_rate_without_false_alarms():
    found = []
    for seed in range(6):
        single, _ = office(5, seed=seed)
        for planted in (single, missed(single, 10, seed=seed), doubled(single, 0.04, seed=seed)):
            assert corrections(planted) == []
        found += [correction.minutes for correction in corrections(off(single, 3))]
    assert all(abs(minutes + 3) <= 1 for minutes in found)
    assert len(found) >= 4


def test_offset_in_quiet_room_is_found_by_conservation_alone():
    rng = np.random.default_rng(1)
    start = pd.Timestamp("2024-01-08 09:00")
    rows = []
    for k in range(40):  # one person enters by one door and leaves by the other a minute or two later
        at = start + pd.Timedelta(minutes=12 * k)
        doors = rng.permutation(["north", "south"])
        rows += [(at, doors[0], 1, 0), (at + pd.Timedelta(minutes=int(rng.integers(1, 3))), doors[1], 0, 1)]
    single = pd.DataFrame(rows, columns=["time", "door", "entered", "left"]).set_index("time")
    assert corrections(single) == []
    [correction] = corrections(off(single, 3))
    south_by = correction.minutes if correction.door == "south" else -correction.minutes
    assert abs(south_by + 3) <= 1  # ambiguous by a minute for stays of one minute


def test_wrong_clock_among_three_doors_is_identified():
    single, _ = office(15, seed=3)
    rng = np.random.default_rng(0)
    split = single.assign(door=np.where(rng.random(len(single)) < 0.3, "west", single["door"]))
    [correction] = corrections(off(split, 4, door="west"))
    assert (correction.door, correction.minutes) == ("west", -4)
    assert "or north" not in correction.reason


def test_single_door_has_no_offset():
    single, _ = office(2, seed=0)
    assert corrections(single.assign(door="only")) == []
    assert corrections(written("08 23:50 a +1 -0", "09 00:05 a +0 -1")) == []  # 6 min earlier would balance


def test_co2_identifies_the_wrong_clock_of_two():
    single, _ = office(10, seed=1, share=0.5)
    readings = simulate_office(10, seed=1)
    for door in ("north", "south"):
        [correction] = corrections(off(single, 60, door=door), readings)
        assert (correction.door, correction.minutes) == (door, -60)


def test_offset_of_all_doors_is_found_against_co2():
    single, _ = office(10, seed=1)
    readings = simulate_office(10, seed=1)
    assert [
        issue.kind for issue in build_ledger(single, readings=readings).issues if issue.kind == "clock"
    ] == []
    late = single.set_axis(single.index + pd.Timedelta(hours=1))
    [issue] = [issue for issue in build_ledger(late, readings=readings).issues if issue.kind == "clock"]
    assert issue.size == 60
    assert "CO2 is timestamped about 60 min early relative to the head counts" in issue.message
