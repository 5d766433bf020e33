"""Days as priors expect them, and a model of a room without readings."""

import numpy as np
import pytest

import occupair as oc
from occupair.inferred_training import fit_before_readings
from occupair.physics.calibration import EXPONENT, LEAKAGE, NO_SIGNAL_SHARE
from occupair.physics.prior_days import NOISE, OUTDOOR_CO2, prior_air, prior_days
from occupair.physics.room_properties import room_properties

ROOM = room_properties(volume=180, capacity=24)
CLOSED = np.arange(1440) < 300


@pytest.mark.parametrize("interval", [1.0, 5.0, 15.0])
@pytest.mark.parametrize("uses_ventilation", [True, False])
def test_co2_is_conserved(interval, uses_ventilation):
    days = prior_days(ROOM, CLOSED, interval=interval, uses_ventilation=uses_ventilation)
    assert ("ventilation" in days.columns) == uses_ventilation
    if not uses_ventilation:
        return
    day = days.iloc[: round(1440 / interval)]
    rate = LEAKAGE + ROOM.design_air_change * day["ventilation"].to_numpy() ** EXPONENT
    above = day["co2"].to_numpy() - OUTDOOR_CO2
    generated = ROOM.rise * day["occupancy"].sum() * interval / 60
    removed = np.sum(rate * above) * interval / 60
    assert generated - removed == pytest.approx(above[-1] - above[0], abs=0.08 * generated + 4 * NOISE)


def test_days_are_the_same_for_the_same_room():
    first, again = (prior_days(ROOM, CLOSED, interval=5.0, uses_ventilation=True) for _ in range(2))
    assert first.equals(again)


def test_nobody_is_in_during_closed_hours():
    closed = (np.arange(1440) < 600) | (np.arange(1440) >= 900)
    days = prior_days(ROOM, closed, interval=5.0, uses_ventilation=True)
    minute = days.index.hour * 60 + days.index.minute
    assert not days["occupancy"][closed[minute]].any()
    assert days["occupancy"].max() <= ROOM.capacity


def test_prior_air_by_hand():
    night, full = prior_air(ROOM, uses_ventilation=True).rates
    assert (night.rate, full.rate) == pytest.approx((0.15, 0.15 + (25.2 * 24 + 2.52 * 60) / 180))
    _, day = prior_air(ROOM, uses_ventilation=False).rates
    assert day.ventilation is None
    assert day.rate == pytest.approx(0.15 + NO_SIGNAL_SHARE * (25.2 * 24 + 2.52 * 60) / 180)


@pytest.fixture(scope="module")
def untrained():
    return oc.OccupancyEstimator.physics(volume=502, capacity=35, random_state=0, verbose=False)


def test_room_without_readings_is_estimated_with_wide_intervals(untrained, tmp_path):
    model = fit_before_readings(untrained, interval=5.0, uses_ventilation=True)
    office = oc.simulate_office(days=1, seed=2).iloc[::5]
    found = model.estimate(office.drop(columns="occupancy"), interval=0.9)
    truth = office["occupancy"]
    busy = truth > 10
    assert (found["people"][busy] > 3).all()
    assert ((found["low"] <= truth) & (truth <= found["high"]))[busy].mean() > 0.8
    assert (found["high"] - found["low"])[busy].mean() > 15
    assert (model.air_.n_days, model.trained_days_) == (0, frozenset())
    model.save(tmp_path / "room.occupair")
    again = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    assert again.estimate(office.drop(columns="occupancy"), interval=0.9).equals(found)


def test_size_is_needed_without_readings():
    with pytest.raises(oc.InputError, match="needs volume and capacity"):
        fit_before_readings(oc.OccupancyEstimator(), interval=1.0, uses_ventilation=True)
