"""The rules for valid values, for arrays and for single values."""

import numpy as np
import pytest

from occupair.readings.gaps import is_gap
from occupair.readings.value_rules import VALUE_RULES, first_violation

VALUES = [
    ("co2", 0, True),
    ("co2", 1e6, True),
    ("co2", -0.1, False),
    ("co2", np.inf, False),
    ("co2", np.nan, False),
    ("ventilation", 1, True),
    ("ventilation", 1.01, False),
    ("occupancy", 3, True),
    ("occupancy", 2.5, False),
    ("occupancy", -1, False),
    ("occupancy", np.inf, False),
]


@pytest.mark.parametrize(("name", "value", "valid"), VALUES)
def test_rule_is_the_same_for_arrays_and_single_values(name, value, valid):
    assert VALUE_RULES[name].valid(np.array([value], dtype=float)).tolist() == [valid]
    assert VALUE_RULES[name].allows(value) is valid


def test_text_is_not_a_valid_value():
    assert not VALUE_RULES["co2"].allows("420")
    assert not VALUE_RULES["co2"].allows(None)


def test_missing_value_is_a_violation_unless_allowed():
    rule, values = "must be from 0 to 1000000 ppm", np.array([400.0, np.nan, -5.0])
    assert first_violation("co2", values) == (1, f"{rule}, got nothing")
    assert first_violation("co2", values, missing_allowed=True) == (
        2,
        "must be from 0 to 1000000 ppm, got -5",
    )
    assert first_violation("co2", values[:2], missing_allowed=True) is None


def test_gap_starts_beyond_one_and_a_half_intervals():
    assert is_gap(np.array([5.0, 7.5, 7.6]), 5.0).tolist() == [False, False, True]
