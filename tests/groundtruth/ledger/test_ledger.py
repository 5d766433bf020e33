"""The ledger: conservation, issues, and accuracy of the corrected occupancy with planted errors."""

import re

import numpy as np
import pandas as pd
import pytest
from groundtruth.simulated_doors import doubled, missed, off, office, rmse
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair import InputError, OccupancyEstimator
from occupair.checks import find_faults
from occupair.groundtruth.counters.counter_records import passages_from_records
from occupair.groundtruth.ledger.ledger import build_ledger, label_readings
from occupair.groundtruth.ledger.passage_grid import grid_passages
from occupair.groundtruth.passages import check_passages, not_counted
from occupair.readings.head_counts import check_labelled
from occupair.readings.source import Source
from occupair.simulation import simulate_office

DOORS = ["north", "south", "west"]


@st.composite
def passages(draw):
    """A few passages at up to three doors on two days, some uncertain or not counted; all have a log."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["2024-01-08", "2024-01-09"]),
                st.integers(0, 1439),
                st.sampled_from(DOORS),
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
    heartbeat = pd.MultiIndex.from_product([pd.to_datetime(["2024-01-08", "2024-01-09"]), DOORS]).to_frame()
    logged = pd.DataFrame({"door": heartbeat[1].to_numpy(), "entered": 0, "left": 0, "weight": 1.0})
    return check_passages(pd.concat([table, logged.set_axis(pd.DatetimeIndex(heartbeat[0]))]))


CAPACITY = st.none() | st.integers(1, 4)


@settings(max_examples=10, deadline=None)
@given(passages())
def test_occupancy_changes_by_entries_minus_exits(table):
    ledger = build_ledger(table)
    grid = grid_passages(table)
    gained = ledger.occupancy.diff()
    for day in grid.days:
        assert ledger.occupancy.iloc[day.start] == grid.net[day.start]
        assert (gained.iloc[day.start + 1 : day.stop] == grid.net[day.start + 1 : day.stop]).all()
    assert grid.net.sum() == (table["entered"] - table["left"]).sum()


@settings(max_examples=10, deadline=None)
@given(passages(), CAPACITY)
def test_ledger_is_balanced_after_corrections(table, capacity):
    ledger = build_ledger(table, capacity=capacity)
    closed = ledger.apply(clock_corrections=[]) if not ledger.clock_corrections else ledger.apply()
    assert closed.is_balanced
    assert closed.corrections == []
    assert {issue.kind for issue in closed.issues} <= {"gap", "after_hours", "clock", "drift", "doubles"}
    assert [*closed.swapped_doors, *closed.overnight_stays] == []
    assert (closed.weight <= 1).all()
    assert (closed.passages[["entered", "left"]] >= 0).all(axis=None)
    made = ledger.apply([]).passages[["entered", "left"]].sum()
    made = closed.passages[["entered", "left"]].sum() - made
    assert [*made] == [sum(getattr(one, way) for one in ledger.corrections) for way in ("entered", "left")]


@settings(max_examples=10, deadline=None)
@given(passages(), CAPACITY)
def test_balanced_ledger_has_no_corrections(table, capacity):
    ledger = build_ledger(table, capacity=capacity)
    assert bool(ledger.proposals()) != ledger.is_balanced or ledger.clock_corrections


@settings(max_examples=8, deadline=None)
@given(passages(), CAPACITY, st.randoms())
def test_order_of_doors_and_rows_has_no_effect(table, capacity, random):
    rows = list(range(len(table)))
    random.shuffle(rows)
    other = dict(zip(DOORS, random.sample(DOORS, 3), strict=True))
    mixed = table.iloc[rows].assign(door=lambda part: part["door"].map(other))
    one, two = build_ledger(table, capacity=capacity), build_ledger(mixed, capacity=capacity)
    pd.testing.assert_series_equal(one.occupancy, two.occupancy)
    if not any(found.clock_corrections or found.swapped_doors for found in (one, two)):
        one, two = one.apply(), two.apply()
        pd.testing.assert_series_equal(one.occupancy, two.occupancy)
        pd.testing.assert_series_equal(one.weight, two.weight)


@settings(max_examples=8, deadline=None)
@given(passages(), CAPACITY, st.randoms())
def test_splitting_passages_over_more_doors_has_no_effect(table, capacity, random):
    through = [random.randint(0, int(row.entered)) for row in table.itertuples()]
    back = [random.randint(0, int(row.left)) for row in table.itertuples()]
    first = table.assign(entered=through, left=back)
    second = table.assign(
        entered=table["entered"] - through, left=table["left"] - back, door=table["door"] + " again"
    )
    one, two = (
        build_ledger(table, capacity=capacity),
        build_ledger(pd.concat([first, second]), capacity=capacity),
    )
    pd.testing.assert_series_equal(one.occupancy, two.occupancy)
    if not any(found.clock_corrections or found.swapped_doors for found in (one, two)):
        one, two = one.apply(), two.apply()
        pd.testing.assert_series_equal(one.occupancy, two.occupancy)
        pd.testing.assert_series_equal(one.weight, two.weight)


PLANTED = {  # errors, and the largest remaining fraction of the uncorrected error
    "missed exits": (lambda single: missed(single, 15), 0.5),
    "missed entries": (lambda single: missed(single, 15, way="entered"), 0.5),
    "entries counted twice": (lambda single: doubled(single, 0.03), 0.25),
    "counter drift": (lambda single: doubled(single, 0.05, door="north"), 0.25),
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("seconds", [True, False])
def test_corrected_office_is_close_to_the_truth(name, seconds):
    single, truth = office(5, seed=0)
    plant, most = PLANTED[name]
    records = plant(single)
    table = (
        passages_from_records(records, source=Source("doors"), single=True)
        if seconds
        else check_passages(records)
    )
    ledger = build_ledger(table)
    closed = ledger.apply()
    raw, corrected = rmse(ledger.occupancy, truth), rmse(closed.occupancy, truth)
    assert raw > 0.5
    assert corrected < most * raw * (1 if seconds else 2)
    assert closed.is_balanced
    # errors are where the weight is low
    wrong = (closed.occupancy - truth).abs()
    assert wrong[closed.weight > 0.9].mean() < wrong[closed.weight <= 0.9].mean()


def test_office_counted_without_errors_has_no_issues():
    single, truth = office(5, seed=0)
    ledger = build_ledger(check_passages(single))
    assert ledger.issues == []
    assert ledger.proposals() == []
    assert ledger.is_balanced
    assert (ledger.weight == 1).all()
    pd.testing.assert_series_equal(
        ledger.occupancy, truth, check_names=False, check_freq=False, check_index=False
    )
    assert (ledger.occupancy.index == truth.index).all()


def kinds(ledger):
    return [issue.kind for issue in ledger.issues]


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


def test_passage_after_hours_is_reported():
    ledger = build_ledger(rows("08:00 a +1 -0", "23:41 a +0 -1"))
    assert kinds(ledger) == ["after_hours"]
    assert ledger.issues[0].message.startswith("2024-01-08 23:41: 1 passage after 23:30, the last at 23:41")
    assert kinds(build_ledger(rows("08:00 a +1 -0", "23:41 a +0 -1"), quiet_after="23:45")) == []


def test_imbalance_is_reported_with_time_and_size():
    ledger = build_ledger(rows("08:00 a +0 -2", "09:00 a +5 -0"))
    assert [(issue.kind, f"{issue.time:%H:%M}", issue.size) for issue in ledger.issues] == [
        ("negative", "08:00", 2.0),
        ("left_at_reset", "23:59", 3.0),
    ]
    assert "down to -2, for 60 minutes of the day" in ledger.issues[0].message
    assert ledger.occupancy["2024-01-08 08:30"] == -2  # as counted


def test_uncounted_minutes_have_weight_zero():
    gap = not_counted("a", pd.Timestamp("2024-01-08 12:00"), pd.Timestamp("2024-01-08 12:31"))
    ledger = build_ledger(pd.concat([rows("08:00 a +1 -0", "18:00 a +0 -1", weight=[1.0, 1.0]), gap]))
    [issue] = ledger.issues
    assert (issue.kind, issue.size) == ("gap", 31.0)
    assert issue.message == (
        "a: not counted from 2024-01-08 12:00 to 2024-01-08 12:30 (31 minutes): passages in this time are "
        "missing."
    )
    assert (ledger.weight.between_time("12:00", "12:30") == 0).all()
    assert ledger.weight.sum() == 1440 - 31


def test_door_silent_for_a_day_is_reported():
    single, _ = office(5, seed=0)
    silent = single[~((single["door"] == "south") & (single.index.day == 5))]
    [issue] = [issue for issue in build_ledger(silent).issues if issue.kind == "gap"]
    assert f"{issue.time:%Y-%m-%d}" == "2015-08-05"
    assert re.match(r"south: no passage, when \d+ are usual: not counted from 2015-08-05", issue.message)


def test_days_without_data_are_reported_and_excluded():
    two = pd.concat([rows("08:00 a +1 -1", day="2024-01-08"), rows("08:00 a +1 -1", day="2024-01-11")])
    ledger = build_ledger(two)
    assert [issue.message for issue in ledger.issues] == [
        "No data from any door on 2 days (2024-01-09 and 2024-01-10): room unused or not counted? Excluded."
    ]
    assert len(ledger.occupancy) == 2 * 1440


def test_counter_drift_is_reported():
    single, _ = office(5, seed=0)
    [issue] = [
        issue for issue in build_ledger(doubled(single, 0.05, door="north")).issues if issue.kind == "drift"
    ]
    assert "more entries than exits in 5 days" in issue.message
    assert "drift" not in kinds(build_ledger(missed(missed(single, 5), 5, way="entered")))


def test_double_counts_at_one_or_both_doors_are_reported():
    single, _ = office(5, seed=0)
    twice = passages_from_records(doubled(single, 0.2, door="north"), source=Source("a"), single=True)
    messages = [issue.message for issue in build_ledger(twice).issues if issue.kind == "doubles"]
    assert any(
        message.startswith("north: ") and "entries came within seconds" in message for message in messages
    )
    north = single[(single["door"] == "north").to_numpy()]
    repeated = north[np.random.default_rng(0).random(len(north)) < 0.5].assign(door="south")
    messages = [
        issue.message
        for issue in build_ledger(pd.concat([single, repeated])).issues
        if issue.kind == "doubles"
    ]
    assert any(
        message.startswith("north and south: both counted one person in the same direction")
        for message in messages
    )


def test_day_off_by_hundreds_has_weight_zero():
    ledger = build_ledger(rows("08:00 a +300 -0"))
    assert kinds(ledger) == ["hopeless", "left_at_reset"]
    assert ledger.corrections == []
    assert (ledger.weight == 0).all()


def test_reset_at_four_in_the_morning():
    table = pd.concat([rows("23:00 a +1 -0"), rows("02:00 a +0 -1", day="2024-01-09")])
    assert kinds(build_ledger(table)) == ["overnight"]
    ledger = build_ledger(table, reset="04:00", quiet_after="03:00")
    assert ledger.issues == []
    assert f"{ledger.occupancy.index[0]:%m-%d %H:%M}" == "01-08 04:00"


@pytest.mark.parametrize(("day", "hours"), [("2024-03-31", 23), ("2024-10-27", 25), ("2024-06-03", 24)])
def test_daylight_saving_days_have_23_or_25_hours(day, hours):
    ledger = build_ledger(
        rows("01:30 a +2 -0", "03:30 b +0 -1", "22:00 b +0 -1", day=day), timezone="Europe/Paris"
    )
    assert len(ledger.occupancy) == hours * 60
    assert ledger.is_balanced
    assert f"{ledger.occupancy.index[0]:%H:%M}" == "00:00"
    assert f"{ledger.occupancy.index[-1]:%H:%M}" == "23:59"
    inside = ledger.occupancy[ledger.occupancy == 2]
    assert len(inside) == (2 + (hours - 24)) * 60


def test_utc_times_are_split_at_local_midnight():
    times = pd.to_datetime(
        ["2024-01-08 15:30Z", "2024-01-08 15:50Z", "2024-01-08 16:10Z", "2024-01-08 16:20Z"]
    )
    table = pd.DataFrame({"door": "a", "entered": [1, 0, 1, 0], "left": [0, 1, 0, 1]}, index=times)
    ledger = build_ledger(table, timezone="Asia/Singapore")  # midnight is at 16:00 UTC
    assert len(ledger.occupancy) == 2 * 1440
    assert ledger.is_balanced
    assert "after_hours" in kinds(ledger)


def test_selected_corrections_can_be_applied():
    two = pd.concat([rows("08:00 a +2 -0", "17:00 a +0 -1", day=f"2024-01-0{day}") for day in (8, 9)])
    ledger = build_ledger(two)
    assert len(ledger.corrections) == 2
    half = ledger.apply(ledger.corrections[:1])
    assert half.corrections == ledger.corrections[1:]
    assert not half.is_balanced
    assert half.weight["2024-01-09 20:00"] == pytest.approx(0.5)  # one person too many
    assert half.apply().is_balanced


def test_readings_are_labelled_with_occupancy():
    single, truth = office(3, seed=0)
    air = simulate_office(3, seed=0)
    ledger = build_ledger(missed(single, 6))
    labelled = label_readings(ledger.apply(), air)
    assert list(labelled.columns) == ["co2", "ventilation", "occupancy", "occupancy_weight"]
    assert rmse(labelled["occupancy"], truth) < 0.5 * rmse(ledger.occupancy, truth)
    assert "negative_counts" not in {issue.kind for issue in find_faults(labelled)}
    quarter = label_readings(ledger.apply(), air.iloc[::15])
    assert (quarter["occupancy"] == labelled["occupancy"].iloc[::15]).all()
    alone = label_readings(ledger)
    assert list(alone.columns) == ["occupancy", "occupancy_weight"]


def test_labelled_readings_can_be_fitted():
    single, _ = office(3, seed=0)
    air = simulate_office(4, seed=0)  # one day more than counted
    labelled = label_readings(build_ledger(missed(single, 6, way="entered")), air)
    assert (labelled["occupancy"] < 0).any()
    assert (labelled.loc[labelled["occupancy"] < 0, "occupancy_weight"] == 0).all()
    assert labelled["occupancy"].isna().sum() == 1440
    assert len(check_labelled(labelled)) == len(air)
    fitted = OccupancyEstimator(random_state=0, n_draws=1, n_hidden=50).fit(labelled)
    assert fitted.estimate(air.iloc[:1440], mode="hindsight").notna().all()


def test_invalid_input_raises_one_line_error():
    table = rows("08:00 a +1 -1")
    air = pd.DataFrame({"co2": 500.0}, index=pd.date_range("2024-02-08", periods=10, freq="min"))
    cases = {
        "capacity must be a positive integer, got 0": lambda: build_ledger(table, capacity=0),
        "reset must be a time of day such as 00:00 or 23:30, got '24:00'": lambda: build_ledger(
            table, reset="24:00"
        ),
        "quiet_after must be a time of day": lambda: build_ledger(table, quiet_after="late"),
        "timezone must be a time zone name such as": lambda: build_ledger(table, timezone="Mars"),
        "local time 2024-03-31 02:30:00 does not exist in the time zone Europe/Paris": lambda: build_ledger(
            rows("02:30 a +1 -1", day="2024-03-31"), timezone="Europe/Paris"
        ),
        "no reading falls on a day of the ledger": lambda: label_readings(build_ledger(table), air),
        "passages: times have no time zone but those of the readings do": lambda: label_readings(
            build_ledger(table), air.tz_localize("UTC")
        ),
        "readings: times have no time zone": lambda: build_ledger(table, timezone="UTC", readings=air),
        "passages: the table is empty": lambda: build_ledger(table.iloc[:0]),
    }
    for message, call in cases.items():
        with pytest.raises(InputError) as caught:
            call()
        assert message in str(caught.value)


def test_clock_offset_and_missed_exits_are_corrected_together():
    single, truth = office(15, seed=2)
    ledger = build_ledger(off(missed(single, 30), 3))
    assert [correction.minutes for correction in ledger.clock_corrections] == [-3]
    assert ledger.proposals()[0].startswith("south: shift by -3 min: its clock is about 3 min")
    closed = ledger.apply()
    assert closed.is_balanced
    assert rmse(closed.occupancy, truth) < 0.5 * rmse(ledger.occupancy, truth)
