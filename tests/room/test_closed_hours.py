"""Closed hours, and their effect on training with single counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.model_file import dump_model
from occupair.readings.head_counts import check_labelled
from occupair.room.closed_hours import parse_closed
from occupair.room.fit_and_estimate import episodes_by_date
from occupair.room.training_days import prepare_training_days

HEADROOM = 1.0  # of estimates above the largest head count, in a room that starts from others
NO_HEADROOM_DAYS = 8  # from which on there is none


def office_days(n, *, co2=None, people=None, day_range=400.0):
    """Days of readings every 5 min: CO2 rises from 8 to 18 h and decays from then on, one count at noon."""
    times = pd.date_range("2024-01-08", periods=288 * n, freq="5min")
    hour = (times.hour + times.minute / 60).to_numpy()
    rising = np.clip((hour - 8) / 10, 0, 1)
    decaying = np.where(hour >= 18, np.exp(-(hour - 18) / 2), 1.0)
    level = 420 + day_range * rising * decaying
    counts = np.where((times.hour == 12) & (times.minute == 0), 5.0, np.nan)
    return pd.DataFrame(
        {"co2": level if co2 is None else co2(times, level), "occupancy": counts}, index=times
    )


def dates_of(readings):
    return episodes_by_date(check_labelled(readings))


@pytest.mark.parametrize(
    ("closed", "first", "last", "length"),
    [
        ("22:00-06:00", 1320, 359, 480),
        (("22:00", "06:00"), 1320, 359, 480),
        (["9:30-10:00"], 570, 599, 30),
    ],
)
def test_given_periods(closed, first, last, length):
    minutes = parse_closed(closed)
    assert minutes.sum() == length
    assert minutes[first]
    assert minutes[last]
    assert not minutes[first - 1]
    assert not minutes[last + 1]


def test_several_periods_and_none():
    assert parse_closed(("22:00-24:00", "00:00-01:00")).sum() == 180
    assert parse_closed(None) is None
    assert not parse_closed(()).any()


@pytest.mark.parametrize(
    "closed", ["22-6", "22:00", "25:00-06:00", "22:60-06:00", "22:00-24:01", "06:00-06:00", 22, ("22:00", 6)]
)
def test_other_values_raise(closed):
    with pytest.raises(
        oc.InputError, match=r"^closed must be a period of the day such as '22:00-06:00', got "
    ):
        parse_closed(closed)


def test_estimator_names_wrong_period(slow_office):
    with pytest.raises(oc.InputError, match=r"^closed must be a period of the day .* got 'at night'$"):
        oc.OccupancyEstimator(closed="at night").fit(slow_office)


def test_complete_head_counts_are_not_affected(slow_office):
    models = [oc.OccupancyEstimator(n_hidden=10, random_state=0, closed=one) for one in (None, ())]
    estimates = [model.fit(slow_office).estimate(slow_office, interval=0.9) for model in models]
    pd.testing.assert_frame_equal(*estimates)


def test_saved_model_keeps_closed_hours(slow_office, tmp_path):
    model = oc.OccupancyEstimator(n_hidden=10, random_state=0, closed=("22:00-06:00",)).fit(slow_office)
    model.save(tmp_path / "room.occupair")
    loaded = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    assert loaded.closed == ("22:00-06:00",)
    assert dump_model(loaded) == dump_model(model)


def test_limit_of_single_counts_follows_labelled_hours():
    """Six days with a count in one of 24 hours."""
    training = prepare_training_days(dates_of(office_days(6)), interval=5.0, smoothing=0.0)
    assert training.max_people == training.people_limit == 5
    limit = 5 * (1 + HEADROOM * (1 - 6 * np.sqrt(1 / 24) / NO_HEADROOM_DAYS))
    assert replace(training, headroom=HEADROOM).people_limit == pytest.approx(limit)


def test_limit_without_other_rooms_is_the_largest_count():
    readings = office_days(3).assign(occupancy=np.tile([0.0, 8.0], 144 * 3))
    assert prepare_training_days(dates_of(readings), interval=5.0, smoothing=0.0).people_limit == 8
    unlabelled = readings.assign(occupancy=readings["occupancy"].where(readings.index < "2024-01-10"))
    assert prepare_training_days(dates_of(unlabelled), interval=5.0, smoothing=0.0).people_limit == 8
