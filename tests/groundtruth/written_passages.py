"""Passages written as lines of text, for cases worked by hand."""

import pandas as pd

from occupair.groundtruth.ledger.passage_grid import grid_passages
from occupair.groundtruth.passages import check_passages


def written(*lines, zone=None):
    """Passages from lines such as "08 09:00 north +3~1 -2 0.5".

    These are the day of January 2024, of which the 8th is a Monday, the time, the door, people who entered
    and left, and the weight, 1 if left out. One of the three who entered may be a repeat.
    """
    rows, times = [], []
    for line in lines:
        day, time, door, entered, left, *weight = line.split()
        entered, _, entered_again = entered.partition("~")
        left, _, left_again = left.partition("~")
        times.append(f"2024-01-{day} {time}")
        people = (int(entered), abs(int(left)), int(entered_again or 0), int(left_again or 0))
        rows.append((door, *people, float(weight[0]) if weight else 1.0))
    columns = ["door", "entered", "left", "entered_again", "left_again", "weight"]
    return check_passages(pd.DataFrame(rows, columns=columns, index=pd.to_datetime(times).tz_localize(zone)))


def written_grid(*lines, zone=None, reset="00:00"):
    """Passages from lines of text on the grid of minutes."""
    return grid_passages(written(*lines, zone=zone), reset=reset)


def not_counted_on(day, door):
    """Lines that mark a day of a door as not counted."""
    return [f"{day} {hour:02d}:{minute:02d} {door} +0 -0 0" for hour in range(24) for minute in range(60)]
