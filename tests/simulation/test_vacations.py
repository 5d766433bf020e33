import datetime as dt

import numpy as np

from occupair.simulation.vacations import on_vacation


def year_of_vacations(seed):
    """Return the dates of all calendar weeks of 2016 and the one after them, and who is absent."""
    dates = [dt.date(2016, 1, 4) + dt.timedelta(days=day) for day in range(53 * 7)]
    return dates, np.array([on_vacation(date, 35, seed=seed) for date in dates])


def test_everybody_has_five_weeks_a_year():
    _, absent = year_of_vacations(seed=1)
    assert (absent.sum(axis=0) == 5 * 7).all()


def test_vacations_are_whole_weeks():
    dates, absent = year_of_vacations(seed=2)
    mondays = [k for k, date in enumerate(dates) if date.weekday() == 0 and k + 6 < len(dates)]
    for k in mondays:
        assert (absent[k : k + 7] == absent[k]).all()


def test_summer_and_christmas_are_the_quiet_seasons():
    dates, absent = year_of_vacations(seed=3)
    share = {month: absent[[date.month == month for date in dates]].mean() for month in (5, 7, 8, 12)}
    assert min(share[7], share[8], share[12]) > 2 * share[5]
    christmas = on_vacation(dt.date(2016, 12, 27), 35, seed=3)
    assert christmas.all()
