"""Options of the rooms of a portfolio, from CSV and TOML."""

import pytest

from occupair.errors import InputError
from occupair.fleet.room_options import RoomOptions, parse_options


def test_csv_with_all_kinds_of_options():
    content = (
        "room,file,timezone,dayfirst,closed,capacity,volume,activity,columns.co2,columns.occupancy\n"
        "lab,lab_*.csv; old/lab.csv,Europe/Berlin,yes,20:00-06:00; Sa,24,180,office,Raum 7,Anwesende\n"
        "hall,,,,,,,,,\n"
    )
    options = parse_options(content.encode(), "rooms.csv")
    assert options == {
        "lab": RoomOptions(
            file=("lab_*.csv", "old/lab.csv"),
            timezone="Europe/Berlin",
            dayfirst=True,
            closed=("20:00-06:00", "Sa"),
            columns=(("co2", "Raum 7"), ("occupancy", "Anwesende")),
            properties={"capacity": 24.0, "volume": 180.0, "activity": "office"},
        ),
        "hall": RoomOptions(),
    }


def test_toml_gives_the_same_options_as_csv():
    toml = """
        [rooms."2.04 Süd"]
        file = ["a.csv", "b.csv"]
        dayfirst = false
        closed = ["20:00-06:00"]
        capacity = 24
        columns = {co2 = "Raum 7"}
    """
    table = (
        "room;file;dayfirst;closed;capacity;columns.co2\n2.04 Süd;'a.csv;b.csv';false;20:00-06:00;24;Raum 7\n"
    )
    expected = {
        "2.04 Süd": RoomOptions(
            file=("a.csv", "b.csv"),
            dayfirst=False,
            closed=("20:00-06:00",),
            columns=(("co2", "Raum 7"),),
            properties={"capacity": 24.0},
        )
    }
    assert parse_options(toml.encode(), "data/Rooms.TOML") == expected
    assert parse_options(table.replace("'", '"').encode("cp1252"), "rooms.csv") == expected


def test_german_csv_has_decimal_commas_and_a_byte_order_mark():
    content = "\ufeffroom;volume;capacity\nlab;31,5;4\n\n;;\n".encode("utf-8")
    assert parse_options(content, "rooms.csv")["lab"].properties == {"volume": 31.5, "capacity": 4.0}


def test_csv_may_start_with_blank_lines():
    assert parse_options(b"\n \nroom;capacity\nlab;4\n", "rooms.csv")["lab"].properties == {"capacity": 4.0}


def test_toml_may_have_a_byte_order_mark():
    content = b"\xef\xbb\xbf[rooms.lab]\r\ncapacity = 4\r\n"
    assert parse_options(content, "rooms.toml")["lab"].properties == {"capacity": 4.0}


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("capacity = 'many'", "rooms.toml: capacity must be a number, got 'many'"),
        ("volume = true", "rooms.toml: volume must be a number, got True"),
        ("volume = [1, 2]", "rooms.toml: volume must be a number, got [1, 2]"),
        ("dayfirst = 'maybe'", "rooms.toml: dayfirst must be true or false, got 'maybe'"),
    ],
)
def test_invalid_value_is_a_problem_of_its_room_only(table, problem):
    options = parse_options(f"[rooms.lab]\n{table}\n[rooms.hall]\ncapacity = 4\n".encode(), "rooms.toml")
    assert options["lab"] == RoomOptions(problem=problem)
    assert options["hall"] == RoomOptions(properties={"capacity": 4.0})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "rooms.csv",
            b"room,seats\nlab,3\n",
            r"^rooms\.csv: 'seats' is not a room option; the options are 'file'",
        ),
        ("rooms.toml", b"[rooms.lab]\nseats = 3\n", r"^rooms\.toml: 'seats' is not a room option"),
        (
            "rooms.csv",
            b"room,capacity\nlab,3\nlab,4\n",
            r"^rooms\.csv: room 'lab' is there twice: delete one$",
        ),
        (
            "rooms.csv",
            b"name,capacity\nlab,3\n",
            r"^rooms\.csv: has no column 'room', only 'name', 'capacity'$",
        ),
        ("rooms.csv", b"", r"^rooms\.csv: is empty$"),
        ("rooms.csv", b"PK\x03\x04...", r"^rooms\.csv: is a spreadsheet or a zip archive, not CSV"),
        ("rooms.csv", b'room\n"' + b"x" * 200_000, r"^rooms\.csv: is not a CSV table: field larger than"),
        ("rooms.toml", b"[rooms.lab\n", r"^rooms\.toml: is not TOML: "),
        ("rooms.toml", b"\xff\xfe\xff", r"^rooms\.toml: is not TOML: "),
        ("rooms.toml", b"[rooms.lab]\n[rooms.lab]\n", r"^rooms\.toml: is not TOML: Cannot declare"),
        ("rooms.toml", b"lab = 3\n", r"^rooms\.toml: must have a table \[rooms\.NAME\] for each room$"),
        ("rooms.toml", b"[rooms]\nlab = 3\n", r"^rooms\.toml: must have a table \[rooms\.NAME\]"),
        (
            "rooms.toml",
            b"[rooms.lab]\ncolumns = 'co2'\n",
            r"^rooms\.toml: columns of room 'lab' must be like \{co2 = \"Raum 7\"\}$",
        ),
    ],
)
def test_file_that_is_no_table_of_options_is_an_error(name, content, message):
    with pytest.raises(InputError, match=message):
        parse_options(content, name)


def test_defaults_apply_to_options_that_are_not_given():
    defaults = RoomOptions(
        timezone="Europe/Berlin",
        dayfirst=True,
        closed=("20:00-06:00",),
        columns=(("co2", "CO2 Wert"), ("time", "Zeit")),
        properties={"capacity": 9.0, "volume": 90.0},
    )
    own = RoomOptions(dayfirst=False, columns=(("co2", "Raum 7"),), properties={"capacity": 24.0})
    assert own.over(defaults) == RoomOptions(
        timezone="Europe/Berlin",
        dayfirst=False,
        closed=("20:00-06:00",),
        columns=(("co2", "Raum 7"), ("time", "Zeit")),
        properties={"capacity": 24.0, "volume": 90.0},
    )
    assert RoomOptions(problem="is wrong").over(defaults).problem == "is wrong"


def test_arguments_of_readers_and_of_the_estimator():
    options = RoomOptions(
        timezone="UTC", closed=("20:00-06:00",), columns=(("co2", "x"),), properties={"volume": 90.0}
    )
    assert options.reading == {"timezone": "UTC", "dayfirst": None, "columns": {"co2": "x"}}
    assert options.settings == {"volume": 90.0, "closed": ("20:00-06:00",)}
    assert RoomOptions().settings == {}
