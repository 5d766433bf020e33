"""Doors with swapped directions: found before anything else, and not where there are none."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.simulated_doors import doubled, missed, off, office, rmse, swapped
from groundtruth.simulated_lectures import lectures

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
