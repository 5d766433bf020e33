"""Sparse head counts: against a reference implementation, and invariances."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.metrics import rmse
from occupair.model_file import dump_model
from occupair.readings.head_counts import check_labelled
from occupair.room.fit_and_estimate import episodes_by_date
from occupair.room.inputs import Clock
from occupair.room.members import TrainingSettings, stack_weights
from occupair.room.training import fit_room
from occupair.room.training_days import LabelledEpisode, choose_samples, prepare_training_days

FULL_WEIGHT_DAYS = 6  # from which on all members have their prior weight
HEADROOM = 1.0  # of estimates above the largest head count, in a room that starts from others
NO_HEADROOM_DAYS = 8  # from which on there is none


def small(**changes):
    return oc.OccupancyEstimator(**({"n_hidden": 10, "random_state": 0} | changes))


def sparse(readings, share, *, seed=0):
    """Readings of which only some have a head count."""
    known = np.random.default_rng(seed).random(len(readings)) < share
    return readings.assign(occupancy=readings["occupancy"].where(known))


def test_weight_zero_equals_missing_and_weight_one_equals_unweighted(slow_office):
    office = slow_office.iloc[: 2 * 288 : 2]  # two days, every ten minutes
    known = np.random.default_rng(1).random(len(office)) < 0.2
    missing = office.assign(occupancy=office["occupancy"].where(known))
    zero = office.assign(occupancy=np.where(known, office["occupancy"], 77), occupancy_weight=known)
    one = missing.assign(occupancy_weight=np.where(known, 1.0, np.nan))
    first = dump_model(small().fit(missing))
    assert dump_model(small().fit(zero)) == first
    assert dump_model(small().fit(one)) == first
    whole = dump_model(small().fit(office))
    assert dump_model(small().fit(office.assign(occupancy_weight=1))) == whole
    assert dump_model(small().fit(office.assign(occupancy_weight=np.nan))) == whole


def test_half_weights_lower_prior_weights_of_all_but_the_balance(slow_office, last_day):
    half = slow_office.assign(occupancy_weight=0.5)
    for readings, days in ((half, 4 * np.sqrt(0.5)), (slow_office, 4)):
        dates = episodes_by_date(check_labelled(readings))
        training = prepare_training_days(dates, interval=5.0, smoothing=0.0)
        same = np.ones((5, len(slow_office)))  # members with equal errors keep their prior weights
        assert training.informative_days == pytest.approx(days)
        share = days / FULL_WEIGHT_DAYS / 5
        found = stack_weights(training, same, training.weight(0))
        np.testing.assert_allclose(found, [share, 1 - 4 * share, share, share, share])
    errors = [rmse(last_day["occupancy"], small().fit(one).estimate(last_day)) for one in (half, slow_office)]
    assert errors[0] == pytest.approx(errors[1], rel=0.2)


def test_labels_of_few_hours_lower_prior_weights_of_all_but_the_balance(slow_office):
    """Head counts in six of 24 hours tell half as much, and a quarter of the hours of the day."""
    six_hours = slow_office["occupancy"].where(slow_office.index.hour // 6 == 2)
    dates = episodes_by_date(check_labelled(slow_office.assign(occupancy=six_hours)))
    training = prepare_training_days(dates, interval=5.0, smoothing=0.0)
    assert training.effective_days == pytest.approx(1)
    assert training.informative_days == pytest.approx(2)
    n = training.target(0).size
    weights = stack_weights(training, np.ones((5, n)), training.weight(0))
    share = (2 / FULL_WEIGHT_DAYS) * (6 / 24) / 5
    np.testing.assert_allclose(weights, [share, 1 - 4 * share, share, share, share])


def test_errors_without_head_count_do_not_count_in_the_weights(slow_office):
    few = check_labelled(sparse(slow_office, 0.3))
    training = prepare_training_days(episodes_by_date(few), interval=5.0, smoothing=0.0)
    weight = training.weight(0)
    errors = np.random.default_rng(0).normal(0, 1 + np.arange(5)[:, np.newaxis], (5, weight.size))
    wild = np.where(weight > 0, errors, 1e6)
    np.testing.assert_array_equal(
        stack_weights(training, errors, weight), stack_weights(training, wild, weight)
    )


def test_wrong_head_counts_matter_less_with_smaller_weight(slow_office, last_day):
    wrong = np.random.default_rng(5).random(len(slow_office)) < 0.5
    people = slow_office["occupancy"].where(~wrong, 25 - slow_office["occupancy"].clip(0, 25))
    errors = []
    for weight in (1.0, 0.1, 0.0):
        doubtful = slow_office.assign(occupancy=people, occupancy_weight=np.where(wrong, weight, 1.0))
        model = small().fit(doubtful.iloc[: 3 * 288])
        errors.append(rmse(last_day["occupancy"], model.estimate(last_day)))
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 2 * errors[1]


def test_days_without_head_counts_improve_estimates(slow_office):
    counted = slow_office["occupancy"].where(np.arange(len(slow_office)) < 288)  # of the first day only
    last_day = slow_office.iloc[3 * 288 :]
    errors = [
        rmse(last_day["occupancy"], small().fit(train.assign(occupancy=counted)).estimate(last_day))
        for train in (slow_office.iloc[: 3 * 288], slow_office.iloc[:288])
    ]
    assert errors[0] < errors[1]


def test_windows_use_readings_without_head_counts(slow_office):
    """CO2 in the hour before a head count matters."""
    office = slow_office.iloc[: 2 * 288 : 2]
    one = office.assign(occupancy=office["occupancy"].where(office.index.minute == 0))
    bumped = one.copy()
    before = (one.index.hour == 10) & (one.index.minute == 50)
    bumped.loc[before, "co2"] += 40.0
    assert dump_model(small().fit(one)) != dump_model(small().fit(bumped))


def labelled_by_hand(office, per_day, seed):
    """Head counts at single minutes of each day, between 08:00 and 20:00."""
    rng = np.random.default_rng(seed)
    minute = np.asarray(60 * office.index.hour + office.index.minute)
    open_rows = np.flatnonzero((minute >= 8 * 60) & (minute < 20 * 60))
    days = np.split(open_rows, np.flatnonzero(np.diff(office.index.date[open_rows])) + 1)
    rows = [rng.choice(day, per_day, replace=False) for day in days]
    known = np.isin(np.arange(len(office)), np.concatenate(rows))
    return office.assign(occupancy=office["occupancy"].where(known))


def test_sparse_head_counts_beat_profile_and_constant():
    errors = []
    for seed in range(4):
        office = oc.simulate_office(days=8, seed=seed).iloc[::15]
        train, test = labelled_by_hand(office.iloc[: 6 * 96], 12, seed), office.iloc[6 * 96 :]
        model = oc.OccupancyEstimator(random_state=0).fit(train)
        known = train.dropna()
        profile = known["occupancy"].groupby(known.index.floor("30min").time).mean()
        clock = pd.Series(test.index.floor("30min").time).map(profile).fillna(0.0)
        ours = rmse(test["occupancy"], model.estimate(test))
        assert model.comparison_.co2_helps
        errors.append(
            [
                ours,
                rmse(test["occupancy"], clock),
                rmse(test["occupancy"], np.full(len(test), known["occupancy"].mean())),
            ]
        )
    ours, clock, constant = np.mean(errors, axis=0)
    assert ours < 0.85 * clock
    assert ours < 0.4 * constant


def test_coverage_with_sparse_head_counts():
    office = oc.simulate_office(days=10, seed=8).iloc[::15]
    test = office.iloc[6 * 96 :]
    table = small().fit(labelled_by_hand(office.iloc[: 6 * 96], 12, 0)).estimate(test, interval=0.9)
    assert test["occupancy"].between(table["low"], table["high"]).mean() >= 0.87
    few = small().fit(labelled_by_hand(office.iloc[: 3 * 96], 6, 0))  # 18 counts, and it takes 19
    table = few.estimate(test, interval=0.9)
    assert (table["low"] == 0).all()
    np.testing.assert_allclose(table["high"], table["people"] + few.room_.people_limit, atol=1e-3)


def test_training_error_is_weighted_held_out_error(slow_office):
    few = check_labelled(sparse(slow_office, 0.2).assign(occupancy_weight=np.tile([0.25, 1.0], 576)))
    settings = TrainingSettings(5.0, 0.0, (1.0,) * 5, 5, (1.0,), (1,), verbose=False)
    _, held_out = fit_room(episodes_by_date(few), settings)
    people, estimated, weight = map(np.concatenate, (held_out.people, held_out.estimated, held_out.weights))
    known = weight > 0
    off = people[known] - estimated[known]
    assert held_out.error == pytest.approx(np.sqrt(weight[known] @ off**2 / weight.sum()))
    np.testing.assert_array_equal(people[known], few["occupancy"].dropna())


def episode(people, weight, minute=0.0):
    n = len(people)
    clock = Clock(minute + np.arange(n, dtype=float), np.zeros(n))
    weight = np.array(weight, dtype=float)
    return LabelledEpisode(500.0 + np.arange(n), np.zeros(n), clock, np.array(people, dtype=float), weight)


def test_every_run_of_head_counts_is_sampled_at_every_lag():
    weight = np.zeros(60)
    weight[[5, 6, 7, 8, 9, 16]] = 1.0
    training = prepare_training_days([[episode(np.arange(60), weight)]], interval=1.0, smoothing=0.0)
    # 5 and 8 of the stretch from 5 on, 16; the same ten and twenty minutes later.
    assert training.days[0].clock.minute.tolist() == [5, 8, 15, 16, 18, 25, 26, 28, 36]
    assert training.weights(0)[0].tolist() == [1, 1, 0, 1, 0, 0, 0, 0, 0]
    assert training.weights(10)[0].tolist() == [0, 0, 1, 1, 1, 0, 1, 0, 0]
    assert training.people[10][0].tolist() == [0, 0, 5, 6, 8, 0, 16, 0, 0]
    assert training.people[20][0].tolist() == [0, 0, 0, 0, 0, 5, 6, 8, 16]
    assert training.labelled(20).tolist() == [False] * 5 + [True] * 4
    assert training.max_people == 16


def test_effective_days_follow_labelled_hours():
    whole, part = np.ones(1440), np.zeros(1440)
    part[[600, 610, 700]] = 1.0, 0.5, 0.25
    dates = [[episode(np.ones(1440), weight)] for weight in (whole, part, np.zeros(1440))]
    training = prepare_training_days(dates, interval=1.0, smoothing=0.0)
    assert len(training) == 2  # the third has no count
    assert training.effective_days == pytest.approx(1 + 1.25 / 24)
    assert training.informative_days == pytest.approx(1 + np.sqrt(1.25 / 24))
    assert training.labelled_hours_share == 1.0
    assert training.subset([1]).effective_days == pytest.approx(1.25 / 24)
    assert training.subset([1]).informative_days == pytest.approx(np.sqrt(1.25 / 24))
    assert training.subset([1]).labelled_hours_share == pytest.approx(2 / 24)


@pytest.mark.parametrize("n_days", [1, 3, NO_HEADROOM_DAYS - 1, NO_HEADROOM_DAYS, NO_HEADROOM_DAYS + 4])
def test_headroom_falls_to_nothing_with_days(n_days):
    days = [[episode([0.0, 10.0], [1.0, 1.0])] for _ in range(n_days)]
    training = prepare_training_days(days, interval=10.0, smoothing=0.0, lags=(0.0,))
    assert training.effective_days == training.informative_days == n_days
    assert training.people_limit == training.max_people == 10
    roomy = replace(training, headroom=HEADROOM)
    limit = 10 * (1 + HEADROOM * max(1 - n_days / NO_HEADROOM_DAYS, 0))
    assert roomy.people_limit == pytest.approx(limit)
    assert roomy.clamp(np.array([-1.0, 100.0])).tolist() == pytest.approx([0.0, limit])
    if n_days > 1:  # fewer days in a fold
        fewer = 10 * (1 + HEADROOM * max(1 - (n_days - 1) / NO_HEADROOM_DAYS, 0))
        assert roomy.subset(range(n_days - 1)).people_limit == pytest.approx(fewer)


def test_only_rooms_that_start_from_others_have_headroom(slow_office):
    train = slow_office.iloc[: 2 * 288 : 2]
    most = train["occupancy"].max()
    other = small().fit(slow_office.iloc[2 * 288 :: 2])
    limits = {
        start: model.fit(train).room_.people_limit
        for start, model in {
            "none": oc.OccupancyEstimator(random_state=0, start=None),
            "pooled": oc.OccupancyEstimator(random_state=0),
            "other settings": small(),
            "transfer": oc.OccupancyEstimator.transfer([other], n_hidden=10, random_state=0),
        }.items()
    }
    roomy = most * (1 + HEADROOM * (1 - 2 / NO_HEADROOM_DAYS))
    assert limits == pytest.approx({"none": most, "pooled": roomy, "other settings": most, "transfer": roomy})


def test_head_counts_without_later_readings_raise():
    weight = np.zeros(30)
    weight[-5:] = 1.0
    with pytest.raises(
        oc.InputError,
        match=r"^readings must continue without a gap for 10 min after at least one head count$",
    ):
        prepare_training_days([[episode(np.ones(30), weight)]] * 3, interval=1.0, smoothing=0.0)


def test_single_head_count_trains(slow_office, last_day):
    one = slow_office.assign(occupancy=slow_office["occupancy"].where(np.arange(1152) == 150))
    model = small().fit(one)
    assert model.comparison_ is None
    assert model.estimate(last_day, lag=20, interval=0.9).notna().all(axis=None)
    tiny = small().fit(slow_office.assign(occupancy_weight=1e-300))
    assert tiny.estimate(last_day).notna().all()


def test_fold_without_refinable_head_count(slow_office, last_day):
    """All days but one have their only head count at the end of the day."""
    known = np.isin(np.arange(1152), [150, 575, 863, 1151])
    model = small().fit(slow_office.assign(occupancy=slow_office["occupancy"].where(known)))
    assert model.estimate(last_day, lag=20).notna().all()


def test_prior_improves_room_with_few_head_counts():
    others = [small().fit(oc.simulate_office(days=5, seed=seed).iloc[::15]) for seed in (101, 102, 103)]
    errors = []
    for seed in range(4):
        office = oc.simulate_office(days=5, seed=seed).iloc[::15]
        train, test = labelled_by_hand(office.iloc[: 2 * 96], 4, seed), office.iloc[2 * 96 :]
        helped = oc.OccupancyEstimator.transfer(others, n_hidden=10, random_state=0)
        errors.append([rmse(test["occupancy"], one.fit(train).estimate(test)) for one in (small(), helped)])
    alone, helped = np.mean(errors, axis=0)
    assert helped < alone


def test_single_head_count_among_inferred_ones_is_a_sample():
    weight = np.full(60, 0.5)
    weight[[7, 20]] = 1.0
    clock = Clock(np.arange(60.0), np.zeros(60))
    episode = LabelledEpisode(np.full(60, 500.0), np.zeros(60), clock, np.full(60, 3.0), weight)
    chosen = choose_samples(episode, 1.0, [0])
    assert {0, 3, 6, 7, 8, 20} <= set(chosen.tolist())
    assert {1, 2, 4, 5}.isdisjoint(chosen.tolist())
