"""Every group of columns for one row, by hand."""

import numpy as np
import pytest

from occupair.room.features import (
    GROUPS,
    FeatureSettings,
    FeatureSettingsArrays,
    feature_settings,
    room_features,
)
from occupair.room.inputs import Clock, Inputs
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel

# One reading every 10 min, newest first. Base: half the low of 430, which is held at 420, half the usual 410.
CO2 = [700.0, 690.0, 660.0, 600.0, 560.0, 500.0, 480.0, 470.0, 460.0]
FLOW = [0.3, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
LEVEL = BaseLevel(lowest=400.0, highest=420.0, usual=410.0)
HALF = np.sqrt(0.5)
TWENTY_MINUTES_AGO = FeatureSettings(lag=2, behind=1, share=0.5)


def columns_at(weekend, moment=TWENTY_MINUTES_AGO):
    clock = Clock(np.array([560.0]), np.array([weekend]))  # 9:20, so 9:00 two readings ago: 135 degrees
    rows = Inputs(np.array([CO2]), np.array([FLOW]), np.array([430.0]), clock, 10.0)
    columns = room_features(rows, LEVEL, moment, np.array([[3.0], [4.0], [5.0]]))
    return dict(zip(GROUPS, np.split(columns[0], np.cumsum(list(GROUPS.values()))[:-1]), strict=True))


def test_there_are_as_many_columns_as_said():
    assert {name: group.size for name, group in columns_at(1.0).items()} == GROUPS


def test_m_is_the_mass_balance_one_reading_before():
    # 690 rose by 30 in 10 min and by 90 in 20; it is 275 above 415, and ventilation was a half.
    np.testing.assert_allclose(columns_at(1.0)["M"], [3.0, 4.5, 2.75, 1.375, 0.6875])


def test_p_is_levels_0_10_20_40_min_ago_and_rises_over_5_10_20_40():
    np.testing.assert_allclose(
        columns_at(1.0)["P"], [2.85, 2.75, 2.45, 1.45, 10 / 30, 10 / 30, 40 / 30, 140 / 30]
    )


def test_v_is_ventilation_and_its_means_over_10_30_60_min_up_to_then():
    np.testing.assert_allclose(columns_at(1.0)["V"], [0.5, 0.5, 1.5 / 3, 2.5 / 6])
    now = columns_at(1.0, FeatureSettings(0, 0, 0.5))["V"]
    np.testing.assert_allclose(now, [0.3, 0.3, 1.8 / 3, 1.8 / 6])


@pytest.mark.parametrize("weekend", [0.0, 1.0])
def test_t_is_the_hand_of_the_clock_then(weekend):
    np.testing.assert_allclose(
        columns_at(weekend)["T"],
        [HALF, -HALF, -1.0, 0.0, weekend, weekend * HALF, -weekend * HALF],
        atol=1e-12,
    )


def test_s_is_what_the_mass_balance_says():
    assert columns_at(0.0)["S"].tolist() == [3.0, 4.0, 5.0]


def test_the_network_looks_where_the_best_balance_looks():
    choices = tuple(
        BalanceVariant(share, delay, behind, np.zeros(6), weight)
        for share, delay, behind, weight in [(1.0, 0.0, 4, 0.2), (0.5, 10.0, 2, 0.7), (0.0, 20.0, 0, 0.1)]
    )
    assert feature_settings(Balance(LEVEL, choices), lag=4) == FeatureSettings(4, 2, 0.5)


def test_several_moments_at_once_are_each_alone():
    rng, clock = np.random.default_rng(0), Clock(np.array([560.0, 570.0, 580.0]), np.array([0.0, 0.0, 1.0]))
    rows = Inputs(rng.uniform(400, 900, (3, 9)), rng.uniform(0, 1, (3, 9)), np.full(3, 415.0), clock, 10.0)
    moments, said = [FeatureSettings(0, 0, 1.0), FeatureSettings(2, 1, 0.5)], rng.uniform(0, 9, (3, 3))
    columns = room_features(rows, LEVEL, FeatureSettingsArrays.of(moments), said)
    assert columns.shape == (3, 2, 27)
    for k, moment in enumerate(moments):
        np.testing.assert_allclose(columns[:, k], room_features(rows, LEVEL, moment, said), rtol=1e-12)
