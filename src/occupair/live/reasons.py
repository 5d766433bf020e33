"""Reasons why the occupancy of a room is unknown or unusual, and notes on its sensors: codes and texts.

The service passes a `Cause` around: a code and the values that belong to it. Its text is made here and
nowhere else. Another language is one more table in `TEXTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Reason(StrEnum):
    """Why the occupancy of a room is unknown. Comments give the values that each text needs.

    With the last ones it is known, but unusual, estimated without some optional sensors of the model, or
    corrected for the drift of the sensor.
    """

    NO_MODEL = "no_model"
    NO_READING = "no_reading"
    NO_CO2_READING = "no_co2_reading"
    OFFLINE_SINCE_TIME = "offline_since_time"  # since: local datetime, today
    OFFLINE_SINCE_DATE = "offline_since_date"  # since: local date, before today
    TOO_FEW_READINGS = "too_few_readings"
    TOO_SPARSE = "too_sparse"  # minutes: between readings
    VENTILATION_UNKNOWN = "ventilation_unknown"
    OUT_OF_RANGE = "out_of_range"  # co2 [ppm]
    STUCK = "stuck"  # hours
    JUMP = "jump"
    CLOCK_BEHIND = "clock_behind"  # minutes
    CLOCK_AHEAD = "clock_ahead"  # minutes
    FUTURE_READING = "future_reading"
    NOT_SERVED = "not_served"  # the shard of the room is not running
    INVALID_ESTIMATE = "invalid_estimate"
    ESTIMATION_FAILED = "estimation_failed"
    SENSORS_MISSING = "sensors_missing"  # sensors: their names
    SENSORS_STUCK = "sensors_stuck"  # sensors: names of those not used; stuck: of those that are stuck
    UNUSUAL_TIME = "unusual_time"  # the occupancy is known
    SENSOR_READS_HIGH = "sensor_reads_high"  # ppm
    SENSOR_READS_LOW = "sensor_reads_low"  # ppm


TEXTS: dict[str, dict[Reason, str]] = {
    "en": {
        Reason.NO_MODEL: "the room has no model yet",
        Reason.NO_READING: "no reading yet",
        Reason.NO_CO2_READING: "no CO2 reading yet",
        Reason.OFFLINE_SINCE_TIME: "no reading since {since:%H:%M}",
        Reason.OFFLINE_SINCE_DATE: "no reading since {since:%d %B %Y}",
        Reason.TOO_FEW_READINGS: "too few readings since midnight or since the last gap",
        Reason.TOO_SPARSE: "a reading every {minutes} min is too few: set interval of the room",
        Reason.VENTILATION_UNKNOWN: "ventilation is unknown, and the model needs it",
        Reason.OUT_OF_RANGE: "implausible sensor reading: {co2:g} ppm",
        Reason.STUCK: "CO2 unchanged for {hours} hours",
        Reason.JUMP: "CO2 jumped by more than people can cause",
        Reason.CLOCK_BEHIND: "the sensor's clock is {minutes} minutes behind",
        Reason.CLOCK_AHEAD: "the sensor's clock is {minutes} minutes ahead",
        Reason.FUTURE_READING: "the newest reading is in the future: a clock was wrong",
        Reason.NOT_SERVED: "the room is not served right now",
        Reason.INVALID_ESTIMATE: "the model returned an invalid number",
        Reason.ESTIMATION_FAILED: "estimation failed: see the log",
        Reason.SENSORS_MISSING: "estimated without {sensors}: no recent reading",
        Reason.SENSORS_STUCK: "estimated without {sensors}: {stuck} unchanged for too long",
        Reason.UNUSUAL_TIME: "people detected outside the usual hours",
        Reason.SENSOR_READS_HIGH: "baseline drift: CO2 reads {ppm} ppm higher than in training (corrected)",
        Reason.SENSOR_READS_LOW: "baseline drift: CO2 reads {ppm} ppm lower than in training (corrected)",
    },
    "de": {
        Reason.NO_MODEL: "der Raum hat noch kein Modell",
        Reason.NO_READING: "noch kein Messwert",
        Reason.NO_CO2_READING: "noch kein CO2-Messwert",
        Reason.OFFLINE_SINCE_TIME: "kein Messwert seit {since:%H:%M} Uhr",
        Reason.OFFLINE_SINCE_DATE: "kein Messwert seit {since:%d.%m.%Y}",
        Reason.TOO_FEW_READINGS: "zu wenige Messwerte seit Mitternacht oder seit der letzten Lücke",
        Reason.TOO_SPARSE: "ein Messwert alle {minutes} min ist zu wenig: interval des Raums setzen",
        Reason.VENTILATION_UNKNOWN: "Lüftung unbekannt, das Modell benötigt sie",
        Reason.OUT_OF_RANGE: "unplausibler Messwert: {co2:g} ppm",
        Reason.STUCK: "CO2 seit {hours} Stunden unverändert",
        Reason.JUMP: "CO2-Sprung, den Personen nicht verursachen können",
        Reason.CLOCK_BEHIND: "die Uhr des Sensors geht {minutes} Minuten nach",
        Reason.CLOCK_AHEAD: "die Uhr des Sensors geht {minutes} Minuten vor",
        Reason.FUTURE_READING: "der letzte Messwert liegt in der Zukunft: eine Uhr ging falsch",
        Reason.NOT_SERVED: "der Raum wird zurzeit nicht bedient",
        Reason.INVALID_ESTIMATE: "das Modell lieferte eine ungültige Zahl",
        Reason.ESTIMATION_FAILED: "Schätzung fehlgeschlagen: siehe Protokoll",
        Reason.SENSORS_MISSING: "ohne {sensors} geschätzt: kein aktueller Messwert",
        Reason.SENSORS_STUCK: "ohne {sensors} geschätzt: {stuck} zu lange unverändert",
        Reason.UNUSUAL_TIME: "Personen außerhalb der üblichen Zeiten erkannt",
        Reason.SENSOR_READS_HIGH: "Sensordrift: CO2 {ppm} ppm höher als beim Training (korrigiert)",
        Reason.SENSOR_READS_LOW: "Sensordrift: CO2 {ppm} ppm niedriger als beim Training (korrigiert)",
    },
}
"""Text of each reason by language, as a format string of its values."""


SENSOR_NAMES: dict[str, dict[str, str]] = {
    "en": {
        "temperature": "temperature",
        "humidity": "humidity",
        "sound": "sound level",
        "light": "light",
        "wifi": "Wi-Fi clients",
        "power": "plug power",
        "motion": "motion",
    },
    "de": {
        "temperature": "Temperatur",
        "humidity": "Luftfeuchte",
        "sound": "Schallpegel",
        "light": "Licht",
        "wifi": "WLAN-Geräte",
        "power": "Steckdosenleistung",
        "motion": "Bewegung",
    },
}
"""Names of the optional sensors by language."""


class Cause(NamedTuple):
    """A reason and the values that belong to it.

    Examples
    --------
    >>> Cause(Reason.STUCK, {"hours": 5}).text()
    'CO2 unchanged for 5 hours'
    """

    reason: Reason
    values: Mapping[str, Any] = {}

    def text(self, language: str = "en") -> str:
        """Return the text of the cause in a language."""
        return reason_text(self.reason, language, **self.values)


def reason_text(code: Reason, language: str = "en", **values: Any) -> str:
    """Return the text of a reason.

    Parameters
    ----------
    code : Reason
        Which reason.
    language : str
        A key of ``TEXTS``; any other language falls back to English.
    **values
        The values that the text needs.

    Examples
    --------
    >>> reason_text(Reason.CLOCK_AHEAD, minutes=180)
    "the sensor's clock is 180 minutes ahead"
    >>> reason_text(Reason.SENSORS_MISSING, "de", sensors=("humidity", "wifi"))
    'ohne Luftfeuchte, WLAN-Geräte geschätzt: kein aktueller Messwert'
    """
    names = SENSOR_NAMES.get(language, SENSOR_NAMES["en"])
    for key in {"sensors", "stuck"} & values.keys():
        values[key] = ", ".join(names[name] for name in values[key])
    return TEXTS.get(language, TEXTS["en"])[code].format(**values)
