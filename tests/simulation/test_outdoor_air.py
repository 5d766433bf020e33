import numpy as np

from occupair.simulation.outdoor_air import DAILY_SWING, DRIFT, MEAN, outdoor_co2


def test_mean_and_drift_over_many_days():
    midnights = outdoor_co2(4000, seed=0)[
        ::1440
    ]  # the cycle adds the same at each midnight: cos(-90 deg) = 0
    # independent days would err by DRIFT / sqrt(4000) = 0.1 ppm; days alike count for less
    assert abs(midnights.mean() - MEAN) < 1.0
    assert abs(midnights.std() / DRIFT - 1) < 0.1


def test_consecutive_days_are_correlated():
    midnights = outdoor_co2(4000, seed=1)[::1440]
    assert abs(np.corrcoef(midnights[:-1], midnights[1:])[0, 1] - 0.7) < 0.05


def test_daily_cycle_peaks_before_sunrise():
    mean_day = outdoor_co2(1000, seed=2).reshape(1000, 1440).mean(axis=0)
    assert abs(int(mean_day.argmax()) - 6 * 60) < 20
    assert abs(np.ptp(mean_day) - 2 * DAILY_SWING) < 1.0


def test_outdoor_co2_has_no_jumps():
    steps = np.diff(outdoor_co2(60, seed=3))
    # steepest: the cycle's 2 pi * 8 / 1440 = 0.035 ppm a minute, and a change of some 4 sd over a day
    assert np.abs(steps).max() < 0.06


def test_more_days_do_not_change_earlier_ones():
    assert np.array_equal(outdoor_co2(9, seed=4)[: 3 * 1440], outdoor_co2(3, seed=4))
