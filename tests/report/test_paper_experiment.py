"""The paper's experiment at a small scale."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.progress import progress_to
from occupair.report import paper_experiment as reproduction


@pytest.fixture(scope="module")
def small():
    """Two training days, one test day, 20 neurons."""
    patch = pytest.MonkeyPatch()
    paper = oc.OccupancyEstimator.paper
    patch.setattr(reproduction, "DAYS", 3)
    patch.setattr(reproduction, "TRAIN_DAYS", 2)
    patch.setattr(oc.OccupancyEstimator, "paper", lambda **changes: paper(n_hidden=20, **changes))
    progress = []
    with progress_to(lambda *step: progress.append(step)):
        result = reproduction.reproduce(draws=2, seed=4)
    yield result, progress
    patch.undo()


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(3, seed=4)


@pytest.mark.parametrize(
    ("equation", "changes", "mode"),
    [
        (4, {"layer": "elm", "smoothing": 0}, "live"),
        (21, {"smoothing": 0}, "live"),
        (22, {}, "hindsight"),
        (24, {}, "drifting"),
        (26, {}, "live"),
    ],
)
def test_estimates_are_those_of_their_equation(small, office, equation, changes, mode):
    result, _ = small
    model = oc.OccupancyEstimator.paper(n_draws=2, random_state=4, **changes).fit(office.iloc[:2880])
    people = model.estimate(office.iloc[2880:], mode=mode)
    np.testing.assert_allclose(result.estimates[equation], people, atol=1e-9)
    assert result.scores[equation].rmse == pytest.approx(
        oc.metrics.rmse(office["occupancy"].iloc[2880:], people)
    )


def test_truth_is_that_of_the_test_days(small, office):
    pd.testing.assert_series_equal(small[0].truth, office["occupancy"].iloc[2880:].astype(float))
    assert small[0].most_people == office["occupancy"].iloc[:2880].max()


def test_tolerance_curves_agree_with_the_scores(small):
    result, _ = small
    for equation, scores in result.scores.items():
        curve = result.tolerance_accuracy[equation]
        assert (curve[3], curve[4]) == (scores.within_3, scores.within_4)
        assert curve.is_monotonic_increasing


def test_co2_day_is_smoothed_with_past_readings(small, office):
    day, co2 = small[0].co2_day, office["co2"].to_numpy()[2880:]
    np.testing.assert_array_equal(day["raw"], co2)
    np.testing.assert_allclose(day["locally_smoothed_680"][:680], oc.smooth(co2[:680]))
    assert day["locally_smoothed_680"][680:].isna().all()
    assert day["locally_smoothed_720"].notna().sum() == 720


def test_saturation_of_hidden_neurons(small, office):
    result, _ = small
    elm, scaled = result.saturation[4], result.saturation[21]
    assert elm.share_beyond_5 > 0.9  # unscaled: hundreds of ppm times weights of order one
    assert scaled.share_beyond_5 == 0
    assert scaled.share_always_beyond_5 == 0
    assert scaled.density.sum() == pytest.approx(1.0)
    assert elm.density.sum() < 0.1


def test_progress_increases_from_0_to_1(small):
    done = [done for _, done, _ in small[1]]
    assert done[0] == 0
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1.0)
    assert "estimating with (26)" in {what for what, _, _ in small[1]}
