"""Proposed corrections: doors, minutes and reasons, in cases worked by hand."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.written_passages import not_counted_on, written, written_grid

from occupair.groundtruth.ledger.balancing import COST_NO_PASSAGES, COST_NOT_COUNTED
from occupair.groundtruth.ledger.corrections import (
    Correction,
    OccupancyPosterior,
    apply_corrections,
    correction_costs,
    propose_corrections,
)
from occupair.groundtruth.ledger.ledger import build_ledger


def test_costs_are_relative_to_a_minute_with_passages():
    grid = written_grid(
        "08 08:00 a +3~2 -3~1",
        "08 08:00 b +1~1 -0",
        "08 09:00 a +1 -1 0.5",
        "08 10:00 a +0 -0 0",
        "08 18:00 a +0 -1",
    )
    costs = correction_costs(grid)
    at = [8 * 60, 9 * 60, 10 * 60, 10 * 60 + 1]
    assert costs.unit[at].tolist() == [4, 2, 1, 6]
    assert costs.likelihood[at].tolist() == [7, 2, 1, 1]
    # three entries and one exit may be repeats, at half the cost
    assert costs.of(at[0], np.array([-4, -3, -1, 0, 1, 2])).tolist() == [10, 6, 2, 0, 2, 6]
    assert costs.of(at[3], np.array([-2, 1])).tolist() == [12, 6]


def uncounted(day, first, minutes):
    times = pd.date_range(f"2024-01-{day} {first}", periods=minutes, freq="min")
    return [f"{time:%d %H:%M} b +0 -0 0" for time in times]


def test_uncounted_minutes_are_cheap_while_people_pass_and_in_long_gaps():
    people = [line for day in ("08", "09") for line in (f"{day} 08:00 a +5 -0", f"{day} 18:00 a +0 -5")]
    gaps = [*uncounted("09", "07:58", 4), *uncounted("09", "17:59", 3)]
    gaps += [*uncounted("08", "20:00", 59), *uncounted("08", "21:30", 60)]
    costs = correction_costs(written_grid(*people, *gaps))
    cheap = np.flatnonzero(costs.unit == COST_NOT_COUNTED).tolist()
    long = list(range(21 * 60 + 30, 22 * 60 + 30))
    assert cheap == [*long, *(1440 + minute for minute in (480, 481, 1079, 1080))]
    assert (costs.unit[20 * 60 : 21 * 60] == COST_NO_PASSAGES).all()


def test_uncounted_minutes_of_an_unused_room_are_cheap():
    costs = correction_costs(written_grid("08 00:00 a +0 -0 0"))
    assert costs.unit[:2].tolist() == [COST_NOT_COUNTED, COST_NO_PASSAGES]


def proposals(*lines, capacity=None):
    found, posterior, beyond = propose_corrections(written_grid(*lines), capacity=capacity)
    return [(f"{one.time:%d %H:%M}", one.door, one.entered, one.left) for one in found], posterior, beyond


def test_days_are_corrected_one_by_one():
    lines = [
        *not_counted_on("08", "b"),
        "08 08:00 a +5 -0",
        "09 08:00 a +300 -0",
        "10 08:00 a +2 -0",
        "11 08:00 a +0 -1",
        "11 09:00 b +1 -1",
    ]
    found, posterior, beyond = proposals(*lines)
    assert found == [("10 08:00", "a", -2, 0), ("11 08:00", "a", 0, -1)]
    assert beyond == [1]
    assert posterior.mean[:2880].isna().all()
    assert posterior.variance[:2880].isna().all()
    assert (posterior.mean[2880:] == 0).all()
    assert (posterior.variance[2880:] == 0).all()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # nobody leaves: entries are removed, as long as there are any, the largest first
        (["08:00 a +2 -0", "08:00 b +1 -0"], [("a", -2, 0), ("b", -1, 0)]),
        (["08:00 a +1 -0", "08:00 b +2 -0"], [("a", -1, 0), ("b", -2, 0)]),
        # repeats first, one at each door, then as above
        (["08:00 a +4~1 -0 0.5", "08:00 b +3~1 -0", "18:00 a +0 -4"], [("a", -2, 0), ("b", -1, 0)]),
        (["08:00 a +3~2 -0", "18:00 a +0 -1"], [("a", -2, 0)]),
        # a repeat rather than one more exit
        (["08:00 a +3~1 -0", "08:00 b +0 -1", "18:00 b +0 -1"], [("a", -1, 0)]),
        # exits are added where a door was not counted, where some were counted, or by the exits of the day
        (["08:00 a +4 -0", "08:30 a +0 -1", "08:30 b +0 -0 0", "09:00 a +0 -1"], [("b", 0, 2)]),
        (["08:00 a +3 -0", "09:00 b +0 -1 0.5"], [("b", 0, 2)]),
        (["08:00 a +5 -0", "09:00 a +0 -0 0.5", "18:00 b +0 -2", "18:00 a +0 -1"], [("b", 0, 2)]),
        # entries are added in the same way, and exits removed
        (["08:00 a +0 -2", "08:00 b +0 -1"], [("a", 0, -2), ("b", 0, -1)]),
        (["08:00 a +0 -3~2", "08:00 b +1 -0"], [("a", 0, -2)]),
        (["07:00 b +1 -1", "08:00 a +0 -0 0", "18:00 b +0 -2"], [("a", 2, 0)]),
        (["08:00 b +1 -0 0.5", "18:00 a +0 -3"], [("b", 2, 0)]),
    ],
)
def test_change_is_split_over_doors(lines, expected):
    found, posterior, _ = proposals(*(f"08 {line}" for line in lines))
    assert [one[1:] for one in found] == expected
    assert posterior.mean.iloc[-1] == 0


@pytest.mark.parametrize(
    ("lines", "capacity", "reason"),
    [
        (
            ["08:00 a +2 -0"],
            None,
            "2 people remain at the end of the day; entry counted twice or exit missed",
        ),
        (
            ["08:00 a +2 -0", "23:59 a +0 -1"],
            2,
            "1 person remains at the end of the day; entry counted twice or exit missed, between 08:00 and "
            "23:59",
        ),
        (["00:00 a +0 -1"], None, "the occupancy is -1 at 00:00; exit counted twice or entry missed"),
        (
            ["00:00 a +1 -0", "00:01 b +0 -2"],
            None,
            "the occupancy is -1 at 00:01; exit counted twice or entry missed at any door, between 00:00 and "
            "00:01",
        ),
        (
            ["08:00 a +1 -0", "09:00 a +0 -2"],
            None,
            "the occupancy is -1 at 09:00; exit counted twice or entry missed, between 08:00 and 09:00",
        ),
        (["08:00 a +3~1 -0", "18:00 a +0 -2"], None, "probably an entry counted twice within seconds"),
        (["08:00 a +2 -3~1"], None, "probably an exit counted twice within seconds"),
        (["08:00 a +2 -0", "09:00 a +0 -0 0", "10:00 a +0 -1"], None, "; this minute was not counted"),
    ],
)
def test_reason_of_a_correction(lines, capacity, reason):
    corrections, *_ = propose_corrections(written_grid(*(f"08 {line}" for line in lines)), capacity=capacity)
    assert corrections[0].reason.startswith("otherwise ")
    assert corrections[0].reason.endswith(f"{reason}.")
    assert len(corrections) == 1


def test_occupancy_above_capacity_is_described():
    lines = ["08 08:00 a +5 -0", "08 09:00 a +1 -0", "08 10:00 a +0 -6"]
    up, down = propose_corrections(written_grid(*lines), capacity=5)[0]
    assert "the occupancy is 6 at 09:00, above the capacity; entry counted twice or exit missed" in up.reason
    assert "the occupancy is -1 at 10:00; exit counted twice or entry missed" in down.reason


def test_correction_line_with_several_people():
    at = pd.Timestamp("2024-01-08 17:31")
    assert str(Correction(at, "a", -2, 3, "why.", at, at)) == (
        "2024-01-08 17:31 a: 2 fewer entries and 3 more exits: why."
    )
    assert str(Correction(at, "a", 1, -1, "why.", at, at)) == (
        "2024-01-08 17:31 a: 1 more entry and 1 fewer exit: why."
    )


def test_corrections_are_made_in_the_passages():
    passages = written("08 08:00 a +5~3 -0", "08 09:00 b +2 -2~1", "08 18:00 a +0 -2 0.5")

    def correction(time, door, entered, left):
        at = pd.Timestamp(f"2024-01-08 {time}")
        return Correction(at, door, entered, left, "", at, at)

    changes = [
        correction("08:00", "a", -2, 0),
        correction("09:00", "b", -1, 0),
        correction("18:00", "a", 0, 3),
        correction("20:00", "b", 1, 0),
    ]
    expected = ["08 08:00 a +3~1 -0", "08 09:00 b +1 -2~1", "08 18:00 a +0 -5 0.5", "08 20:00 b +1 -0"]
    pd.testing.assert_frame_equal(apply_corrections(passages, changes), written(*expected))
    assert apply_corrections(passages, []) is passages


def test_weight_is_the_inverse_of_the_expected_squared_error():
    times = pd.date_range("2024-01-08", periods=3, freq="min")
    posterior = OccupancyPosterior(
        pd.Series([1.0, 4.0, np.nan], index=times), pd.Series([0.0, 3.0, np.nan], index=times)
    )
    occupancy = pd.Series([1.0, 6.0, 0.0], index=times)
    assert posterior.weight(occupancy).tolist() == [1, 1 / (1 + 3 + 4), 0]


def test_two_explanations_are_mixed_by_the_law_of_total_variance():
    one = OccupancyPosterior(pd.Series([1.0]), pd.Series([2.0]))
    mixed = one.mixed_with(OccupancyPosterior(pd.Series([5.0]), pd.Series([8.0])))
    # a draw is 1 or 5 on average, 2 from the mean of 3, with variances of 2 and 8
    assert (mixed.mean.item(), mixed.variance.item()) == (3.0, (2 + 8) / 2 + 2**2)


def passages(rows, **more):
    """Passages from "08:00 north +2 -1" lines."""
    table = []
    for line in rows:
        time, door, entered, left, *weight = line.split()
        table.append((time, door, int(entered), -int(left), float(weight[0]) if weight else 1.0))
    times = pd.to_datetime([f"2024-01-08 {row[0]}" for row in table])
    columns = ["door", "entered", "left", "weight"]
    return pd.DataFrame([row[1:] for row in table], columns=columns, index=times).assign(**more)


def proposed(ledger):
    return [(f"{one.time:%H:%M}", one.door, one.entered, one.left) for one in ledger.corrections]


def test_missed_exit_is_placed_at_the_median_of_possible_minutes():
    rows = [
        "08:00 north +5 -0",
        "10:00 north +0 -1",
        "11:00 south +0 -1",
        "12:00 north +0 -1",
        "18:00 north +0 -1",
    ]
    ledger = build_ledger(passages(rows))
    # nine people pass, five of them in the first minute: the median is there
    assert proposed(ledger) == [("08:00", "north", -1, 0)]
    one = ledger.corrections[0]
    assert (f"{one.first:%H:%M}", f"{one.last:%H:%M}") == ("08:00", "18:00")
    assert one.reason == (
        "otherwise 1 person remains at the end of the day; entry counted twice or exit missed at any door, "
        "between 08:00 and 18:00."
    )
    # with probability 4/9 the exit is after the first minute, with 1/9 after 12:00
    weight = ledger.apply().weight
    assert weight["2024-01-08 07:59"] == weight["2024-01-08 18:00"] == 1.0
    assert weight["2024-01-08 09:00"] == pytest.approx(1 / (1 + 4 / 9))
    assert weight["2024-01-08 13:00"] == pytest.approx(1 / (1 + 1 / 9))


def test_uncertain_minute_is_corrected_first():
    rows = ["08:00 north +3 -0", "10:00 south +0 -1 0.5", "18:00 north +0 -1"]
    ledger = build_ledger(passages(rows))
    assert proposed(ledger) == [("10:00", "south", 0, 1)]
    assert ledger.corrections[0].reason.endswith("entry counted twice or exit missed at any door.")
    assert ledger.apply().weight["2024-01-08 11:00"] == 1.0
    assert ledger.apply().weight["2024-01-08 10:00"] == 0.5


def test_uncounted_minute_is_corrected_before_uncertain_ones():
    rows = ["08:00 north +2 -0", "10:00 south +0 -0 0", "12:00 north +0 -1 0.5"]
    ledger = build_ledger(passages(rows))
    assert proposed(ledger) == [("10:00", "south", 0, 1)]
    assert "this minute was not counted" in ledger.corrections[0].reason
    assert ledger.apply().weight["2024-01-08 10:00"] == 0


def test_repeat_within_seconds_is_removed_first():
    rows = ["08:00 north +2 -0", "08:30 south +2 -0", "18:00 north +0 -3"]
    ledger = build_ledger(passages(rows, entered_again=[0, 1, 0]))
    assert proposed(ledger) == [("08:30", "south", -1, 0)]
    assert "probably an entry counted twice within seconds" in ledger.corrections[0].reason
    closed = ledger.apply()
    assert closed.is_balanced
    assert closed.passages["entered_again"].sum() == 0


def test_missed_entry_shows_as_negative_occupancy():
    rows = ["08:00 north +1 -0", "09:00 north +0 -2", "10:00 north +1 -0", "11:00 north +0 -1"]
    ledger = build_ledger(passages(rows))
    assert [issue.kind for issue in ledger.issues] == ["negative"]
    assert [len(ledger.corrections), ledger.corrections[0].entered - ledger.corrections[0].left] == [1, 1]
    assert "otherwise the occupancy is -1 at 09:00" in ledger.corrections[0].reason


def test_occupancy_above_capacity_is_corrected():
    rows = ["08:00 north +4 -0", "09:00 north +2 -0", "10:00 north +0 -2", "11:00 north +0 -4"]
    ledger = build_ledger(passages(rows), capacity=5)
    assert [issue.kind for issue in ledger.issues] == ["over_capacity"]
    assert sum(one.entered - one.left for one in ledger.corrections) == 0
    assert "the occupancy is 6 at 09:00, above the capacity" in " ".join(ledger.proposals())
    assert ledger.apply().occupancy.max() == 5
    assert ledger.apply().is_balanced


def test_lone_exit_is_removed():
    ledger = build_ledger(passages(["08:00 north +0 -1"]))
    assert proposed(ledger) == [("08:00", "north", 0, -1)]


def test_correction_is_described_in_one_line():
    line = build_ledger(passages(["08:00 north +2 -0", "17:00 south +0 -1"])).proposals()[0]
    assert line == (
        "2024-01-08 08:00 north: 1 fewer entry: otherwise 1 person remains at the end of the day; "
        "entry counted twice or exit missed at any door, between 08:00 and 17:00."
    )
