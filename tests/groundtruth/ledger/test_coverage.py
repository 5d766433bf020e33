"""Coverage of door logs: no labels where a door has no data, no gaps where nobody passed."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.simulated_doors import missed, off, office, rmse
from groundtruth.simulated_lectures import lectures

from occupair.groundtruth.counters.counter_records import passages_from_records
from occupair.groundtruth.ledger.clock_offsets import ClockCorrection
from occupair.groundtruth.ledger.ledger import build_ledger, label_readings
from occupair.groundtruth.passages import check_passages
from occupair.readings.source import Source

DAY = pd.Timedelta(days=1)


def logged_every(single, minutes, *, days=None):
    """Passages from counts per interval, with zeros, for whole days."""
    tables = []
    for door, own in single.groupby("door"):
        first = own.index[0].normalize()
        last = own.index[-1].normalize() + DAY if days is None else first + days * DAY
        times = pd.date_range(first, last, freq=f"{minutes}min", inclusive="left")
        counts = own[["entered", "left"]].groupby(own.index.floor(f"{minutes}min")).sum()
        tables.append(counts.reindex(times, fill_value=0).astype(float).assign(door=door))
    return passages_from_records(pd.concat(tables), source=Source("doors"))


def clock(minutes, door="south"):
    return ClockCorrection(door, minutes, minutes, minutes, 9.0, "planted")


def gaps(ledger):
    return [issue for issue in ledger.issues if issue.kind == "gap"]


@pytest.mark.parametrize("minutes", [3, -3, 90])
@pytest.mark.parametrize("interval", [None, 1])
def test_clock_correction_adds_no_days(minutes, interval):
    """Rows at midnight would move to a day before or after the log."""
    single, truth = office(3, seed=1)
    edge = pd.DataFrame(
        {"door": "south", "entered": [1, 0, 1, 0], "left": [0, 1, 0, 1], "weight": 1.0},
        index=truth.index[[0, 1, -2, -1]],
    )
    single = pd.concat([single, edge]).sort_index()
    table = check_passages(single) if interval is None else logged_every(single, interval)
    ledger = build_ledger(table).apply([], clock_corrections=[clock(minutes)])
    times = pd.date_range(truth.index[0] - DAY, truth.index[-1] + DAY, freq="5min")
    labelled = label_readings(ledger, pd.DataFrame({"co2": 900.0}, index=times))
    outside = (labelled.index < truth.index[0]) | (labelled.index > truth.index[-1])
    assert labelled["occupancy"][outside].isna().all()
    assert (labelled["occupancy_weight"][outside] == 0).all()
    # the door has no data for the minutes by which it was moved
    weight = ledger.weight.iloc[:minutes] if minutes > 0 else ledger.weight.iloc[minutes:]
    assert len(weight) == abs(minutes)
    assert (weight == 0).all()
    assert (ledger.passages[["entered", "left"]].sum() == single[["entered", "left"]].sum()).all()


def test_clock_correction_adds_no_day_between_logged_days():
    table = pd.DataFrame(
        {"door": ["a", "b"] * 4, "entered": [1, 0] * 4, "left": [0, 1] * 4},
        index=pd.to_datetime(
            [f"2024-01-{day} {time}" for day in ("08", "10") for time in ("00:01", "00:02", "09:00", "17:00")]
        ),
    )
    ledger = build_ledger(table).apply([], clock_corrections=[clock(-5, "a"), clock(-5, "b")])
    assert sorted({f"{time:%d}" for time in ledger.occupancy.index}) == ["08", "10"]


@pytest.mark.parametrize(
    ("minutes", "late", "vacated"), [(3, "2015-08-07 23:58", 8), (-3, "2015-08-10 00:01", 9)]
)
def test_weekend_day_that_only_a_wrong_clock_logged_is_not_labelled(minutes, late, vacated):
    """An exit of Friday night or an entry of Monday is stamped on a day on which no counter was running."""
    single, _ = office(6, seed=4)  # Monday to Friday, and Monday
    late = pd.Timestamp(late)
    visit = pd.DatetimeIndex(
        [late - pd.Timedelta(minutes=50), late] if minutes > 0 else [late, late + DAY / 24]
    )
    rows = pd.DataFrame({"door": "south", "entered": [1, 0], "left": [0, 1], "weight": 1.0}, index=visit)
    table = check_passages(off(pd.concat([single, rows]).sort_index(), minutes))
    assert vacated in set(table.index.day)
    ledger = build_ledger(table).apply([], clock_corrections=[clock(-minutes)])
    assert (ledger.weight[ledger.weight.index.day == vacated] == 0).all()
    assert (ledger.weight[ledger.weight.index.day == late.day] > 0).any()


def test_clock_correction_across_midnight_stays_exact():
    single, truth = office(5, seed=2)
    ledger = build_ledger(off(single, 3)).apply([], clock_corrections=[clock(-3)])
    assert rmse(ledger.occupancy, truth) == 0


@pytest.mark.parametrize("interval", [None, 1, 15])
@pytest.mark.parametrize("end", ["late start", "early end"])
def test_day_outside_the_log_of_a_door_has_weight_zero(interval, end):
    single, truth = office(5, seed=3)
    cut = truth.index[1440] if end == "late start" else truth.index[4 * 1440]
    outside = single.index < cut if end == "late start" else single.index >= cut
    partial = single[~(outside & (single["door"] == "south").to_numpy())]
    table = check_passages(partial) if interval is None else logged_every(partial, interval)
    ledger = build_ledger(table)
    [issue] = gaps(ledger)
    date, verb = (cut, "begins") if end == "late start" else (cut - DAY, "ends")
    assert issue.message.startswith(f"south: its log {verb} on {date:%Y-%m-%d}: not counted from ")
    assert issue.size == 1440
    for result in (ledger, ledger.apply()):
        missing = result.weight.index < cut if end == "late start" else result.weight.index >= cut
        assert (result.weight[missing] == 0).all()
        assert missing.sum() == 1440
    assert ledger.corrections == []
    if interval is None:
        assert (ledger.weight[~missing] == 1).all()
        assert (ledger.occupancy[~missing] == truth[~missing]).all()


def test_small_room_without_one_of_its_doors_is_a_gap():
    """Nine people, four of them by a door whose log ends a day early: five seem to balance."""
    rows = []
    for day in ("08", "09", "10"):
        for door, people in (("north", 5), ("south", 4)):
            if (day, door) != ("10", "south"):
                rows += [(f"2024-01-{day} 09:00", door, people, 0), (f"2024-01-{day} 17:00", door, 0, people)]
    table = pd.DataFrame(rows, columns=["time", "door", "entered", "left"]).set_index("time")
    ledger = build_ledger(table.set_axis(pd.to_datetime(table.index)))
    assert (ledger.weight["2024-01-10"] == 0).all()
    assert (ledger.weight[:"2024-01-09"] == 1).all()
    assert [issue.message.split(":")[:2] for issue in ledger.issues] == [
        ["south", " its log ends on 2024-01-09"]
    ]


def test_hole_in_the_log_of_a_door_has_weight_zero():
    for seed in range(4):
        single, truth = office(5, seed=seed)
        start = truth.index[2 * 1440 + 600]
        hole = (single.index >= start) & (single.index < start + pd.Timedelta(hours=6))
        ledger = build_ledger(single[~(hole & (single["door"] == "south").to_numpy())])
        [issue] = gaps(ledger)
        assert issue.message.startswith("south: no passage, when ")
        applied = ledger.apply()
        assert (applied.weight[start : start + pd.Timedelta(minutes=359)] == 0).all()
        wrong = applied.occupancy != truth
        assert (applied.weight[wrong] < 1).all()


@pytest.mark.parametrize("interval", [None, 1, 5, 15])
def test_lecture_room_without_errors_has_no_findings(interval):
    for seed in range(3):
        single, _ = lectures(12, seed=seed)
        events = passages_from_records(single, source=Source("doors"), single=True)
        table = events if interval is None else logged_every(single, interval)
        assert [issue.message for issue in build_ledger(table).issues] == []


@pytest.mark.parametrize("interval", [5, 15])
def test_office_with_interval_counters_has_no_findings(interval):
    single, _ = office(5, seed=4)
    assert [issue.message for issue in build_ledger(logged_every(single, interval)).issues] == []


@pytest.mark.parametrize("days", [6, 7, 12])
@pytest.mark.parametrize("interval", [None, 1])
def test_quiet_saturday_is_no_gap(days, interval):
    """A few people on Saturday, by one door only; nobody on Sunday."""
    single, truth = office(10, seed=5)
    saturday = truth.index[4 * 1440] + DAY
    visits = pd.DataFrame(
        {"door": "north", "entered": [2, 0, 1, 0], "left": [0, 2, 0, 1], "weight": 1.0},
        index=saturday + pd.to_timedelta(["09:05:10", "11:40:20", "13:00:01", "13:30:44"]),
    )
    single = pd.concat([single, visits]).sort_index()
    single = single[single.index < truth.index[0] + days * DAY]
    table = check_passages(single) if interval is None else logged_every(single, interval, days=days)
    ledger = build_ledger(table)
    assert [issue.message for issue in ledger.issues] == []
    assert (ledger.weight[f"{saturday:%Y-%m-%d}"] == 1).all()


def test_log_that_ends_before_a_quiet_weekday_is_a_gap():
    """On the last day as many people left as entered by the other door, by chance, and fewer than usual."""
    usual = [
        f"{day} {time}" for day in ("2024-01-08", "2024-01-09", "2024-01-10") for time in ("08:00", "17:00")
    ]
    tables = [
        pd.DataFrame(
            {"door": door, "entered": [people, 0] * 3, "left": [0, people] * 3}, pd.to_datetime(usual)
        )
        for door, people in (("north", 16), ("south", 10))
    ]
    last = pd.to_datetime(["2024-01-11 08:00", "2024-01-11 17:00"])
    tables.append(pd.DataFrame({"door": "north", "entered": [7, 0], "left": [0, 7]}, index=last))
    ledger = build_ledger(check_passages(pd.concat(tables)))
    [gap] = gaps(ledger)  # 9 passages are to be expected at the south door
    assert gap.message.startswith("south: its log ends on 2024-01-10: not counted from 2024-01-11 00:00")
    assert (ledger.weight["2024-01-11"] == 0).all()
    assert (ledger.weight["2024-01-10"] == 1).all()


def test_counter_that_omits_zeros_but_for_a_heartbeat_has_no_gaps():
    """A row of zeros every midnight does not make the silence in between a hole."""
    single, truth = office(3, seed=6)
    counts = single[["entered", "left"]].groupby(single.index.floor("min")).sum()
    midnights = pd.DataFrame({"entered": 0, "left": 0}, index=truth.index[::1440])
    records = pd.concat([counts, midnights]).sort_index().astype(float).assign(door="a")
    ledger = build_ledger(passages_from_records(records, source=Source("doors")))
    assert ledger.issues == []
    assert (ledger.weight == 1).all()


def test_early_leave_on_friday_is_no_gap():
    single, truth = office(5, seed=7)
    noon = truth.index[4 * 1440 + 780]
    inside = int(truth[noon])
    early = single[single.index <= noon + pd.Timedelta(seconds=59)]
    leaving = pd.DataFrame(
        {"door": "north", "entered": 0, "left": [1] * inside, "weight": 1.0},
        index=noon + pd.to_timedelta(np.arange(60, 60 + 7 * inside, 7), unit="s"),
    )
    assert build_ledger(pd.concat([early, leaving])).issues == []


def test_reset_at_night_labels_no_hours_before_the_log():
    """The ledger day of the first exit begins on a day without data."""
    times = pd.to_datetime(["2024-01-08 01:00", "2024-01-08 08:00", "2024-01-08 17:00"])
    table = pd.DataFrame({"door": "a", "entered": [0, 1, 0], "left": [1, 0, 1]}, index=times)
    ledger = build_ledger(table, reset="04:00")
    assert (ledger.weight[:"2024-01-07 23:59"] == 0).all()
    applied = ledger.apply()
    assert applied.occupancy["2024-01-08 00:30"] == 1
    assert applied.occupancy["2024-01-08 01:00"] == 0
    assert applied.is_balanced


def test_missed_exits_do_not_make_a_lecture_room_silent():
    false = 0
    for seed in range(6):
        single, _ = lectures(5, seed=seed)
        false += len(gaps(build_ledger(missed(single, 10, seed=seed))))
    assert false <= 1
