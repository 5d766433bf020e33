"""Settings for the rooms of a portfolio."""

import tomllib

import pytest

from occupair.errors import InputError
from occupair.live.semantic.fleet_import import FleetRoom, import_fleet
from occupair.live.semantic.rooms_toml import format_draft

ROOMS = [
    FleetRoom("Lab 7", "models/rooms/Lab 7.occupair", capacity=24.0, volume=180.0, uses_ventilation=True),
    FleetRoom("lab-7", "models/rooms/lab-7.occupair", timezone="Asia/Tokyo"),
    FleetRoom("attic", "", "attic.csv: is empty\n[tokens.me]", capacity=4.0, volume=60.0),
]


def settings(**options):
    return tomllib.loads(format_draft(import_fleet(ROOMS, **options), origin="models"))


def test_rooms_have_their_models_topics_and_sizes():
    assert settings(co2="bms/{room}/co2", ventilation="bms/{id}/fan", timezone="Europe/Paris") == {
        "service": {"timezone": "Europe/Paris"},
        "mqtt": {"host": "localhost"},
        "rooms": {
            "lab-7": {
                "name": "Lab 7",
                "model": "models/rooms/Lab 7.occupair",
                "co2": "bms/Lab 7/co2",
                "ventilation": {"topic": "bms/lab-7/fan", "full": 1},
                "capacity": 24,
            },
            "lab-7-2": {
                "name": "lab-7",
                "model": "models/rooms/lab-7.occupair",
                "co2": "bms/lab-7/co2",
                "timezone": "Asia/Tokyo",
            },
            "attic": {"co2": "bms/attic/co2", "capacity": 4, "volume": 60},
        },
    }


def test_open_questions_are_comments():
    draft = import_fleet(ROOMS, co2="{room}", ventilation="fan/{room}")
    assert draft.n_checks == 3
    text = format_draft(draft, origin="models")
    assert "# CHECK: no model: attic.csv: is empty [tokens.me]\n" in text
    assert "# CHECK: full of every ventilation topic" in text
    without = format_draft(import_fleet(ROOMS, co2="{room}"), origin="models")
    assert "# CHECK: the model uses the ventilation: add its topic\n" in without


@pytest.mark.parametrize(
    ("options", "option"),
    [({"co2": "bms/co2"}, "--co2"), ({"co2": "{id}", "ventilation": "bms/fan"}, "--ventilation")],
)
def test_topic_without_the_room_is_refused(options, option):
    with pytest.raises(InputError, match=rf"{option} must contain \{{room\}} or \{{id\}}"):
        import_fleet(ROOMS, **options)
