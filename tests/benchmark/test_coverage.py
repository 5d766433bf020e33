"""Coverage of intervals, for models with known intervals."""

import warnings

import numpy as np
import pandas as pd
import pytest

from occupair.benchmark.coverage import average_coverage, count_covered, coverage, make_ours, to_fractions
from occupair.progress import progress_to, quietly


class Between:
    """A model with a constant interval."""

    def __init__(self, low, high):
        self.low, self.high = low, high
        self.requests = []

    def fit(self, readings):
        self.trained_on = set(readings.index.normalize())
        return self

    def estimate(self, readings, *, lag, interval):
        assert "occupancy" not in readings
        assert not self.trained_on & set(readings.index.normalize())
        self.requests.append((lag, interval))
        return pd.DataFrame({"people": self.low, "low": self.low, "high": self.high}, index=readings.index)


@pytest.fixture
def room():
    """Six days of four readings with 0, 0, 2 and 6 people."""
    times = pd.date_range("2024-01-08", periods=24, freq="6h")
    return pd.DataFrame({"co2": 400.0, "occupancy": np.tile([0.0, 0, 2, 6], 6)}, index=times)


@pytest.mark.parametrize(
    ("low", "high", "held", "with_people", "only_0"),
    [
        (0, 0, 12 / 24, 0, 1),  # the fraction of empty readings
        (0, 2, 18 / 24, 6 / 12, 0),  # bounds included
        (2, 6, 12 / 24, 1, 0),
        (2.1, 5.9, 0, 0, 0),
        (0, 9, 1, 1, 0),
    ],
)
def test_coverage_of_a_constant_interval(room, low, high, held, with_people, only_0):
    found = coverage({"room": room}, make=lambda room: Between(low, high), intervals=[0.5, 0.9], lags=[0, 20])
    assert found.index.tolist() == [("room", lag, share) for lag in (0.0, 20.0) for share in (0.5, 0.9)]
    for row in found.to_dict("records"):
        assert row["held"] == held
        assert row["held_with_people"] == with_people
        assert row["width"] == pytest.approx(high - low)
        assert row["with_people"] == 0.5
        assert row["only_0"] == only_0


def test_coverage_of_zero_intervals(room):
    found = coverage({"room": room}, make=lambda room: Between(0, 0), intervals=[0.5], lags=[0])
    assert found["held_only_0"].item() == 0.5
    found = coverage({"room": room}, make=lambda room: Between(0, 1), intervals=[0.5], lags=[0])
    assert np.isnan(found["held_only_0"].item())


def test_each_fold_is_estimated_at_each_lag_and_confidence(room):
    made = []

    def make(room):
        made.append(Between(0, 0))
        return made[-1]

    coverage({"room": room}, make=make)
    lags, intervals = (0.0, 10.0, 20.0), (0.5, 0.8, 0.9, 0.95)
    assert [model.requests for model in made] == 3 * [[(lag, share) for lag in lags for share in intervals]]


def test_mean_over_rooms_is_unweighted(room):
    empty = room.assign(occupancy=0.0).iloc[:12]
    found = coverage({"one": room, "two": empty}, make=lambda room: Between(0, 0), intervals=[0.9], lags=[0])
    assert found["held"].tolist() == [0.5, 1.0]
    assert np.isnan(found["held_with_people"].iloc[1])  # never occupied
    averages = average_coverage(found)
    assert averages.index.tolist() == [(0.0, 0.9)]
    assert averages["held"].item() == 0.75
    assert averages["held_with_people"].item() == 0.0


def test_folds_of_different_size_are_pooled():
    """2 of 2 in one fold and 0 of 6 in another give 2 of 8, not one half."""
    sums = count_covered([0, 0], [0, 0], [0, 0], 0.9) + count_covered([3] * 6, [0] * 6, [1] * 6, 0.9)
    found = to_fractions(sums.to_frame().T)
    assert found["held"].item() == 0.25
    # [0, 1] is 1 wide and 2 below the count: 1 + 20 * 2 = 41, of 6 readings out of 8
    assert found["score"].item() == pytest.approx(6 * 41 / 8)
    assert found["score_with_people"].item() == pytest.approx(41)


def test_default_model_is_the_default_estimator():
    model = make_ours("a room of one's own")
    assert (model.layer, model.start) == ("room", "pooled")


def test_coverage_of_the_default_estimator_in_the_simulated_office(slow_office):
    found = coverage({"office": slow_office}, intervals=[0.5, 0.95], lags=[0])["held"]
    assert found.iloc[0] < found.iloc[1]
    assert found.iloc[1] > 0.8


def test_quiet_about_little_use_of_co2_only():
    reported = []
    with progress_to(lambda *step: reported.append(step)), quietly():
        from occupair.progress import track

        list(track("ab", "spelling"))
        warnings.warn("CO2 adds next to nothing in this room", UserWarning, stacklevel=1)
        with pytest.warns(UserWarning, match="something else"):
            warnings.warn("something else", UserWarning, stacklevel=1)
    assert reported == []
