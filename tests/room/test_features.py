"""Feature groups of one input, worked by hand."""

import numpy as np
import pytest

from occupair.room.features import (
    COLUMN_SET,
    GROUPS,
    FeatureSettings,
    feature_gains,
    feature_settings,
    group_sizes,
    people_spread,
    room_features,
    stack_feature_settings,
)
from occupair.room.inputs import Clock, Inputs
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel

# One reading every 10 min, newest first. Base: half the low of 430, clamped to 420, half the median 410.
CO2 = [700.0, 690.0, 660.0, 600.0, 560.0, 500.0, 480.0, 470.0, 460.0]
VENTILATION = [0.3, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
LEVEL = BaseLevel(lowest=400.0, highest=420.0, median=410.0)
HALF = np.sqrt(0.5)
TWENTY_MINUTES_AGO = FeatureSettings(lag=2, offset=1, low_share=0.5)
PEOPLE = [3.0, 4.0, 5.0, 0.5, 2.5, -1.0, 6.0]  # at three lags, and four parts


def features_at(weekend, settings=TWENTY_MINUTES_AGO, column_set=COLUMN_SET):
    clock = Clock(np.array([560.0]), np.array([weekend]))  # 9:20, so 9:00 two readings ago: 135 degrees
    inputs = Inputs(np.array([CO2]), np.array([VENTILATION]), np.array([430.0]), clock, 10.0)
    sizes = group_sizes(3, column_set)
    people = np.array(PEOPLE[: sizes[-1]])[:, np.newaxis]
    features = room_features(inputs, LEVEL, settings, people, column_set)
    return dict(zip(GROUPS, np.split(features[0], np.cumsum(sizes)[:-1]), strict=True))


@pytest.mark.parametrize("column_set", [1, 2])
def test_group_sizes(column_set):
    groups = features_at(1.0, column_set=column_set)
    assert tuple(group.size for group in groups.values()) == group_sizes(3, column_set)


def test_group_m_is_mass_balance_at_offset():
    # 690 rose by 30 in 10 min and by 90 in 20; it is 275 above 415, and ventilation was a half.
    np.testing.assert_allclose(features_at(1.0)["M"], [3.0, 4.5, 2.75, 1.375, 0.6875])


def test_group_p_is_co2_levels_and_rises():
    # 285 above 415 now; ages between two readings are rounded, halves to an even number of readings.
    levels = [2.85, 2.85, 2.75, 2.45, 2.45, 1.85, 1.45, 0.65]  # 0, 5, 10, 15, 20, 30, 40 and 60 min ago
    rises = [10 / 30, 10 / 30, 40 / 30, 140 / 30]
    np.testing.assert_allclose(features_at(1.0)["P"], [*levels, *rises])
    np.testing.assert_allclose(features_at(1.0, column_set=1)["P"], [2.85, 2.75, 2.45, 1.45, *rises])


def test_column_sets_share_the_other_groups():
    first, second = (features_at(1.0, column_set=one) for one in (1, 2))
    for name in ("M", "V", "T"):
        np.testing.assert_array_equal(first[name], second[name])


def test_group_v_is_ventilation_and_moving_averages_at_offset():
    np.testing.assert_allclose(features_at(1.0)["V"], [0.5, 0.5, 1.5 / 3, 2.5 / 6])
    now = features_at(1.0, FeatureSettings(0, 0, 0.5))["V"]
    np.testing.assert_allclose(now, [0.3, 0.3, 1.8 / 3, 1.8 / 6])


@pytest.mark.parametrize("weekend", [0.0, 1.0])
def test_group_t_is_time_of_day_at_lag(weekend):
    np.testing.assert_allclose(
        features_at(weekend)["T"],
        [HALF, -HALF, -1.0, 0.0, weekend, weekend * HALF, -weekend * HALF],
        atol=1e-12,
    )


def test_group_s_is_people_by_mass_balance():
    assert features_at(0.0)["S"].tolist() == PEOPLE
    assert features_at(0.0, column_set=1)["S"].tolist() == PEOPLE[:3]


def test_feature_settings_follow_best_balance_variant():
    variants = tuple(
        BalanceVariant(low_share, delay, offset, np.zeros(6), weight)
        for low_share, delay, offset, weight in [(1.0, 0.0, 4, 0.2), (0.5, 10.0, 2, 0.7), (0.0, 20.0, 0, 0.1)]
    )
    assert feature_settings(Balance(LEVEL, variants), lag=4) == FeatureSettings(4, 2, 0.5)


def test_several_settings_equal_each_alone():
    rng, clock = np.random.default_rng(0), Clock(np.array([560.0, 570.0, 580.0]), np.array([0.0, 0.0, 1.0]))
    inputs = Inputs(rng.uniform(400, 900, (3, 9)), rng.uniform(0, 1, (3, 9)), np.full(3, 415.0), clock, 10.0)
    settings, people = [FeatureSettings(0, 0, 1.0), FeatureSettings(2, 1, 0.5)], rng.uniform(0, 9, (7, 3))
    features = room_features(inputs, LEVEL, stack_feature_settings([settings]), people)
    assert features.shape == (3, 2, 35)
    for k, one in enumerate(settings):
        np.testing.assert_allclose(features[:, k], room_features(inputs, LEVEL, one, people), rtol=1e-12)


def test_settings_of_each_input_equal_each_room_alone():
    rng, clock = np.random.default_rng(1), Clock(np.array([560.0, 570.0]), np.array([0.0, 1.0]))
    inputs = Inputs(rng.uniform(400, 900, (2, 9)), rng.uniform(0, 1, (2, 9)), np.full(2, 415.0), clock, 10.0)
    rooms = [[FeatureSettings(0, 0, 1.0), FeatureSettings(2, 1, 0.5)], [FeatureSettings(0, 0, 0.0)] * 2]
    people = rng.uniform(0, 9, (7, 2))
    features = room_features(inputs, LEVEL, stack_feature_settings(rooms), people)
    for n, settings in enumerate(rooms):
        for k, one in enumerate(settings):
            alone = room_features(inputs.take(np.array([n])), LEVEL, one, people[:, [n]])
            np.testing.assert_allclose(features[n, k], alone[0], rtol=1e-12)


def test_gains_worked_by_hand():
    features = np.zeros((2, 35))
    features[0] = 7.0  # the spread of a column is half the difference of its two values
    features[:, 5] = [-2.0, 2.0]  # CO2 now
    features[:, 15] = [1.0, 9.0]  # 20-minute rise
    gains = np.split(feature_gains(features, np.array([3.0, 13.0]), 3), np.cumsum(group_sizes(3))[:-1])
    m, p, v, t, s = (group.tolist() for group in gains)
    # Slopes are in ppm/min: over 20 min, and in units of 30 ppm, they are 20 / 30 of a rise of spread 4.
    assert m == pytest.approx([20 / 120] * 2 + [0.5] * 3)
    assert p == [0.5] * 8 + [0.25] * 4
    assert v == [1.0] * 4
    assert t == [1.0] * 7
    assert s == [0.2] * 7


def test_gains_without_spread_are_limited():
    gains = feature_gains(np.full((5, 35), 3.3), np.zeros(5), 3)
    assert gains[:28].tolist() == pytest.approx([20 / 30] * 2 + [1.0] * 26)
    assert gains[28:].tolist() == pytest.approx([1 / 0.3] * 7)
    assert people_spread(np.array([0.0, 0.0, 0.0, 0.1])) == 0.3
    assert people_spread(np.array([0.0, 4.0])) == 2.0


def test_normalised_features_do_not_depend_on_size_of_room():
    """CO2 that rises three times as far above the base, and five times the people."""
    rng, n = np.random.default_rng(2), 40
    rise, flow = rng.uniform(0, 300, (n, 9)), rng.uniform(0, 1, (n, 9))
    clock, counts = Clock(rng.uniform(0, 1440, n), np.zeros(n)), rng.integers(0, 9, n).astype(float)
    people = rng.uniform(0, 9, (7, n))

    def normalised(times, more):
        base = BaseLevel(400.0, 400.0, 400.0)
        inputs = Inputs(400 + times * rise, flow, np.full(n, 400.0), clock, 10.0)
        features = room_features(inputs, base, FeatureSettings(0, 0, 1.0), more * people)
        return features * feature_gains(features, more * counts, 3)

    np.testing.assert_allclose(normalised(3.0, 5.0), normalised(1.0, 1.0), rtol=1e-9, atol=1e-12)
