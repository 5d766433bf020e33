"""Known faults of the published rooms are found, and there are no false alarms."""

import pandas as pd
import pytest

from occupair.checks import find_faults, is_trainable
from occupair.datasets import (
    ROOMS,
    read_robod,
    read_room,
    read_sdu2018,
    read_sdu2019,
    read_uci357,
    read_uci864,
)


def by_kind(readings):
    return {fault.kind: fault for fault in find_faults(readings)}


@pytest.mark.parametrize("room", [1, 3])
def test_robod_sensors_are_8_hours_early(published, room):
    faults = find_faults(read_robod(published("robod"), room=room, aligned=False))
    wrong = [fault for fault in faults if fault.severity == "wrong"]
    assert [(fault.kind, fault.details["offset"]) for fault in wrong] == [("clock", -480)]
    low, high = wrong[0].details["range"]
    assert -505 <= low <= -480 <= high <= -455
    assert 0.8 < wrong[0].details["confidence"] < 0.95  # some rooms have a response lag of 15 min
    assert wrong[0].message.startswith("On all 29 days CO2 is timestamped about 8 h early")


def test_sdu2019_is_an_hour_late_in_winter(published):
    as_published = read_sdu2019(published("sdu2019"), aligned=False)
    aligned = read_sdu2019(published("sdu2019"))
    moved = (aligned["co2"] != as_published["co2"]).groupby(aligned.index.normalize()).any()
    winter = set(moved.index[moved])
    assert len(winter) == 21
    clock = by_kind(as_published)["clock"]
    named = set(clock.days)
    assert (clock.severity, clock.details["offset"]) == ("wrong", 60)
    assert clock.details["range"][0] <= 60 <= clock.details["range"][1]
    assert len(named & winter) / len(winter) >= 0.9  # recall
    assert len(named & winter) / len(named) >= 0.9  # precision
    sure = {day for day, p in zip(clock.days, clock.details["probability"], strict=True) if p >= 0.9}
    assert sure <= winter


def test_sdu2019_is_stuck_twice(published):
    stuck = by_kind(read_sdu2019(published("sdu2019"), aligned=False))["stuck"]
    assert stuck.details["minutes"] == [347, 1016]
    assert sum(stuck.details["occupied"]) == 230
    assert stuck.severity == "doubtful"  # of 502 h with people


def test_rooms_of_the_benchmark_are_fit_to_train_on(published):
    rooms = {key: read_room(key, published(room.dataset)) for key, room in ROOMS.items()}
    assert [key for key, readings in rooms.items() if not is_trainable(find_faults(readings))] == []


@pytest.mark.parametrize("key", ["sdu2018-1", "sdu2018-2", "sdu2018-4", "robod-3", "sdu2019-1"])
def test_planted_end_of_summer_time_is_found(published, key):
    readings = read_room(key, published(ROOMS[key].dataset))
    days = readings.index.normalize().unique()
    winter = readings.index >= days[len(days) // 2]
    late = readings["co2"].set_axis(readings.index + pd.Timedelta(minutes=60)).reindex(readings.index)
    (fault,) = (
        fault
        for fault in find_faults(readings.assign(co2=readings["co2"].mask(winter, late)))
        if fault.kind == "clock"
    )
    named = pd.DatetimeIndex(fault.days)
    assert abs(len(named) - len(days) / 2) <= 2
    assert (named >= days[len(days) // 2 - 1]).all()
    assert fault.details["range"][0] <= 60 <= fault.details["range"][1]


@pytest.mark.parametrize("key", ["sdu2018-1", "sdu2018-4", "robod-1", "robod-3", "sdu2019-1"])
@pytest.mark.parametrize("minutes", [60, -480])
def test_planted_clock_offset_is_within_its_interval(published, key, minutes):
    readings = read_room(key, published(ROOMS[key].dataset))
    late = readings["co2"].set_axis(readings.index + pd.Timedelta(minutes=minutes))
    (fault,) = (f for f in find_faults(readings.assign(co2=late)) if f.kind == "clock")
    low, high = fault.details["range"]
    assert low <= minutes <= high
    assert high - low <= 45


@pytest.mark.parametrize("room", [1, 2, 3, 4])
def test_sdu2018_is_a_staircase_without_clock_fault(published, room):
    found = by_kind(read_sdu2018(published("sdu2018"), room=room))
    assert found["staircase"].details["step"] == 5
    assert all(fault.severity != "wrong" for fault in found.values())


@pytest.mark.parametrize("room", [1, 2, 3])
def test_sdu2018_has_a_low_and_moving_baseline(published, room):
    found = by_kind(read_sdu2018(published("sdu2018"), room=room))
    assert found["low_baseline"].details["lowest"] < 310
    assert 40 <= found["moving_baseline"].details["spread"] <= 90


@pytest.mark.parametrize("room", [2, 3])
def test_sdu2018_counts_people_at_night(published, room):
    fault = by_kind(read_sdu2018(published("sdu2018"), room=room))["people_at_night"]
    assert fault.details["most"] == 3
    assert fault.details["nights"] >= 3


def test_sdu2018_room_3_has_co2_without_people(published):
    readings = read_sdu2018(published("sdu2018"), room=3)
    fault = by_kind(readings)["co2_without_people"]
    eighth = readings.index.normalize().unique()[7]  # DayId 7, counted from 0
    assert fault.days == [eighth]
    assert "908 ppm" in fault.message


def test_uci864_has_three_occupied_days_and_no_ventilation(published):
    found = by_kind(read_uci864(published("uci864")))
    assert found["few_days"].details["occupied_days"] == 3
    assert "no_ventilation" in found
    assert "stuck" not in found  # a coarse sensor in an empty room


def test_uci357_is_presence_only(published):
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
