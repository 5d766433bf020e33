"""Closed hours as head counts of 0: given, found, and their effect on training."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.metrics import rmse
from occupair.model_file import dump_model
from occupair.readings.head_counts import check_labelled
from occupair.room.closed_hours import (
    FOUND_WEIGHT,
    MAX_DAYS,
    MAX_SHARE,
    count_closed_hours,
    find_closed_hours,
    parse_closed,
)
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


def added(dates):
    """(day, minute, weight) of each assumed count."""
    return [
        (k, episode.clock.minute[j], episode.weight[j])
        for k, date in enumerate(dates)
        for episode in date
        if episode.assumed is not None
        for j in np.flatnonzero(episode.assumed)
    ]


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


def test_given_hours_become_zero_counts_every_15_minutes():
    dates = count_closed_hours(dates_of(office_days(2)), parse_closed("22:00-02:00"))
    found = added(dates)
    minutes = [*range(0, 120, 15), *range(1320, 1440, 15)]
    assert [(k, minute) for k, minute, _ in found] == [(k, m) for k in (0, 1) for m in minutes]
    # two head counts, and 32 counts of 0 that weigh at most three times as much
    assert [weight for _, _, weight in found] == pytest.approx([MAX_SHARE * 2 / 32] * 32)
    for date in dates:
        (episode,) = date
        assert (episode.people[episode.assumed] == 0).all()
        assert episode.people[144] == 5
        assert episode.weight[144] == 1


def test_head_count_above_zero_prevails_on_its_day():
    readings = office_days(3)
    readings.loc["2024-01-09 22:30", "occupancy"] = 2.0
    found = added(count_closed_hours(dates_of(readings), parse_closed("22:00-02:00")))
    assert {k for k, _, _ in found} == {0, 2}
    readings.loc["2024-01-09 22:30", "occupancy"] = 0.0
    found = added(count_closed_hours(dates_of(readings), parse_closed("22:00-02:00")))
    assert {k for k, _, _ in found} == {0, 1, 2}
    assert 1355.0 in {minute for k, minute, _ in found if k == 1}  # 22:30 has a head count


def test_complete_head_counts_are_not_affected(slow_office):
    models = [oc.OccupancyEstimator(n_hidden=10, random_state=0, closed=one) for one in (None, ())]
    estimates = [model.fit(slow_office).estimate(slow_office, interval=0.9) for model in models]
    pd.testing.assert_frame_equal(*estimates)


def test_closed_hours_are_found_where_co2_rests_or_decays():
    """CO2 rises by 40 ppm/h from 8 to 18 h, so the rise in an hour exceeds 15 ppm from 8:22 on.

    The last hour before that is left out.
    """
    (closed, *others) = find_closed_hours(dates_of(office_days(6)))
    assert all((other == closed).all() for other in others)
    assert closed[:420].all()
    assert not closed[450:1080].any()
    assert closed[1150:].all()


@pytest.mark.parametrize(
    "readings",
    [
        office_days(4),
        office_days(6, day_range=50.0),
        office_days(6, co2=lambda times, level: 800 + 200 * np.sin(np.arange(times.size) / 20)),
        office_days(6).assign(occupancy=3.0, occupancy_weight=0.5),
    ],
    ids=["few days", "small range", "never at rest", "always counted"],
)
def test_nothing_is_found_in_doubt(readings):
    assert not np.any(find_closed_hours(dates_of(readings)))


def test_days_with_an_evening_event_are_left_out():
    def event(times, level):
        evening = (times.day == 10) & (times.hour >= 20) & (times.hour < 23)
        return level + np.where(evening, 60.0 * (times.hour + times.minute / 60 - 20), 0.0)

    hours = find_closed_hours(dates_of(office_days(12, co2=event)))
    assert hours[0][1260:1380].all()
    assert not hours[2][1260:1380].any()


def test_head_count_in_the_evening_keeps_the_time_of_day_open():
    readings = office_days(6)
    readings.loc["2024-01-09 22:00", "occupancy"] = 1.0
    hours = find_closed_hours(dates_of(readings))
    assert not np.any([day[1260:1380] for day in hours])
    assert hours[0][:420].all()


def test_days_without_head_counts_take_part_up_to_a_limit():
    readings = office_days(MAX_DAYS + 10)
    readings.loc[readings.index >= "2024-01-10", "occupancy"] = np.nan
    found = added(count_closed_hours(dates_of(readings), None))
    days = sorted({k for k, _, _ in found})
    assert len(days) == MAX_DAYS + 2
    assert days[:3] == [0, 1, 2]
    assert days[-1] == MAX_DAYS + 9
    assert max(weight for _, _, weight in found) <= FOUND_WEIGHT
    assert sum(weight for _, _, weight in found) == pytest.approx(MAX_SHARE * 2)


def test_assumed_counts_are_no_evidence_of_accuracy():
    dates = count_closed_hours(dates_of(office_days(6)), parse_closed("20:00-06:00"))
    training = prepare_training_days(dates, interval=5.0, smoothing=0.0)
    assert training.effective_days == pytest.approx(6 / 24)
    assert training.labelled_hours_share == pytest.approx(11 / 24)
    counted = np.concatenate(training.counted_weights(0))
    assert counted.sum() == 6
    assert training.target(0)[counted > 0].tolist() == [5.0] * 6
    assert training.weight(0).sum() == pytest.approx(6 * (1 + MAX_SHARE))
    assert training.subset([0, 1]).effective_days == pytest.approx(2 / 24)
    assert training.informative_days == pytest.approx(6 * np.sqrt(1 / 24))


def test_closed_hours_improve_single_counts_in_simulated_offices():
    errors = []
    for seed in range(4):
        office = oc.simulate_office(days=10, seed=seed).iloc[::5]
        train, test = office.iloc[: 8 * 288], office.iloc[8 * 288 :]
        rng = np.random.default_rng(seed)
        daytime = np.flatnonzero((train.index.hour >= 8) & (train.index.hour < 20))
        known = np.isin(np.arange(len(train)), rng.choice(daytime, 12, replace=False))
        single = train.assign(occupancy=train["occupancy"].where(known))
        models = [oc.OccupancyEstimator(random_state=0, closed=one) for one in ((), "23:30-07:00")]
        errors.append([rmse(test["occupancy"], one.fit(single).estimate(test)) for one in models])
    without, with_closed = np.mean(errors, axis=0)
    assert with_closed < without


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
