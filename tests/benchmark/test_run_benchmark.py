"""The benchmark on two tiny rooms."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.baselines import BASELINES, MassBalanceBaseline
from occupair.benchmark.methods import METHODS, Method
from occupair.benchmark.result import best_baselines
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.folds import split_days
from occupair.progress import progress_to


def test_each_day_is_estimated_by_a_model_trained_on_other_days(result, rooms):
    for train, test in split_days(rooms["two"]):
        for lag in (0, 20):
            expected = MassBalanceBaseline(lag=lag).fit(train).estimate(test)
            found = result.estimates["two"].loc[test.index, ("ours", lag)]
            np.testing.assert_array_equal(found, expected)


def test_scores_are_computed_over_all_folds(result, rooms):
    truth = rooms["one"]["occupancy"]
    people = result.estimates["one"]["ours", 0.0]
    row = result.scores.loc[("one", "ours", 0.0)]
    assert row["rmse"] == oc.metrics.rmse(truth, people)
    means = pd.concat(
        [pd.Series(train["occupancy"].mean(), index=test.index) for train, test in split_days(rooms["one"])]
    ).sort_index()
    assert row["nrmse"] == pytest.approx(row["rmse"] / oc.metrics.rmse(truth, means))
    assert result.scores.loc[("one", "mean", 0.0), "nrmse"] == 1.0
    assert result.averages.loc[("ours", 0.0), "nrmse"] == pytest.approx(
        result.scores["nrmse"].loc[["one", "two"], "ours", 0.0].mean()
    )


def test_differences_are_relative_to_the_best_baseline(result):
    assert set(result.best_baselines.values()) <= {"mean", "profile"}
    best = result.best_baselines[0.0]
    row = result.average_differences.loc[("ours", 0.0)]
    gap = result.averages.loc[("ours", 0.0), "nrmse"] - result.averages.loc[(best, 0.0), "nrmse"]
    assert row["difference"] == pytest.approx(gap)
    assert row["low"] <= row["difference"] <= row["high"]
    assert result.average_differences.loc[(best, 0.0)].tolist() == [0, 0, 0]
    assert result.differences.loc[("two", best, 0.0)].tolist() == [0, 0, 0]


def test_methods_are_sorted_by_nrmse(result):
    errors = [result.averages.loc[(name, 0.0), "nrmse"] for name in result.methods]
    assert errors == sorted(errors)
    assert result.lags == [0.0, 20.0]


def test_best_baseline_at_each_lag():
    index = pd.MultiIndex.from_product([["a", "b", "c"], [0.0, 10.0]], names=["method", "lag"])
    nrmse = pd.Series([0.5, 0.4, 0.6, 0.3, 0.1, np.nan], index=index)
    assert best_baselines(nrmse, {"a", "b"}) == {0.0: "a", 10.0: "b"}
    assert best_baselines(nrmse, {"c"}) == {0.0: "c"}
    assert best_baselines(nrmse, set()) == {}


def test_without_a_baseline_there_are_no_differences(slow_office, cheap):
    result = run_benchmark({"office": slow_office}, {"ours": cheap["ours"]}, [0])
    assert result.best_baselines == {}
    assert result.average_differences.empty
    assert result.methods == ["ours"]


def test_two_processes_give_the_same_scores_as_one(rooms, result):
    shipped = {name: METHODS[name] for name in ("mean", "profile")}
    shipped["ours"] = Method(BASELINES["mass-balance"])
    parallel = run_benchmark(rooms, shipped, [0, 20], jobs=2)
    untimed = ["fit_seconds", "estimate_seconds"]
    pd.testing.assert_frame_equal(
        parallel.scores.drop(columns=untimed), result.scores.drop(columns=untimed), rtol=1e-12
    )


def test_progress_is_reported(slow_office, cheap):
    reported = []
    with progress_to(lambda what, done, total: reported.append((what, done, total))):
        run_benchmark({"office": slow_office}, {"mean": cheap["mean"]}, [0])
    assert reported[0] == ("checking for look-ahead", 0, 1)
    assert reported[-1] == ("benchmarking", 3, 3)


def test_paper_estimator_runs_in_the_benchmark(slow_office):
    small = Method(
        lambda lag: oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0),
        METHODS["paper"].estimate,
        one_fit=True,
    )
    found = run_benchmark({"office": slow_office}, {"small": small}, [10])
    assert found.estimates["office"].notna().all().all()


def test_invalid_arguments_are_refused(slow_office, cheap):
    with pytest.raises(oc.InputError, match="rooms, methods and lags must not be empty"):
        run_benchmark({}, cheap)
    with pytest.raises(oc.InputError, match="jobs must be 1 or more, got 0"):
        run_benchmark({"office": slow_office}, cheap, [0], jobs=0)
    with pytest.raises(oc.InputError, match="office: has no column 'occupancy'"):
        run_benchmark({"office": slow_office[["co2"]]}, cheap, [0])
    with pytest.raises(oc.InputError, match="office: all head counts are equal"):
        run_benchmark({"office": slow_office.assign(occupancy=0)}, cheap, [0])
    with pytest.raises(oc.InputError, match="mean in office: lag must be a multiple of the"):
        run_benchmark({"office": slow_office}, {"mean": cheap["mean"]}, [7])
