"""Head counts next to the prediction intervals that were published at their times."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import Select, and_, func, select

from occupair.live.messages import UNTRAINED_SOURCE
from occupair.live.store import schema
from occupair.live.store.database import check_texts

MAX_AGE = dt.timedelta(hours=2)
"""Intervals published longer before a head count are not looked at; grids have steps of up to an hour."""


def labelled_intervals_query(room: str, *, follows_clock: bool) -> Select[tuple[int, int, int, float, float]]:
    """Return a query for the head counts of a room since its newest model, and the last interval before each.

    Confirmed estimates are left out, because they say nothing about errors, and so are head counts without an
    interval. The columns are the time of the head count, people, the time of the interval, low and high.

    Parameters
    ----------
    room : str
        Room id.
    follows_clock : bool
        Whether the times of head counts are those of the clock, as the time of the model is. If not, only
        the times when they were entered are compared with it.
    """
    check_texts("room", [room])
    labels, estimates, models = schema.labels, schema.estimates, schema.models
    oldest = labels.c.time - MAX_AGE // dt.timedelta(microseconds=1)
    earlier = estimates.alias()
    published = (
        select(func.max(earlier.c.time))
        .where(earlier.c.room == labels.c.room, earlier.c.time <= labels.c.time, earlier.c.time >= oldest)
        .correlate(labels)
        .scalar_subquery()
    )
    model = (
        select(func.coalesce(func.max(models.c.created), 0)).where(models.c.room == room).scalar_subquery()
    )
    joined = labels.join(estimates, and_(estimates.c.room == labels.c.room, estimates.c.time == published))
    chosen = (
        select(
            labels.c.time, labels.c.people, estimates.c.time.label("published"),
            estimates.c.low, estimates.c.high,
        )
        .select_from(joined)
        .where(labels.c.room == room, labels.c.source != UNTRAINED_SOURCE, labels.c.entered >= model)
        .where(estimates.c.low.is_not(None), estimates.c.high.is_not(None))
        .order_by(labels.c.time)
    )  # fmt: skip
    return chosen.where(labels.c.time >= model) if follows_clock else chosen
