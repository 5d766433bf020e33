"""Free-run error on held-out days against plain loops, and independence of training from held-out days."""

import numpy as np
import pytest

import occupair as oc
from occupair.cross_validation import free_run_error, live_at_times


def small(**changes):
    return oc.OccupancyEstimator.paper(**({"n_hidden": 15, "n_draws": 1, "random_state": 0} | changes))


@pytest.mark.parametrize("mode", ["hindsight", "live", "drifting"])
def test_error_matches_a_loop_over_held_out_days(slow_office, mode):
    days = [slow_office.iloc[start : start + 288] for start in range(0, 4 * 288, 288)]
    squares = []
    for held_out, others in ((0, [1, 2]), (3, [1, 2]), (1, [0, 2, 3]), (2, [0, 1, 3])):  # 0 and 3: one fold
        model = small().fit(
            slow_office.loc[slow_office.index.day.isin([days[i].index[0].day for i in others])]
        )
        people = model.estimate(days[held_out], mode=mode).to_numpy()
        squares += [(a - b) ** 2 for a, b in zip(people, days[held_out]["occupancy"], strict=True)]
    by_hand = (sum(squares) / (4 * 288)) ** 0.5
    assert free_run_error(slow_office, small(), folds=3, mode=mode) == pytest.approx(by_hand, rel=1e-9)


def test_frequent_readings_are_thinned_live(office):
    three, no_feedback = office.iloc[: 3 * 1440], small(smoothing=5, z_max=(1, 1, 1, 0, 0.1))
    squares = []
    for held_out in range(3):
        rows = np.arange(3 * 1440) // 1440 == held_out
        people = no_feedback.fit(three[~rows]).estimate(three[rows])
        squares.append(((people - three[rows]["occupancy"]).to_numpy()[10::11]) ** 2)
    by_hand = np.sqrt(np.mean(np.concatenate(squares)))
    assert free_run_error(three, no_feedback) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("changes", [{}, {"smoothing": 0}, {"z_max": (1, 1, 1, 0, 0.1)}, {"layer": "elm"}])
@pytest.mark.parametrize("every", [1, 7, 50, 300])
def test_live_at_times_matches_live_estimates(slow_office, last_day, changes, every):
    model = small(**changes).fit(slow_office.iloc[: 3 * 288])
    co2, ventilation = last_day["co2"].to_numpy(), last_day["ventilation"].to_numpy()
    some = live_at_times(model.network(), co2, ventilation, every=every)
    np.testing.assert_allclose(some, model.estimate(last_day).iloc[every - 1 :: every], rtol=0, atol=1e-6)


def test_gaps_and_missing_ventilation(slow_office):
    gappy = slow_office.drop(index=slow_office.index[700:730]).drop(columns="ventilation")
    squares = []
    for fold in range(4):
        rows = gappy.index.day == slow_office.index[fold * 288].day
        parts = [gappy[rows]]
        if fold == 2:  # 576 to 863, without 700 to 729
            parts = [gappy[rows].iloc[:124], gappy[rows].iloc[124:]]
        model = small().fit(gappy[~rows])
        for part in parts:
            squares.append((model.estimate(part) - part["occupancy"]).to_numpy()[1::2] ** 2)
    by_hand = np.sqrt(np.mean(np.concatenate(squares)))
    assert free_run_error(gappy, small(), folds=4, every=2) == pytest.approx(by_hand, rel=1e-9)


def test_held_out_day_does_not_change_its_model(slow_office, monkeypatch):
    trained = []
    fit = oc.OccupancyEstimator.fit

    def recorded_fit(self, readings):
        trained.append(fit(self, readings).regressor_.coef_)
        return self

    monkeypatch.setattr(oc.OccupancyEstimator, "fit", recorded_fit)
    first_day = np.arange(len(slow_office)) < 288
    changed = slow_office.assign(
        co2=slow_office["co2"].where(~first_day, 5000.0),
        occupancy=slow_office["occupancy"].where(~first_day, 50),
    )
    for readings in (slow_office, changed):
        free_run_error(readings, small(), folds=4, mode="hindsight")
    before, after = trained[:4], trained[4:]
    assert (before[0] == after[0]).all()
    assert all((before[fold] != after[fold]).any() for fold in (1, 2, 3))


def test_estimator_stays_untrained(slow_office):
    estimator = small()
    free_run_error(slow_office, estimator, mode="hindsight")
    assert not hasattr(estimator, "regressor_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds must be an integer, 2 or more, got 1"),
        ({"folds": 2.5}, "folds must be an integer, 2 or more, got 2.5"),
        ({"folds": 5}, "readings must cover at least 5 days, one per fold, got 4"),
        ({"every": 0}, "every must be an integer, 1 or more, got 0"),
        ({"mode": "past"}, "mode must be one of live, hindsight, drifting, got 'past'"),
    ],
)
def test_invalid_requests_are_rejected(slow_office, options, message):
    with pytest.raises(oc.InputError, match=message):
        free_run_error(slow_office, small(), **options)


def test_head_counts_are_required(slow_office):
    with pytest.raises(oc.InputError, match="readings: has no column 'occupancy'"):
        free_run_error(slow_office.drop(columns="occupancy"), small())
