"""Calibration of the air change rate: simulate, calibrate, recover."""

import numpy as np
import pytest
from physics.simulated_rooms import CLOSED, simulated_room, with_counts, without_counts
from scipy.stats import multivariate_normal

import occupair as oc
from occupair.inferred_training import identify_air
from occupair.metrics import rmse
from occupair.physics.air_change import AirChange
from occupair.physics.calibration import (
    MODEL_SPREAD,
    NO_SIGNAL_MODEL_SPREAD,
    Calibration,
    _most_probable,
    assume_ventilation,
    calibrate,
    calibrate_by_counts,
    count_weights,
    smoothed,
)
from occupair.physics.day_grid import day_grid
from occupair.physics.inferred_counts import infer_counts
from occupair.physics.room_properties import room_properties
from occupair.simulation.paper_room import paper_room

ROOM = room_properties(volume=200, capacity=20)  # design: 3.4 air changes an hour


def grid_of(readings):
    return day_grid(without_counts(readings), CLOSED)


@pytest.mark.parametrize(("leakage", "full"), [(0.2, 2.0), (0.3, 3.0), (0.1, 4.0), (0.4, 1.5)])
def test_known_air_change_rates_are_recovered(leakage, full):
    found = calibrate(grid_of(simulated_room(8, leakage=leakage, full=full, last=24)), ROOM)
    assert found.rate(0.0) == pytest.approx(leakage, rel=0.2)
    assert found.rate(1.0) == pytest.approx(leakage + full, rel=0.2)
    assert found.air.scale == pytest.approx(1.0)  # readings alone do not tell
    assert found.model_spread == MODEL_SPREAD


def test_people_of_a_known_room_are_recovered():
    readings = simulated_room(8, last=24)
    inferred = infer_counts(without_counts(readings), ROOM, CLOSED)
    assert rmse(readings["occupancy"], inferred.people) < 0.15 * readings["occupancy"].std()


@pytest.mark.parametrize("columns", [["co2", "ventilation"], ["co2", "ventilation", "occupancy"]])
def test_air_is_identified_with_and_without_head_counts(columns):
    """Readings without CO2 are left out."""
    readings = simulated_room(8, leakage=0.3, full=3.0, last=24)[columns]
    readings.iloc[1000:1010, 0] = np.nan
    air = identify_air(readings, ROOM)
    assert air.is_calibrated == ("occupancy" in columns)
    for rate, expected in zip(air.rates, (0.3, 3.3), strict=True):
        assert rate.rate == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("seed", [1, 2])
def test_outdoor_air_of_the_simulated_office_is_recovered(seed):
    office, room = oc.simulate_office(days=10, seed=seed), paper_room()
    volume = sum(room.volumes)
    found = calibrate(grid_of(office), room_properties(volume=volume, capacity=35))
    assert found.rate(1.0) == pytest.approx(room.on.fresh / volume + room.leakage, rel=0.2)
    assert found.rate(0.0) == pytest.approx(room.leakage, rel=0.4)


def test_calibration_is_deterministic():
    grid = grid_of(simulated_room(4))
    first, second = (calibrate(grid, ROOM) for _ in range(2))
    np.testing.assert_array_equal(first.air.logarithms, second.air.logarithms)
    np.testing.assert_array_equal(first.covariance, second.covariance)


def test_order_of_days_does_not_matter():
    grid = grid_of(simulated_room(4))
    first, second = (calibrate(grid.days(np.array(order)), ROOM) for order in ([0, 1, 2, 3], [2, 0, 3, 1]))
    np.testing.assert_allclose(first.air.logarithms, second.air.logarithms, atol=1e-6)


def test_more_days_are_more_certain():
    grid = grid_of(simulated_room(12, last=24))
    spread = [calibrate(grid.days(np.arange(n)), ROOM).rate_spread(1.0) for n in (1, 12)]
    assert MODEL_SPREAD < spread[1] < spread[0]


def test_given_air_flow_pulls_the_rate_towards_it():
    grid = grid_of(simulated_room(2))
    rates = [
        calibrate(grid, room_properties(volume=200, capacity=20, air_flow=flow)).rate(1.0)
        for flow in (200, 400, 800)
    ]
    assert rates == sorted(rates)
    assert rates[2] > 1.2 * rates[0]


def test_room_without_signal_is_less_certain():
    readings = simulated_room(6, last=24)
    known, assumed = (grid_of(one) for one in (readings, readings.drop(columns="ventilation")))
    found = calibrate(assumed, ROOM)
    assert found.model_spread == NO_SIGNAL_MODEL_SPREAD
    assert found.rate_spread(1.0) > calibrate(known, ROOM).rate_spread(1.0)
    assert found.rate(1.0) == pytest.approx(2.2, rel=0.4)  # its hours are nearly those that are assumed


@pytest.mark.parametrize(("leakage", "full", "is_constant"), [(0.3, 1e-6, True), (0.1, 4.0, False)])
def test_ventilation_by_day_is_told_from_a_constant_one(leakage, full, is_constant):
    """Ventilated from 7:00 to 24:00 or never; the signal is not known."""
    readings = simulated_room(12, leakage=leakage, full=full, last=24).drop(columns="ventilation")
    grid, calibration = assume_ventilation(grid_of(readings), ROOM)
    assert grid.ventilation.all() == is_constant
    assert calibration.rate(1.0) == pytest.approx(leakage + full, rel=0.45)


def test_known_ventilation_is_kept():
    grid = grid_of(simulated_room(4))
    same, calibration = assume_ventilation(grid, ROOM)
    assert same is grid
    np.testing.assert_array_equal(calibration.air.logarithms, calibrate(grid, ROOM).air.logarithms)


OPEN = np.flatnonzero((np.arange(6 * 288) % 288 >= 96) & (np.arange(6 * 288) % 288 < 216))  # 8:00 to 18:00


@pytest.mark.parametrize("volume", [140, 260])
def test_head_counts_correct_a_wrong_volume(volume):
    readings, room = simulated_room(6), room_properties(volume=volume, capacity=20)
    counted = np.random.default_rng(0).choice(OPEN, 30, replace=False)
    others = np.delete(np.arange(len(readings)), counted)
    errors = []
    for given in (without_counts(readings), with_counts(readings, counted)):
        inferred = infer_counts(given, room, CLOSED)
        errors.append(rmse(readings["occupancy"].to_numpy()[others], inferred.people[others]))
    assert errors[1] < 0.8 * errors[0]


def test_head_counts_reduce_the_uncertainty():
    readings = simulated_room(6)
    start = calibrate(grid_of(readings), ROOM)
    found = calibrate_by_counts(day_grid(with_counts(readings, OPEN[::12]), CLOSED), ROOM, start)
    assert found.scale_spread < start.scale_spread == pytest.approx(0.2)
    assert found.model_spread == start.model_spread


def test_one_head_count_changes_little():
    readings = simulated_room(4)
    start = calibrate(grid_of(readings), ROOM)
    people = smoothed(grid_of(readings), ROOM, start).ravel()
    at = 288 + 132  # 11:00 of the second day
    wrong = readings.assign(occupancy=np.round(people + 3).clip(0))
    found = calibrate_by_counts(day_grid(with_counts(wrong, [at]), CLOSED), ROOM, start)
    assert np.abs(found.air.logarithms - start.air.logarithms).max() < 0.2
    again = smoothed(grid_of(readings), ROOM, found).ravel()
    assert people[at] < again[at] < people[at] + 3


def counts_at(*places, n_days=1):
    counts = np.full((n_days, 288), np.nan)
    counts[0, list(places)] = 5.0
    return counts


@pytest.mark.parametrize(
    ("places", "weights"),
    [
        ([100], [1]),
        ([100, 106], [1 / 2, 1 / 2]),  # 30 min apart
        ([100, 107], [1, 1]),
        ([100, 101, 102, 200], [1 / 3, 1 / 3, 1 / 3, 1]),
        ([100, 120, 140, 160], [1, 1, 1, 1]),
        ([100, 120, 140, 160, 180, 200, 220, 240], [1 / 2] * 8),  # as much as 4
    ],
)
def test_count_weights_by_hand(places, weights):
    counts = counts_at(*places)
    found = count_weights(counts, 5.0)
    np.testing.assert_allclose(found[0, places], weights)
    assert (found[np.isnan(counts)] == 0).all()


def test_count_weights_of_days_are_independent():
    two = count_weights(counts_at(*range(100, 200), n_days=2), 5.0)
    assert two[0].sum() == pytest.approx(4.0)
    assert (two[1] == 0).all()


def test_spread_of_the_rate_by_hand():
    leakage, full, exponent, v = 0.2, 2.0, 0.5, 0.25
    covariance = np.diag([0.3, 0.2, 0.1, 0.4]) ** 2
    calibration = Calibration(AirChange(np.log([[leakage, full, exponent, 1.2]])), covariance, 0.15)
    rate = leakage + full * v**exponent  # 1.2
    slopes = np.array([leakage, full * v**exponent, full * v**exponent * exponent * np.log(v)]) / rate
    expected = np.sqrt((slopes**2 * [0.09, 0.04, 0.01]).sum() + 0.15**2)
    assert calibration.rate(v) == pytest.approx(rate)
    assert calibration.rate_spread(v) == pytest.approx(expected, rel=1e-3)
    assert calibration.scale_spread == pytest.approx(0.4)


def test_search_finds_the_mean_of_a_gaussian_posterior():
    rng = np.random.default_rng(4)
    prior, spread = np.array([0.5, -1.0, 2.0, 0.3]), np.array([0.7, 0.6, 0.0, 0.2])  # the third is fixed
    root = rng.normal(size=(3, 3))
    precision, centre = root @ root.T + np.eye(3), prior[[0, 1, 3]] + [0.3, -0.2, 0.1]

    def log_likelihood(sets):
        away = sets[:, [0, 1, 3]] - centre
        return -(away @ precision * away).sum(axis=1) / 2

    found, covariance, evidence = _most_probable(log_likelihood, prior, spread)
    own = np.diag(spread[[0, 1, 3]] ** -2.0)
    mean = np.linalg.solve(own + precision, own @ prior[[0, 1, 3]] + precision @ centre)
    np.testing.assert_allclose(found[[0, 1, 3]], mean, atol=1e-6)
    np.testing.assert_allclose(
        covariance[np.ix_([0, 1, 3], [0, 1, 3])], np.linalg.inv(own + precision), atol=1e-8
    )
    assert found[2] == prior[2]
    assert (covariance[2] == 0).all()
    # The likelihood times the prior, integrated, is a normal density of the distance between their centres.
    distance = multivariate_normal(cov=np.linalg.inv(precision) + np.diag(spread[[0, 1, 3]] ** 2))
    peak = multivariate_normal(cov=np.linalg.inv(precision)).logpdf(np.zeros(3))
    assert evidence == pytest.approx(distance.logpdf(centre - prior[[0, 1, 3]]) - peak)


def test_search_along_a_curved_valley_ends_before_its_optimum():
    """Rosenbrock's function: its valley y = x**2 is reached soon, its optimum at (1, 1) after many steps."""

    def log_likelihood(sets):
        x, y = sets.T
        return -10 * (1000 * (y - x**2) ** 2 + (1 - x) ** 2)

    (x, y), _, _ = _most_probable(log_likelihood, np.array([-1.2, 1.0]), np.ones(2))
    assert -1.1 < x < 0.9
    assert y == pytest.approx(x**2, abs=0.05)
