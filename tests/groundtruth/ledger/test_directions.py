"""Doors with swapped directions: found before anything else, and not where there are none."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.simulated_doors import doubled, missed, off, office, rmse, swapped
from groundtruth.simulated_lectures import lectures
from groundtruth.written_passages import not_counted_on, written

from occupair.groundtruth.ledger.directions import find_swapped_doors
from occupair.groundtruth.ledger.ledger import build_ledger
from occupair.groundtruth.ledger.passage_grid import grid_passages
from occupair.groundtruth.passages import check_passages


def found(single):
    return [one.door for one in find_swapped_doors(grid_passages(check_passages(single)))]


@pytest.mark.parametrize("door", ["north", "south"])
@pytest.mark.parametrize("room", [office, lectures])
def test_swapped_door_is_proposed_and_nothing_else(room, door):
    for seed in range(3):
        single, truth = room(5, seed=seed)
        ledger = build_ledger(swapped(single, door))
        assert [one.door for one in ledger.swapped_doors] == [door]
        assert [issue.kind for issue in ledger.issues] == ["direction"]
        [line] = ledger.proposals()
        assert line.startswith(f"{door}: swap entries and exits: ")
        assert line.endswith("on 5 days as counted, 0 once swapped.") or room is lectures
        applied = ledger.apply()
        assert rmse(applied.occupancy, truth[applied.occupancy.index]) == 0
        assert applied.swapped_doors == []
        assert (applied.weight == 1).all()


def test_swapped_door_with_other_errors_is_found():
    for seed in range(4):
        single, truth = office(5, seed=seed)
        ledger = build_ledger(swapped(off(missed(single, 15, seed=seed), 3)))
        assert [one.door for one in ledger.swapped_doors] == ["south"]
        assert rmse(ledger.apply().occupancy, truth) < 0.25 * rmse(ledger.occupancy, truth)


def test_all_doors_swapped():
    single, truth = office(5, seed=0)
    ledger = build_ledger(swapped(swapped(single, "north"), "south"))
    assert [one.door for one in ledger.swapped_doors] == ["north", "south"]
    assert rmse(ledger.apply().occupancy, truth) == 0


def test_swap_is_not_applied_if_not_chosen():
    single, _ = office(3, seed=0)
    ledger = build_ledger(swapped(single))
    kept = ledger.apply([], swapped_doors=[])
    assert kept.swapped_doors == ledger.swapped_doors
    pd.testing.assert_series_equal(kept.occupancy, ledger.occupancy)


@pytest.mark.parametrize("days", [1, 2, 5])
def test_no_swap_is_found_in_counters_that_err(days):
    for seed in range(4):
        single, _ = office(days, seed=seed)
        rng = np.random.default_rng(seed)
        lossy = single[~((single["left"] > 0) & (rng.random(len(single)) < 0.2)).to_numpy()]
        for table in (
            single,
            missed(single, 15, way="entered"),
            doubled(single, 0.1),
            lossy,
            off(single, 12),
        ):
            assert found(table) == []


def test_no_swap_is_found_on_a_single_day():
    """Twenty people are in the room when the log begins: they leave for lunch and come back."""
    times = pd.to_datetime(["2024-01-08 12:15", "2024-01-08 13:00"])
    assert found(pd.DataFrame({"door": "a", "entered": [0, 20], "left": [20, 0]}, index=times)) == []
    assert found(swapped(office(1, seed=0)[0])) == []


def test_room_used_at_night_is_not_swapped():
    """A night shift enters at 22:00 and leaves at 06:00."""
    nights = pd.date_range("2024-01-08", periods=5)
    comes = pd.DataFrame({"door": "a", "entered": 10, "left": 0}, index=nights + pd.Timedelta(hours=22))
    goes = pd.DataFrame({"door": "a", "entered": 0, "left": 10}, index=nights + pd.Timedelta(hours=30))
    assert found(pd.concat([comes, goes]).sort_index()) == []


def in_by_a(day, people, out=None):
    """People enter by door a and leave by door b, whose counter is swapped: all are counted as entries."""
    return [f"{day} 08:00 a +{people} -0", f"{day} 17:00 b +{people if out is None else out} -0"]


def balanced(day):
    return [f"{day} 08:00 a +3 -0", f"{day} 17:00 a +0 -3"]


def reason(*lines):
    [one] = find_swapped_doors(grid_passages(written(*lines)))
    assert one.door == "b"
    return one.reason


def test_six_people_on_two_days_are_enough():
    # at the end of the last day people may remain: 2 * 2 and 2 * 1 are in excess on the others
    assert reason(*in_by_a("08", 2), *in_by_a("09", 1), *in_by_a("10", 1)) == (
        "6 people remain or are missing on 2 days as counted, 0 once swapped."
    )
    assert found(written(*in_by_a("08", 1), *in_by_a("09", 1), *in_by_a("10", 1))) == []


def test_log_of_two_days_shows_a_swap():
    # 8 in excess on the first day; on the second, 4 enter by b and leave by a: 8 seem to be missing
    second = ["09 08:00 b +0 -4", "09 17:00 a +0 -4"]
    assert reason(*in_by_a("08", 4), *second).startswith("16 people remain or are missing on 2 days")


def test_one_person_makes_a_day_count():
    # a person from before the log leaves by b on the first day
    second = ["09 08:00 b +0 -5", "09 17:00 a +0 -5"]
    assert reason("08 08:00 b +1 -0", *second) == (
        "11 people remain or are missing on 2 days as counted, 0 once swapped."
    )


def test_two_fifths_of_the_imbalance_may_remain():
    # as counted 4 + 2 and 3 + 1 in excess, once swapped 4 - 2 and 3 - 1
    assert reason(*in_by_a("08", 4, 2), *in_by_a("09", 3, 1), *in_by_a("10", 1)) == (
        "10 people remain or are missing on 2 days as counted, 4 once swapped."
    )
    # 4 + 1 remain of 6 + 6
    assert found(written(*in_by_a("08", 5, 1), *in_by_a("09", 5, 1), *in_by_a("10", 1))) == []


def test_single_unbalanced_day_shows_no_swap():
    days = [*balanced("08"), *in_by_a("09", 4), *balanced("10"), *balanced("11")]
    assert found(written(*days)) == []


def test_half_of_the_unbalanced_days_have_to_gain():
    two = [*in_by_a("08", 5), *in_by_a("09", 5)]
    one_remains = [f"{day} 08:00 a +1 -0" for day in ("10", "11", "12")]
    assert reason(*two, *one_remains[:2], *balanced("12")) == (
        "22 people remain or are missing on 4 days as counted, 2 once swapped."
    )
    assert found(written(*two, *one_remains, *balanced("13"))) == []


def test_balanced_and_uncounted_days_are_no_evidence_against_a_swap():
    two = [*in_by_a("08", 2), *in_by_a("09", 2)]
    expected = "8 people remain or are missing on 2 days as counted, 0 once swapped."
    assert reason(*two, *(line for day in ("10", "11", "12", "13") for line in balanced(day))) == expected
    uncounted = [line for day in ("10", "11", "12") for line in not_counted_on(day, "a")]
    assert reason(*two, *uncounted, *balanced("13")) == expected


@pytest.mark.parametrize(
    ("doors", "wrong", "expected"),
    [
        ("abc", "ab", ["a", "b"]),
        ("abcdef", "bd", ["b", "d"]),
        ("abcdefg", "bd", []),  # beyond six doors only one door or all are tried
        ("abcdefg", "d", ["d"]),
        ("abcdefg", "abcdefg", list("abcdefg")),
    ],
)
def test_combinations_of_swapped_doors(doors, wrong, expected):
    """Three people enter by each door but the last, by which all leave: no other swap balances the days."""
    exits = 3 * (len(doors) - 1)
    lines = []
    for day in ("08", "09", "10", "11"):
        for door in doors[:-1]:
            lines.append(f"{day} 08:00 {door} +0 -3" if door in wrong else f"{day} 08:00 {door} +3 -0")
        lines.append(f"{day} 17:00 {doors[-1]} " + (f"+{exits} -0" if doors[-1] in wrong else f"+0 -{exits}"))
    assert found(written(*lines)) == expected


@pytest.mark.parametrize(
    ("come", "go", "expected"),
    [
        ("07:00", "18:59", ["a"]),
        ("06:59", "18:59", []),  # half of the passages are not most
        ("07:30", "19:00", []),
    ],
)
def test_all_doors_are_swapped_only_in_a_room_used_by_day(come, go, expected):
    days = [[f"{day} {come} a +0 -4", f"{day} {go} a +4 -0"] for day in ("08", "09", "10", "11")]
    assert found(written(*(line for day in days for line in day))) == expected
