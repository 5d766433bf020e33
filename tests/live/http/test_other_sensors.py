"""Posted readings with optional sensors."""

import datetime as dt
import json

import pytest
from fastapi import HTTPException

from occupair.live.config import RoomConfig
from occupair.live.http.readings import parse_readings
from occupair.live.http.schemas import ReadingIn
from occupair.readings.other_sensors import SENSORS

LAB = RoomConfig.model_validate({"id": "lab"})
NOW = dt.datetime(2024, 1, 8, 7, tzinfo=dt.UTC)


def parse(posted):
    return parse_readings(json.dumps(posted).encode(), LAB, NOW, limit=10)


def test_sensors_are_parsed_with_co2_and_alone():
    one, other = parse([{"co2": 612, "humidity": 41.5, "motion": 1}, {"wifi": 7}])
    assert (one.co2, dict(one.sensors)) == (612.0, {"humidity": 41.5, "motion": 1.0})
    assert (other.co2, dict(other.sensors)) == (None, {"wifi": 7.0})


def test_value_out_of_range_is_ignored():
    (one,) = parse([{"co2": 612, "humidity": 410}])
    assert dict(one.sensors) == {}
    with pytest.raises(HTTPException, match="must have co2, ventilation or another sensor"):
        parse({"humidity": 410})


def test_text_is_refused():
    with pytest.raises(HTTPException, match="humidity must be a number, got '41'"):
        parse({"co2": 612, "humidity": "41"})


def test_schema_has_every_sensor():
    assert set(SENSORS) <= set(ReadingIn.model_fields)
