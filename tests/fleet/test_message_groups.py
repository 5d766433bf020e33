"""Messages that differ only in names, dates and numbers are one group."""

import pytest

from occupair.fleet.message_groups import group_messages


def labels(*messages, names=None):
    names = names or [f"room {k}" for k in range(len(messages))]
    return {group.label: len(group.members) for group in group_messages(messages, names)}


@pytest.mark.parametrize(
    ("messages", "label"),
    [
        (
            ["CO2 is stuck at one value 1 time: it hung.", "CO2 is stuck at one value 7 times: it hung."],
            "CO2 is stuck at one value … times: it hung.",
        ),
        (
            ["differs on 2024-01-08 to 2024-01-10 and 2024-01-15", "differs on 2024-02-01"],
            "Differs on …",
        ),
        (
            ["counts on 1 whole day are few", "counts on 2 whole days are few"],
            "Counts on … whole days are few",
        ),
        (["must be a number, got 'n/a'", "must be a number, got '#REF!'"], "Must be a number, got …"),
        (
            [
                "s3://a/b c.parquet, row 5, column co2: is 'x'",
                "s3://a/d e.parquet, row 9, column co2: is 'x'",
            ],
            "Column co2: is 'x'",
        ),
        (["/data/a.csv: is empty", "/data/b.csv: is empty"], "Is empty"),
        (["needs 5 days, got 3", "needs 5 days, got 1"], "Needs 5 days, got …"),
        (["object at 0x7fa1 failed", "object at 0x7fb2 failed"], "Object at … failed"),
        (["It drifts. CO2 is read every 5 min.", "It drifts. There is no ventilation."], "It drifts."),
    ],
)
def test_messages_are_grouped(messages, label):
    assert labels(*messages, names=["b c", "d e"]) == {label: 2}


def test_name_of_the_room_is_ignored():
    names = ["Aula (west) $1", "Labor\\2"]
    assert labels(*(f"{name} has no readings" for name in names), names=names) == {"… has no readings": 2}


def test_name_inside_a_word_is_kept():
    assert labels("rooms are empty", "rooms are empty", names=["room", "r"]) == {"Rooms are empty": 2}


def test_different_messages_are_different_groups_largest_first():
    groups = group_messages(["is empty", "has no readings", "is empty", ""], list("abcd"))
    assert [(group.label, group.members) for group in groups] == [
        ("Is empty", (0, 2)),
        ("", (3,)),
        ("Has no readings", (1,)),
    ]
    assert len({group.key for group in groups}) == 3


def test_key_depends_on_the_text_only():
    one = group_messages(["needs 5 days, got 3"], ["a"])
    two = group_messages(["is empty", "needs 7 days, got 1"], ["b", "c"])
    assert one[0].key in [group.key for group in two]


def test_lone_surrogate_is_accepted():
    assert labels("bad \udc80 name") == {"Bad \udc80 name": 1}
