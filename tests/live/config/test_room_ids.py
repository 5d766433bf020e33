"""Ids of rooms that are made from names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.live.config.room_ids import make_room_id
from occupair.live.config.values import ID_PATTERN


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Meeting room 1", "meeting-room-1"),
        ("Büro 2, Süd", "buero-2-sued"),
        ("Bu\u0308ro", "buero"),  # u with a combining diaeresis
        ("STRASSE & Straße", "strasse-strasse"),
        ("Łódź", "lodz"),
        ("Århus Søndre", "aarhus-soendre"),
        ("room_101", "room_101"),
        ("a--b-", "a--b-"),  # valid as it is
        ("R2.14", "r2-14"),
        ("101", "101"),
        ("Кухня", "room-1"),
        ("Кухня 2", "room-2"),
        ("会議室 3.07", "room-3-07"),
        ("…", "room-1"),
        ("", "room-1"),
        ("x" * 80, "x" * 64),
    ],
)
def test_id_of_a_name(name, expected):
    assert make_room_id(name, ()) == expected


def test_taken_ids_are_numbered():
    taken = []
    for name in ("Lab", "lab!", "LAB", "Кухня", "Зал", "y" * 70, "y" * 71):
        taken.append(make_room_id(name, taken))
    assert taken == ["lab", "lab-2", "lab-3", "room-1", "room-2", "y" * 64, "y" * 62 + "-2"]


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=80), max_size=8))
def test_ids_of_any_names_are_valid_and_differ(names):
    ids = []
    for name in names:
        ids.append(make_room_id(name, ids))
    assert all(re.fullmatch(ID_PATTERN, one) for one in ids)
    assert len(set(ids)) == len(names)


@given(st.from_regex(ID_PATTERN, fullmatch=True))
def test_valid_id_is_kept(id_):
    assert make_room_id(id_, ()) == id_
