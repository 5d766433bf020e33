"""Simulated rooms that are calibrated without head counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tools.blind_rooms import DAY, N_DAYS, PLACES, USES, VENTILATIONS, draw_room, measure, simulate


def test_rooms_are_reproducible_and_differ():
    rooms = [draw_room(seed) for seed in range(30)]
    assert rooms[3] == draw_room(3)
    assert {room.use for room in rooms} == set(USES)
    assert {room.ventilation for room in rooms} == set(VENTILATIONS)
    assert {room.place for room in rooms} == set(PLACES)
    pd.testing.assert_frame_equal(simulate(rooms[3]), simulate(rooms[3]))


def test_people_fit_into_the_room_and_leave_it():
    for seed in range(6):
        room = draw_room(seed)
        readings = simulate(room)
        people = readings["occupancy"].to_numpy().reshape(N_DAYS, DAY)
        assert 0 < people.max() <= room.seats
        assert (people[:, : 5 * 60] == 0).all()
        assert (people[5::7] == 0).all()
        assert ("ventilation" in readings) == (room.ventilation != "none")


def test_steady_state_by_hand():
    """With always the same people for a day, CO2 rises by generation over outdoor air flow."""
    room = replace(draw_room(0), ventilation="always on", use="office", place="middle", leakage=0.0)
    readings = simulate(room)
    weekdays = readings[readings.index.day_of_week < 5]
    busy = weekdays[(weekdays.index.hour == 11) & (weekdays.index.minute < 30)]
    rise = busy["co2"].mean() - weekdays["co2"][weekdays.index.hour == 4].mean()
    expected = busy["occupancy"].mean() * room.generation * 3600 * 1000 / room.flow
    assert rise == pytest.approx(expected, rel=0.15)


def test_open_window_lowers_co2():
    room = draw_room(3)
    closed, opened = simulate(room), simulate(replace(room, window_days=range(7, 14)))
    week = slice(7 * DAY, 14 * DAY)
    assert opened["co2"].iloc[week].mean() < closed["co2"].iloc[week].mean() - 5
    np.testing.assert_array_equal(opened["co2"].iloc[: 7 * DAY], closed["co2"].iloc[: 7 * DAY])


def test_room_is_estimated_without_head_counts():
    found = measure(217, is_open=False)
    assert found["rate"] == pytest.approx(1.0, abs=0.25)
    assert found["nrmse"] < 0.5
    assert found["covered"] > 0.8
