"""Time zones of other libraries."""

import datetime as dt

import pytest
from dateutil import tz

from occupair.readings.time_zones import standard_zone


@pytest.mark.parametrize("minutes", [-570, 60, 345])
def test_fixed_offset_of_another_library_becomes_one_of_the_standard_library(minutes):
    zone = standard_zone(tz.tzoffset("site", 60 * minutes))
    assert zone == dt.timezone(dt.timedelta(minutes=minutes))


def test_zone_without_name_and_fixed_offset_is_kept():
    """Such as the rules of a POSIX string."""
    rules = tz.tzstr("CET-1CEST,M3.5.0,M10.5.0/3")
    assert standard_zone(rules) is rules
