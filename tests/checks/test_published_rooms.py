"""What the checks find in the published rooms without being told, and what they leave alone."""

import pandas as pd
import pytest

from occupair.checks import find_faults
from occupair.datasets import read_robod, read_sdu2018, read_sdu2019, read_uci357, read_uci864


def by_kind(readings):
    return {fault.kind: fault for fault in find_faults(readings)}


@pytest.mark.parametrize("room", [1, 3])
def test_robods_indoor_sensors_are_eight_hours_early(published, room):
    faults = find_faults(read_robod(published("robod"), room=room, aligned=False))
    wrong = [fault for fault in faults if fault.severity == "wrong"]
    assert [(fault.kind, fault.details["offset"]) for fault in wrong] == [("clock", -480)]
    assert wrong[0].details["confidence"] > 0.95
    assert wrong[0].words.startswith("On all 29 days CO2 is stamped about 8 h early")


def test_sdu2019_runs_an_hour_late_on_winter_days(published):
    as_published = read_sdu2019(published("sdu2019"), aligned=False)
    aligned = read_sdu2019(published("sdu2019"))
    moved = (aligned["co2"] != as_published["co2"]).groupby(aligned.index.normalize()).any()
    winter = {f"{day:%Y-%m-%d}" for day in moved.index[moved]}
    assert len(winter) == 21
    clock = by_kind(as_published)["clock"]
    named = set(clock.details["days"])
    assert (clock.severity, clock.details["offset"]) == ("wrong", 60)
    assert len(named & winter) / len(winter) >= 0.9  # recall
    assert len(named & winter) / len(named) >= 0.9  # precision
    sure = {
        day for day, p in zip(clock.details["days"], clock.details["probability"], strict=True) if p >= 0.9
    }
    assert sure <= winter


def test_sdu2019_is_frozen_twice(published):
    stuck = by_kind(read_sdu2019(published("sdu2019"), aligned=False))["stuck"]
    assert stuck.details["minutes"] == [347, 1016]
    assert stuck.severity == "wrong"


@pytest.mark.parametrize("room", [1, 2, 3, 4])
def test_sdu2018_is_a_staircase_with_right_clocks(published, room):
    found = by_kind(read_sdu2018(published("sdu2018"), room=room))
    assert found["staircase"].details["step"] == 5
    assert all(fault.severity != "wrong" for fault in found.values())


@pytest.mark.parametrize("room", [1, 2, 3])
def test_sdu2018_is_not_calibrated_and_its_level_moves(published, room):
    found = by_kind(read_sdu2018(published("sdu2018"), room=room))
    assert found["low_baseline"].details["lowest"] < 310
    assert 40 <= found["moving_baseline"].details["spread"] <= 90


@pytest.mark.parametrize("room", [2, 3])
def test_sdu2018_counts_people_all_night(published, room):
    fault = by_kind(read_sdu2018(published("sdu2018"), room=room))["people_at_night"]
    assert fault.details["most"] == 3
    assert fault.details["nights"] >= 3


def test_sdu2018_room_3_has_a_day_of_co2_without_people(published):
    readings = read_sdu2018(published("sdu2018"), room=3)
    fault = by_kind(readings)["co2_without_people"]
    eighth = readings.index.normalize().unique()[7]  # DayId 7, counted from 0
    assert fault.details["days"] == [f"{eighth:%Y-%m-%d}"]
    assert "908 ppm" in fault.words


def test_uci864_has_three_occupied_days_and_no_ventilation(published):
    found = by_kind(read_uci864(published("uci864")))
    assert found["few_days"].details["days"] == 3
    assert "no_ventilation" in found
    assert "stuck" not in found  # a coarse sensor in an empty room


def test_uci357_is_presence(published):
    assert "presence_only" in by_kind(read_uci357(published("uci357")))


def test_aligned_rooms_have_no_clock_fault(published):
    rooms = [
        *(read_robod(published("robod"), room=room) for room in (1, 3)),
        read_sdu2019(published("sdu2019")),
        read_uci864(published("uci864")),
        read_uci357(published("uci357")),
    ]
    assert [fault for readings in rooms for fault in find_faults(readings) if fault.kind == "clock"] == []


def test_a_year_with_one_clock_has_no_clock_fault(published):
    readings = read_sdu2018(published("sdu2018"), room=1)
    longer = pd.concat([readings.shift(freq=pd.Timedelta(weeks=10 * k)) for k in range(24)])
    assert all(fault.kind != "clock" for fault in find_faults(longer))
