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


def test_day_list_names_all_days_and_joins_consecutive_ones():
    days = pd.to_datetime(
        ["2015-08-03", "2015-08-05", "2015-08-06", "2015-08-10", "2015-08-11", "2015-08-12"]
    )
    assert day_list(list(days[:1])) == "2015-08-03"
    assert day_list(list(days[1:3])) == "2015-08-05 and 2015-08-06"
    assert day_list(list(days)) == "2015-08-03, 2015-08-05, 2015-08-06 and 2015-08-10 to 2015-08-12"
    assert day_list(list(pd.date_range("2015-12-30", periods=4))) == "2015-12-30 to 2016-01-02"
