"""The cheapest corrections: against brute force, an integer programme, and cases worked by hand."""

import itertools

import numpy as np
import pandas as pd
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
    MAX_CHANGE,
    CorrectionCosts,
    balance_day,
)
from occupair.groundtruth.ledger.corrections import correction_costs
from occupair.groundtruth.ledger.ledger import build_ledger
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


def test_day_off_by_hundreds_is_not_balanced():
    flat = np.ones(3, dtype=int)
    costs = CorrectionCosts(flat * COST_PASSAGES, flat * 0, flat * 0, flat * 1.0)
    assert balance_day(np.array([MAX_CHANGE + 1, MAX_CHANGE + 1, MAX_CHANGE + 1]), costs) is None


def passages(rows, **more):
    """Passages from "08:00 north +2 -1" lines."""
    table = []
    for line in rows:
        time, door, entered, left, *weight = line.split()
        table.append((time, door, int(entered), -int(left), float(weight[0]) if weight else 1.0))
    times = pd.to_datetime([f"2024-01-08 {row[0]}" for row in table])
    columns = ["door", "entered", "left", "weight"]
    return pd.DataFrame([row[1:] for row in table], columns=columns, index=times).assign(**more)


def proposed(ledger):
    return [(f"{one.time:%H:%M}", one.door, one.entered, one.left) for one in ledger.corrections]


def test_missed_exit_is_placed_at_the_median_of_possible_minutes():
    rows = [
        "08:00 north +5 -0",
        "10:00 north +0 -1",
        "11:00 south +0 -1",
        "12:00 north +0 -1",
        "18:00 north +0 -1",
    ]
    ledger = build_ledger(passages(rows))
    # nine people pass, five of them in the first minute: the median is there
    assert proposed(ledger) == [("08:00", "north", -1, 0)]
    one = ledger.corrections[0]
    assert (f"{one.first:%H:%M}", f"{one.last:%H:%M}") == ("08:00", "18:00")
    assert one.reason == (
        "otherwise 1 person remains at the end of the day; entry counted twice or exit missed at any door, "
        "between 08:00 and 18:00."
    )
    # with probability 4/9 the exit is after the first minute, with 1/9 after 12:00
    weight = ledger.apply().weight
    assert weight["2024-01-08 07:59"] == weight["2024-01-08 18:00"] == 1.0
    assert weight["2024-01-08 09:00"] == pytest.approx(1 / (1 + 4 / 9))
    assert weight["2024-01-08 13:00"] == pytest.approx(1 / (1 + 1 / 9))


def test_uncertain_minute_is_corrected_first():
    rows = ["08:00 north +3 -0", "10:00 south +0 -1 0.5", "18:00 north +0 -1"]
    ledger = build_ledger(passages(rows))
    assert proposed(ledger) == [("10:00", "south", 0, 1)]
    assert ledger.corrections[0].reason.endswith("entry counted twice or exit missed at any door.")
    assert ledger.apply().weight["2024-01-08 11:00"] == 1.0
    assert ledger.apply().weight["2024-01-08 10:00"] == 0.5


def test_uncounted_minute_is_corrected_before_uncertain_ones():
    rows = ["08:00 north +2 -0", "10:00 south +0 -0 0", "12:00 north +0 -1 0.5"]
    ledger = build_ledger(passages(rows))
    assert proposed(ledger) == [("10:00", "south", 0, 1)]
    assert "this minute was not counted" in ledger.corrections[0].reason
    assert ledger.apply().weight["2024-01-08 10:00"] == 0


def test_repeat_within_seconds_is_removed_first():
    rows = ["08:00 north +2 -0", "08:30 south +2 -0", "18:00 north +0 -3"]
    ledger = build_ledger(passages(rows, entered_again=[0, 1, 0]))
    assert proposed(ledger) == [("08:30", "south", -1, 0)]
    assert "probably an entry counted twice within seconds" in ledger.corrections[0].reason
    closed = ledger.apply()
    assert closed.is_balanced
    assert closed.passages["entered_again"].sum() == 0


def test_missed_entry_shows_as_negative_occupancy():
    rows = ["08:00 north +1 -0", "09:00 north +0 -2", "10:00 north +1 -0", "11:00 north +0 -1"]
    ledger = build_ledger(passages(rows))
    assert [issue.kind for issue in ledger.issues] == ["negative"]
    assert [len(ledger.corrections), ledger.corrections[0].entered - ledger.corrections[0].left] == [1, 1]
    assert "otherwise the occupancy is -1 at 09:00" in ledger.corrections[0].reason


def test_occupancy_above_capacity_is_corrected():
    rows = ["08:00 north +4 -0", "09:00 north +2 -0", "10:00 north +0 -2", "11:00 north +0 -4"]
    ledger = build_ledger(passages(rows), capacity=5)
    assert [issue.kind for issue in ledger.issues] == ["over_capacity"]
    assert sum(one.entered - one.left for one in ledger.corrections) == 0
    assert "the occupancy is 6 at 09:00, above the capacity" in " ".join(ledger.proposals())
    assert ledger.apply().occupancy.max() == 5
    assert ledger.apply().is_balanced


def test_lone_exit_is_removed():
    ledger = build_ledger(passages(["08:00 north +0 -1"]))
    assert proposed(ledger) == [("08:00", "north", 0, -1)]


def test_correction_is_described_in_one_line():
    line = build_ledger(passages(["08:00 north +2 -0", "17:00 south +0 -1"])).proposals()[0]
    assert line == (
        "2024-01-08 08:00 north: 1 fewer entry: otherwise 1 person remains at the end of the day; "
        "entry counted twice or exit missed at any door, between 08:00 and 17:00."
    )
