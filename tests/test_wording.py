"""Text helpers for messages."""

import pandas as pd

from occupair.wording import day_list, plural, quoted, quoted_list


def test_plural():
    assert [plural(number, "day") for number in (0, 1, 2)] == ["0 days", "1 day", "2 days"]


def test_long_value_is_cut_to_60_characters():
    assert quoted("x" * 58) == repr("x" * 58)
    assert quoted("x" * 59) == "'" + "x" * 56 + "..."


def test_long_list_of_names_is_cut():
    assert quoted_list(range(20)).endswith("18, 19")
    assert quoted_list(range(22)).endswith("18, 19 and 2 more")


def test_day_list():
    days = list(pd.date_range("2015-08-03", periods=5))
    assert day_list(days[:1]) == "2015-08-03"
    assert day_list(days[:2]) == "2015-08-03 and 2015-08-04"
    assert day_list(days) == "2015-08-03, 2015-08-04, 2015-08-05, 2015-08-06 and 1 more"
