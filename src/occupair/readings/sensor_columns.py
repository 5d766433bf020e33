"""Columns of optional sensors in a file: which columns they are, and their numbers in our units.

A file never becomes invalid by these columns. If several columns match a sensor, none is read unless the
caller names one; a cell that is not a valid number is missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.column_names import NameRule, ambiguity_message, find_column, fold_text
from occupair.readings.number_column import as_text, decimal_mark, parse_numbers
from occupair.readings.other_sensors import SENSOR_UNITS, SENSORS, valid_or_missing
from occupair.readings.raw_table import RawTable
from occupair.readings.source import LenientSource
from occupair.readings.ventilation_units import OFF, ON

_ELSEWHERE = (
    "outdoor|outside|ambient|aussen|exterieur|exterior|udendors|buiten|supply|zuluft|return|abluft|exhaust|"
    "fortluft|umluft|water|wasser|coil|mixed|weather|wetter|drybulb|wetbulb|dewpoint|taupunkt|"
    "setpoint|sollwert|setpkt|consigne|consigna|alarm|fault|threshold|limit|status|schedule|battery|batterie|"
    "estimat|predict"
)
_WORDS = frozenset(
    {"min", "max", "minimum", "maximum", "std", "stdev", "sp", "ude", "out", "valid", "state", "mode"}
)

RULES = {
    "temperature": NameRule(
        stems="temperatu|(room|raum|indoor|air|luft|innen|stue)temp",
        words=frozenset({"temp"}),
        refused=f"surface|radia|heiz|heat|cool|vorlauf|rucklauf|ruecklauf|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
    "humidity": NameRule(
        stems="humid|feucht|fugt|vochtig|humedad",
        words=frozenset({"rh"}),
        refused=f"absolut|ratio|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
    "sound": NameRule(
        stems="sound|noise|schall|laerm|gerausch|geraeusch|bruit|sonore|ruido|lyd(niveau|tryk)|geluid",
        words=frozenset({"spl", "dba", "laeq", "leq", "larm"}),
        refused=f"energ|power|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
    "light": NameRule(
        stems="illumin|iluminan|helligkeit|beleuchtungsst|luminos|eclairement|lysstyrke|lichtsterkte|brightness",
        words=frozenset({"light", "lux", "licht", "lys", "luz", "lumiere", "lx"}),
        refused=f"energ|power|leistung|switch|solar|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
    "wifi": NameRule(
        stems="wifi|wlan",
        refused=f"signal|rssi|strength|ssid|channel|kanal|traffic|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
    "power": NameRule(
        stems="plugload|plugpower|steckdosenleistung|activepower|wirkleistung|stromleistung",
        words=frozenset({"power", "leistung", "puissance", "potencia", "vermogen", "watt", "watts"}),
        refused=f"energ|kwh|fan|factor|reactive|blind|voltage|solar|pv|fcu|ahu|heiz|heat|cool|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
    "motion": NameRule(
        stems="motion|bewegung|mouvement|movimiento|bevaegelse|beweging",
        words=frozenset({"pir"}),
        refused=f"count|emotion|{_ELSEWHERE}",
        refused_words=_WORDS,
    ),
}
"""How columns of optional sensors are recognised. Presence is not motion: in published data it often is the
head count in disguise.
"""

_DETECTED, _CLEAR = f"{ON}|detected|motion", f"{OFF}|clear|no motion"


def find_sensor_columns(
    table: RawTable, given: Mapping[str, str], taken: Collection[int]
) -> tuple[dict[str, int], dict[str, str]]:
    """Return the positions of the sensor columns, and for each ambiguous sensor what to do about it.

    Parameters
    ----------
    table : RawTable
        The raw values of a file.
    given : mapping
        Column names in the file, as given by the caller.
    taken : collection of int
        Positions of columns that are read as something else.
    """
    positions, unclear = {}, {}
    for name in SENSORS:
        if name in given:
            position = find_column(table.names, name, given, table.source)
            assert position is not None
            positions[name] = position
            continue
        found = [k for k in matching_columns(table.names, name, given) if k not in taken]
        if len(found) == 1:
            positions[name] = found[0]
        elif found:
            message = ambiguity_message(name, [table.names[k] for k in found])
            unclear[name] = f"not read, the file {message}"
    return positions, unclear


def matching_columns(names: Sequence[str], sensor: str, given: Mapping[str, str]) -> list[int]:
    """Return the positions of the columns that match a sensor; only the one with its exact name, if any.

    Examples
    --------
    >>> matching_columns(["time", "Raumtemperatur [°C]", "Außentemperatur", "rH %"], "temperature", {})
    [1]
    """
    if sensor in names:
        return [k for k, name in enumerate(names) if name == sensor]
    taken = set(given.values())
    return [k for k, name in enumerate(names) if name not in taken and RULES[sensor].rank(name) == 1]


def parse_sensors(
    table: RawTable, positions: Mapping[str, int]
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """Return the numbers of each sensor in our units, NaN where missing, and a description of its column."""
    columns = {name: table.column(position) for name, position in positions.items()}
    if "motion" in columns:
        columns["motion"] = _detections(columns["motion"])
    if not columns:
        return {}, {}
    first, *others = columns.values()
    mark = decimal_mark(others, first)
    lenient = LenientSource(table.source.name, table.source.first_row)  # its list of problems is not used
    values, described = {}, {}
    for name, column in columns.items():
        try:
            numbers = parse_numbers(column, mark=mark, source=lenient, row_numbers=table.row_numbers)
        except InputError:  # hardly any numbers
            described[name] = f"not read, column {str(column.name)!r} has hardly any numbers"
            continue
        numbers, unit = _in_our_unit(name, numbers, f"{column.name} {table.units[positions[name]]}")
        numbers = valid_or_missing(name, numbers)
        if np.isnan(numbers).all():
            continue
        values[name], described[name] = numbers, f"column {str(column.name)!r}, {unit}"
    return values, described


def _in_our_unit(name: str, values: NDArray[np.float64], stated: str) -> tuple[NDArray[np.float64], str]:
    """Convert °F and kW, if the column states them; percent of motion too."""
    unit, ours = fold_text(stated).replace("_", " "), SENSOR_UNITS[name]
    if name == "temperature" and re.search(r"°\s*f\b|\bdeg ?f\b|fahrenheit|[\[(]f[\])]|\bf$", unit):
        return (values - 32.0) / 1.8, "°F converted to °C"
    if name == "power" and re.search(r"\bkw\b", unit):
        return values * 1000.0, "kW converted to W"
    if name == "motion" and re.search(r"%|\b(pct|percent|prozent|procent)\b", unit):
        return values / 100.0, "% converted to 0..1"
    return values, ours


def _detections(column: pd.Series) -> pd.Series:
    """Replace on and off, detected and clear by 1 and 0."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float) if pd.api.types.is_bool_dtype(column) else column
    folded = as_text(column).map(lambda text: fold_text(text).strip())
    on, off = folded.str.fullmatch(_DETECTED), folded.str.fullmatch(_CLEAR)
    return pd.Series(folded.mask(on, "1").mask(off, "0"), name=str(column.name))
