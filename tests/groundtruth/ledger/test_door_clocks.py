"""Doors whose clocks differ: found, by the right amount, and never where they agree."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.doors import doubled, missed, off, office, rmse

from occupair.groundtruth.ledger.days import lay_out
from occupair.groundtruth.ledger.door_clocks import find_clock_shifts
from occupair.groundtruth.ledger.ledger import reckon
from occupair.groundtruth.passages import check_passages
from occupair.simulation import simulate_office


def shifts(single, readings=None):
    return find_clock_shifts(lay_out(check_passages(single)), readings)


@pytest.mark.parametrize("minutes", [3, -3, 12])
def test_two_doors_that_differ(minutes):
    single, truth = office(15, seed=2)
    planted = off(single, minutes)
    [shift] = shifts(planted)
    assert shift.door == "south"  # fewer pass there
    assert shift.minutes == -minutes
    assert shift.low <= -minutes <= shift.high
    way = "late" if minutes > 0 else "early"
    assert f"its clock is about {abs(minutes)} min" in shift.why
    assert f"{way} against north" in shift.why
    ledger = reckon(planted)
    assert [fault.size for fault in ledger.faults if fault.kind == "clock"] == [abs(minutes)]
    assert rmse(ledger.apply().occupancy, truth) < 0.1 < rmse(ledger.occupancy, truth)
    assert ledger.apply().clocks == []


def test_how_often_three_minutes_are_found_in_a_week_and_that_right_clocks_are_left_alone():
    found = []
    for seed in range(6):
        single, _ = office(5, seed=seed)
        for planted in (single, missed(single, 10, seed=seed), doubled(single, 0.04, seed=seed)):
            assert shifts(planted) == []
        found += [shift.minutes for shift in shifts(off(single, 3))]
    assert all(abs(minutes + 3) <= 1 for minutes in found)
    assert len(found) >= 4


def test_a_quiet_room_tells_by_conservation_alone():
    rng = np.random.default_rng(1)
    start = pd.Timestamp("2024-01-08 09:00")
    rows = []
    for k in range(40):  # somebody comes in at one door and leaves by the other a minute or two later
        at = start + pd.Timedelta(minutes=12 * k)
        doors = rng.permutation(["north", "south"])
        rows += [(at, doors[0], 1, 0), (at + pd.Timedelta(minutes=int(rng.integers(1, 3))), doors[1], 0, 1)]
    single = pd.DataFrame(rows, columns=["time", "door", "entered", "left"]).set_index("time")
    assert shifts(single) == []
    [shift] = shifts(off(single, 3))
    south_by = shift.minutes if shift.door == "south" else -shift.minutes
    assert abs(south_by + 3) <= 1  # whoever stayed a minute leaves one open


def test_of_three_doors_the_one_that_is_off():
    single, _ = office(15, seed=3)
    rng = np.random.default_rng(0)
    split = single.assign(door=np.where(rng.random(len(single)) < 0.3, "west", single["door"]))
    [shift] = shifts(off(split, 4, door="west"))
    assert (shift.door, shift.minutes) == ("west", -4)
    assert "or north" not in shift.why


def test_a_single_door_has_nothing_to_compare_with():
    single, _ = office(2, seed=0)
    assert shifts(single.assign(door="only")) == []


def test_co2_tells_which_of_two_clocks_is_off():
    single, _ = office(10, seed=1, share=0.5)
    readings = simulate_office(10, seed=1)
    for door in ("north", "south"):
        [shift] = shifts(off(single, 60, door=door), readings)
        assert (shift.door, shift.minutes) == (door, -60)


def test_all_doors_an_hour_off_against_co2():
    single, _ = office(10, seed=1)
    readings = simulate_office(10, seed=1)
    assert [fault.kind for fault in reckon(single, readings=readings).faults if fault.kind == "clock"] == []
    late = single.set_axis(single.index + pd.Timedelta(hours=1))
    [fault] = [fault for fault in reckon(late, readings=readings).faults if fault.kind == "clock"]
    assert fault.size == 60
    assert "CO2 is stamped about 60 min early against the counts" in fault.words
