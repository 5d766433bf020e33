"""Doubts about inferred people: each for readings that have its problem, none for plausible ones."""

import re

import numpy as np
import pytest
from physics.simulated_rooms import CLOSED, exact_co2, simulated_room, without_counts

import occupair as oc
from occupair.physics.day_grid import day_grid
from occupair.physics.doubts import find_doubts, night_decays
from occupair.physics.inferred_counts import infer_counts
from occupair.physics.room_properties import room_properties


def doubts_of(readings, *, volume=200, capacity=20):
    room = room_properties(volume=volume, capacity=capacity)
    return find_doubts(infer_counts(without_counts(readings), room, CLOSED))


def numbers(pattern, doubt):
    """Numbers in a doubt that reads like the pattern."""
    return [float(number) for number in re.fullmatch(pattern, doubt).groups()]


def test_plausible_room_raises_no_doubt():
    assert doubts_of(simulated_room(10, last=23)) == ()


@pytest.mark.parametrize("seed", [1, 2])
def test_simulated_office_raises_no_doubt(seed):
    assert doubts_of(oc.simulate_office(days=10, seed=seed), volume=502, capacity=35) == ()


@pytest.mark.parametrize(("volume", "capacity"), [(800, 20), (200, 5)])
def test_peak_above_capacity_is_doubted(volume, capacity):
    (doubt,) = doubts_of(simulated_room(4), volume=volume, capacity=capacity)
    (peak,) = numbers(
        f"CO2 suggests up to (.*) people in a room for {capacity}: "
        "check volume and capacity, or enter a head count when the room is full",
        doubt,
    )
    assert peak > 1.1 * capacity


def test_windows_on_half_of_the_days_are_doubted():
    (doubt,) = doubts_of(simulated_room(10, full=np.tile([1.0, 6.0], 5)))
    low, high = numbers(
        "the air change rate is (.*) per hour on some days and (.*) on others: "
        "windows may be open at times, or the ventilation signal is incomplete",
        doubt,
    )
    assert high > 2 * low


def test_few_days_are_not_compared_with_each_other():
    assert doubts_of(simulated_room(7, full=np.resize([1.0, 6.0], 7))) == ()


NIGHTS = np.tile([0.1, 0.8], 5)


def test_nights_with_different_decay_are_doubted():
    (doubt,) = doubts_of(simulated_room(10, leakage=NIGHTS, last=24))
    low, high = numbers(
        r"CO2 of the empty room decays by (.*) per hour in some nights and (.*) in others: "
        "windows may be open at times",
        doubt,
    )
    assert (low, high) == (pytest.approx(0.1, rel=0.2), pytest.approx(0.8, rel=0.2))


def test_nights_without_ventilation_signal_are_doubted():
    readings = simulated_room(10, leakage=NIGHTS, last=24).drop(columns="ventilation")
    doubts = doubts_of(readings)
    assert any(
        one.endswith("windows or a ventilation without signal: add the ventilation signal") for one in doubts
    )


def test_ventilation_outlier_is_doubted():
    readings = simulated_room(10)
    readings["ventilation"] *= 0.1
    readings.iloc[1500, readings.columns.get_loc("ventilation")] = 1.0
    (doubt,) = doubts_of(readings)
    assert doubt == (
        "ventilation is mostly below 20 % of its highest value: check its unit, or remove the outlier"
    )


def decaying_nights(rates, minutes=5):
    """Empty days that start 300 ppm above outdoor air."""
    n = 1440 // minutes
    hours = np.arange(n) * minutes / 60
    co2 = np.concatenate([np.where(hours < 20, 420 + 300 * np.exp(-rate * hours), 420.0) for rate in rates])
    readings = simulated_room(len(rates)).iloc[:: minutes // 5]
    return day_grid(without_counts(readings.assign(co2=co2, ventilation=0.0)), CLOSED)


@pytest.mark.parametrize("minutes", [5, 10, 15, 20, 30])
def test_decay_rates_of_nights_are_found(minutes):
    found = night_decays(decaying_nights([0.1, 0.5, 0.9], minutes))
    np.testing.assert_allclose(found, [0.1, 0.5, 0.9], rtol=0.01)


def test_low_or_ventilated_nights_have_no_decay():
    grid = decaying_nights([0.3, 0.3])
    assert night_decays(grid).size == 2
    quiet = day_grid(without_counts(simulated_room(2, noise=1.0)), CLOSED)  # empty since 18:00
    assert night_decays(quiet).size == 0
    ventilated = simulated_room(2).assign(ventilation=1.0, co2=grid.co2.ravel())
    assert night_decays(day_grid(without_counts(ventilated), CLOSED)).size == 0


def test_hourly_readings_are_accepted():
    assert isinstance(doubts_of(simulated_room(10).iloc[::12]), tuple)


def test_decay_rate_is_that_of_the_mass_balance():
    level = exact_co2(np.zeros(288), np.full(288, 0.4), rise=1.0, hours=1 / 12, start=300.0)
    readings = simulated_room(1).assign(co2=420 + np.where(np.arange(288) < 240, level, 0.0), ventilation=0.0)
    assert night_decays(day_grid(without_counts(readings), CLOSED)) == pytest.approx([0.4])
