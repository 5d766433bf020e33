"""Baselines without a sensor, with results calculated by hand."""

import numpy as np
import pandas as pd
import pytest

from occupair.baselines import MarkovChainBaseline, MeanBaseline, ProfileBaseline
from occupair.baselines.baseline import Day
from occupair.baselines.markov_chain import propagate
from occupair.baselines.markov_transitions import CountStates, transition_matrices

MONDAY, SATURDAY = "2024-01-08", "2024-01-13"


def day(date, people, freq="8h"):
    times = pd.date_range(date, periods=len(people), freq=freq)
    return pd.DataFrame({"co2": 400.0, "occupancy": people}, index=times)


def test_mean_baseline():
    readings = pd.concat([day(MONDAY, [0, 4, 2]), day("2024-01-09", [0, 6, 0])])
    assert MeanBaseline().fit(readings).estimate(readings).tolist() == [2.0] * 6


def test_profile_separates_weekends():
    weekdays = [day(MONDAY, [0, 4, 2]), day("2024-01-09", [0, 6, 1])]
    model = ProfileBaseline(slot=480).fit(pd.concat([*weekdays, day(SATURDAY, [1, 0, 0])]))
    assert model.estimate(day("2024-01-10", [0, 0, 0])).tolist() == [0.0, 5.0, 1.5]
    assert model.estimate(day("2024-01-14", [0, 0, 0])).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("baseline", [ProfileBaseline(slot=480), MarkovChainBaseline(slot=480, weight=0)])
def test_weekdays_replace_missing_weekends(baseline):
    weekend = baseline.fit(day(MONDAY, [0, 4, 2])).estimate(day(SATURDAY, [0, 0, 0]))
    np.testing.assert_allclose(weekend, [0, 4, 2], atol=1e-6)


def test_time_of_day_without_training_data_is_empty():
    model = ProfileBaseline(slot=480).fit(day(MONDAY, [3, 4]))
    assert model.estimate(day("2024-01-09", [0, 0, 0])).tolist() == [3.0, 4.0, 0.0]


def test_expectation_of_a_two_state_chain():
    # One of four days is occupied from 8 h, one of the other three from 16 h, when the first is empty again.
    days = [[0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    readings = pd.concat([day(f"2024-01-{8 + i:02}", people) for i, people in enumerate(days)])
    people = MarkovChainBaseline(slot=480, weight=0).fit(readings).estimate(day("2024-01-12", [0, 0, 0]))
    np.testing.assert_allclose(people, [0, 1 / 4, 3 / 4 * 1 / 3], atol=1e-6)


def test_propagation_uses_the_matrix_of_each_slot():
    come, go = [[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.5, 0.5]]
    chances = propagate(np.array([come, go]), slot=720, interval=360)
    np.testing.assert_allclose(chances[:, 1], [0, 0.5, 0.25, 0.125])


def test_transition_rows_are_regularised():
    times = pd.date_range(MONDAY, periods=3, freq="8h")
    one = Day(times, np.zeros(3), np.zeros(3), 480.0)
    rows = transition_matrices([one], [np.array([0, 1, 1])], size=2, slot=480, weight=2)[False]
    # Pooled from 0: one transition to 1 and one self-transition: (1/2, 1/2). From 1: only stays: (0, 1).
    np.testing.assert_allclose(rows[1], [[1 / 3, 2 / 3], [0, 1]])
    np.testing.assert_allclose(rows[2], [[1 / 2, 1 / 2], [0, 1]])


def test_large_counts_are_binned():
    counts = CountStates.learn([np.array([0.0, 1.0, 5.0, 6.0, 9.0, 30.0])], most_states=6)
    assert counts.width == 5
    assert counts.of(np.array([0.0, 1.0, 5.0, 6.0, 10.0, 30.0])).tolist() == [0, 1, 1, 2, 2, 6]
    assert counts.people.tolist() == [0.0, 3.0, 7.5, 13.0, 18.0, 23.0, 30.0]
