"""Scores of Eqs. (27)-(31) against values worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import occupair as oc
from occupair import metrics

TRUTH = [0, 0, 0, 0, 3, 5, 8, 10]
GUESS = [0, 1, 0, 2, 3, 0, 9, 4]
RATES = [metrics.false_positive_rate, metrics.false_negative_rate, metrics.false_detection_rate]


def test_rmse_by_hand():
    assert metrics.rmse(TRUTH, GUESS) == pytest.approx(math.sqrt((1 + 4 + 25 + 1 + 36) / 8))


def test_rates_by_hand():
    assert metrics.false_positive_rate(TRUTH, GUESS) == 2 / 4
    assert metrics.false_negative_rate(TRUTH, GUESS) == 1 / 4
    assert metrics.false_detection_rate(TRUTH, GUESS) == 3 / 8


@pytest.mark.parametrize(
    ("tolerance", "fraction"),
    [(0, 3 / 8), (1, 5 / 8), (1.9, 5 / 8), (2, 6 / 8), (4.9, 6 / 8), (5, 7 / 8), (6, 1)],
)
def test_tolerance_by_hand(tolerance, fraction):
    assert metrics.tolerance_accuracy(TRUTH, GUESS, tolerance=tolerance) == fraction


def test_interval_score_by_hand():
    # widths 3, 3 and 2; 8 is 2 above [3, 6] and costs 2 / 0.1 times 2, 1 is 1 below [2, 4] and costs 20
    found = metrics.interval_score([4, 8, 1], [3, 3, 2], [6, 6, 4], confidence=0.9)
    assert found == pytest.approx((3 + (3 + 40) + (2 + 20)) / 3)
    assert metrics.interval_score([4, 8, 1], [3, 3, 2], [6, 6, 4], confidence=0.5) == pytest.approx(
        (3 + (3 + 8) + (2 + 4)) / 3
    )


def test_interval_score_is_the_pinball_loss_of_both_bounds():
    """Times 2 / (1 - confidence): the pinball losses at the quantiles 0.1 and 0.9."""
    rng = np.random.default_rng(0)
    true, low = rng.uniform(0, 9, 50), rng.uniform(0, 5, 50)
    high = low + rng.uniform(0, 5, 50)
    pinball = [np.maximum(q * (true - x), (q - 1) * (true - x)) for q, x in ((0.1, low), (0.9, high))]
    assert metrics.interval_score(true, low, high, confidence=0.8) == pytest.approx(
        10 * np.mean(sum(pinball))
    )


@pytest.mark.parametrize("confidence", [0, 1, 90])
def test_interval_score_needs_a_confidence_between_0_and_1(confidence):
    with pytest.raises(oc.InputError, match=f"confidence must be above 0 and below 1, got {confidence}"):
        metrics.interval_score([1], [0], [2], confidence=confidence)


def test_false_positive_rate_without_empty_readings_is_nan():
    assert math.isnan(metrics.false_positive_rate([1, 2], [0, 2]))
    assert metrics.false_detection_rate([1, 2], [0, 2]) == 0.5


def test_false_negative_rate_without_occupied_readings_is_nan():
    assert math.isnan(metrics.false_negative_rate([0, 0], [0, 2]))
    assert metrics.false_detection_rate([0, 0], [0, 2]) == 0.5


pairs = st.lists(st.tuples(st.integers(0, 30), st.floats(0, 30)), min_size=1, max_size=50)


@given(pairs)
def test_detection_rate_is_the_weighted_mean_of_the_other_rates(pairs):
    truth, guess = np.array(pairs).T
    empty = np.mean(truth <= 0)
    wrong = np.nan_to_num(metrics.false_positive_rate(truth, guess)) * empty
    wrong += np.nan_to_num(metrics.false_negative_rate(truth, guess)) * (1 - empty)
    assert metrics.false_detection_rate(truth, guess) == pytest.approx(wrong)


@given(pairs)
def test_accuracy_increases_with_tolerance(pairs):
    truth, guess = np.array(pairs).T
    accuracies = [metrics.tolerance_accuracy(truth, guess, tolerance=x) for x in range(31)]
    assert accuracies == sorted(accuracies)
    assert accuracies[-1] == 1.0


def test_scores_round_for_rates_but_not_for_rmse():
    scores = metrics.scores([0, 0, 10, 10], [0.4, 0.6, 6.4, 13.5])
    assert scores["rmse"] == pytest.approx(math.sqrt((0.16 + 0.36 + 3.6**2 + 3.5**2) / 4))
    assert scores["fpr"] == 0.5  # 0.4 rounds to 0, 0.6 to 1
    assert scores["fnr"] == 0.0
    assert scores["fdr"] == 0.25
    assert scores["within_3"] == 0.5  # errors of 6 and 14 are both 4
    assert scores["within_4"] == 1.0


def test_scores_within_3_and_4_people_at_their_limits():
    scores = metrics.scores([10, 10, 10, 10, 10], [10, 13, 14, 15, 5])
    assert scores["within_3"] == 2 / 5
    assert scores["within_4"] == 3 / 5


def test_counts_of_any_number_type_are_compared_as_floats():
    """Columns of tables with missing values have the type object; counters log unsigned integers."""
    as_objects = np.array([0, 4], dtype=object)
    assert metrics.rmse(as_objects, [3, 8]) == metrics.rmse([3, 8], as_objects) == pytest.approx(12.5**0.5)
    assert metrics.rmse(np.array([0, 4], np.uint8), np.array([3, 8], np.uint8)) == pytest.approx(12.5**0.5)


def test_whole_people_has_double_precision():
    rounded = metrics.whole_people(np.array([0.4, 2.5, 3.5], dtype=np.float32))
    assert rounded.dtype == np.float64
    assert rounded.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("score", [metrics.rmse, *RATES])
@pytest.mark.parametrize(
    ("truth", "guess", "message"),
    [
        ([1, 2], [[1], [2]], r"must be one-dimensional and of equal length, got \(2,\) and \(2, 1\)"),
        ([1, 2], [1], r"must be one-dimensional and of equal length, got \(2,\) and \(1,\)"),
        ([], [], "^y_true and y_pred must contain at least one value, got none$"),
        ([1, 2], [1, np.nan], "y_pred must be finite, got nan"),
        ([np.inf, 2], [1, 2], "y_true must be finite, got inf"),
    ],
)
def test_invalid_pairs_are_rejected(score, truth, guess, message):
    with pytest.raises(oc.InputError, match=message):
        score(truth, guess)


@pytest.mark.parametrize("tolerance", [-1, math.nan])
def test_invalid_tolerance_is_rejected(tolerance):
    with pytest.raises(oc.InputError, match="tolerance must be 0 people or more, got"):
        metrics.tolerance_accuracy([1], [1], tolerance=tolerance)
