"""Shapes of the mass balance in other rooms: units, limits of the prior, and what a single day gains."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.metrics import rmse
from occupair.room.balance_shapes import (
    BalanceShapes,
    Shape,
    coefficient_units,
    covariance,
    nearest,
    pool_shapes,
    relative_coefs,
    shrink_towards,
)
from occupair.room.fit_and_estimate import episodes_by_date
from occupair.room.fitted_balances import fit_balances
from occupair.room.lags import LAGS
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel, DayTerms
from occupair.room.pooling import pool, sum_room
from occupair.room.training_days import prepare_training_days

PRIOR_DAYS = 1.5  # labelled days at which the prior counts as much as they do

COEF = np.array([0.3, 0.2, 0.5, 0.1, -0.1, 0.05])


def a_room(seed=0, n=300):
    """Terms in different units, and people that follow them with some noise."""
    rng = np.random.default_rng(seed)
    unit = np.array([2.0, 1.5, 3.0, 1.0, 0.5, 1.0])
    terms = np.column_stack([rng.normal(0, 1, (n, 5)), np.ones(n)]) * unit
    return terms, terms @ [3, 1, 2, 0.5, -2, 4] + rng.normal(0, 0.5, n)


def shapes_with(coef=COEF, spread=0.3, seed=0):
    """Shapes with one variant, whose coefficients are correlated over rooms."""
    factor = np.random.default_rng(seed).normal(0, spread, (6, 6))
    shape = Shape(0.5, 0.0, np.array(coef, dtype=float), factor @ factor.T + 0.01 * np.eye(6))
    return BalanceShapes(dict.fromkeys(LAGS, (shape,)))


def fit_with(shapes, terms, people, *, n_days=3.0, weight=None):
    """Coefficients fitted with the prior."""
    matrix, start = shapes.penalty(10.0, n_days)(0.5, 0.0, terms, people, weight)
    weighted = terms if weight is None else weight[:, np.newaxis] * terms
    return start + np.linalg.solve(weighted.T @ terms + matrix, weighted.T @ (people - terms @ start))


def least_squares(terms, people):
    return np.linalg.lstsq(terms, people, rcond=None)[0]


def test_units_worked_by_hand():
    """Standard deviations: people 2, ten-minute slope 9, twenty-minute slope 1/2, level 4."""
    sign = np.array([1.0, -1.0, 1.0, -1.0])
    terms = np.column_stack([9 * sign, 0.5 * sign, 4 * sign + 7, 3 * sign, sign, np.ones(4)])
    people = 5 + 2 * sign
    np.testing.assert_allclose(coefficient_units(terms, people), [4, 4, 0.5, 0.5, 0.5, 2])
    # The last two have no weight, and the spread of the others is the same.
    weight = np.array([1.0, 1.0, 0.0, 0.0])
    wild = np.where(weight > 0, people, 99.0)
    np.testing.assert_allclose(coefficient_units(terms, wild, weight), [4, 4, 0.5, 0.5, 0.5, 2])
    # A room that is nearly always empty counts in units of 0.3 people.
    np.testing.assert_allclose(coefficient_units(terms, np.zeros(4)), 0.3 / np.array([0.5, 0.5, 4, 4, 4, 1]))
    assert np.isfinite(coefficient_units(np.ones((4, 6)), people)).all()


@pytest.mark.parametrize(("co2", "occupancy"), [(3.0, 1.0), (1.0, 5.0), (0.2, 7.0)])
def test_units_follow_those_of_co2_and_people(co2, occupancy):
    terms, people = a_room()
    scale = np.array([co2] * 5 + [1.0])
    np.testing.assert_allclose(
        coefficient_units(terms * scale, people * occupancy),
        coefficient_units(terms, people) * occupancy / scale,
    )
    shapes = shapes_with()
    np.testing.assert_allclose(
        fit_with(shapes, terms * scale, people * occupancy),
        fit_with(shapes, terms, people) * occupancy / scale,
    )


def readings_of_a_room(*, volume=1.0, people=1.0, days=3, seed=0):
    """Days from 6:00 to 22:00 that start at outdoor CO2: the balance of a room, every five minutes.

    Twice the volume and the air flow give half of the CO2 above outdoors.
    """
    rng, parts = np.random.default_rng(seed), []
    for day in range(days):
        times = pd.date_range(f"2024-01-{8 + day:02d} 06:00", periods=192, freq="5min")
        counts = np.repeat(rng.integers(0, 12, 16), 12) * (np.arange(192) >= 24)
        flow, above = np.where(rng.random(16) < 0.5, 0.2, 1.0).repeat(12), np.zeros(192)
        for k in range(1, 192):
            above[k] = above[k - 1] * np.exp(-(0.3 + flow[k - 1]) / 12) + 6.0 * counts[k - 1]
        co2 = 400 + people / volume * (above + np.abs(rng.normal(0, 3, 192)))
        parts.append(
            pd.DataFrame({"co2": co2, "ventilation": flow, "occupancy": people * counts}, index=times)
        )
    return pd.concat(parts)


def coefs_of(readings):
    """Relative coefficients by lag [min], and the coefficients themselves."""
    training = prepare_training_days(episodes_by_date(readings), interval=5.0, smoothing=0.4)
    fitted = fit_balances(training)
    days = DayTerms(training.days, BaseLevel.fit(training.lows))
    lags = zip(training.lags, training.lags_in_readings, strict=True)
    return {
        minutes: (relative_coefs(fitted.balances[lag], days, training.target(lag)), fitted.balances[lag])
        for minutes, lag in lags
    }


@pytest.mark.parametrize(("volume", "people"), [(4.0, 1.0), (1.0, 3.0), (5.0, 2.0)])
def test_shape_does_not_depend_on_the_size_of_the_room(volume, people):
    one, other = coefs_of(readings_of_a_room()), coefs_of(readings_of_a_room(volume=volume, people=people))
    for lag in LAGS:
        (small, balance), (large, other_balance) = one[lag], other[lag]
        assert small.keys() == large.keys()
        assert {(v.low_share, v.delay) for v in balance.variants} == small.keys()
        for key, coef in small.items():
            np.testing.assert_allclose(large[key], coef, rtol=1e-3, atol=1e-4)
        per_ppm = other_balance.best.coef[2] / balance.best.coef[2]
        assert per_ppm == pytest.approx(volume, rel=1e-3)


def test_relative_coefs_times_units_are_the_coefficients():
    readings = readings_of_a_room()
    training = prepare_training_days(episodes_by_date(readings), interval=5.0, smoothing=0.4)
    days = DayTerms(training.days, BaseLevel.fit(training.lows))
    balance = fit_balances(training).balances[2]
    found = relative_coefs(balance, days, training.target(2))
    for one in balance.variants:
        terms, _ = days.at(one.low_share, one.offset)
        unit = training.target(2).std() / np.array(
            [terms[:, 1].std()] * 2 + [terms[:, 2].std()] * 3 + [1.0], dtype=float
        )
        np.testing.assert_allclose(found[one.low_share, one.delay] * unit, one.coef, rtol=1e-9)


def test_weak_prior_is_least_squares_and_strong_prior_is_the_start():
    terms, people = a_room()
    shapes, start = shapes_with(), COEF * coefficient_units(terms, people)
    np.testing.assert_allclose(
        fit_with(shapes, terms, people, n_days=1e15), least_squares(terms, people), atol=1e-8
    )
    np.testing.assert_allclose(fit_with(shapes, terms, people, n_days=1e-12), start, atol=1e-6)
    for n_samples, expected in ((1e-12, least_squares(terms, people)), (1e15, start)):
        matrix, same = shrink_towards(start, np.eye(6), terms, people, None, n_samples=n_samples)
        assert same is start
        step = np.linalg.solve(terms.T @ terms + matrix, terms.T @ (people - terms @ start))
        np.testing.assert_allclose(start + step, expected, atol=1e-6)


def test_prior_weakens_with_days():
    terms, people = a_room()
    own = least_squares(terms, people)
    away = [
        np.abs(fit_with(shapes_with(), terms, people, n_days=n) - own).sum() for n in (0.1, 1, 10, 100, 1e4)
    ]
    assert away == sorted(away, reverse=True)
    assert away[0] > 2 * away[-1]


def test_prior_counts_as_samples_of_the_noise_of_the_room():
    """A room that already has the coefficients of the others: the penalty is their precision."""
    terms, _ = a_room()
    noise = np.random.default_rng(1).normal(0, 1, len(terms))
    noise -= terms @ least_squares(terms, noise)
    start = np.array([3, 1, 2, 0.5, -2, 4.0])
    precision = np.diag([1.0, 2, 3, 4, 5, 6])
    matrix, _ = shrink_towards(start, precision, terms, terms @ start + 2 * noise, None, n_samples=50.0)
    np.testing.assert_allclose(matrix, 50 * 4 * np.mean(noise**2) * precision, rtol=1e-9)
    exact, _ = shrink_towards(start, precision, terms, terms @ start, None, n_samples=50.0)
    np.testing.assert_allclose(exact, 50 * 1e-3 * precision)  # never 0


@pytest.mark.parametrize(
    ("n_days", "share"), [(PRIOR_DAYS, 1.0), (2 * PRIOR_DAYS, 1 / 4), (PRIOR_DAYS / 3, 9.0)]
)
def test_share_of_the_prior_decreases_with_the_square_of_the_days(n_days, share):
    terms, people = a_room(n=200)
    shapes, unit = shapes_with(), coefficient_units(terms, people)
    shape = shapes.by_lag[0.0][0]
    prior = shape.coef * unit, np.linalg.inv(shape.covariance * np.outer(unit, unit))
    for weight, total in ((None, 200.0), (np.full(200, 0.5), 100.0)):
        found, _ = shapes.penalty(0.0, n_days)(0.5, 0.0, terms, people, weight)
        expected, _ = shrink_towards(*prior, terms, people, weight, n_samples=share * total)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_weights_equal_repeated_rows():
    terms, people = a_room(n=60)
    often = np.random.default_rng(2).integers(0, 3, 60)
    draw = shapes_with().penalty(10.0, 3)
    ours = draw(0.5, 0.0, terms, people, often.astype(float))
    theirs = draw(0.5, 0.0, np.repeat(terms, often, axis=0), np.repeat(people, often), None)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_nearest_variant_matches_low_share_before_delay():
    choices = [BalanceVariant(s, d, 0, np.zeros(6)) for s in (1.0, 0.0) for d in (0.0, 20.0)]
    for share, delay, found in [(1.0, 15.0, (1.0, 20.0)), (0.0, 5.0, (0.0, 0.0)), (0.9, 20.0, (1.0, 20.0))]:
        one = nearest(choices, share, delay)
        assert (one.low_share, one.delay) == found
    shapes = [Shape(0.5, delay, np.full(6, delay), np.eye(6)) for delay in (0.0, 10.0)]
    assert nearest(shapes, 1.0, 8.0).coef[0] == 10.0


def test_covariance_has_minimum_spread():
    one_room = covariance(np.array([[2.0, 0.0]]))
    np.testing.assert_allclose(one_room, np.diag([1.0, 0.0]), atol=1e-5)
    rooms = np.array([[0.0, 1.0], [4.0, 1.0], [8.0, 4.0]])  # variances 32/3 and 2, covariance 4
    expected = 0.7 * np.array([[32 / 3, 4.0], [4.0, 2.0]]) + 0.3 * np.diag([32 / 3, 2.0])
    np.testing.assert_allclose(covariance(rooms), expected, atol=1e-4)
    same = covariance(np.full((4, 2), 6.0))  # half of the mean
    np.testing.assert_allclose(same, 0.3 * 9.0 * np.eye(2), atol=1e-4)
    for coefs in (rooms, np.zeros((5, 2)), np.array([[2.0, 0.0]])):
        assert (np.linalg.eigvalsh(covariance(coefs)) > 0).all()


def test_pooled_shapes_are_medians_of_shared_variants():
    rng = np.random.default_rng(0)
    keys = [(1.0, 0.0), (1.0, 5.0), (0.0, 0.0)]
    rooms = [{key: rng.normal(size=6) for key in keys} for _ in range(3)]
    del rooms[1][1.0, 5.0]  # a room with a long interval
    found = pool_shapes(rooms)
    assert [(one.low_share, one.delay) for one in found] == [(1.0, 0.0), (0.0, 0.0)]
    for one in found:
        coefs = np.array([room[one.low_share, one.delay] for room in rooms])
        np.testing.assert_allclose(one.coef, np.median(coefs, axis=0))
        np.testing.assert_allclose(one.covariance, covariance(coefs))


def test_room_without_shape_of_its_variant_uses_the_nearest():
    terms, people = a_room()
    shapes = BalanceShapes({0.0: tuple(Shape(s, 0.0, np.full(6, s), np.eye(6)) for s in (1.0, 0.4))})
    unit = coefficient_units(terms, people)
    for low_share, expected in ((1.0, 1.0), (0.5, 0.4), (0.0, 0.4)):
        _, start = shapes.penalty(0.0, 1.0)(low_share, 5.0, terms, people, None)
        np.testing.assert_allclose(start, expected * unit)


def office(seats, seed, days):
    return oc.simulate_office(days, seed=seed, seats=seats).iloc[::5]


def balance_error(balance: Balance, readings):
    """RMSE of a balance at lag 0."""
    test = prepare_training_days(episodes_by_date(readings), interval=5.0, smoothing=0.4)
    people = np.concatenate([balance.people(day) for day in test.days])
    return rmse(test.target(0), people.clip(0))


@pytest.fixture(scope="module")
def offices():
    """Shapes of four simulated offices of different sizes."""
    rooms = {f"{seats}": sum_room(office(seats, 50 + seats, 4)) for seats in (8, 16, 24, 32)}
    return pool(rooms).shapes


def errors_with_and_without(shapes, rows):
    """Mean error per seat on three days, of balances fitted to some readings of the day before."""
    errors = []
    for seed, seats in enumerate((10, 14, 20, 28)):
        readings = office(seats, seed, 4)
        train = prepare_training_days(episodes_by_date(readings.iloc[rows]), interval=5.0, smoothing=0.4)
        balances = [fit_balances(train, prior).balances[0] for prior in (None, shapes)]
        errors.append([balance_error(one, readings.iloc[288:]) / seats for one in balances])
    return np.mean(errors, axis=0)


def test_shapes_of_other_rooms_improve_two_hours_of_a_day(offices):
    alone, helped = errors_with_and_without(offices[True], slice(9 * 12, 11 * 12))
    assert helped < 0.7 * alone


def test_shapes_do_not_hurt_a_whole_day(offices):
    alone, helped = errors_with_and_without(offices[True], slice(0, 288))
    assert helped < 1.05 * alone


def test_shapes_do_not_hurt_many_days(offices):
    readings = office(20, 3, 12)
    train = prepare_training_days(episodes_by_date(readings.iloc[: 8 * 288]), interval=5.0, smoothing=0.4)
    alone, helped = (
        balance_error(fit_balances(train, prior).balances[0], readings.iloc[8 * 288 :])
        for prior in (None, offices[True])
    )
    assert helped < 1.05 * alone


def test_rooms_with_and_without_ventilation_have_shapes_of_their_own(offices):
    assert set(offices) == {True, False}
    for shapes in offices.values():
        assert tuple(shapes.by_lag) == LAGS
    for one in offices[False].by_lag[0.0]:  # no ventilation, no coefficient of it
        np.testing.assert_allclose(one.coef[3:5], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        lambda readings: readings.assign(co2=412.3),
        lambda readings: readings.assign(occupancy=0),
        lambda readings: readings.assign(ventilation=1.0),
        lambda readings: readings.iloc[:3],
    ],
    ids=["constant CO2", "no people", "constant ventilation", "three readings"],
)
def test_unusual_rooms_have_finite_coefficients(offices, change):
    readings = change(office(20, 1, 2))
    training = prepare_training_days(episodes_by_date(readings), interval=5.0, smoothing=0.4)
    for prior in offices.values():
        for balance in fit_balances(training, prior).balances.values():
            assert all(np.isfinite(one.coef).all() for one in balance.variants)
