"""Recognition of column names, and ambiguous names."""

import pytest

from occupair.errors import InputError
from occupair.readings.column_names import (
    candidate_columns,
    check_column_option,
    find_column,
    fold_text,
    header_score,
    squeeze_name,
    time_kind,
)
from occupair.readings.source import Source

ROOM = Source("room.csv")


@pytest.mark.parametrize(
    ("role", "name"),
    [
        *[
            ("co2", name)
            for name in ("CO2", "co2_ppm", "indoor_co2", "Raum-CO2 [ppm]", "S5_CO2", "CO₂ (ppm)")
        ],
        *[
            ("co2", name)
            for name in ("IndoorCO2Level", "carbon dioxide", "Kohlendioxid", "Kuldioxid", "Koldioxid")
        ],
        *[
            ("co2", name)
            for name in ("Dioxyde de carbone", "Dióxido de carbono", "Kooldioxide", "eCO2", "zone.CO2")
        ],
        *[
            ("ventilation", name)
            for name in ("Damper", "damper_position", "VAV", "fcu_fan_speed", "Klappe [%]")
        ],
        *[
            ("ventilation", name)
            for name in ("Luftmængde [m³/h]", "Zuluftvolumenstrom", "Lüftung", "Lueftung")
        ],
        *[
            ("ventilation", name)
            for name in ("Spjæld", "Débit d'air (m3/h)", "Caudal", "Luchtdebiet", "supply_air_flow")
        ],
        *[
            ("ventilation", name)
            for name in ("Ventilation", "Ventilación", "Ventilatie", "outdoor air damper", "Fan")
        ],
        *[
            ("occupancy", name)
            for name in ("occupant_count", "Occupancy", "Room_Occupancy_Count", "people", "Personen")
        ],
        *[("occupancy", name) for name in ("Belegung", "Antal personer", "Nombre de personnes", "Ocupación")],
        *[
            ("occupancy", name)
            for name in ("Aantal personen", "Bezetting", "head count", "n_people", "Count", "presence_people")
        ],
    ],
)
def test_known_name_is_recognised(role, name):
    assert candidate_columns(["x", name], role, {}) == [1]


@pytest.mark.parametrize(
    ("role", "name"),
    [
        *[
            ("co2", name)
            for name in ("outdoor_co2", "CO2 Außen", "S5_CO2_Slope", "CO2 setpoint", "CO2 max", "cost")
        ],
        *[
            ("ventilation", name)
            for name in ("fcu_fan_energy", "ceiling_fan_energy", "Fan Status", "vav_temperature")
        ],
        *[("ventilation", name) for name in ("damper setpoint", "supply_air_pressure", "infant")],
        *[
            ("occupancy", name)
            for name in ("wifi_connected_devices", "occupancy mode", "max people", "temperature")
        ],
    ],
)
def test_other_name_is_not_recognised(role, name):
    assert candidate_columns(["x", name], role, {}) == []


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "stamp",
            ["timestamp", "Date/Time", "Date_Time (UTC)", "Zeitstempel", "Datum/Uhrzeit", "Date et heure"],
        ),
        ("stamp", ["Tidspunkt", "Fecha y hora", "Tijdstip", "Datum Tijd", "last_changed", "TIMESTAMP", "ts"]),
        ("date", ["Date", "Datum", "Dato", "Fecha"]),
        ("clock", ["time", "Time (UTC)", "Zeit", "Uhrzeit", "Heure", "Tid", "Hora", "tijd", "Local Time"]),
        (None, ["timer", "update", "DayId", "when", "co2", ""]),
    ],
)
def test_time_column_kind(kind, names):
    assert {time_kind(name) for name in names} == {kind}


def test_accents_case_brackets_and_separators_are_ignored():
    assert fold_text("ÅBEN Spjæld Øst, CO₂") == "aben spjaeld ost, co2"
    assert squeeze_name("Raum_CO2-Wert [ppm] (avg)") == "raumco2wert"


def test_exact_name_precedes_others_and_given_name_precedes_all():
    names = ["CO2 left", "co2", "CO2 right"]
    assert find_column(names, "co2", {}, ROOM) == 1
    assert find_column(names, "co2", {"co2": "CO2 right"}, ROOM) == 2
    assert find_column(names, "ventilation", {}, ROOM) is None


def test_count_precedes_presence():
    assert candidate_columns(["occupant_presence", "occupant_count"], "occupancy", {}) == [1]
    assert candidate_columns(["occupant_presence"], "occupancy", {}) == [0]


def test_given_column_is_not_matched_to_another_role():
    assert candidate_columns(["CO2 damper room", "Fan"], "ventilation", {"occupancy": "Fan"}) == []


def test_ambiguous_columns_are_listed_with_the_option():
    message = (
        r"room\.csv: has 2 columns that match co2, 'CO2 left' and 'CO2 right': "
        r"choose one with --column co2='CO2 left' \(in Python, columns=\{'co2': 'CO2 left'\}\)"
    )
    with pytest.raises(InputError, match=message):
        find_column(["CO2 left", "CO2 right"], "co2", {}, ROOM)
    with pytest.raises(InputError, match=r"room\.csv: has two columns 'CO2'"):
        find_column(["CO2", "CO2"], "co2", {}, ROOM)
    with pytest.raises(InputError, match=r"room\.csv: has no column 'Air', given as co2, only 'CO2'"):
        find_column(["CO2"], "co2", {"co2": "Air"}, ROOM)


def test_header_score():
    assert header_score(["Zeit", "CO2"], {}) == 2
    assert header_score(["Zeit", "Raum 7"], {}) == 1
    assert header_score(["Zeit", "Raum 7"], {"co2": "Raum 7"}) == 2
    assert header_score(["Logger", "7"], {}) == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"air": "CO2"}, "must be for time, date, co2, .*, motion, got 'air'"),
        ({"co2": 3}, "columns must map co2 to a column name, got 3"),
        ({"date": "Tag"}, "with a date must also name the time-of-day column as time"),
        ({"co2": "x", "occupancy": "x"}, "must use each column once, got 'x' twice"),
    ],
)
def test_invalid_column_option_is_rejected(given, message):
    with pytest.raises(InputError, match=message):
        check_column_option(given)
