"""What is fully on, and what is far outside; the units themselves are in test_reading_files."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings import Source
from occupair.ventilation_units import Scale, check_full, scale_of, scaled, words_to_numbers

WHERE = {"source": Source("room.csv", 2), "rows": np.arange(3)}


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
