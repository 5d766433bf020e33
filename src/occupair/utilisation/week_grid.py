"""The typical week of a room: means for each hour of each day of the week."""

from __future__ import annotations

import pandas as pd

from occupair.utilisation.counts import check_counts, interval_hours, is_in_use, local_times

HOURS_OF_DAY = 24
CELLS = 7 * HOURS_OF_DAY
"""Hours of a week; cell 0 is Monday from midnight to 1:00."""


def week_grid(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the mean count of each hour of the week.

    The hour is that of the clock in the room. When the clock is set back, the hour that occurs twice has
    twice the weight; the hour that is skipped in spring has none.

    Parameters
    ----------
    counts : DataFrame
        Counts, see ``check_counts``; without those of days to be left out.

    Returns
    -------
    DataFrame
        168 rows by ``weekday`` (Monday is 0) and ``hour`` of the day: the mean ``people``, ``low`` and
        ``high`` [people], the share of the time ``in_use`` [0..1] and the known time, ``hours`` [h]. Cells
        without counts are NaN, with 0 hours. The mean of the ends of intervals is the interval of the mean
        only if all errors point the same way; otherwise it is narrower.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 08:00", periods=4, freq="30min")  # a Monday
    >>> grid = week_grid(pd.DataFrame({"people": [0.0, 4.0, 8.0, 8.0]}, index=times))
    >>> grid.loc[(0, 8), ["people", "in_use", "hours"]].tolist()
    [2.0, 0.5, 1.0]
    """
    table = check_counts(counts)
    table["in_use"] = is_in_use(table["people"]).astype(float)
    table = table[table["people"].notna()]
    cells = pd.MultiIndex.from_product([range(7), range(HOURS_OF_DAY)], names=["weekday", "hour"])
    if table.empty:
        return pd.DataFrame(float("nan"), index=cells, columns=table.columns).assign(hours=0.0)
    times = local_times(table)
    groups = table.groupby([times.day_of_week, times.hour])
    grid = groups.mean().rename_axis(["weekday", "hour"]).reindex(cells)
    known = groups.size().rename_axis(["weekday", "hour"]).reindex(cells, fill_value=0)
    return grid.assign(hours=known * (interval_hours(counts) if len(counts) > 1 else 0.0))
