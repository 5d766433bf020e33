"""States of rooms as text."""

import datetime as dt
import json
import math
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from live.fake_pipeline import make_state

from occupair.live.messages import Quality, unknown_state
from occupair.live.reasons import Cause, Reason
from occupair.live.store.state_rows import from_text, to_text

SINCE = dt.datetime(2024, 1, 11, 12, 5, tzinfo=ZoneInfo("Europe/Copenhagen"))
CAUSES = [
    Cause(Reason.NO_MODEL),
    Cause(Reason.OFFLINE_SINCE_TIME, {"since": SINCE}),
    Cause(Reason.OFFLINE_SINCE_DATE, {"since": SINCE.date()}),
    Cause(Reason.OUT_OF_RANGE, {"co2": 65535.0}),
    Cause(Reason.SENSORS_STUCK, {"sensors": ("wifi", "humidity"), "stuck": ("wifi",)}),
]


def test_state_is_the_same_after_a_round_trip():
    state = make_state("lab", 3, note="drift", note_cause=Cause(Reason.SENSOR_READS_HIGH, {"ppm": 42}))
    assert from_text(to_text(state)) == state
    air = replace(state, outdoor_air=95.0, damper=0.63, outdoor_air_people=5.5)
    assert from_text(to_text(air)) == air


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: str(cause.reason))
def test_cause_is_the_same_after_a_round_trip(cause):
    state = unknown_state("lab", Quality.STALE, cause)
    found = from_text(to_text(state))
    assert found == state
    for language in ("en", "de"):
        assert found.cause.text(language) == cause.text(language)


def test_text_is_one_line():
    assert "\n" not in to_text(make_state("lab", reason="a\nb", note="c\r\nd"))


def test_number_keeps_every_digit_and_nan_stays():
    state = make_state("lab", co2=math.nan, people_exact=math.pi)
    found = from_text(to_text(state))
    assert math.isnan(found.co2)
    assert found.people_exact == math.pi


def test_state_of_a_newer_version_is_read():
    values = json.loads(to_text(replace(make_state("lab"), reason="the door is open")))
    values |= {"cause": ["door_open", {}], "mood": "good"}
    found = from_text(json.dumps(values))
    assert (found.reason, found.cause, found.people) == ("the door is open", None, 3)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"room": "lab"}', '{"time": 5}'])
def test_text_that_is_no_state_is_a_value_error(text):
    with pytest.raises(ValueError):
        from_text(text)


def test_unknown_kind_of_value_is_an_error():
    with pytest.raises(TypeError, match=r"^a state must not have a set\b"):
        to_text(make_state("lab", cause=Cause(Reason.STUCK, {"hours": {1}})))
