"""What is fully on, and what is far outside; the units themselves are in test_reading_files."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings.source import Source
from occupair.readings.ventilation_scale import Scale, same_share
from occupair.readings.ventilation_units import check_full, later_scale, scale_of, scaled, words_to_numbers

WHERE = {"source": Source("room.csv", 2), "row_numbers": np.arange(3)}


def shares(values, scale, *, given=False):
    return scaled(np.array(values), scale, given=given, column="fan", **WHERE).tolist()


def test_noise_around_off_and_full_is_cut():
    assert shares([-2.0, 50.0, 103.0], Scale(100, "%")) == [0, 0.5, 1]
    assert shares([0.0, 50.0, 1e6], Scale(100, "%"), given=True) == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("values", "given", "message"),
    [
        ([0.0, -20.0, 5.0], False, r"room\.csv, row 3, column fan: must be from 0 to 100 \[%\], got -20"),
        ([0.0, 5.0, 250.0], False, r"room\.csv, row 4, column fan: must be from 0 to 100 \[%\], got 250"),
        ([-20.0, 5.0, 250.0], True, r"room\.csv, row 2, column fan: must be from 0 \[%\], got -20"),
        ([0.0, 5.0, np.inf], True, r"room\.csv, row 4, column fan: must be from 0 \[%\], got inf"),
    ],
)
def test_what_is_far_outside_is_named(values, given, message):
    with pytest.raises(InputError, match=message):
        shares(values, Scale(100, "%"), given=given)


def test_on_says_too_little_among_numbers_but_off_is_0():
    fan = pd.Series(["off", "30", "55"], name="fan")
    assert words_to_numbers(fan, **WHERE)[0].tolist() == ["0", "30", "55"]
    with pytest.raises(InputError, match=r"row 4, column fan: must be a number, as '30' is, got 'On'"):
        words_to_numbers(pd.Series(["off", "30", "On"], name="fan"), **WHERE)


def test_types_that_know_what_is_missing():
    cells, words = words_to_numbers(pd.Series([True, None, False], dtype="boolean", name="fan"), **WHERE)
    np.testing.assert_equal(cells.to_numpy(), [1, np.nan, 0])
    assert words


def test_a_column_that_never_moves_has_a_scale_too():
    assert scale_of(np.zeros(3), name="airflow [m3/h]", unit="", words=False) == Scale(1.0, "m3/h")
    assert scale_of(np.full(3, np.nan), name="fan", unit="", words=False) == Scale(1.0, "0..1")


def test_the_line_below_the_header_may_state_the_unit():
    assert scale_of(np.array([0.0, 40.0]), name="Fan", unit="m3/h Smp", words=False) == Scale(40.0, "m3/h")


@pytest.mark.parametrize("full", [0, -1, np.nan, np.inf, "100"])
def test_what_the_caller_may_say(full):
    with pytest.raises(
        InputError, match="ventilation_full must be a number above 0, in the file's unit, got"
    ):
        check_full(full)


def test_a_unit_comes_with_what_is_full():
    with pytest.raises(InputError, match="ventilation_unit must come with ventilation_full, got '%' alone"):
        check_full(None, "%")


def test_the_name_may_state_a_share():
    assert scale_of(np.array([0.0, 0.4]), name="damper [0..1]", unit="", words=False) == Scale(1.0, "0..1")


PERCENT, SHARE, HERTZ, FLOW, STAGES, SWITCH = (
    Scale(100, "%"),
    Scale(1, "0..1"),
    Scale(50, "Hz"),
    Scale(600, "m3/h"),
    Scale(3, "steps"),
    Scale(1, "on/off"),
)


@pytest.mark.parametrize(
    ("values", "own", "trained", "stated", "expected"),
    [
        ([0, 0.9], SHARE, PERCENT, False, SHARE),
        ([0, 0.9], SHARE, PERCENT, True, SHARE),
        ([0, 90], PERCENT, SHARE, False, PERCENT),
        ([0, 1.02], PERCENT, SHARE, False, SHARE),  # noise above full looks like 1 %
        ([0, 0], SHARE, FLOW, False, FLOW),  # off is off
        ([0, 30], PERCENT, HERTZ, False, HERTZ),  # a quiet day
        ([0, 30], PERCENT, HERTZ, True, None),
        ([0, 90], PERCENT, HERTZ, False, None),
        ([0, 300], Scale(300, "m3/h"), FLOW, True, FLOW),
        ([0, 300], Scale(300, "unknown"), PERCENT, False, None),
        ([0, 300], Scale(300, "m3/h"), PERCENT, True, None),
        ([0, 0.5], SHARE, FLOW, False, None),
        ([0, 1], SHARE, STAGES, False, STAGES),
        ([0, 0.5], SHARE, STAGES, False, None),
        ([0, 1], SWITCH, SHARE, True, SWITCH),
        ([0, 1], SWITCH, PERCENT, True, None),
    ],
)
def test_the_scale_of_a_later_file(values, own, trained, stated, expected):
    assert later_scale(np.array(values, dtype=float), own, trained, stated=stated) == expected


def test_a_percentage_of_something_else_is_no_share():
    assert not same_share(Scale(80, "%"), SHARE)
    assert same_share(FLOW, FLOW)
