"""The tune command."""

import json
import os

import pytest
from command import occupair

import occupair as oc
from occupair.tuning import settings_of, tune

GRID = {"z_max_o": (0, 1), "smoothing": (0, 50), "ridge": (1e-3, 1.0)}


@pytest.fixture(autouse=True)
def few_settings(monkeypatch):
    monkeypatch.setattr("occupair.tuning.GRID", GRID)


@pytest.fixture(scope="module")
def desk(tmp_path_factory, slow_office):
    """A folder with four days of readings."""
    folder = tmp_path_factory.mktemp("desk")
    oc.write_readings(slow_office, folder / "office.csv")
    oc.write_readings(slow_office.iloc[: 2 * 288], folder / "short.csv")
    oc.write_readings(slow_office.drop(columns="occupancy"), folder / "unlabelled.csv")
    return folder


@pytest.fixture(scope="module")
def found(slow_office):
    start = oc.OccupancyEstimator.paper(n_hidden=15, n_draws=1, random_state=0)
    return tune(slow_office, start, grid=GRID, mode="hindsight")


def tuned(desk, *options):
    return occupair("tune", "office.csv", "--hidden", 15, "--mode", "hindsight", *options, cwd=desk)


def test_help_has_an_example():
    assert "Example: occupair tune office.csv --out office.occupair" in occupair("tune", "--help").stdout


def test_tune_agrees_with_the_library(desk, found):
    done = tuned(desk)
    assert (done.returncode, done.stderr) == (0, "")
    assert found.changes
    rows = {line.split()[0]: line.split()[1:3] for line in done.stdout.splitlines() if line.startswith("  ")}
    before, after = settings_of(found.before), settings_of(found.estimator)
    assert {name: rows[name] for name in before} == {
        name: [f"{before[name]:g}", f"{after[name]:g}"] for name in before
    }
    scores = (
        f"{found.rmse_before:.2f} people before, {found.rmse:.2f} after, the best of {found.n_tried} settings"
    )
    assert scores in " ".join(done.stdout.split())
    assert "expect a slightly larger error on new ones" in " ".join(done.stdout.split())
    assert "To save a trained model: occupair tune office.csv --out room.occupair" in done.stdout


def test_printed_python_code_is_the_estimator(desk, found):
    (line,) = [line for line in tuned(desk).stdout.splitlines() if line.startswith("In Python: ")]
    estimator = eval(line.removeprefix("In Python: "), {"OccupancyEstimator": oc.OccupancyEstimator})
    assert estimator.get_params() == found.estimator.get_params()


def test_out_writes_the_tuned_model(desk, found, slow_office):
    done = tuned(desk, "--out", "room.occupair")
    assert done.returncode == 0, done.stderr
    assert "room.occupair: trained on all days." in done.stdout
    model = oc.OccupancyEstimator.load(desk / "room.occupair")
    expected = found.estimator.fit(slow_office)
    assert (model.regressor_.coef_ == expected.regressor_.coef_).all()


def test_json_output(desk, found):
    printed = json.loads(tuned(desk, "--json").stdout)
    assert printed["settings"] == settings_of(found.estimator)
    assert printed["before"] == settings_of(found.before)
    assert (printed["rmse_before"], printed["rmse"]) == (found.rmse_before, found.rmse)
    assert (printed["tried"], printed["mode"], printed["folds"]) == (found.n_tried, "hindsight", 3)
    assert printed["model"] is None


def test_no_improvement_is_reported(desk, monkeypatch):
    monkeypatch.setattr("occupair.tuning.GRID", {"ridge": (1e-3,)})
    done = tuned(desk)
    assert "None of the 1 settings tried is better." in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "occupair: nowhere.csv: No such file or directory"),
        (["unlabelled.csv"], "occupair: unlabelled.csv: has no column 'occupancy'"),
        (["short.csv"], "occupair: short.csv: readings must contain at least 3 days with more than 6"),
        (["office.csv", "--folds", "5"], "office.csv: readings must contain at least 5 days"),
        (
            ["office.csv", "--horizon", "7"],
            "occupair: horizon must be a multiple of the 5 min between readings, got 7",
        ),
        (["office.csv", "--mode", "past", "--hidden", "5"], "mode must be one of live, hindsight, drifting"),
        (["office.csv", "--out", "no/such/file"], "occupair: no/such/file: No such file or directory"),
    ],
)
def test_user_error_is_one_line_with_exit_status_2(desk, arguments, message):
    before = sorted(os.listdir(desk))
    done = occupair("tune", *arguments, cwd=desk)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(os.listdir(desk)) == before
