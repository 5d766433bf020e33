"""Scores of a few readings, calculated by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from occupair.benchmark.scores import average, day_squares, score

TRUTH = [0, 0, 2, 6]
PEOPLE = [0.4, 1.0, 0.0, 3.0]
REFERENCE = [2, 2, 2, 2]


def test_scores_by_hand():
    scores = score(TRUTH, PEOPLE, REFERENCE)
    # errors 0.4, 1, -2, -3; those of the reference 2, 2, 0, -4
    assert scores["rmse"] == pytest.approx(math.sqrt((0.16 + 1 + 4 + 9) / 4))
    assert scores["nrmse"] == pytest.approx(math.sqrt(14.16 / 24))
    assert scores["mae"] == pytest.approx(6.4 / 4)
    assert scores["fdr"] == 0.5  # one false positive, one false negative
    assert scores["fpr"] == 0.5
    assert scores["fnr"] == 0.5
    # whole people 0, 1, 0, 3: errors 0, 1, 2, 3
    assert [scores[f"within_{x}"] for x in range(5)] == [0.25, 0.5, 0.75, 1.0, 1.0]


def test_training_mean_has_nrmse_one():
    assert score(TRUTH, REFERENCE, REFERENCE)["nrmse"] == 1


def test_nrmse_is_nan_if_the_reference_is_exact():
    assert math.isnan(score([2, 2], [2, 3], [2, 2])["nrmse"])


def test_squared_errors_are_summed_by_day():
    times = pd.date_range("2024-01-08 12:00", periods=4, freq="6h")  # two readings on each day
    squares = day_squares(pd.Series(TRUTH, index=times, dtype=float), pd.Series(PEOPLE, index=times))
    np.testing.assert_allclose(squares, [1.16, 13.0])


def test_mean_over_rooms_is_unweighted_and_ignores_nan():
    index = pd.MultiIndex.from_product([["a", "b"], ["m"], [0.0]], names=["room", "method", "lag"])
    scores = pd.DataFrame({"nrmse": [0.4, 0.8], "fpr": [0.3, math.nan]}, index=index)
    assert average(scores).loc[("m", 0.0)].tolist() == pytest.approx([0.6, 0.3])
