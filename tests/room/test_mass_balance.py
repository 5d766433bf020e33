"""Mass balance: simulate, fit, recover; held-out errors against explicit refits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.room import mass_balance as module
from occupair.room.inputs import Clock, Inputs, episode_inputs
from occupair.room.mass_balance import (
    N_PARTS,
    Balance,
    BalanceEvaluator,
    BalanceVariant,
    BaseLevel,
    DayTerms,
    average_weights,
    balance_terms,
    fit_balance,
    weak_ridge,
)

BASE = BaseLevel(lowest=380.0, highest=420.0, median=400.0)
DAY = Clock.of(pd.date_range("2024-01-08", periods=288, freq="5min"))


def random_days(n, *, seed=0):
    """Days of uncorrelated random CO2 and ventilation, which identify all coefficients."""
    rng = np.random.default_rng(seed)
    return [
        episode_inputs(
            rng.uniform(390, 900, 288),
            rng.uniform(0, 1, 288),
            DAY,
            interval=5.0,
            smoothing=0.0,
            longest_lag=20.0,
        )
        for _ in range(n)
    ]


def reference_terms(rows, share, behind):
    """Reference implementation of the terms, with 2 readings for 10 min and 4 for 20 min."""
    found = []
    for co2, flow, low in zip(rows.co2, rows.ventilation, rows.lowest_co2, strict=True):
        c, v = co2[behind], flow[behind]
        above = (c - share * min(max(low, 380), 420) - (1 - share) * 400) / 100
        rises = (c - co2[behind + 2]) / 10, (c - co2[behind + 4]) / 20
        found.append([*rises, above, v * above, v * v * above, 1.0])
    return np.array(found)


def ridge_fit(terms, people, ridge):
    """Ridge regression by least squares with six additional rows."""
    rows = np.vstack([terms, np.diag(np.sqrt(ridge))])
    return np.linalg.lstsq(rows, np.append(people, np.zeros(6)), rcond=None)[0]


def least_ridge(terms):
    return np.append(terms[:, :5].var(axis=0), 1e-6)


COEF = np.array([0.5, 0.3, 1.2, 2.0, -0.7, 0.4])


@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("behind", [0, 2, 4])
def test_terms_match_reference_implementation(share, behind):
    (rows,) = random_days(1)
    np.testing.assert_allclose(
        balance_terms(rows, BASE, share, behind).T, reference_terms(rows, share, behind), atol=1e-12
    )


def test_several_offsets_equal_each_alone():
    (rows,) = random_days(1)
    shares, behind = [1.0, 0.0, 0.5], [4, 0, 2]
    terms = balance_terms(rows, BASE, np.array(shares)[:, np.newaxis], np.array(behind)[:, np.newaxis])
    assert terms.shape == (6, 3, 288)
    for k in range(3):
        np.testing.assert_allclose(terms[:, k].T, reference_terms(rows, shares[k], behind[k]), atol=1e-12)


def test_evaluator_matches_reference_implementation():
    rng, (rows,) = np.random.default_rng(6), random_days(1)
    warmer = BaseLevel(lowest=390.0, highest=430.0, median=410.0)
    looks = [(1.0, 0, 0.3), (0.5, 2, 0.0), (0.0, 2, 0.7)]
    variants = [
        BalanceVariant(share, 0.0, behind, rng.normal(size=6), weight) for share, behind, weight in looks
    ]
    balances = [
        Balance(BASE, tuple(variants)),
        Balance(BASE, (variants[2],)),
        Balance(warmer, (variants[2],)),
    ]
    own = [reference_terms(rows, one.low_share, one.offset) @ one.coef for one in variants]
    warm = balance_terms(rows, warmer, 0.0, 2).T @ variants[2].coef
    expected = [0.3 * own[0] + 0.7 * own[2], 0.7 * own[2], 0.7 * warm]
    np.testing.assert_allclose(BalanceEvaluator([balances]).people(rows), expected, atol=1e-10)
    for one, people in zip(balances, expected, strict=True):
        np.testing.assert_allclose(one.people(rows), people, atol=1e-10)


def test_fit_recovers_known_balance():
    days = random_days(8)
    people = [reference_terms(rows, 0.0, 0) @ COEF for rows in days]
    balance = fit_balance(DayTerms(days, BASE), people, lag=0)
    assert (balance.best.low_share, balance.best.delay) == (0.0, 0.0)
    np.testing.assert_allclose(balance.best.coef, COEF, rtol=0.05)  # a ridge of 1 beside 2304 rows
    spread = np.std(people)
    np.testing.assert_allclose(balance.people(days[0]), people[0], atol=0.03 * spread)


@pytest.mark.parametrize("lag", [0, 2, 4])
def test_weights_follow_error_on_held_out_days(lag):
    rng, days = np.random.default_rng(1), random_days(4, seed=1)
    people = [reference_terms(rows, 0.5, 0) @ COEF + rng.normal(0, 2, 288) for rows in days]
    balance = fit_balance(DayTerms(days, BASE), people, lag=lag)
    errors = []
    for variant in balance.variants:
        terms = [reference_terms(rows, variant.low_share, variant.offset) for rows in days]
        ridge, error = least_ridge(np.vstack(terms)), 0.0
        for k in range(4):
            others = [i for i in range(4) if i != k]
            coef = ridge_fit(
                np.vstack([terms[i] for i in others]), np.concatenate([people[i] for i in others]), ridge
            )
            error += np.sum((terms[k] @ coef - people[k]) ** 2)
        errors.append(error)
    expected = np.exp(-60 * (np.array(errors) / min(errors) - 1))
    expected[expected < 0.02 * expected.sum()] = 0.0
    weights = [variant.weight for variant in balance.variants]
    np.testing.assert_allclose(weights, expected / expected.sum(), atol=1e-8)


def test_fit_to_all_days_is_ridge_regression():
    rng, days = np.random.default_rng(2), random_days(3, seed=2)
    people = [rng.normal(5, 2, 288) for _ in days]
    balance = fit_balance(DayTerms(days, BASE), people, lag=4)
    for variant in balance.variants:
        terms = np.vstack([reference_terms(rows, variant.low_share, variant.offset) for rows in days])
        expected = ridge_fit(terms, np.concatenate(people), least_ridge(terms))
        np.testing.assert_allclose(variant.coef, expected, atol=1e-8)


def late_room(seed, *, late):
    """A day of a room whose CO2 answers ``late`` readings after people: people, and CO2 from 400 ppm on.

    people[k - late] = 0.8 (C[k] - C[k-2]) / 10 + 1.5 (C[k] - 400) / 100, solved for C[k].
    """
    rng = np.random.default_rng(seed)
    people = np.repeat(rng.integers(0, 30, 48), 6).astype(float)
    people[:24] = 0.0
    co2 = np.full(288, 400.0)
    for k in range(2, 288):
        then = people[max(k - late, 0)]
        co2[k] = (then + 0.08 * co2[k - 2] + 0.015 * 400) / (0.08 + 0.015)
    return people, co2


@pytest.mark.parametrize("lag", [2, 4])
def test_fit_finds_ten_minute_delay(lag):
    rooms = [late_room(seed, late=2) for seed in range(6)]
    days = [
        episode_inputs(co2, np.zeros(288), DAY, interval=5.0, smoothing=0.0, longest_lag=20.0)
        for _, co2 in rooms
    ]
    people = [count[np.maximum(np.arange(288) - lag, 0)] for count, _ in rooms]
    balance = fit_balance(DayTerms(days, BASE), people, lag=lag)
    weights = dict.fromkeys((0.0, 5.0, 10.0, 15.0, 20.0), 0.0)
    for variant in balance.variants:
        assert variant.offset == lag - variant.delay / 5
        weights[variant.delay] += variant.weight
    assert max(weights, key=weights.get) == 10.0
    assert weights[10.0] > 0.99
    np.testing.assert_allclose(balance.best.coef, [0.8, 0, 1.5, 0, 0, 0], atol=0.02)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=15))
def test_weights_sum_to_one_and_decrease_with_error(errors):
    weights = average_weights(np.array(errors))
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert (np.diff(weights[np.argsort(errors, kind="stable")]) <= 1e-12).all()


def test_weights_worked_by_hand():
    # 1 % more is exp(-0.6), 2 % more exp(-1.2); 10 % more is exp(-6), less than 2 % of the sum: dropped.
    weights = average_weights(np.array([100.0, 101.0, 102.0, 110.0]))
    expected = np.array([1.0, np.exp(-0.6), np.exp(-1.2), 0.0])
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-9)


@pytest.mark.parametrize(
    ("interval", "lag", "delays"),
    [
        (1.0, 0, [(0, 0)]),
        (1.0, 10, [(0, 10), (5, 5), (10, 0)]),
        (1.0, 20, [(0, 20), (5, 15), (10, 10), (15, 5), (20, 0)]),
        (5.0, 4, [(0, 4), (5, 3), (10, 2), (15, 1), (20, 0)]),
        (15.0, 1, [(0, 1), (10, 0)]),
        (60.0, 0, [(0, 0)]),
    ],
)
def test_delays_are_limited_by_lag(interval, lag, delays):
    assert module._delays(interval, lag) == delays


def test_base_level_follows_lowest_co2_within_limits():
    level = BaseLevel.fit([400.0, 410.0, 430.0])  # margin 300 / 9
    assert level.median == 410.0
    assert level.lowest == pytest.approx(400 - 100 / 3)
    assert level.highest == pytest.approx(430 + 100 / 3)
    rows = Inputs(np.zeros((3, 2)), np.zeros((3, 2)), np.array([0.0, 405.0, 900.0]), DAY, 5.0)
    np.testing.assert_allclose(level.at(rows, 1.0), [level.lowest, 405.0, level.highest])
    np.testing.assert_allclose(level.at(rows, 0.5)[1], 407.5)
    np.testing.assert_allclose(level.at(rows, 0.0), 410.0)


def test_weak_ridge_scales_with_variance_and_spares_constant():
    terms = reference_terms(random_days(1)[0], 1.0, 0)
    matrix, start = weak_ridge(1.0, 0.0, terms, np.zeros(288))
    np.testing.assert_allclose(np.diag(matrix), least_ridge(terms))
    assert np.count_nonzero(matrix) == 6
    assert not start.any()


def test_ventilation_terms_are_zero_without_ventilation():
    rng = np.random.default_rng(4)
    days = [
        episode_inputs(
            rng.uniform(390, 900, 288), np.zeros(288), DAY, interval=5.0, smoothing=0.4, longest_lag=20.0
        )
        for _ in range(3)
    ]
    balance = fit_balance(DayTerms(days, BASE), [rng.uniform(0, 9, 288) for _ in days], lag=0)
    assert all((variant.coef[3:5] == 0).all() for variant in balance.variants)


def test_constant_co2_is_not_fitted_to_rounding_errors():
    days = [
        episode_inputs(np.full(288, 412.3), np.ones(288), DAY, interval=5.0, smoothing=0.4, longest_lag=20.0)
    ] * 3
    people = [np.repeat([0.0, 8.0, 0.0], 96)] * 3
    balance = fit_balance(DayTerms(days, BaseLevel.fit([412.3] * 3)), people, lag=0)
    assert all(np.abs(variant.coef[:5]).max() < 1e-6 for variant in balance.variants)


@pytest.mark.parametrize("lag", [0, 2])
def test_weights_equal_repeated_rows(lag):
    """Weight 2 equals a repeated row, weight 0 a removed one, also for held-out errors."""
    rng = np.random.default_rng(6)
    days, often = random_days(3), [rng.integers(0, 3, 288) for _ in range(3)]
    people = [rng.uniform(0, 9, 288) for _ in days]
    repeated = [day.take(np.repeat(np.arange(288), n)) for day, n in zip(days, often, strict=True)]
    counts = [np.repeat(count, n) for count, n in zip(people, often, strict=True)]
    weights = [n.astype(float) for n in often]
    ours = fit_balance(DayTerms(days, BASE), people, lag=lag, weights=weights)
    theirs = fit_balance(DayTerms(repeated, BASE), counts, lag=lag)
    for one, other in zip(ours.variants, theirs.variants, strict=True):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8)
        assert one.weight == pytest.approx(other.weight, abs=1e-9)


def test_fit_without_head_counts_follows_penalty():
    days = random_days(2)
    balance = fit_balance(DayTerms(days, BASE), [np.zeros(288)] * 2, lag=0, weights=[np.zeros(288)] * 2)
    assert all((variant.coef == 0).all() for variant in balance.variants)
    assert sum(variant.weight for variant in balance.variants) == pytest.approx(1)


@pytest.mark.parametrize("with_parts", [False, True])
def test_evaluator_of_many_rooms_equals_each_room_alone(with_parts):
    rng, (inputs,) = np.random.default_rng(7), random_days(1)
    bases = [BASE, BaseLevel(lowest=390.0, highest=430.0, median=410.0)]

    def balance(base, *settings):
        weight = 1 / len(settings)
        return Balance(
            base, tuple(BalanceVariant(s, 0.0, o, rng.normal(size=6), weight) for s, o in settings)
        )

    rooms = [
        [balance(bases[0], (1.0, 0), (0.5, 2)), balance(bases[0], (0.5, 2))],
        [balance(bases[1], (0.0, 4)), balance(bases[0], (0.5, 2), (1.0, 0))],  # two base levels
        [balance(bases[1], (0.5, 2)), balance(bases[1], (0.5, 3))],
    ]
    which = np.arange(len(inputs)) % 3
    people = BalanceEvaluator(rooms, with_parts=with_parts).people(inputs, which)
    for n, balances in enumerate(rooms):
        alone = BalanceEvaluator([balances], with_parts=with_parts).people(inputs)
        np.testing.assert_allclose(people[:, which == n], alone[:, which == n], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_balances", [1, 3])
def test_parts_are_those_of_best_variants_of_first_and_last_balance(n_balances):
    rng, (rows,) = np.random.default_rng(8), random_days(1)
    balances = []
    for r in range(n_balances):
        settings = [(0.5, 2, 0.4), (1.0, r, 0.6)]
        variants = [BalanceVariant(s, 0.0, o, rng.normal(size=6), weight) for s, o, weight in settings]
        balances.append(Balance(BASE, tuple(variants)))
    found = BalanceEvaluator([balances], with_parts=True).people(rows)
    assert found.shape == (n_balances + N_PARTS, 288)
    np.testing.assert_allclose(found[:n_balances], BalanceEvaluator([balances]).people(rows), atol=1e-12)
    expected = []
    for balance in (balances[0], balances[-1]):
        best = balance.variants[1]
        terms = reference_terms(rows, 1.0, best.offset) * best.coef
        expected += [terms[:, :2].sum(axis=1), terms[:, 2:].sum(axis=1)]
    np.testing.assert_allclose(found[n_balances:], expected, atol=1e-10)
