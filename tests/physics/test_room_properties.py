"""Properties of a room, by hand."""

import math

import pytest

from occupair.errors import InputError
from occupair.physics.room_properties import ACTIVITIES, room_properties


def test_one_person_raises_co2_by_generation_over_volume():
    room = room_properties(volume=187, capacity=10)  # 0.0187 m3/h of CO2 in 187 m3 are 1e-4, or 100 ppm
    assert room.rise == pytest.approx(100.0)


def test_design_air_change_is_that_of_en_16798():
    room = room_properties(volume=150, area=50, capacity=20)
    litres_per_second = 20 * 7 + 50 * 0.7  # category II, low-polluting building
    assert room.design_air_change == pytest.approx(litres_per_second * 3.6 / 150)
    assert room.design_air_change == pytest.approx(4.2)


def test_known_air_flow_replaces_the_standard():
    assert room_properties(volume=150, capacity=20, air_flow=300).design_air_change == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("given", "volume", "area"),
    [
        ({"volume": 150}, 150, 50),
        ({"volume": 150, "height": 2.5}, 150, 60),
        ({"volume": 150, "area": 75}, 150, 75),
        ({"area": 60}, 180, 60),
        ({"area": 60, "height": 2.5}, 150, 60),
        ({"volume": 150, "area": 60, "height": 2.6}, 150, 60),  # 156 m3, within 10 %
    ],
)
def test_size_from_volume_area_and_height(given, volume, area):
    room = room_properties(capacity=20, **given)
    assert (room.volume, room.area) == (pytest.approx(volume), pytest.approx(area))


def test_activities_are_those_of_persily_and_de_jonge():
    litres_per_second = {name: generation / 3.6 for name, generation in ACTIVITIES.items()}
    assert list(litres_per_second) == ["sleeping", "seated", "office", "standing", "light work", "exercise"]
    assert list(litres_per_second.values()) == sorted(litres_per_second.values())
    assert litres_per_second["seated"] == pytest.approx(0.0052, rel=0.02)  # 18.7 L/h
    per_met = [litres_per_second[name] / met for name, met in (("sleeping", 1.0), ("standing", 1.6))]
    assert per_met[0] == pytest.approx(per_met[1], rel=0.1)  # proportional to the metabolic rate


@pytest.mark.parametrize("activity", list(ACTIVITIES))
def test_activity_by_name_number_and_text_agree(activity):
    by_name = room_properties(volume=150, capacity=20, activity=activity)
    assert by_name == room_properties(volume=150, capacity=20, activity=ACTIVITIES[activity])
    assert by_name == room_properties(volume=150, capacity=20, activity=str(ACTIVITIES[activity]))
    assert by_name.generation == ACTIVITIES[activity]


def test_nothing_given_is_no_room():
    assert room_properties() is None
    assert room_properties(air_flow=300, outdoor_co2=420, height=3) is None


def test_optional_properties_are_kept():
    room = room_properties(volume=150, capacity=20, air_flow=300, outdoor_co2=425)
    assert (room.air_flow, room.outdoor_co2, room.capacity) == (300, 425, 20)
    plain = room_properties(volume=150, capacity=20)
    assert (plain.air_flow, plain.outdoor_co2, plain.generation) == (None, None, 0.0187)


NUMBERS = ("volume", "capacity", "area", "height", "air_flow", "outdoor_co2", "activity")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -1.5, math.nan, math.inf, True, [3]])
def test_number_must_be_positive(name, value):
    given = {"volume": 150, "capacity": 20, name: value}
    with pytest.raises(InputError, match=f"{name} must be a number above 0, got "):
        room_properties(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"volume": "large"}, "volume must be a number above 0, got 'large'"),
        ({"capacity": 20}, r"capacity is given without the size of the room: give volume \[m3\] or area"),
        ({"capacity": 20, "height": 3}, "capacity is given without the size of the room"),
        ({"volume": 150}, "size of the room is given without capacity: give the number of seats or desks"),
        ({"area": 50}, "size of the room is given without capacity"),
        (
            {"volume": 150, "area": 60, "height": 3, "capacity": 20},
            "volume 150 m3 is not area times height, 180 m3: leave one of them out",
        ),
        (
            {"volume": 150, "capacity": 20, "activity": "running"},
            "activity must be one of sleeping, seated, office, standing, light work, exercise, "
            "or m3/h, got 'running'",
        ),
    ],
)
def test_invalid_properties_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        room_properties(**given)
