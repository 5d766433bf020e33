"""The cheapest change that balances a day: against brute force and an integer programme."""

import itertools

import numpy as np
import pytest
from groundtruth.simulated_doors import missed, office
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from occupair.groundtruth.ledger.balancing import (
    COST_NO_PASSAGES,
    COST_NOT_COUNTED,
    COST_PASSAGES,
    COST_REPEAT,
    COST_UNCERTAIN,
    CorrectionCosts,
    balance_day,
)
from occupair.groundtruth.ledger.corrections import correction_costs
from occupair.groundtruth.ledger.passage_grid import grid_passages
from occupair.groundtruth.passages import check_passages

UNIT_COST = st.sampled_from([COST_NOT_COUNTED, COST_UNCERTAIN, COST_PASSAGES, COST_NO_PASSAGES])


@st.composite
def days(draw, minutes=5, people=2):
    """Occupancy and correction costs of a few minutes, and a capacity."""
    n = draw(st.integers(1, minutes))

    def of(each):
        return np.array(draw(st.lists(each, min_size=n, max_size=n)))

    net = of(st.integers(-people, people))
    cheap = [of(st.integers(0, 1)) for _ in range(2)]
    likelihood = of(st.integers(1, 3)).astype(float)
    capacity = draw(st.none() | st.integers(1, 3))
    return np.cumsum(net), CorrectionCosts(of(UNIT_COST), *cheap, likelihood), capacity


def total_cost(costs, steps):
    return sum(int(costs.of(k, np.array([step]))[0]) for k, step in enumerate(steps))


def is_balanced(occupancy, capacity):
    return occupancy.min() >= 0 and occupancy[-1] == 0 and (capacity is None or occupancy.max() <= capacity)


def every_cheapest(occupancy, costs, capacity, most=6):
    """All changes that balance a day at the lowest cost, by brute force."""
    ranges = [range(-most, most + 1)] * occupancy.size
    found = {}
    for steps in itertools.product(*ranges):
        if is_balanced(occupancy + np.cumsum(steps), capacity):
            found[steps] = total_cost(costs, steps)
    lowest = min(found.values())
    return lowest, [steps for steps, cost in found.items() if cost == lowest]


@settings(max_examples=60, deadline=None)
@given(days(minutes=3))
def test_no_cheaper_change_balances_the_day(day):
    occupancy, costs, capacity = day
    found = balance_day(occupancy, costs, capacity=capacity)
    lowest, all_ = every_cheapest(occupancy, costs, capacity)
    steps = np.diff(found.change, prepend=0)
    assert found.cost == lowest == total_cost(costs, steps)
    assert tuple(steps) in all_
    assert is_balanced(occupancy + found.change, capacity)


@settings(max_examples=40, deadline=None)
@given(days(minutes=3))
def test_probabilities_are_fractions_of_all_cheapest_changes(day):
    occupancy, costs, capacity = day
    found = balance_day(occupancy, costs, capacity=capacity)
    _, all_ = every_cheapest(occupancy, costs, capacity)
    likelihood = costs.likelihood / costs.likelihood.max()
    factorial = np.array([1, 1, 2, 6, 24, 120, 720])
    ways = [np.prod(likelihood ** np.abs(steps) / factorial[np.abs(steps)]) for steps in all_]
    mean = np.average(np.cumsum(all_, axis=1), axis=0, weights=ways)
    np.testing.assert_allclose(found.mean(), mean, atol=1e-9)
    spread = np.average((np.cumsum(all_, axis=1) - mean) ** 2, axis=0, weights=ways)
    np.testing.assert_allclose(found.variance(), spread, atol=1e-9)


def by_programme(occupancy, costs, capacity):
    """The lowest cost as an integer programme: people added and removed per minute, at full and low cost."""
    n = occupancy.size
    saved = np.maximum(costs.unit - COST_REPEAT, 0)
    cost = np.concatenate([costs.unit, costs.unit, costs.unit - saved, costs.unit - saved])
    most = np.concatenate([np.full(2 * n, np.inf), costs.cheap_additions, costs.cheap_removals])
    total = np.tril(np.ones((n, n)))
    both = np.hstack([total, -total, total, -total])
    high = np.full(n, np.inf) if capacity is None else capacity - occupancy.astype(float)
    high[-1] = -occupancy[-1]
    solved = milp(
        cost,
        integrality=np.ones(4 * n),
        bounds=Bounds(0, most),
        constraints=LinearConstraint(both, -occupancy.astype(float), high),
    )
    return round(solved.fun)


@settings(max_examples=60, deadline=None)
@given(days(minutes=25, people=3))
def test_cost_equals_the_integer_programme(day):
    occupancy, costs, capacity = day
    found = balance_day(occupancy, costs, capacity=capacity)
    assert found.cost == by_programme(occupancy, costs, capacity)
    assert found.cost == total_cost(costs, np.diff(found.change, prepend=0))
    assert is_balanced(occupancy + found.change, capacity)


def test_cost_of_a_full_office_day_equals_the_integer_programme():
    single, _ = office(1, seed=4)
    grid = grid_passages(check_passages(missed(missed(single, 9), 6, way="entered")))
    costs, occupancy = correction_costs(grid), grid.occupancy()
    busy = np.flatnonzero((grid.entered + grid.left).sum(axis=0))  # 1440 minutes take the solver too long
    programme = by_programme(occupancy[busy], costs.select(busy), 20)
    assert balance_day(occupancy, costs, capacity=20).cost == programme


# Minutes with the same costs and bounds as their neighbour are skipped: days with many of these.
DAYS_BY_HAND = [  # occupancy, cost per person, cheap removals, cheap additions, capacity
    ([1, -1, 0], [4, 4, 4], [0, 0, 0], [0, 0, 0], 1),
    ([1, -1, 1, 0], [4] * 4, [0] * 4, [0] * 4, 1),
    ([-1, 1, 0], [4, 4, 4], [0, 0, 0], [0, 0, 0], 1),
    ([-1, -1, 0, 0], [4, 4, 4, 4], [0, 0, 0, 0], [0, 0, 0, 0], None),
    ([0, 0, -1, 0, -1, 0], [4] * 6, [0] * 6, [0] * 6, None),
    ([1, 1, 1, 1, 1], [4, 4, 1, 4, 4], [0] * 5, [0] * 5, None),
    ([2, 2, 2, 2], [4] * 4, [1] * 4, [0] * 4, None),
    ([0, 0, 0, -2], [4] * 4, [0] * 4, [1] * 4, None),
]


def runs_of_days(number):
    """Days of six minutes in which neighbours often have the same costs and occupancy."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        net = rng.choice([-1, 0, 1], size=6, p=[0.15, 0.7, 0.15])
        kind = rng.integers(0, 2, size=3)[np.sort(rng.integers(0, 3, size=6))]
        unit, removals, additions = rng.choice([[1, 2, 4, 6], [0, 0, 1, 0], [0, 0, 0, 1]], 2, axis=1)
        capacity = [None, 1, 2][rng.integers(3)]
        yield np.clip(np.cumsum(net), -2, 2), unit[kind], removals[kind], additions[kind], capacity


def every_path(minutes, levels):
    return np.stack(np.meshgrid(*[levels] * minutes, indexing="ij"), axis=-1).reshape(-1, minutes)


def by_enumeration(occupancy, unit, removals, additions, likelihood, capacity):
    """Lowest cost, mean and variance of the cumulative change over all paths from -2 to 2."""
    paths = every_path(len(occupancy), np.arange(-2, 3))
    counts = paths + occupancy
    possible = (counts >= 0).all(axis=1) & (counts[:, -1] == 0)
    if capacity is not None:
        possible &= (counts <= capacity).all(axis=1)
    paths = paths[possible]
    steps = np.diff(paths, axis=1, prepend=0)
    number = np.abs(steps)
    cheap = np.minimum(number, np.where(steps < 0, removals, additions))
    cost = (np.asarray(unit) * number - cheap * np.maximum(np.asarray(unit) - 2, 0)).sum(axis=1)
    cheapest = cost == cost.min()
    factorial = np.array([1, 1, 2, 6, 24])
    ways = (likelihood ** number[cheapest] / factorial[number[cheapest]]).prod(axis=1)
    mean = np.average(paths[cheapest], axis=0, weights=ways)
    return cost.min(), mean, np.average((paths[cheapest] - mean) ** 2, axis=0, weights=ways)


@pytest.mark.parametrize("days", [DAYS_BY_HAND, list(runs_of_days(60))], ids=["by hand", "random"])
def test_neighbouring_minutes_with_the_same_costs_agree_with_enumeration(days):
    rng = np.random.default_rng(1)
    for occupancy, unit, removals, additions, capacity in days:
        likelihood = rng.integers(1, 3, size=len(occupancy)).repeat(2)[: len(occupancy)].astype(float)
        day = [np.asarray(values) for values in (occupancy, unit, removals, additions)]
        found = balance_day(day[0], CorrectionCosts(*day[1:], likelihood), capacity=capacity)
        cost, mean, variance = by_enumeration(*day, likelihood, capacity)
        assert found.cost == cost
        np.testing.assert_allclose(found.mean(), mean, atol=1e-9)
        np.testing.assert_allclose(found.variance(), variance, atol=1e-9)


def even_costs(minutes, likelihood=1.0):
    flat = np.ones(minutes, dtype=int)
    return CorrectionCosts(flat * COST_PASSAGES, flat * 0, flat * 0, flat * likelihood)


def test_day_off_by_hundreds_is_not_balanced():
    for sign in (1, -1):
        assert balance_day(np.array([0, 201, 201]) * sign, even_costs(3)) is None
        assert balance_day(np.array([0, 200, 200]) * sign, even_costs(3)).cost == 200 * 4


def test_many_missed_exits_are_spread_like_independent_people():
    # each of 200 people leaves in one of the last five minutes: binomial
    occupancy = np.where(np.arange(60) < 55, 0, 200)
    found = balance_day(occupancy, even_costs(60, 200.0))
    share = np.concatenate([np.zeros(55), np.arange(1, 6) / 5])
    np.testing.assert_allclose(found.mean(), -200 * share, atol=1e-6)
    np.testing.assert_allclose(found.variance(), 200 * share * (1 - share), atol=1e-6)


def test_lower_of_two_equally_likely_occupancies_is_proposed():
    assert balance_day(np.array([1, 1]), even_costs(2)).change.tolist() == [-1, -1]
    assert balance_day(np.array([0, -1]), even_costs(2)).change.tolist() == [0, 1]
