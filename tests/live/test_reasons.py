"""Texts of the reasons why the occupancy of a room is unknown."""

import datetime as dt
from string import Formatter

import pytest

from occupair.live.reasons import TEXTS, Cause, Reason, reason_text

NOON = dt.datetime(2024, 1, 11, 12, 5, tzinfo=dt.UTC)


def fields(template):
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("language", TEXTS)
def test_every_reason_has_a_text_with_the_same_values(language):
    assert set(TEXTS[language]) == set(Reason)
    assert {code: fields(text) for code, text in TEXTS[language].items()} == {
        code: fields(text) for code, text in TEXTS["en"].items()
    }


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (Cause(Reason.NO_MODEL), "the room has no model yet"),
        (Cause(Reason.STUCK, {"hours": 3}), "CO2 unchanged for 3 hours"),
        (Cause(Reason.OUT_OF_RANGE, {"co2": 65535.0}), "implausible sensor reading: 65535 ppm"),
        (Cause(Reason.OFFLINE_SINCE_TIME, {"since": NOON}), "no reading since 12:05"),
        (Cause(Reason.OFFLINE_SINCE_DATE, {"since": NOON.date()}), "no reading since 11 January 2024"),
    ],
)
def test_text_contains_the_values(cause, text):
    assert cause.text() == text


def test_sensors_are_named_in_both_languages():
    cause = Cause(Reason.SENSORS_STUCK, {"sensors": ("wifi", "humidity"), "stuck": ("wifi",)})
    assert cause.text() == "estimated without Wi-Fi clients, humidity: Wi-Fi clients unchanged for too long"
    assert cause.text("de") == "ohne WLAN-Geräte, Luftfeuchte geschätzt: WLAN-Geräte zu lange unverändert"


def test_german_date_has_the_year():
    assert (
        Cause(Reason.OFFLINE_SINCE_DATE, {"since": NOON.date()}).text("de") == "kein Messwert seit 11.01.2024"
    )


def test_unknown_language_falls_back_to_english():
    assert reason_text(Reason.NO_READING, "xx") == reason_text(Reason.NO_READING, "en")
