"""The ledger and its labels in cases worked by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from groundtruth.written_passages import not_counted_on, written

from occupair import InputError
from occupair.groundtruth.ledger import ledger as ledger_module
from occupair.groundtruth.ledger.directions import SwappedDoor
from occupair.groundtruth.ledger.door_balance import DoorBalance
from occupair.groundtruth.ledger.issues import LedgerIssue
from occupair.groundtruth.ledger.ledger import build_ledger, label_readings

DAY = ["08 08:00 a +3 -0", "08 12:00 b +0 -1", "08 17:00 a +0 -2"]
IMPOSSIBLE = ["09 08:00 a +0 -1", "09 09:00 a +6 -0", "09 17:00 a +0 -5", "09 17:00 b +0 -0"]  # -1, then 5
STAY = ["08 20:00 a +1 -0", "09 03:30 a +0 -1"]


def at(text):
    """Time of a day of January 2024."""
    return pd.Timestamp(f"2024-01-{text}")


def kinds(ledger):
    return [issue.kind for issue in ledger.issues]


def lists(ledger):
    found = (ledger.swapped_doors, ledger.clock_corrections, ledger.overnight_stays, ledger.corrections)
    return [len(one) for one in found]


@pytest.mark.parametrize(
    ("lines", "capacity", "balanced"),
    [
        (DAY, None, True),
        (DAY, 3, True),
        (DAY, 2, False),
        (DAY[:2], None, False),  # 2 remain
        (["08 08:00 a +0 -1", "08 09:00 a +1 -0"], None, False),  # negative
        (
            [*not_counted_on("08", "b"), "08 08:00 a +1 -0", "09 08:00 a +1 -1", "09 09:00 b +1 -1"],
            None,
            True,
        ),
    ],
)
def test_balanced_ledger(lines, capacity, balanced):
    ledger = build_ledger(written(*lines), capacity=capacity)
    assert ledger.is_balanced is balanced
    assert ledger.settings.capacity == capacity
    if not balanced:
        assert ledger.apply().is_balanced


def test_balance_of_doors_and_days_follows_the_reset():
    ledger = build_ledger(
        written(*STAY, "08 10:00 b +1 -1", "09 01:00 b +0 -0"), reset="05:00", quiet_after="04:00"
    )
    assert ledger.is_balanced
    assert ledger.issues == []
    assert ledger.settings.reset == "05:00"
    assert ledger.door_balances() == [DoorBalance("a", 1, 1), DoorBalance("b", 1, 1)]
    assert ledger.occupancy.index[0] == at("08 05:00")
    assert ledger.occupancy.name == "occupancy"
    assert ledger.weight.name == "occupancy_weight"


def test_quiet_hours_begin_at_half_past_eleven():
    assert kinds(build_ledger(written("08 23:29 a +1 -1"))) == []
    assert kinds(build_ledger(written("08 23:30 a +1 -1"))) == ["after_hours"]
    assert kinds(build_ledger(written("08 23:30 a +1 -1"), quiet_after="23:31")) == []


def test_proposals_are_listed_in_the_order_in_which_they_are_made():
    ledger = replace(
        build_ledger(written(*DAY)),
        swapped_doors=["swap"],
        clock_corrections=["clock"],
        overnight_stays=["stay"],
        corrections=["count 1", "count 2"],
    )
    assert ledger.proposals() == ["swap", "clock", "stay", "count 1", "count 2"]


def swapped_lines():
    """Three days on which b is swapped, and an exit at a that was missed on the second."""
    lines = []
    for day, more in (("08", 0), ("09", 1), ("10", 0)):
        lines += [f"{day} 08:00 a +{4 + more} -0", f"{day} 17:00 b +4 -0"]
    return lines


def test_swapped_door_is_applied_with_the_corrections():
    ledger = build_ledger(written(*swapped_lines()))
    assert lists(ledger) == [1, 0, 0, 1]
    assert kinds(ledger) == ["direction", "left_at_reset"]
    applied = ledger.apply()
    assert applied.is_balanced
    assert lists(applied) == [0, 0, 0, 0]
    assert applied.issues == []
    only_swapped = ledger.apply([])
    assert lists(only_swapped) == [0, 0, 0, 1]
    assert only_swapped.occupancy.max() == 5
    kept = ledger.apply([], swapped_doors=[])
    assert lists(kept) == [1, 0, 0, 1]
    assert kept.occupancy.max() == 9


def test_clock_is_applied_before_the_corrections():
    """Door b is 4 min behind; on the second day an exit is missed."""
    lines = [
        "08 10:00 a +1 -0",
        "08 09:56 b +0 -1",
        "08 12:00 a +1 -1",
        "09 10:00 a +1 -0",
        "09 11:00 a +1 -1",
    ]
    lines += ["09 12:00 b +1 -1"]
    ledger = build_ledger(written(*lines))
    assert lists(ledger) == [0, 1, 0, 1]
    assert ledger.clock_corrections[0].minutes == 4
    assert "clock" in kinds(ledger)
    applied = ledger.apply()
    assert lists(applied) == [0, 0, 0, 0]
    assert applied.is_balanced
    assert (applied.weight["2024-01-08"][:4] == 0).all()  # b has no data for these minutes
    kept = ledger.apply([], clock_corrections=[])
    assert lists(kept) == [0, 1, 0, 1]
    assert kept.occupancy.equals(ledger.occupancy)


def test_stay_and_two_errors_are_equally_likely():
    ledger = build_ledger(written(*STAY))
    assert lists(ledger) == [0, 0, 1, 0]
    assert kinds(ledger) == ["overnight"]
    # with a stay one person is there from 20:00 to 03:30, with errors nobody: mean 0.5, variance 0.25
    times = [at(text) for text in ("08 12:00", "08 20:00", "09 00:00", "09 03:30")]
    assert ledger.posterior.mean[times].tolist() == [0, 0.5, 0.5, 0]
    assert ledger.posterior.variance[times].tolist() == [0, 0.25, 0.25, 0]
    assert ledger.occupancy[times].tolist() == [0, 1, 0, -1]
    assert ledger.weight[times].tolist() == pytest.approx([1, 2 / 3, 2 / 3, 1 / 2])
    applied = ledger.apply()
    assert lists(applied) == [0, 0, 0, 0]
    assert applied.occupancy[times].tolist() == [0, 1, 1, 0]
    assert applied.weight[times].tolist() == pytest.approx([1, 2 / 3, 2 / 3, 1])
    assert applied.weight[at("08 23:59")] == 0
    kept = ledger.apply(overnight_stays=[])
    assert lists(kept) == [0, 0, 1, 0]
    assert kept.occupancy.equals(ledger.occupancy)


def test_capacity_limits_the_corrections():
    lines = ["08 08:00 a +2 -0", "08 09:00 a +2 -0", "08 10:00 a +0 -2", "08 11:00 a +0 -2"]
    assert build_ledger(written(*lines)).corrections == []
    ledger = build_ledger(written(*lines), capacity=3)
    assert kinds(ledger) == ["over_capacity"]
    assert ledger.apply().occupancy.max() == 3
    overnight = build_ledger(written(*STAY, "08 09:00 a +2 -0", "08 10:00 a +0 -2"), capacity=1)
    assert overnight.posterior.mean.max() == 1


def test_gap_in_the_log_of_a_door_is_reported_once():
    lines = [f"{day} 08:00 a +5 -5" for day in ("08", "09", "10")]
    ledger = build_ledger(written(*lines, "08 09:00 b +5 -5", "09 09:00 b +5 -5"))
    [issue] = [issue for issue in ledger.issues if issue.kind == "gap"]
    assert issue.message.startswith("b: its log ends on 2024-01-09: not counted from 2024-01-10 00:00")
    assert (ledger.weight["2024-01-10"] == 0).all()
    assert (ledger.weight[:"2024-01-09"] == 1).all()


def test_day_beyond_correction_is_reported():
    assert kinds(build_ledger(written("08 08:00 a +300 -0"))) == ["hopeless", "left_at_reset"]


@pytest.mark.parametrize("capacity", [0, -1, 2.0, "3"])
def test_invalid_capacity(capacity):
    with pytest.raises(InputError, match=rf"^capacity must be a positive integer, got {capacity!r}$"):
        build_ledger(written(*DAY), capacity=capacity)


def test_smallest_capacity_is_one():
    assert build_ledger(written("08 08:00 a +1 -1"), capacity=1).is_balanced


@pytest.mark.parametrize("name", ["reset", "quiet_after"])
def test_invalid_time_of_day(name):
    with pytest.raises(
        InputError, match=f"^{name} must be a time of day such as 00:00 or 23:30, got 'noon'$"
    ):
        build_ledger(written(*DAY), **{name: "noon"})


def test_local_time_that_does_not_exist():
    passages = written(*DAY).set_axis(pd.to_datetime(["2024-03-31 02:30"] * 3))
    with pytest.raises(InputError, match=r"^passages: local time 2024-03-31 02:30:00 does not exist"):
        build_ledger(passages, timezone="Europe/Paris")


def air(*times, zone=None, **columns):
    index = pd.DatetimeIndex([at(time) for time in times]).tz_localize(zone)
    return pd.DataFrame({"co2": 500.0} | columns, index=index)


def test_times_with_and_without_a_time_zone_are_rejected():
    ledger, aware = build_ledger(written(*DAY)), build_ledger(written(*DAY), timezone="Europe/Paris")
    rule = "times have no time zone but those of the {} do: set --timezone$"
    with pytest.raises(InputError, match="^passages: " + rule.format("readings")):
        label_readings(ledger, air("08 08:00", zone="UTC"))
    with pytest.raises(InputError, match="^readings: " + rule.format("passages")):
        label_readings(aware, air("08 08:00"))
    with pytest.raises(InputError, match="^passages: " + rule.format("readings")):
        build_ledger(written(*DAY), readings=air("08 08:00", zone="UTC"))


def test_labels_of_readings():
    ledger = build_ledger(written(*DAY, *IMPOSSIBLE), capacity=3)
    readings = air(
        "08 07:59:59",
        "08 08:00:00",
        "08 12:30:15",
        "09 08:30",
        "09 12:00",
        "12 08:00",
        occupancy=9,
        other=1.0,
    )
    readings.attrs["room"] = "lab"
    labelled = label_readings(ledger, readings)
    assert list(labelled.columns) == ["co2", "other", "occupancy", "occupancy_weight"]
    assert labelled["occupancy"].tolist()[:5] == [0, 3, 2, -1, 5]
    assert np.isnan(labelled["occupancy"].iloc[5])
    # impossible values have no weight, nor have days without a count
    assert labelled["occupancy_weight"].tolist() == [1, 1, 1, 0, 0, 0]
    assert labelled.attrs == {"room": "lab"}
    assert labelled.index.name == "time"
    assert "occupancy" in readings.columns
    again = label_readings(ledger, labelled)
    pd.testing.assert_frame_equal(again, labelled)


def test_labels_without_readings():
    ledger = build_ledger(written(*DAY, *IMPOSSIBLE), capacity=4)
    labels = label_readings(ledger)
    assert list(labels.columns) == ["occupancy", "occupancy_weight"]
    assert labels.index.name == "time"
    assert labels["occupancy"].dtype == float
    times = [at(text) for text in ("08 08:00", "09 08:00", "09 09:00")]
    assert labels["occupancy"][times].tolist() == [3, -1, 5]
    assert labels["occupancy_weight"][times].tolist() == [1, 0, 0]
    assert (label_readings(build_ledger(written(*DAY)))["occupancy_weight"] == 1).all()  # without a capacity
    full = build_ledger(written("08 08:00 a +4 -0", "08 09:00 a +0 -4"), capacity=4)
    assert (label_readings(full)["occupancy_weight"] == 1).all()


def test_labels_of_readings_in_another_time_zone():
    ledger = build_ledger(written(*DAY), timezone="Europe/Paris")
    labelled = label_readings(ledger, air("08 06:59:59", "08 07:00", "08 11:00", zone="UTC"))
    assert labelled["occupancy"].tolist() == [0, 3, 2]
    assert str(labelled.index.tz) == "UTC"


def test_readings_on_other_days_are_rejected():
    ledger = build_ledger(written(*DAY, "09 08:00 a +1 -1"))
    message = "^readings: no reading falls on a day of the ledger, which covers 2024-01-08 to 2024-01-09$"
    with pytest.raises(InputError, match=message):
        label_readings(ledger, air("10 08:00"))


@pytest.mark.parametrize(
    ("reset", "span"),
    [("23:59", "2024-01-07 to 2024-01-08"), ("00:01", "2024-01-08 to 2024-01-09")],
)
def test_days_of_the_ledger_begin_and_end_at_the_reset(reset, span):
    ledger = build_ledger(written(*DAY), reset=reset)
    with pytest.raises(InputError, match=f"which covers {span}$"):
        label_readings(ledger, air("10 08:00"))


def test_clocks_are_compared_once_doors_are_swapped_on_days_that_follow_the_reset(monkeypatch):
    """Each step has tests of its own; this one is about what it is given."""
    grids, resets, readings = [], [], air("08 08:00")
    correct_clocks = ledger_module.correct_clocks

    def find_swapped_doors(grid):
        grids.append(grid)
        return [SwappedDoor("b", "")]

    def find_clock_corrections(grid, co2=None):
        assert co2 is readings
        grids.append(grid)
        return []

    def recorded(*arguments, **options):
        resets.append(options["reset"])
        return correct_clocks(*arguments, **options)

    for function in (find_swapped_doors, find_clock_corrections):
        monkeypatch.setattr(ledger_module, function.__name__, function)
    monkeypatch.setattr(ledger_module, "correct_clocks", recorded)
    build_ledger(written("08 08:00 a +1 -0", "08 12:00 b +1 -0"), reset="05:00", readings=readings)
    assert [grid.times[0] for grid in grids] == [at("08 05:00")] * 2
    assert [(grid.entered.sum(), grid.left.sum()) for grid in grids] == [(2, 0), (1, 1)]
    assert set(resets) == {"05:00"}


def test_clock_faults_of_co2_become_issues(monkeypatch):
    seen = []
    faults = [
        SimpleNamespace(kind="clock", start=None, message="CO2 is late.", details={"offset": -60}),
        SimpleNamespace(kind="clock", start=at("08 12:00"), message="CO2 is early.", details={"offset": 30}),
        SimpleNamespace(kind="noise", start=None, message="noisy", details={}),
    ]
    monkeypatch.setattr(ledger_module, "prepare_readings", lambda table: seen.append(table) or table)
    monkeypatch.setattr(ledger_module, "check_clocks", lambda table: faults)
    readings = air("01 08:00", "08 08:00", "08 12:00")
    ledger = build_ledger(written(*DAY), readings=readings)
    assert ledger.issues == [
        LedgerIssue("clock", at("08 08:00"), "CO2 is late.", 60.0),
        LedgerIssue("clock", at("08 12:00"), "CO2 is early.", 30.0),
    ]
    assert seen[0]["occupancy"].tolist() == [3, 2]
    assert build_ledger(written(*DAY), readings=readings.iloc[:2]).issues == []
    assert build_ledger(written(*DAY), readings=readings.rename(columns={"co2": "temperature"})).issues == []
    assert len(seen) == 1
