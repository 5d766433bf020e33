"""Stays over the daily reset: suggested instead of two counting errors."""

import pandas as pd
import pytest
from groundtruth.simulated_doors import missed, office, rmse

from occupair.groundtruth.ledger.ledger import build_ledger


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
