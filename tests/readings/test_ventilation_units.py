"""Ventilation scales and values out of range; units in files are tested in test_files."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings.source import Source
from occupair.readings.ventilation_scale import Scale, in_unit, same_fraction
from occupair.readings.ventilation_units import (
    check_scale_options,
    find_scale,
    matching_scale,
    parse_on_off,
    to_fraction,
)

WHERE = {"source": Source("room.csv", 2), "row_numbers": np.arange(3)}


def shares(values, scale, *, given=False):
    return to_fraction(np.array(values), scale, given=given, column="fan", **WHERE).tolist()


def test_noise_around_off_and_full_is_clipped():
    assert shares([-2.0, 50.0, 103.0], Scale(100, "%")) == [0, 0.5, 1]
    assert shares([0.0, 50.0, 1e6], Scale(100, "%"), given=True) == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("values", "given", "message"),
    [
        ([0.0, -20.0, 5.0], False, r"room\.csv, row 3, column fan: must be from 0 to 100 \[%\], got -20"),
        ([0.0, 5.0, 250.0], False, r"room\.csv, row 4, column fan: must be from 0 to 100 \[%\], got 250"),
        (
            [-20.0, 5.0, 250.0],
            True,
            r"row 2, column fan: must be finite and 0 or more \[%\], got -20",
        ),
        (
            [0.0, 5.0, np.inf],
            True,
            r"row 4, column fan: must be finite and 0 or more \[%\], got inf",
        ),
    ],
)
def test_value_out_of_range_is_rejected(values, given, message):
    with pytest.raises(InputError, match=message):
        shares(values, Scale(100, "%"), given=given)


def test_off_among_numbers_is_0_and_on_is_rejected():
    fan = pd.Series(["off", "30", "55"], name="fan")
    assert parse_on_off(fan, **WHERE)[0].tolist() == ["0", "30", "55"]
    with pytest.raises(InputError, match=r"row 4, column fan: must be a number like '30', got 'On'"):
        parse_on_off(pd.Series(["off", "30", "On"], name="fan"), **WHERE)


def test_nullable_boolean_column():
    values, on_off = parse_on_off(pd.Series([True, None, False], dtype="boolean", name="fan"), **WHERE)
    np.testing.assert_equal(values.to_numpy(), [1, np.nan, 0])
    assert on_off


def test_scale_of_a_constant_column():
    assert find_scale(np.zeros(3), name="airflow [m3/h]", unit="", on_off=False) == Scale(1.0, "m3/h")
    assert find_scale(np.full(3, np.nan), name="fan", unit="", on_off=False) == Scale(1.0, "0..1")


def test_unit_below_the_header():
    assert find_scale(np.array([0.0, 40.0]), name="Fan", unit="m3/h Smp", on_off=False) == Scale(40.0, "m3/h")


@pytest.mark.parametrize("full", [0, -1, np.nan, np.inf, "100"])
def test_invalid_ventilation_full_is_rejected(full):
    with pytest.raises(
        InputError, match="ventilation_full must be a number above 0 in the unit of the file, got"
    ):
        check_scale_options(full)


def test_ventilation_unit_alone_is_rejected():
    with pytest.raises(InputError, match="ventilation_unit needs ventilation_full, got only '%'"):
        check_scale_options(None, "%")


def test_fraction_stated_in_the_name():
    assert find_scale(np.array([0.0, 0.4]), name="damper [0..1]", unit="", on_off=False) == Scale(1.0, "0..1")


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
        ([0, 30], PERCENT, HERTZ, False, HERTZ),  # a day with little ventilation
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
def test_scale_of_a_later_file(values, own, trained, stated, expected):
    assert matching_scale(np.array(values, dtype=float), own, trained, stated=stated) == expected


def test_percentage_of_another_maximum_is_not_equivalent():
    assert not same_fraction(Scale(80, "%"), SHARE)
    assert same_fraction(FLOW, FLOW)


def test_fraction_that_no_decimal_number_gives_keeps_its_exact_value():
    """A third of 1 L/s in m3/s has more than 15 decimals: no shorter number gives the same fraction."""
    assert in_unit(np.array([1 / 3, 1.0, np.nan]), Scale(0.001, "m3/s"))[:2].tolist() == [0.001 / 3, 0.001]
