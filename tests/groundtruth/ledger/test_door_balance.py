"""The balance of each door, in numbers and in words."""

import pandas as pd
import pytest

from occupair.groundtruth.ledger.door_balance import DoorBalance, door_balances
from occupair.groundtruth.ledger.passage_grid import grid_passages


@pytest.mark.parametrize(
    ("entered", "left", "line"),
    [
        (12, 12, "a: as many exits as entries (12 each)"),
        (0, 0, "a: as many exits as entries (0 each)"),
        (200, 180, "a: 10 % fewer exits than entries (200 entries, 180 exits)"),
        (150, 200, "a: 25 % fewer entries than exits (150 entries, 200 exits)"),
        (100, 99, "a: 1 % fewer exits than entries (100 entries, 99 exits)"),
        (1000, 996, "a: 0.4 % fewer exits than entries (1000 entries, 996 exits)"),
        (1000, 985, "a: 2 % fewer exits than entries (1000 entries, 985 exits)"),
        (5, 0, "a: 100 % fewer exits than entries (5 entries, 0 exits)"),
    ],
)
def test_balance_in_one_line(entered, left, line):
    assert str(DoorBalance("a", entered, left)) == line


def test_minutes_in_which_a_door_is_not_counted_are_left_out():
    times = pd.to_datetime(["2024-01-08 08:00", "2024-01-08 08:01", "2024-01-08 08:02", "2024-01-08 08:00"])
    passages = pd.DataFrame(
        {
            "door": ["a", "a", "a", "b"],
            "entered": [3, 10, 1, 2],
            "left": [1, 20, 0, 4],
            "weight": [1.0, 0.0, 0.5, 1.0],
        },
        index=times,
    )
    assert door_balances(grid_passages(passages)) == [DoorBalance("a", 4, 1), DoorBalance("b", 2, 4)]
