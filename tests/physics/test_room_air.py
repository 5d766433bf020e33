"""What is reported about the air of a room, by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from occupair.physics import room_air as module
from occupair.physics.air_change import AirChange
from occupair.physics.calibration import Calibration
from occupair.physics.day_grid import DayGrid
from occupair.physics.inferred_counts import InferredCounts
from occupair.physics.room_air import (
    BASE_SPREAD,
    SHAPE_SPREAD,
    AirChangeRate,
    RoomAir,
    room_air,
    room_air_from_json,
    room_air_to_json,
)
from occupair.physics.room_properties import room_properties

COVARIANCE = np.diag([0.3, 0.2, 0.1, 0.15]) ** 2


def inferred_counts(*, ventilation, full=1.0, n_counts=0, base=(410.0, 430.0, 450.0)):
    """A room with k = 0.2 + 2 sqrt(v), calibrated by head counts to 1.25 times the CO2 per person."""
    ventilation = np.tile(ventilation, (3, 1))
    shape = ventilation.shape
    grid = DayGrid(
        co2=np.full(shape, 600.0),
        ventilation=ventilation,
        full_ventilation=full,
        counts=np.full(shape, np.nan),
        base=np.repeat(np.array(base)[:, np.newaxis], shape[1], axis=1),
        closed=np.zeros(shape[1], dtype=bool),
        step=5.0,
        place=np.arange(ventilation.size),
    )
    calibration = Calibration(AirChange(np.log([[0.2, 2.0, 0.5, 1.25]])), COVARIANCE, 0.2)
    room = room_properties(volume=250, capacity=20)
    return InferredCounts(np.zeros(ventilation.size), calibration, grid, room, n_counts, peak=0.0)


HALF_ON = np.repeat([0.0, 1.0], 144)


@pytest.fixture(autouse=True)
def no_doubts(monkeypatch):
    monkeypatch.setattr(module, "find_doubts", lambda inferred: ())


def test_rates_base_and_volume_by_hand():
    air = room_air(inferred_counts(ventilation=HALF_ON, n_counts=7), 1.0)
    assert [one.ventilation for one in air.rates] == [0.0, 1.0]
    assert [one.rate for one in air.rates] == pytest.approx([0.2, 2.2])
    assert air.base_level == 430.0
    assert air.volume == pytest.approx(200.0)  # 250 m3 over 1.25
    assert (air.capacity, air.n_days, air.n_counts, air.is_calibrated) == (20.0, 3, 7, True)
    assert air.outdoor_air_per_person == pytest.approx(2.2 * 200 / 20 / 3.6)  # 22 m3/h


def test_ranges_of_rates_cover_90_percent():
    air = room_air(inferred_counts(ventilation=HALF_ON), 1.0)
    spreads = [np.hypot(0.3, 0.2), np.sqrt((0.2 / 2.2 * 0.3) ** 2 + (2 / 2.2 * 0.2) ** 2 + 0.2**2)]
    for one, spread in zip(air.rates, spreads, strict=True):
        assert one.low == pytest.approx(one.rate * np.exp(-1.645 * spread), rel=1e-3)
        assert one.high == pytest.approx(one.rate * np.exp(1.645 * spread), rel=1e-3)
    assert air.spread == pytest.approx(np.sqrt(spreads[1] ** 2 + 0.15**2 + SHAPE_SPREAD**2), rel=1e-3)


def test_spread_follows_inferred_share_and_doubts(monkeypatch):
    inferred = inferred_counts(ventilation=HALF_ON)
    all_inferred = room_air(inferred, 1.0).spread
    assert room_air(inferred, 0.25).spread == pytest.approx(0.5 * all_inferred)
    assert room_air(inferred, 0.0).spread == 0.0
    monkeypatch.setattr(module, "find_doubts", lambda inferred: ("one", "two"))
    air = room_air(inferred, 1.0)
    assert air.spread == pytest.approx(1.5**2 * all_inferred)
    assert air.doubts == ("one", "two")


@pytest.mark.parametrize(
    ("ventilation", "levels"),
    [
        (np.zeros(288), [0.0]),
        (np.ones(288), [1.0]),
        (np.repeat([0.0, 0.4, 1.0], [144, 100, 44]), [0.0, 0.4, 1.0]),
        (np.repeat([0.0, 0.4, 1.0], [144, 142, 2]), [0.0, 0.4]),  # 1 is rare
        (np.repeat([0.0, 1.0], [2, 286]), [1.0]),  # 0 is rare
    ],
)
def test_levels_that_occur_often_are_reported(ventilation, levels):
    air = room_air(inferred_counts(ventilation=ventilation), 1.0)
    assert [one.ventilation for one in air.rates] == pytest.approx(levels)
    assert [one.rate for one in air.rates] == pytest.approx([0.2 + 2 * np.sqrt(level) for level in levels])


def test_levels_are_in_the_unit_of_the_readings():
    air = room_air(inferred_counts(ventilation=HALF_ON, full=0.6), 1.0)
    assert [one.ventilation for one in air.rates] == pytest.approx([0.0, 0.6])
    assert air.rates[1].rate == pytest.approx(2.2)


def test_room_without_signal_has_a_rate_by_day():
    air = room_air(inferred_counts(ventilation=HALF_ON, full=None), 1.0)
    assert [one.ventilation for one in air.rates] == [0.0, None]
    assert "Air change rate by day: 2.2 per hour" in str(air)


RATES = (AirChangeRate(0.0, 0.2, 0.1, 0.4), AirChangeRate(1.0, 2.25, 1.5, 3.375))
AIR = RoomAir(
    RATES,
    base_level=421.4,
    volume=200.0,
    capacity=20.0,
    n_days=4,
    n_counts=3,
    inferred_share=0.75,
    spread=0.3,
    doubts=("why",),
)


def test_description_states_every_number():
    assert str(AIR).splitlines() == [
        "Air change rate at ventilation 0: 0.2 per hour (0.1 to 0.4).",
        "Air change rate at ventilation 1: 2.2 per hour (1.5 to 3.4).",
        "CO2 of the empty room: 421 ppm. Effective volume: 200 m3.",
        "Outdoor air with 20 people: 6.2 L/s per person.",  # 2.25 * 200 / 20 / 3.6 = 6.25
        "Doubtful: why.",
    ]


def test_offset_is_the_base_level_in_people():
    inferred = inferred_counts(ventilation=HALF_ON, n_counts=7)
    whole, half = (room_air(inferred, share) for share in (1.0, 0.25))
    person = 1e6 * 0.0187 / 250 * 1.25 / 2.2  # CO2 of one person in the steady state [ppm]
    assert whole.offset == pytest.approx(BASE_SPREAD / person, rel=1e-6)
    assert half.offset == pytest.approx(whole.offset / 2)


def test_air_of_an_older_model_file_has_no_offset():
    document = room_air_to_json(AIR)
    del document["offset"]
    assert room_air_from_json(document) == replace(AIR, offset=0.0)


def test_description_of_a_constant_rate():
    lines = str(replace(AIR, rates=(AirChangeRate(None, 0.4, 0.2, 0.8),))).splitlines()
    assert lines[0] == "Air change rate: 0.4 per hour (0.2 to 0.8)."


def test_description_without_head_counts():
    lines = str(replace(AIR, n_counts=0, doubts=())).splitlines()
    assert lines[2] == "CO2 of the empty room: 421 ppm. Volume: 200 m3."
    assert lines[-1] == "Not calibrated by head counts yet."


def test_description_of_a_room_without_ventilation_signal():
    rates = (AirChangeRate(0.0, 0.2, 0.1, 0.4), AirChangeRate(None, 1.0, 0.5, 2.0))
    lines = str(replace(AIR, rates=rates)).splitlines()
    assert lines[0] == "Air change rate at night: 0.2 per hour (0.1 to 0.4)."
    assert lines[1] == "Air change rate by day: 1 per hour (0.5 to 2)."


@pytest.mark.parametrize("full", [1.0, 0.6, None])
def test_json_round_trip(full):
    air = room_air(inferred_counts(ventilation=HALF_ON, full=full, n_counts=2), 0.4)
    assert room_air_from_json(json.loads(json.dumps(room_air_to_json(air)))) == air
    assert room_air_from_json(json.loads(json.dumps(room_air_to_json(AIR)))) == AIR


@pytest.mark.parametrize("name", ["base_level", "volume", "capacity", "inferred_share", "spread"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_json_with_invalid_number_is_refused(name, value):
    with pytest.raises(ValueError, match="air must have finite numbers, 0 or more, got "):
        room_air_from_json(room_air_to_json(AIR) | {name: value})


@pytest.mark.parametrize("name", ["ventilation", "rate", "low", "high"])
def test_json_with_invalid_rate_is_refused(name):
    values = room_air_to_json(AIR)
    values["rates"] = [*values["rates"][:1], values["rates"][1] | {name: -0.5}]
    with pytest.raises(ValueError, match=r"air must have finite numbers, 0 or more, got -0\.5"):
        room_air_from_json(values)


@pytest.mark.parametrize("change", [{"rates": []}, {"doubts": [3]}])
def test_json_without_rates_or_with_other_doubts_is_refused(change):
    with pytest.raises(ValueError, match="air must have air change rates, and doubts in words"):
        room_air_from_json(room_air_to_json(AIR) | change)


@pytest.mark.parametrize("change", [{"capacity": 0.0}, {"n_counts": -1}, {"n_days": -1}])
def test_json_with_impossible_number_is_refused(change):
    with pytest.raises(ValueError, match="air must have"):
        room_air_from_json(room_air_to_json(AIR) | change)
