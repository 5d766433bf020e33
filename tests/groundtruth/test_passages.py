"""Validation of the passages table."""

import pandas as pd
import pytest

from occupair import InputError
from occupair.groundtruth.passages import check_passages


def frame(**columns):
    times = pd.to_datetime(["2024-01-08 08:31"])
    return pd.DataFrame({"door": "a", "entered": 1, "left": 0} | columns, index=times)


@pytest.mark.parametrize(
    ("passages", "rule"),
    [
        (pd.DataFrame({"door": ["a"]}), "must be a DataFrame with a DatetimeIndex"),
        (frame().drop(columns="left"), "has no column 'left'"),
        (frame(entered=-1), "column entered: must be an integer from 0 to 1000000, got -1"),
        (frame(left=0.5), "column left: must be an integer from 0 to 1000000, got 0.5"),
        (frame(weight=1.5), r"column weight: must be from 0 \(not counted\) to 1 \(certain\), got 1.5"),
        (
            frame().set_axis(pd.DatetimeIndex(["NaT"])),
            "column time: must be a time, got an empty or invalid value",
        ),
    ],
)
def test_invalid_passages_are_rejected(passages, rule):
    with pytest.raises(InputError, match=rule):
        check_passages(passages)
