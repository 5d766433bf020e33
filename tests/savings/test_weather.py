import datetime as dt

import numpy as np
import pandas as pd

from occupair.savings.weather import DAILY_MAXIMUM, DAILY_MINIMUM, outdoor_temperature

START = dt.date(2015, 9, 28)


def test_monthly_means_over_many_years_are_the_normals():
    years = [outdoor_temperature(START, 366, seed=seed) for seed in range(8)]
    months = pd.date_range(START, periods=366 * 1440, freq="min").month
    mean = pd.Series(np.mean(years, axis=0)).groupby(months).mean()
    normal = (np.array(DAILY_MINIMUM) + np.array(DAILY_MAXIMUM)) / 2
    np.testing.assert_allclose(mean, normal, atol=1.6)


def test_days_are_warmest_in_the_afternoon_and_coldest_at_night():
    by_hour = outdoor_temperature(START, 364, seed=0).reshape(364, 24, 60).mean(axis=(0, 2))
    assert (by_hour.argmax(), by_hour.argmin()) in {(14, 2), (15, 3), (14, 3), (15, 2)}


def test_more_days_extend_fewer_days():
    short, long = (outdoor_temperature(START, days, seed=5) for days in (10, 30))
    np.testing.assert_array_equal(short[: 9 * 1440 + 720], long[: 9 * 1440 + 720])


def test_seeds_have_different_weather():
    assert not np.allclose(outdoor_temperature(START, 5, seed=0), outdoor_temperature(START, 5, seed=1))
