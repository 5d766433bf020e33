"""The mass balance: simulate, fit, recover; and days left out by refitting without them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.room import mass_balance as module
from occupair.room.inputs import Clock, Inputs, episode_inputs
from occupair.room.mass_balance import (
    Balance,
    BalanceEvaluator,
    BalanceVariant,
    BaseLevel,
    DayTerms,
    balance_terms,
    fit_balance,
    weak_ridge,
)

BASE = BaseLevel(lowest=380.0, highest=420.0, usual=400.0)
DAY = Clock.of(pd.date_range("2024-01-08", periods=288, freq="5min"))


def random_days(n, *, seed=0):
    """Days of CO2 and ventilation that say all there is to learn: nothing is like anything else."""
    rng = np.random.default_rng(seed)
    return [
        episode_inputs(rng.uniform(390, 900, 288), rng.uniform(0, 1, 288), DAY, interval=5.0, smoothing=0.0)
        for _ in range(n)
    ]


def written_terms(rows, share, behind):
    """The terms of each row, with 2 readings for 10 min and 4 for 20."""
    found = []
    for co2, flow, low in zip(rows.co2, rows.ventilation, rows.low, strict=True):
        c, v = co2[behind], flow[behind]
        above = (c - share * min(max(low, 380), 420) - (1 - share) * 400) / 100
        rises = (c - co2[behind + 2]) / 10, (c - co2[behind + 4]) / 20
        found.append([*rises, above, v * above, v * v * above, 1.0])
    return np.array(found)


def ridge_fit(terms, people, ridge):
    """Least squares with the ridge as six more rows."""
    rows = np.vstack([terms, np.diag(np.sqrt(ridge))])
    return np.linalg.lstsq(rows, np.append(people, np.zeros(6)), rcond=None)[0]


def least_ridge(terms):
    return np.append(terms[:, :5].var(axis=0), 1e-6)


COEF = np.array([0.5, 0.3, 1.2, 2.0, -0.7, 0.4])


@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("behind", [0, 2, 4])
def test_terms_are_the_ones_written_out(share, behind):
    (rows,) = random_days(1)
    np.testing.assert_allclose(
        balance_terms(rows, BASE, share, behind).T, written_terms(rows, share, behind), atol=1e-12
    )


def test_several_looks_at_once_are_each_alone():
    (rows,) = random_days(1)
    shares, behind = [1.0, 0.0, 0.5], [4, 0, 2]
    terms = balance_terms(rows, BASE, np.array(shares)[:, np.newaxis], np.array(behind))
    assert terms.shape == (6, 3, 288)
    for k in range(3):
        np.testing.assert_allclose(terms[:, k].T, written_terms(rows, shares[k], behind[k]), atol=1e-12)


def test_balances_heard_together_say_what_is_written_out():
    rng, (rows,) = np.random.default_rng(6), random_days(1)
    warmer = BaseLevel(lowest=390.0, highest=430.0, usual=410.0)
    looks = [(1.0, 0, 0.3), (0.5, 2, 0.0), (0.0, 2, 0.7)]
    choices = [
        BalanceVariant(share, 0.0, behind, rng.normal(size=6), weight) for share, behind, weight in looks
    ]
    balances = [Balance(BASE, tuple(choices)), Balance(BASE, (choices[2],)), Balance(warmer, (choices[2],))]
    own = [written_terms(rows, one.share, one.behind) @ one.coef for one in choices]
    warm = balance_terms(rows, warmer, 0.0, 2).T @ choices[2].coef
    expected = [0.3 * own[0] + 0.7 * own[2], 0.7 * own[2], 0.7 * warm]
    np.testing.assert_allclose(BalanceEvaluator(balances).people(rows), expected, atol=1e-10)
    for one, people in zip(balances, expected, strict=True):
        np.testing.assert_allclose(one.people(rows), people, atol=1e-10)


def test_a_known_balance_comes_back():
    days = random_days(8)
    people = [written_terms(rows, 0.0, 0) @ COEF for rows in days]
    balance = fit_balance(DayTerms(days, BASE), people, lag=0)
    assert (balance.best.share, balance.best.delay) == (0.0, 0.0)
    np.testing.assert_allclose(balance.best.coef, COEF, rtol=0.05)  # a ridge of 1 beside 2304 rows
    spread = np.std(people)
    np.testing.assert_allclose(balance.people(days[0]), people[0], atol=0.03 * spread)


@pytest.mark.parametrize("lag", [0, 2, 4])
def test_weights_are_by_the_error_of_fits_without_each_day(lag):
    rng, days = np.random.default_rng(1), random_days(4, seed=1)
    people = [written_terms(rows, 0.5, 0) @ COEF + rng.normal(0, 2, 288) for rows in days]
    balance = fit_balance(DayTerms(days, BASE), people, lag=lag)
    errors = []
    for choice in balance.choices:
        terms = [written_terms(rows, choice.share, choice.behind) for rows in days]
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
    weights = [choice.weight for choice in balance.choices]
    np.testing.assert_allclose(weights, expected / expected.sum(), atol=1e-8)


def test_the_fit_to_all_days_is_ridged_least_squares():
    rng, days = np.random.default_rng(2), random_days(3, seed=2)
    people = [rng.normal(5, 2, 288) for _ in days]
    balance = fit_balance(DayTerms(days, BASE), people, lag=4)
    for choice in balance.choices:
        terms = np.vstack([written_terms(rows, choice.share, choice.behind) for rows in days])
        expected = ridge_fit(terms, np.concatenate(people), least_ridge(terms))
        np.testing.assert_allclose(choice.coef, expected, atol=1e-8)


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
def test_co2_that_answers_ten_minutes_late_is_found_out(lag):
    rooms = [late_room(seed, late=2) for seed in range(6)]
    days = [episode_inputs(co2, np.zeros(288), DAY, interval=5.0, smoothing=0.0) for _, co2 in rooms]
    people = [count[np.maximum(np.arange(288) - lag, 0)] for count, _ in rooms]
    balance = fit_balance(DayTerms(days, BASE), people, lag=lag)
    weights = dict.fromkeys((0.0, 5.0, 10.0, 15.0, 20.0), 0.0)
    for choice in balance.choices:
        assert choice.behind == lag - choice.delay / 5
        weights[choice.delay] += choice.weight
    assert max(weights, key=weights.get) == 10.0
    assert weights[10.0] > 0.99
    np.testing.assert_allclose(balance.best.coef, [0.8, 0, 1.5, 0, 0, 0], atol=0.02)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=15))
def test_weights_sum_to_one_and_fall_with_the_error(errors):
    weights = module._weights(np.array(errors))
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert (np.diff(weights[np.argsort(errors, kind="stable")]) <= 1e-12).all()


def test_weights_by_hand():
    # 1 % more is exp(-0.6), 2 % more exp(-1.2); 10 % more is exp(-6), less than 2 % of the sum: not heard.
    weights = module._weights(np.array([100.0, 101.0, 102.0, 110.0]))
    heard = np.array([1.0, np.exp(-0.6), np.exp(-1.2), 0.0])
    np.testing.assert_allclose(weights, heard / heard.sum(), rtol=1e-9)


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
def test_delays_are_those_that_the_wait_allows(interval, lag, delays):
    assert module._delays(interval, lag) == delays


def test_the_base_level_follows_the_low_of_the_day_within_limits():
    level = BaseLevel.learn([400.0, 410.0, 430.0])  # margin 300 / 9
    assert level.usual == 410.0
    assert level.lowest == pytest.approx(400 - 100 / 3)
    assert level.highest == pytest.approx(430 + 100 / 3)
    rows = Inputs(np.zeros((3, 2)), np.zeros((3, 2)), np.array([0.0, 405.0, 900.0]), DAY, 5.0)
    np.testing.assert_allclose(level.at(rows, 1.0), [level.lowest, 405.0, level.highest])
    np.testing.assert_allclose(level.at(rows, 0.5)[1], 407.5)
    np.testing.assert_allclose(level.at(rows, 0.0), 410.0)


def test_the_constant_is_hardly_penalised_and_the_rest_like_terms_of_unit_variance():
    terms = written_terms(random_days(1)[0], 1.0, 0)
    matrix, start = weak_ridge(1.0, 0.0, terms, np.zeros(288))
    np.testing.assert_allclose(np.diag(matrix), least_ridge(terms))
    assert np.count_nonzero(matrix) == 6
    assert not start.any()


def test_without_ventilation_its_terms_are_not_used():
    rng = np.random.default_rng(4)
    days = [
        episode_inputs(rng.uniform(390, 900, 288), np.zeros(288), DAY, interval=5.0, smoothing=0.4)
        for _ in range(3)
    ]
    balance = fit_balance(DayTerms(days, BASE), [rng.uniform(0, 9, 288) for _ in days], lag=0)
    assert all((choice.coef[3:5] == 0).all() for choice in balance.choices)


def test_co2_that_never_moves_is_not_read_for_its_rounding():
    days = [episode_inputs(np.full(288, 412.3), np.ones(288), DAY, interval=5.0, smoothing=0.4)] * 3
    people = [np.repeat([0.0, 8.0, 0.0], 96)] * 3
    balance = fit_balance(DayTerms(days, BaseLevel.learn([412.3] * 3)), people, lag=0)
    assert all(np.abs(choice.coef[:5]).max() < 1e-6 for choice in balance.choices)


@pytest.mark.parametrize("lag", [0, 2])
def test_weights_are_rows_that_count_so_often(lag):
    """A row with weight 2 is the row twice, and one with weight 0 is none; days left out included."""
    rng = np.random.default_rng(6)
    days, often = random_days(3), [rng.integers(0, 3, 288) for _ in range(3)]
    people = [rng.uniform(0, 9, 288) for _ in days]
    repeated = [day.take(np.repeat(np.arange(288), n)) for day, n in zip(days, often, strict=True)]
    counts = [np.repeat(count, n) for count, n in zip(people, often, strict=True)]
    weights = [n.astype(float) for n in often]
    ours = fit_balance(DayTerms(days, BASE), people, lag=lag, weights=weights)
    theirs = fit_balance(DayTerms(repeated, BASE), counts, lag=lag)
    for one, other in zip(ours.choices, theirs.choices, strict=True):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8)
        assert one.weight == pytest.approx(other.weight, abs=1e-9)


def test_no_count_at_all_leaves_what_the_penalty_says():
    days = random_days(2)
    balance = fit_balance(DayTerms(days, BASE), [np.zeros(288)] * 2, lag=0, weights=[np.zeros(288)] * 2)
    assert all((choice.coef == 0).all() for choice in balance.choices)
    assert sum(choice.weight for choice in balance.choices) == pytest.approx(1)
