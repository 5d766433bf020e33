"""Label planning: accuracy of the learning curve on held-out days, and the choice of days."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.checks import find_faults
from occupair.errors import InputError
from occupair.groundtruth.planning import plan as plan_module
from occupair.groundtruth.planning.day_similarity import dissimilarity, profile_days
from occupair.groundtruth.planning.learning_curve import (
    LearningCurve,
    bootstrap_interval,
    fit_curve,
    learning_curve,
)
from occupair.groundtruth.planning.plan import DEFAULT_RECOMMENDED, MAX_RECOMMENDED, plan_labels
from occupair.readings.schema import date_slices
from occupair.simulation import simulate_history

STEP = 15  # min between readings: coarse, for speed
DAY = 1440 // STEP  # readings


def days_of(readings):
    return [readings.iloc[rows] for rows in date_slices(readings)]


def settings(**changes):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0, **changes)


@pytest.fixture(scope="module")
def long_office():
    return oc.simulate_office(days=16, seed=3).iloc[::STEP]


@pytest.fixture(scope="module")
def labelled(long_office):
    return long_office.iloc[: 4 * DAY]


@pytest.fixture(scope="module")
def model(labelled):
    return settings().fit(labelled)


@pytest.fixture(scope="module")
def measured(labelled, model):
    """The learning curve of the labelled days."""
    return learning_curve(days_of(labelled), estimator=model)


@pytest.fixture
def same_curve(monkeypatch, measured):
    """Let plans use it instead of measuring it again."""
    monkeypatch.setattr(plan_module, "learning_curve", lambda days, **options: measured)


def moved(day, date, *, seed=0, **changes):
    """A copy of a day on another date, with a little noise and some changes."""
    times = pd.Timestamp(date) + (day.index - day.index[0].normalize())
    noise = np.random.default_rng(seed).normal(0, 2, len(day))
    return day.assign(co2=day["co2"] + noise, occupancy=np.nan, **changes).set_axis(times)


@pytest.fixture(scope="module")
def choices(labelled):
    """Labelled weekdays, copies of them, one with unusual ventilation, and an empty weekend day."""
    first, second, third, _ = days_of(labelled)
    calm = 420 + 0.55 * (second["co2"] - 420)
    history = simulate_history(6, seed=3)
    air = pd.DataFrame({"co2": history.co2, "ventilation": history.ventilation}, index=history.time)
    saturday = days_of(air.iloc[::STEP])[5]
    assert saturday.index[0].day_name() == "Saturday"
    return pd.concat(
        [
            labelled,
            moved(first, "2015-08-17", seed=1),
            moved(second, "2015-08-18", seed=2),
            moved(second, "2015-08-19", seed=3).assign(co2=calm.to_numpy(), ventilation=0.6),
            moved(third, "2015-08-20", seed=4),
            saturday.assign(occupancy=np.nan).set_axis(
                pd.date_range("2015-08-22", periods=DAY, freq=f"{STEP}min")
            ),
        ]
    )


# ---- number of days ---------------------------------------------------------------------------------------


def test_fit_recovers_the_curve():
    sizes = np.array([1, 2, 3, 5, 8])
    a, b, power = fit_curve(sizes, 2.0 + 3.0 / sizes)
    assert (a, b, power) == (pytest.approx(2.0), pytest.approx(3.0), 1.0)


def test_fitted_curve_never_rises():
    a, b, _ = fit_curve(np.array([1, 2, 4]), np.array([1.0, 2.0, 3.0]))
    assert a > 0
    assert b == 0


def curve_with(*resamples, luck=None):
    """E(n)^2 = 1 + 8 / n after four days, with given resamples."""
    curves = np.array([[1.0, 8.0, 1.0], *resamples])
    luck = np.zeros((len(resamples), 2, 4)) if luck is None else np.array(luck, dtype=float)
    return LearningCurve(4, {}, curves, luck)


def test_gain_matches_hand_calculation():
    # 3 people squared after 4 days, 2 after 8
    curve = curve_with([1.0, 0.0, 1.0])
    assert curve.error(4).value == pytest.approx(3**0.5)
    assert curve.gain(4).value == pytest.approx(1 - (2 / 3) ** 0.5)
    # 8 days: 2 to 17/9, 2.8 %; 10 days: 1.8 to 1 + 8/11, 2.04 %; 11 days: 1.7273 to 1.6667, 1.8 %
    assert curve.enough().value == 11
    assert curve.enough().low == 4


def test_interval_matches_hand_calculation():
    """A single resample is both quantiles, moved away by 1.638 / 1.282 * sqrt(4 / 3) from a table of t."""
    factor = 1.6377 / 1.2816 * (4 / 3) ** 0.5
    curve = curve_with([1.0, 0.0, 1.0])  # nothing to learn: error 1 instead of sqrt(3), no gain
    assert curve.error(4).low == pytest.approx(3**0.5 * 3 ** (-0.5 * factor), rel=1e-3)
    assert curve.error(4).high == curve.error(4).value
    # the remaining error is 1 in the resample and sqrt(2/3) in the fit
    assert curve.gain(4).low == pytest.approx(1 - (2 / 3) ** 0.5 * (3 / 2) ** (0.5 * factor), rel=1e-2)
    assert curve.gain(4).low < 0  # more days may also increase the error
    assert curve.gain(4).high == curve.gain(4).value


def test_informative_days_match_hand_calculation():
    """Four days without excess error, then four with twice the average excess."""
    lucky, usual = [0.0] * 4, [2**0.5] * 4
    curve = curve_with([1.0, 8.0, 1.0], luck=[[lucky, usual]])
    factor = 1.6377 / 1.2816 * (4 / 3) ** 0.5
    assert curve.error(4).low == pytest.approx(3**0.5 * (1 / 3) ** (0.5 * factor), rel=1e-3)  # 1 + 0 * 8 / 4
    # half of eight days are lucky: 2 * 1/2 = 1 times the average, 1 + 8 / 8 = 2: the error grows
    # the remaining error is sqrt(2) in the resample and sqrt(2/3) in the fit, a factor of sqrt(3)
    assert curve.gain(4).low == pytest.approx(1 - (2 / 3) ** 0.5 * 3 ** (0.5 * factor), rel=1e-2)


def test_bootstrap_interval_covers_the_mean_of_a_few_days():
    """Log-normal squared errors of n days, whose expected mean is exp(s^2 / 2)."""
    rng, covered = np.random.default_rng(0), []
    for _ in range(400):
        n = int(rng.integers(4, 9))
        days = np.exp(rng.normal(0, 0.6, n))
        resampled = days[rng.integers(0, n, (300, n))].mean(axis=1)
        found = bootstrap_interval(float(days.mean()), resampled, n)
        covered.append(found.low <= np.exp(0.5 * 0.6**2) <= found.high)
    assert 0.75 < np.mean(covered) < 0.87


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 11])
def test_predicted_error_matches_held_out_days(seed):
    office = oc.simulate_office(days=16, seed=seed).iloc[::STEP]
    days = days_of(office)
    order = np.random.default_rng(seed).permutation(16)
    curve = learning_curve([days[k] for k in sorted(order[:5])], estimator=settings())
    later = [days[k] for k in order]
    test = pd.concat(sorted(later[8:], key=lambda day: day.index[0]))
    for n in (5, 8):
        train = pd.concat(sorted(later[:n], key=lambda day: day.index[0]))
        error = oc.metrics.rmse(test["occupancy"], settings().fit(train).estimate(test))
        predicted = curve.error(n)
        assert 0.85 * predicted.low < error < 1.15 * predicted.high
    assert curve.error(8).value <= curve.error(5).value
    assert list(curve.measured) == [1, 2, 3, 4]


class RecordingEstimator(oc.OccupancyEstimator):
    """An estimator that records the days of training and of estimation."""

    fitted: ClassVar[list] = []
    seen: ClassVar[list] = []

    def fit(self, readings):
        self.days = set(readings.index.normalize())
        RecordingEstimator.fitted.append(frozenset(self.days))
        return super().fit(readings)

    def estimate(self, readings, *arguments, **options):
        RecordingEstimator.seen.append((self.days, set(readings.index.normalize())))
        return super().estimate(readings, *arguments, **options)


def test_held_out_days_are_not_in_training(labelled):
    RecordingEstimator.fitted, RecordingEstimator.seen = [], []
    learning_curve(days_of(labelled), estimator=RecordingEstimator(n_hidden=10, random_state=0))
    assert len(RecordingEstimator.seen) == 8 * 3
    assert all(not trained & estimated for trained, estimated in RecordingEstimator.seen)
    times = pd.Series([day for _, estimated in RecordingEstimator.seen for day in estimated]).value_counts()
    assert times.min() == times.max() == 6  # each day equally often
    trained = {frozenset(days) for days, _ in RecordingEstimator.seen}
    assert len(RecordingEstimator.fitted) == len(trained) < 8 * 3  # the same days are trained on once
    assert set(RecordingEstimator.fitted) == trained


def test_labels_of_weight_zero_are_ignored(labelled):
    wrong = labelled.assign(occupancy=labelled["occupancy"].where(labelled.index.hour != 12, 99))
    weight = np.where(labelled.index.hour == 12, 0.0, 1.0)
    curve = learning_curve(days_of(wrong.assign(occupancy_weight=weight)), estimator=settings())
    assert max(curve.measured.values()) < 3


def test_fewer_than_three_days_are_an_error(labelled):
    with pytest.raises(InputError, match="days must be 3 or more for a learning curve, got 2"):
        learning_curve(days_of(labelled)[:2])


# ---- choice of days ---------------------------------------------------------------------------------------


def test_unusual_ventilation_and_weekends_are_recommended_first(choices):
    plan = plan_labels(choices, days=5)
    dates = [f"{day.date:%m-%d}" for day in plan.days]
    assert set(dates[:2]) == {"08-19", "08-22"}
    assert len(plan.labelled) == 4
    assert plan.unlabelled == 5
    reasons = {f"{day.date:%m-%d}": day.reason for day in plan.days}
    assert reasons["08-19"].startswith("ventilation 51 to 75 % for 24.0 h, ")
    assert reasons["08-22"].startswith("first weekend day")
    assert reasons["08-17"].startswith("most similar to 2015-08-")
    assert plan.days[0].unlike > 2 > plan.days[2].unlike
    assert all(day.width > 0 for day in plan.days)
    assert plan.unlike == 2
    assert "2 days below are dissimilar to all labelled days" in plan.notes()[1]


def test_number_of_recommended_days_follows_the_curve(same_curve, choices, model):
    plan = plan_labels(choices, model=model)
    assert len(plan.days) == max(plan.alike, 2) or len(plan.days) == DEFAULT_RECOMMENDED
    assert len(plan.days) <= MAX_RECOMMENDED
    assert plan.advice.startswith("Label ")


def test_unlabelled_days_do_not_affect_the_curve(choices, model):
    """Neither values of weight 0 nor additional unlabelled days change the curve."""
    three = choices.iloc[DAY:]  # without the first labelled day, for speed
    unknown = three["occupancy"].isna()
    ignored = {
        "occupancy": three["occupancy"].where(~unknown, 7.0),
        "occupancy_weight": np.where(unknown, 0.0, 1.0),
    }
    one, other, fewer = (
        plan_labels(readings, model=model, days=3)
        for readings in (three, three.assign(**ignored), three.iloc[: 5 * DAY])
    )
    assert len(one.labelled) == 3
    assert one.days == other.days
    np.testing.assert_array_equal(one.curve.curves, other.curve.curves)
    np.testing.assert_array_equal(one.curve.curves, fewer.curve.curves)


def test_without_labels_recommended_days_cover_air_conditions(choices):
    air = choices.drop(columns="occupancy")
    plan = plan_labels(air, days=2)
    assert plan.labelled == ()
    assert plan.curve is None
    assert plan.advice == "Label 5 days with people, then run again."
    assert pd.Timestamp("2015-08-19") in [day.date for day in plan.days]  # unique ventilation
    conditions = {day.date: day.air_conditions for day in profile_days(air)}
    first, second = (conditions[day.date] for day in plan.days)
    assert len(first) == max(map(len, conditions.values()))
    assert len(second - first) == max(len(own - first) for own in conditions.values())
    assert f": {len(first)} air conditions" in plan.days[0].reason
    assert f": {len(second - first)} more air conditions" in plan.days[1].reason
    assert len(plan_labels(air).days) == 5


def test_two_labelled_days_are_too_few_for_a_curve(choices):
    some = choices.assign(occupancy=choices["occupancy"].where(choices.index < "2015-08-05"))
    plan = plan_labels(some, days=1)
    assert plan.curve is None
    assert plan.alike is None
    assert plan.advice == "Label 3 more days with people, then run again: 2 are too few, 5 are a good start."


@pytest.mark.parametrize("labelled_days", [3, 4, 5])
def test_plan_and_check_agree_on_enough_days(model, labelled_days):
    office = oc.simulate_office(days=7, seed=3).iloc[::STEP]
    some = office.assign(occupancy=office["occupancy"].where(np.arange(len(office)) < labelled_days * DAY))
    plan = plan_labels(some, model=model)
    too_few = "few_days" in {fault.kind for fault in find_faults(some)}
    assert too_few == (labelled_days < 5)
    assert ("too few, 5 are a good start" in plan.advice) == too_few
    if too_few:
        assert plan.alike >= 5 - labelled_days
        assert "enough" not in plan.advice


def test_labelled_days_without_people_do_not_count(choices, model):
    """Four labelled days, one of them empty."""
    empty = choices.assign(occupancy=choices["occupancy"].mask(choices.index < choices.index[DAY], 0))
    plan = plan_labels(empty, model=model)
    assert (len(plan.labelled), plan.occupied) == (4, 3)
    assert plan.advice.startswith("Label ")
    assert "3 are too few" in plan.advice


def test_labelled_days_without_people_give_no_curve(choices):
    plan = plan_labels(choices.assign(occupancy=choices["occupancy"] * 0), days=1)
    assert plan.curve is None
    assert plan.advice == (
        "Label days with people in the room: the 4 labelled days offer nothing to learn from."
    )


def test_given_model_is_used(same_curve, choices, model):
    plan = plan_labels(choices, model=model, days=2)
    assert {f"{day.date:%m-%d}" for day in plan.days} == {"08-19", "08-22"}
    unknown = plan_labels(choices.drop(columns="occupancy"), model=model, days=1)
    assert unknown.days[0].width > 0
    with pytest.raises(InputError, match=r"model must have layer 'room'"):
        plan_labels(choices, model=oc.OccupancyEstimator.paper())


def test_short_days_and_sparsely_counted_days_are_excluded(same_curve, choices, labelled, model):
    short = choices.iloc[: 4 * DAY + DAY // 3]  # eight hours of the fifth day
    plan = plan_labels(short, model=model)
    assert plan.days == ()
    assert plan.notes()[-1] == "No unlabelled day has at least 12 hours of readings."
    few = labelled.assign(occupancy=labelled["occupancy"].where(labelled.index.hour < 5))
    assert plan_labels(few).labelled == ()


def test_weekends_are_dissimilar_to_weekdays(choices):
    profiles = {f"{day.date:%m-%d}": day for day in profile_days(choices)}
    assert dissimilarity(profiles["08-03"], profiles["08-03"]) == 0
    assert dissimilarity(profiles["08-03"], profiles["08-17"]) < 0.2
    assert dissimilarity(profiles["08-03"], profiles["08-22"]) >= 2
    assert profiles["08-22"].weekend
    assert profiles["08-22"].hours == 0
    assert profiles["08-19"].ventilation[3] == 1


@pytest.mark.parametrize("days", [0, 1.5])
def test_number_of_days_must_be_a_positive_integer(choices, days):
    with pytest.raises(InputError, match=f"days must be a positive integer, got {days}"):
        plan_labels(choices, days=days)
