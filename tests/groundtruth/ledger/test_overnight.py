"""Stays over the daily reset: suggested instead of two counting errors."""

import pandas as pd
import pytest
from groundtruth.simulated_doors import missed, office, rmse
from groundtruth.written_passages import written, written_grid

from occupair import InputError
from occupair.groundtruth.ledger.ledger import build_ledger
from occupair.groundtruth.ledger.overnight import OvernightStay, find_overnight_stays, split_stays


def with_stay(single, truth, *, day=2, come="20:00", go="03:30", people=1):
    """Add people who enter in the evening and leave the next morning."""
    midnight = truth.index[0].normalize() + pd.Timedelta(days=day)
    times = [
        midnight - pd.Timedelta(days=1) + pd.Timedelta(f"{come}:00"),
        midnight + pd.Timedelta(f"{go}:00"),
    ]
    stay = pd.DataFrame(
        {"door": "north", "entered": [people, 0], "left": [0, people], "weight": 1.0}, index=times
    )
    inside = (truth.index >= times[0]) & (truth.index < times[1])
    return pd.concat([single, stay]).sort_index(), truth + people * inside


@pytest.mark.parametrize(("come", "go", "people"), [("20:00", "03:30", 1), ("22:40", "01:10", 3)])
def test_overnight_stay_is_no_counting_error(come, go, people):
    for seed in range(3):
        single, truth = with_stay(*office(5, seed=seed), come=come, go=go, people=people)
        ledger = build_ledger(single)
        assert [issue.kind for issue in ledger.issues if issue.kind != "after_hours"] == ["overnight"]
        assert ledger.corrections == []
        [stay] = ledger.overnight_stays
        assert (stay.people, f"{stay.left:%H:%M}") == (people, go)
        applied = ledger.apply()
        wrong = applied.occupancy != truth
        assert wrong.sum() <= 1  # the minute of the reset
        assert (applied.weight[wrong] == 0).all()
        assert (ledger.weight[(ledger.occupancy != truth)] < 1).all()
        # a stay is likely but not certain
        assert applied.weight[stay.time] < 1


@pytest.mark.parametrize("errors", [0, 8])
def test_suggested_reset_gives_the_true_occupancy(errors):
    single, truth = with_stay(*office(5, seed=1))
    single = missed(single, errors) if errors else single
    [stay] = build_ledger(single).overnight_stays
    assert "03:30" < stay.reset < "08:00"
    assert f"set --reset {stay.reset}, when the room is empty" in str(stay)
    ledger = build_ledger(single, reset=stay.reset)
    assert ledger.overnight_stays == []
    labelled = ledger.occupancy.index.intersection(truth.index)
    if not errors:
        assert (ledger.occupancy[labelled] == truth[labelled]).all()
        assert [issue.kind for issue in ledger.issues] == ["after_hours"]
    assert len(ledger.corrections) == errors


def test_exit_at_night_before_anybody_entered_in_the_log():
    """Somebody was in the room before the log began."""
    single, truth = with_stay(*office(3, seed=0), day=2)
    later = single[single.index >= truth.index[2 * 1440]]
    ledger = build_ledger(later)
    assert "in the room since before the log" in ledger.proposals()[0]
    true = truth.iloc[2 * 1440 :]
    assert rmse(ledger.apply().occupancy, true) == 0
    assert (ledger.weight[ledger.occupancy != true] < 1).all()


def test_missed_exits_are_no_overnight_stays():
    for seed in range(3):
        single, _ = office(5, seed=seed)
        both = missed(missed(single, 10, seed=seed), 10, way="entered", seed=seed)
        assert build_ledger(both).overnight_stays == []


def test_stay_is_not_applied_if_not_chosen():
    single, _ = with_stay(*office(3, seed=0))
    ledger = build_ledger(single)
    kept = ledger.apply(overnight_stays=[])
    assert kept.overnight_stays == ledger.overnight_stays
    pd.testing.assert_series_equal(kept.occupancy, ledger.occupancy)


def stays(*lines):
    return [
        (f"{stay.time:%d}", stay.people, f"{stay.left:%H:%M}", stay.reset, stay.before_log)
        for stay in find_overnight_stays(written_grid(*lines), reset="00:00")
    ]


def night(go="03:00", *, come="08:00"):
    """Somebody stays from 20:00; somebody else comes the next morning."""
    return ["08 20:00 a +1 -0", f"09 {go} a +0 -1", f"09 {come} a +1 -0", "09 17:00 a +0 -1"]


@pytest.mark.parametrize(
    ("lines", "reset"),
    [
        (night("03:01"), "06:00"),  # 120 min before the next passage; 05:00 is 119 min after the last
        (night("03:00"), "05:00"),  # both are 120 min away: the earlier one
        ([*night("03:00"), "09 05:00 b +1 -1"], "04:00"),  # like 06:00 and 07:00, 60 min away
        (night("03:59", come="04:01"), "04:00"),  # the only hour
    ],
)
def test_suggested_reset_is_furthest_from_any_passage(lines, reset):
    assert stays(*lines) == [("09", 1, lines[1][3:8], reset, False)]


def test_stay_from_the_last_minute_of_the_day():
    assert stays("08 23:59 a +1 -0", "09 03:30 a +0 -1") == [("09", 1, "03:30", "10:00", False)]


def test_stays_on_two_nights_in_a_row():
    # one leaves at 03:00 and another comes at 20:00: the balance of the day is 0
    lines = [*night(), "09 20:00 a +1 -0", "10 03:00 a +0 -1"]
    assert stays(*lines) == [("09", 1, "03:00", "05:00", False), ("10", 1, "03:00", "05:00", False)]


def test_exit_at_night_of_nobody_is_no_stay():
    next_day = ["10 08:00 a +1 -0", "10 17:00 a +0 -1", "11 03:00 a +0 -1"]
    assert stays(*night(), *next_day) == [("09", 1, "03:00", "05:00", False)]


def test_no_stay_is_found_if_no_later_reset_is_better():
    """A night shift from 00:30 to 10:30 is in the room at all hours of the night."""
    shifts = [f"{day} {line}" for day in ("10", "11") for line in ("00:30 a +2 -0", "10:30 a +0 -2")]
    assert stays(*night(), *shifts) == []


@pytest.mark.parametrize(("go", "found"), [("04:59", True), ("05:00", False)])
def test_early_exit_is_from_before_the_log(go, found):
    """Every reset has one person missing: none is better than midnight."""
    assert stays(f"08 {go} a +0 -1") == ([("08", 1, go, "00:00", True)] if found else [])


def test_at_most_five_people_are_in_the_room_before_the_log():
    assert stays("08 01:00 a +0 -4", "08 02:00 a +0 -4") == [("08", 5, "02:00", "00:00", True)]


def test_stay_over_a_day_without_data_is_from_before_the_log():
    assert stays("08 20:00 a +1 -0", "10 03:30 a +0 -1") == [("10", 1, "03:30", "00:00", True)]


def test_stays_are_described_in_one_line():
    two = find_overnight_stays(written_grid("08 20:00 a +2 -0", "09 03:30 a +0 -2"), reset="00:00")
    assert [str(one) for one in two] == [
        "2024-01-09 00:00: overnight stay: 2 people remained at the reset and left by 03:30 without having "
        "entered again: set --reset 10:00, when the room is empty."
    ]
    [before] = find_overnight_stays(written_grid("08 03:30 a +0 -1"), reset="00:00")
    assert before.reason == "1 person left by 03:30 without having entered: in the room since before the log."


def test_invalid_reset_is_rejected():
    with pytest.raises(InputError, match=r"^reset must be a time of day"):
        find_overnight_stays(written_grid("08 08:00 a +1 -1"), reset="24:00")


def test_stay_is_split_at_the_reset():
    passages = written("08 20:00 a +2~1 -0", "09 00:00 a +1 -0~0 0.5", "09 03:30 b +0 -3~1")
    time, left = pd.Timestamp("2024-01-09"), pd.Timestamp("2024-01-09 03:30")
    later, early = (OvernightStay(time, 2, left, door, "05:00", before_log=door == "b") for door in "ab")
    pd.testing.assert_frame_equal(
        split_stays(passages, [later, early]),
        written(
            "08 20:00 a +2~1 -0",
            "08 23:59 a +0 -2 0",  # they are in the room in this minute: no label
            "09 00:00 a +3 -0 0.5",
            "09 00:00 b +2 -0",  # without an exit: they entered before the log
            "09 03:30 b +0 -3~1",
        ),
    )
    assert split_stays(passages, []) is passages
