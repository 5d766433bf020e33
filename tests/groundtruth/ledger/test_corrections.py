"""The smallest corrections: against every possibility, an integer programme, and cases worked by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from groundtruth.doors import missed, office
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from occupair.groundtruth.ledger.closing import (
    AGAIN,
    EMPTY,
    MOST,
    NOT_COUNTED,
    PASSED,
    UNSURE,
    Prices,
    close_day,
)
from occupair.groundtruth.ledger.corrections import prices_of
from occupair.groundtruth.ledger.days import lay_out
from occupair.groundtruth.ledger.ledger import reckon
from occupair.groundtruth.passages import check_passages

PRICE = st.sampled_from([NOT_COUNTED, UNSURE, PASSED, EMPTY])


@st.composite
def days(draw, minutes=5, people=2):
    """Net gain in a few minutes, with prices."""
    n = draw(st.integers(1, minutes))

    def of(each):
        return np.array(draw(st.lists(each, min_size=n, max_size=n)))

    net = of(st.integers(-people, people))
    cheap = [of(st.integers(0, 1)) for _ in range(2)]
    places = of(st.integers(1, 3)).astype(float)
    capacity = draw(st.none() | st.integers(1, 3))
    return np.cumsum(net), Prices(of(PRICE), *cheap, places), capacity


def price(prices, steps):
    return sum(int(prices.of(k, np.array([step]))[0]) for k, step in enumerate(steps))


def closes(occupancy, capacity):
    return occupancy.min() >= 0 and occupancy[-1] == 0 and (capacity is None or occupancy.max() <= capacity)


def every_smallest(occupancy, prices, capacity, most=6):
    """All changes that make a day close at the least price, by trying all."""
    ranges = [range(-most, most + 1)] * occupancy.size
    found = {}
    for steps in itertools.product(*ranges):
        if closes(occupancy + np.cumsum(steps), capacity):
            found[steps] = price(prices, steps)
    least = min(found.values())
    return least, [steps for steps, cost in found.items() if cost == least]


@settings(max_examples=60, deadline=None)
@given(days(minutes=3))
def test_nothing_smaller_closes_the_day(day):
    occupancy, prices, capacity = day
    found = close_day(occupancy, prices, capacity=capacity)
    least, all_ = every_smallest(occupancy, prices, capacity)
    steps = np.diff(found.change, prepend=0)
    assert found.cost == least == price(prices, steps)
    assert tuple(steps) in all_
    assert closes(occupancy + found.change, capacity)


@settings(max_examples=40, deadline=None)
@given(days(minutes=3))
def test_chances_are_shares_of_all_that_is_as_small(day):
    occupancy, prices, capacity = day
    found = close_day(occupancy, prices, capacity=capacity)
    _, all_ = every_smallest(occupancy, prices, capacity)
    places = prices.places / prices.places.max()
    factorial = np.array([1, 1, 2, 6, 24, 120, 720])
    ways = [np.prod(places ** np.abs(steps) / factorial[np.abs(steps)]) for steps in all_]
    mean = np.average(np.cumsum(all_, axis=1), axis=0, weights=ways)
    np.testing.assert_allclose(found.mean(), mean, atol=1e-9)
    spread = np.average((np.cumsum(all_, axis=1) - mean) ** 2, axis=0, weights=ways)
    np.testing.assert_allclose(found.variance(), spread, atol=1e-9)


def by_programme(occupancy, prices, capacity):
    """The least price as an integer programme: more and fewer people in each minute, dear and cheap."""
    n = occupancy.size
    saved = np.maximum(prices.each - AGAIN, 0)
    cost = np.concatenate([prices.each, prices.each, prices.each - saved, prices.each - saved])
    most = np.concatenate([np.full(2 * n, np.inf), prices.more_cheap, prices.fewer_cheap])
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
def test_the_price_is_that_of_the_integer_programme(day):
    occupancy, prices, capacity = day
    found = close_day(occupancy, prices, capacity=capacity)
    assert found.cost == by_programme(occupancy, prices, capacity)
    assert found.cost == price(prices, np.diff(found.change, prepend=0))
    assert closes(occupancy + found.change, capacity)


def test_a_whole_day_of_the_office_against_the_integer_programme():
    single, _ = office(1, seed=4)
    days_ = lay_out(check_passages(missed(missed(single, 9), 6, way="entered")))
    prices, occupancy = prices_of(days_), days_.occupancy()
    busy = np.flatnonzero((days_.entered + days_.left).sum(axis=0))  # a solver needs long for 1440 minutes
    few = Prices(prices.each[busy], prices.fewer_cheap[busy], prices.more_cheap[busy], prices.places[busy])
    assert close_day(occupancy, prices, capacity=20).cost == by_programme(occupancy[busy], few, 20)


def test_a_day_that_is_off_by_hundreds_is_left_alone():
    flat = np.ones(3, dtype=int)
    prices = Prices(flat * PASSED, flat * 0, flat * 0, flat * 1.0)
    assert close_day(np.array([MOST + 1, MOST + 1, MOST + 1]), prices) is None


def passages(rows, **more):
    """Passages from "08:00 north +2 -1" lines."""
    table = []
    for line in rows:
        time, door, entered, left, *weight = line.split()
        table.append((time, door, int(entered), -int(left), float(weight[0]) if weight else 1.0))
    times = pd.to_datetime([f"2024-01-08 {row[0]}" for row in table])
    columns = ["door", "entered", "left", "weight"]
    return pd.DataFrame([row[1:] for row in table], columns=columns, index=times).assign(**more)


def told(ledger):
    return [(f"{one.time:%H:%M}", one.door, one.entered, one.left) for one in ledger.corrections]


def test_a_missed_exit_is_put_in_the_middle_of_where_it_may_be():
    rows = [
        "08:00 north +5 -0",
        "10:00 north +0 -1",
        "11:00 south +0 -1",
        "12:00 north +0 -1",
        "18:00 north +0 -1",
    ]
    ledger = reckon(passages(rows))
    # nine people pass, five of them in the first minute; the middle one is there
    assert told(ledger) == [("08:00", "north", -1, 0)]
    one = ledger.corrections[0]
    assert (f"{one.first:%H:%M}", f"{one.last:%H:%M}") == ("08:00", "18:00")
    assert one.why == (
        "1 person would be left at the end of the day; an entrance was counted twice, "
        "somewhere from 08:00 to 18:00."
    )
    # 4/9 of the chance is after the first minute, 1/9 after 12:00
    weight = ledger.apply().weight
    assert weight["2024-01-08 07:59"] == weight["2024-01-08 18:00"] == 1.0
    assert weight["2024-01-08 09:00"] == pytest.approx(1 / (1 + 4 / 9))
    assert weight["2024-01-08 13:00"] == pytest.approx(1 / (1 + 1 / 9))


def test_an_unsure_minute_is_changed_before_others():
    rows = ["08:00 north +3 -0", "10:00 south +0 -1 0.5", "18:00 north +0 -1"]
    ledger = reckon(passages(rows))
    assert told(ledger) == [("10:00", "south", 0, 1)]
    assert ledger.corrections[0].why.endswith("an exit was missed.")
    assert ledger.apply().weight["2024-01-08 11:00"] == 1.0
    assert ledger.apply().weight["2024-01-08 10:00"] == 0.5


def test_a_minute_that_was_not_counted_is_changed_before_all_others():
    rows = ["08:00 north +2 -0", "10:00 south +0 -0 0", "12:00 north +0 -1 0.5"]
    ledger = reckon(passages(rows))
    assert told(ledger) == [("10:00", "south", 0, 1)]
    assert "this minute was not counted" in ledger.corrections[0].why
    assert ledger.apply().weight["2024-01-08 10:00"] == 0


def test_a_second_count_within_seconds_is_taken_off_first():
    rows = ["08:00 north +2 -0", "08:30 south +2 -0", "18:00 north +0 -3"]
    ledger = reckon(passages(rows, entered_again=[0, 1, 0]))
    assert told(ledger) == [("08:30", "south", -1, 0)]
    assert "an entrance was counted twice" in ledger.corrections[0].why
    closed = ledger.apply()
    assert closed.closes
    assert closed.passages["entered_again"].sum() == 0


def test_a_missed_entrance_shows_below_zero():
    rows = ["08:00 north +1 -0", "09:00 north +0 -2", "10:00 north +1 -0", "11:00 north +0 -1"]
    ledger = reckon(passages(rows))
    assert [fault.kind for fault in ledger.faults] == ["negative"]
    assert [len(ledger.corrections), ledger.corrections[0].entered - ledger.corrections[0].left] == [1, 1]
    assert "occupancy would be -1 at 09:00" in ledger.corrections[0].why


def test_more_than_the_room_holds():
    rows = ["08:00 north +4 -0", "09:00 north +2 -0", "10:00 north +0 -2", "11:00 north +0 -4"]
    ledger = reckon(passages(rows), capacity=5)
    assert [fault.kind for fault in ledger.faults] == ["over_capacity"]
    assert sum(one.entered - one.left for one in ledger.corrections) == 0
    assert "6 people would be in at 09:00, above the capacity" in " ".join(ledger.proposals())
    assert ledger.apply().occupancy.max() == 5
    assert ledger.apply().closes


def test_corrections_in_empty_minutes_where_nothing_else_does():
    ledger = reckon(passages(["08:00 north +0 -1"]))
    assert told(ledger) == [("08:00", "north", 0, -1)]  # that exit was none


def test_corrections_are_words():
    line = reckon(passages(["08:00 north +2 -0", "17:00 south +0 -1"])).proposals()[0]
    assert line == (
        "2024-01-08 08:00 north: 1 fewer entered: 1 person would be left at the end of the day; an entrance "
        "was counted twice, somewhere from 08:00 to 17:00."
    )
