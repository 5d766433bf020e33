"""The ledger: what adds up, what does not, and how near the truth it comes with errors planted."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.doors import doubled, missed, off, office, rmse
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair import InputError, OccupancyEstimator
from occupair.checks import find_faults
from occupair.groundtruth.counters.counter_series import passages_of
from occupair.groundtruth.ledger.days import lay_out
from occupair.groundtruth.ledger.ledger import reckon, to_readings
from occupair.groundtruth.passages import check_passages, not_counted
from occupair.readings.head_counts import check_labelled
from occupair.readings.source import Source
from occupair.simulation import simulate_office


@st.composite
def passages(draw):
    """A few passages at up to three doors on two days, unsure and not counted ones among them."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["2024-01-08", "2024-01-09"]),
                st.integers(0, 1439),
                st.sampled_from(["north", "south", "west"]),
                st.integers(0, 3),
                st.integers(0, 3),
                st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.0]),
            ),
            min_size=1,
            max_size=12,
        )
    )
    times = [pd.Timestamp(day) + pd.Timedelta(minutes=minute) for day, minute, *_ in rows]
    table = pd.DataFrame(
        [row[2:] for row in rows], columns=["door", "entered", "left", "weight"], index=times
    )
    table.loc[table["weight"] == 0, ["entered", "left"]] = 0
    return check_passages(table)


CAPACITY = st.none() | st.integers(1, 4)


@settings(max_examples=10, deadline=None)
@given(passages())
def test_what_is_gained_went_through_the_doors(table):
    ledger = reckon(table)
    days = lay_out(table)
    gained = ledger.occupancy.diff()
    for day in days.days:
        assert ledger.occupancy.iloc[day.start] == days.net[day.start]
        assert (gained.iloc[day.start + 1 : day.stop] == days.net[day.start + 1 : day.stop]).all()
    assert days.net.sum() == (table["entered"] - table["left"]).sum()


@settings(max_examples=10, deadline=None)
@given(passages(), CAPACITY)
def test_with_its_corrections_made_a_ledger_closes(table, capacity):
    ledger = reckon(table, capacity=capacity)
    closed = ledger.apply(clocks=[]) if not ledger.clocks else ledger.apply()
    assert closed.closes
    assert closed.corrections == []
    assert {fault.kind for fault in closed.faults} <= {"gap", "after_hours", "clock", "drift", "doubles"}
    assert (closed.weight <= 1).all()
    assert (closed.passages[["entered", "left"]] >= 0).all(axis=None)
    made = [closed.passages[way].sum() - ledger.passages[way].sum() for way in ("entered", "left")]
    assert made == [sum(getattr(one, way) for one in ledger.corrections) for way in ("entered", "left")]


@settings(max_examples=10, deadline=None)
@given(passages(), CAPACITY)
def test_nothing_is_proposed_for_a_ledger_that_closes(table, capacity):
    ledger = reckon(table, capacity=capacity)
    assert bool(ledger.corrections) != ledger.closes or ledger.clocks


@settings(max_examples=8, deadline=None)
@given(passages(), CAPACITY, st.randoms())
def test_the_order_of_doors_and_rows_does_not_matter(table, capacity, random):
    rows = list(range(len(table)))
    random.shuffle(rows)
    names = ["north", "south", "west"]
    other = dict(zip(names, random.sample(names, 3), strict=True))
    mixed = table.iloc[rows].assign(door=lambda part: part["door"].map(other))
    one, two = reckon(table, capacity=capacity), reckon(mixed, capacity=capacity)
    pd.testing.assert_series_equal(one.occupancy, two.occupancy)
    if not one.clocks and not two.clocks:
        pd.testing.assert_series_equal(one.apply().occupancy, two.apply().occupancy)
        pd.testing.assert_series_equal(one.apply().weight, two.apply().weight)


@settings(max_examples=8, deadline=None)
@given(passages(), CAPACITY, st.randoms())
def test_more_doors_for_the_same_people_change_nothing(table, capacity, random):
    through = [random.randint(0, int(row.entered)) for row in table.itertuples()]
    back = [random.randint(0, int(row.left)) for row in table.itertuples()]
    first = table.assign(entered=through, left=back)
    second = table.assign(
        entered=table["entered"] - through, left=table["left"] - back, door=table["door"] + " again"
    )
    one, two = reckon(table, capacity=capacity), reckon(pd.concat([first, second]), capacity=capacity)
    pd.testing.assert_series_equal(one.occupancy, two.occupancy)
    if not one.clocks and not two.clocks:
        pd.testing.assert_series_equal(one.apply().occupancy, two.apply().occupancy)
        pd.testing.assert_series_equal(one.apply().weight, two.apply().weight)


PLANTED = {  # errors, and the most that may be left of the error of what was counted
    "missed exits": (lambda single: missed(single, 15), 0.5),
    "missed entrances": (lambda single: missed(single, 15, way="entered"), 0.5),
    "entrances counted twice": (lambda single: doubled(single, 0.03), 0.25),
    "a counter that drifts": (lambda single: doubled(single, 0.05, door="north"), 0.25),
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("seconds", [True, False])
def test_an_office_with_errors_comes_near_the_truth(name, seconds):
    single, truth = office(5, seed=0)
    plant, most = PLANTED[name]
    records = plant(single)
    table = passages_of(records, source=Source("doors"), single=True) if seconds else check_passages(records)
    ledger = reckon(table)
    closed = ledger.apply()
    raw, corrected = rmse(ledger.occupancy, truth), rmse(closed.occupancy, truth)
    assert raw > 0.5
    assert corrected < most * raw * (1 if seconds else 2)
    assert closed.closes
    # where it is sure it is right, and where it is wrong it is not sure
    wrong = (closed.occupancy - truth).abs()
    assert wrong[closed.weight > 0.9].mean() < wrong[closed.weight <= 0.9].mean()


def test_an_office_counted_without_errors():
    single, truth = office(5, seed=0)
    ledger = reckon(check_passages(single))
    assert ledger.faults == []
    assert ledger.proposals() == []
    assert ledger.closes
    assert (ledger.weight == 1).all()
    pd.testing.assert_series_equal(
        ledger.occupancy, truth, check_names=False, check_freq=False, check_index=False
    )
    assert (ledger.occupancy.index == truth.index).all()


def kinds(ledger):
    return [fault.kind for fault in ledger.faults]


def rows(*lines, day="2024-01-08", **more):
    """Passages from "08:00 north +2 -1" lines."""
    parts = [line.split() for line in lines]
    return pd.DataFrame(
        {
            "door": [part[1] for part in parts],
            "entered": [int(part[2]) for part in parts],
            "left": [-int(part[3]) for part in parts],
        }
        | more,
        index=pd.to_datetime([f"{day} {part[0]}" for part in parts]),
    )


def test_somebody_after_half_past_eleven():
    ledger = reckon(rows("08:00 a +1 -0", "23:41 a +0 -1"))
    assert kinds(ledger) == ["after_hours"]
    assert ledger.faults[0].words.startswith("2024-01-08 23:41: 1 passage after 23:30, the last at 23:41")
    assert kinds(reckon(rows("08:00 a +1 -0", "23:41 a +0 -1"), quiet_after="23:45")) == []


def test_people_left_and_below_nobody_are_told_with_time_and_size():
    ledger = reckon(rows("08:00 a +0 -2", "09:00 a +5 -0"))
    assert [(fault.kind, f"{fault.time:%H:%M}", fault.size) for fault in ledger.faults] == [
        ("negative", "08:00", 2.0),
        ("left_at_reset", "23:59", 3.0),
    ]
    assert "down to -2, for 60 minutes of the day" in ledger.faults[0].words
    assert ledger.occupancy["2024-01-08 08:30"] == -2  # shown as it was counted


def test_minutes_that_were_not_counted():
    gap = not_counted("a", pd.Timestamp("2024-01-08 12:00"), pd.Timestamp("2024-01-08 12:31"))
    ledger = reckon(pd.concat([rows("08:00 a +1 -0", "18:00 a +0 -1", weight=[1.0, 1.0]), gap]))
    [fault] = ledger.faults
    assert (fault.kind, fault.size) == ("gap", 31.0)
    assert fault.words == (
        "a: not counted at 2024-01-08 12:00 until 2024-01-08 12:30 (31 minutes): whoever passed is missing."
    )
    assert (ledger.weight.between_time("12:00", "12:30") == 0).all()
    assert ledger.weight.sum() == 1440 - 31


def test_a_door_that_says_nothing_for_a_day():
    single, _ = office(5, seed=0)
    silent = single[~((single["door"] == "south") & (single.index.day == 5))]
    [fault] = [fault for fault in reckon(silent).faults if fault.kind == "gap"]
    assert f"{fault.time:%Y-%m-%d}" == "2015-08-05"
    assert "south: no passage from 2015-08-05" in fault.words


def test_days_of_which_no_door_says_anything():
    two = pd.concat([rows("08:00 a +1 -1", day="2024-01-08"), rows("08:00 a +1 -1", day="2024-01-11")])
    ledger = reckon(two)
    assert [fault.words for fault in ledger.faults] == [
        "No door says anything on 2 days (2024-01-09 and 2024-01-10): "
        "nobody there, or nothing counted? Left out."
    ]
    assert len(ledger.occupancy) == 2 * 1440


def test_a_counter_that_drifts_is_told():
    single, _ = office(5, seed=0)
    [fault] = [fault for fault in reckon(doubled(single, 0.05, door="north")).faults if fault.kind == "drift"]
    assert "more entrances than exits in 5 days" in fault.words
    assert "drift" not in kinds(reckon(missed(missed(single, 5), 5, way="entered")))


def test_one_person_counted_twice_at_one_door_or_at_both():
    single, _ = office(5, seed=0)
    twice = passages_of(doubled(single, 0.2, door="north"), source=Source("a"), single=True)
    words = [fault.words for fault in reckon(twice).faults if fault.kind == "doubles"]
    assert any(word.startswith("north: ") and "entrances came within seconds" in word for word in words)
    north = single[(single["door"] == "north").to_numpy()]
    heard = north[np.random.default_rng(0).random(len(north)) < 0.5].assign(door="south")
    words = [fault.words for fault in reckon(pd.concat([single, heard])).faults if fault.kind == "doubles"]
    assert any(word.startswith("north and south: both count one person the same way") for word in words)


def test_a_day_that_is_off_by_hundreds():
    ledger = reckon(rows("08:00 a +300 -0"))
    assert kinds(ledger) == ["hopeless", "left_at_reset"]
    assert ledger.corrections == []
    assert (ledger.weight == 0).all()


def test_a_room_that_is_empty_at_four():
    table = pd.concat([rows("23:00 a +1 -0"), rows("02:00 a +0 -1", day="2024-01-09")])
    assert kinds(reckon(table)) == ["left_at_reset", "negative"]
    ledger = reckon(table, reset="04:00", quiet_after="03:00")
    assert ledger.faults == []
    assert f"{ledger.occupancy.index[0]:%m-%d %H:%M}" == "01-08 04:00"


@pytest.mark.parametrize(("day", "hours"), [("2024-03-31", 23), ("2024-10-27", 25), ("2024-06-03", 24)])
def test_days_on_which_the_clock_changes(day, hours):
    ledger = reckon(rows("01:30 a +2 -0", "03:30 b +0 -1", "22:00 b +0 -1", day=day), timezone="Europe/Paris")
    assert len(ledger.occupancy) == hours * 60
    assert ledger.closes
    assert f"{ledger.occupancy.index[0]:%H:%M}" == "00:00"
    assert f"{ledger.occupancy.index[-1]:%H:%M}" == "23:59"
    inside = ledger.occupancy[ledger.occupancy == 2]
    assert len(inside) == (2 + (hours - 24)) * 60


def test_local_midnight_parts_the_days_of_times_in_utc():
    times = pd.to_datetime(
        ["2024-01-08 15:30Z", "2024-01-08 15:50Z", "2024-01-08 16:10Z", "2024-01-08 16:20Z"]
    )
    table = pd.DataFrame({"door": "a", "entered": [1, 0, 1, 0], "left": [0, 1, 0, 1]}, index=times)
    ledger = reckon(table, timezone="Asia/Singapore")  # midnight is at 16:00 UTC
    assert len(ledger.occupancy) == 2 * 1440
    assert ledger.closes
    assert "after_hours" in kinds(ledger)


def test_some_corrections_only():
    two = pd.concat([rows("08:00 a +2 -0", "17:00 a +0 -1", day=f"2024-01-0{day}") for day in (8, 9)])
    ledger = reckon(two)
    assert len(ledger.corrections) == 2
    half = ledger.apply(ledger.corrections[:1])
    assert half.corrections == ledger.corrections[1:]
    assert not half.closes
    assert half.weight["2024-01-09 20:00"] == pytest.approx(0.5)  # known to be one too many
    assert half.apply().closes


def test_readings_with_head_counts():
    single, truth = office(3, seed=0)
    air = simulate_office(3, seed=0)
    ledger = reckon(missed(single, 6))
    labelled = to_readings(ledger.apply(), air)
    assert list(labelled.columns) == ["co2", "ventilation", "occupancy", "occupancy_weight"]
    assert rmse(labelled["occupancy"], truth) < 0.5 * rmse(ledger.occupancy, truth)
    assert "negative_counts" not in {fault.kind for fault in find_faults(labelled)}
    quarter = to_readings(ledger.apply(), air.iloc[::15])
    assert (quarter["occupancy"] == labelled["occupancy"].iloc[::15]).all()
    alone = to_readings(ledger)
    assert list(alone.columns) == ["occupancy", "occupancy_weight"]


def test_readings_are_taken_as_they_are_by_fit():
    single, _ = office(3, seed=0)
    air = simulate_office(4, seed=0)  # a day more than was counted
    labelled = to_readings(reckon(missed(single, 6, way="entered")), air)
    assert (labelled["occupancy"] < 0).any()
    assert (labelled.loc[labelled["occupancy"] < 0, "occupancy_weight"] == 0).all()
    assert labelled["occupancy"].isna().sum() == 1440
    assert len(check_labelled(labelled)) == len(air)
    fitted = OccupancyEstimator(random_state=0, n_draws=1, n_hidden=50).fit(labelled)
    assert fitted.estimate(air.iloc[:1440], mode="hindsight").notna().all()


def test_what_is_wrong_is_one_line():
    table = rows("08:00 a +1 -1")
    air = pd.DataFrame({"co2": 500.0}, index=pd.date_range("2024-02-08", periods=10, freq="min"))
    cases = {
        "capacity must be a whole number of people, 1 or more, got 0": lambda: reckon(table, capacity=0),
        "reset must be a time of day such as 00:00 or 23:30, got '24:00'": lambda: reckon(
            table, reset="24:00"
        ),
        "quiet_after must be a time of day": lambda: reckon(table, quiet_after="late"),
        "timezone must be one such as": lambda: reckon(table, timezone="Mars"),
        "its clock never shows 2024-03-31 02:30": lambda: reckon(
            rows("02:30 a +1 -1", day="2024-03-31"), timezone="Europe/Paris"
        ),
        "none of them is on a day of the ledger": lambda: to_readings(reckon(table), air),
        "passages: have local times and the others have a time zone": lambda: to_readings(
            reckon(table), air.tz_localize("UTC")
        ),
        "readings: have local times": lambda: reckon(table, timezone="UTC", readings=air),
        "passages: there are none": lambda: reckon(table.iloc[:0]),
    }
    for words, call in cases.items():
        with pytest.raises(InputError) as caught:
            call()
        assert words in str(caught.value)


def test_two_clocks_and_missed_exits_at_once():
    single, truth = office(15, seed=2)
    ledger = reckon(off(missed(single, 30), 3))
    assert [shift.minutes for shift in ledger.clocks] == [-3]
    assert ledger.proposals()[0].startswith("south: move by -3 min: its clock is about 3 min")
    closed = ledger.apply()
    assert closed.closes
    assert rmse(closed.occupancy, truth) < 0.5 * rmse(ledger.occupancy, truth)
