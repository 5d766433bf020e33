"""A study of two days with worker processes, and its command."""

import sys
from dataclasses import replace

import pandas as pd
import pytest
from typer.testing import CliRunner

pytest.importorskip("pyenergyplus", reason="EnergyPlus is not installed: no wheel for Linux on ARM")

from occupair.cli import app
from occupair.errors import InputError
from occupair.progress import progress_to
from occupair.savings.energyplus import building_study
from occupair.savings.energyplus.building_period import BuildingStudy, ZonePolicies, run_period
from occupair.savings.energyplus.building_tables import conclusions, energy_table
from occupair.savings.policies import CountedFlow

pytestmark = pytest.mark.slow

POLICIES = ("fixed", "schedule", "co2-manual", "true", "paper-fixed")
STUDY = BuildingStudy(days=2, train_weeks=1, tuning_weeks=1, draws=1, seed=4)


@pytest.fixture(scope="module")
def reported():
    return []


@pytest.fixture(scope="module")
def outcomes(reported):
    with progress_to(lambda what, done, total: reported.append((what, done, total))):
        return building_study.run_building_study(STUDY, policies=POLICIES, jobs=2)


def test_policies_see_the_same_people(outcomes):
    assert tuple(outcomes) == POLICIES
    assert len({outcome.building.person_hours for outcome in outcomes.values()}) == 1
    assert len({outcome.building.off_hours for outcome in outcomes.values()}) == 1


def test_true_count_supplies_enough_with_less_air_and_gas(outcomes):
    fixed, true = outcomes["fixed"], outcomes["true"]
    assert fixed.building.below_flow == true.building.below_flow == 0
    # two days of 15 h at the design flow of 35 seats and 511.16 m2
    whole = 2 * 15 * 3.6 * (35 * 2.5 + 511.16 * 0.3)
    assert fixed.building.outdoor_air == pytest.approx(whole, rel=1e-9)
    assert 0.6 < true.building.outdoor_air / whole < 0.9
    assert true.heating < fixed.heating
    assert true.fans == pytest.approx(fixed.fans, rel=0.01)  # constant-volume fans


def test_other_policies_supply_less_than_the_fixed_flow(outcomes):
    for key in ("schedule", "co2-manual", "paper-fixed"):
        assert outcomes[key].building.outdoor_air < outcomes["fixed"].building.outdoor_air


def test_estimator_runs_in_the_loop(outcomes):
    assert outcomes["paper-fixed"].building.rmse < 2
    assert outcomes["paper-fixed"].building.estimated == 2 * 15 * 12 * 5
    assert outcomes["true"].building.rmse is None


def test_progress_is_reported_by_day(reported, outcomes):
    days = [one for one in reported if one[0] == "simulating the year"]
    assert days[0][1:] == (0, 10)
    assert days[-1][1:] == (10, 10)


def test_run_in_this_process_equals_that_of_a_worker(outcomes):
    policies = [CountedFlow(zone.control, "true") for zone in STUDY.zones]
    outcome, readings = run_period(STUDY, STUDY.evaluation, ZonePolicies(policies))
    assert outcome == outcomes["true"]
    assert [len(zone) for zone in readings] == [2 * 288] * 5


def test_periods_follow_each_other(outcomes):
    assert (STUDY.training.first_day, STUDY.tuning.first_day, STUDY.evaluation.first_day) == (0, 7, 14)
    assert str(STUDY.date(0)) == "2017-12-18"
    assert {STUDY.date(period.first_day).weekday() for period in (STUDY.training, STUDY.evaluation)} == {0}


def test_command_prints_tables_and_writes_totals(outcomes, monkeypatch, tmp_path):
    def finished(study, *, jobs):
        assert (study.climate, study.standard, study.days, jobs) == ("denver", "EN 16798-1", 2, 1)
        return outcomes

    monkeypatch.setattr(building_study, "run_building_study", finished)
    path = tmp_path / "totals.csv"
    options = ["--climate", "denver", "--standard", "en", "--days", "2", "--csv", str(path)]
    done = CliRunner().invoke(app, ["savings-energyplus", *options])
    assert done.exit_code == 0, done.output
    for row in energy_table(outcomes).rows:
        assert row[0] in done.output
    assert conclusions(outcomes)[1] in done.output
    table = pd.read_csv(path).set_index("policy")
    assert tuple(table.index) == POLICIES
    assert table.loc["true", "hvac"] == pytest.approx(outcomes["true"].hvac)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"days": 366}, "days must be 365 or fewer, got 366"),
        ({"days": 0}, "days must be an integer, 1 or more, got 0"),
        ({"seed": -1}, "seed must be an integer, 0 or more, got -1"),
    ],
)
def test_invalid_settings(changes, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        replace(STUDY, **changes)


def test_unknown_climate_fails_before_any_run():
    with pytest.raises(InputError, match="climate must be one of"):
        building_study.run_building_study(replace(STUDY, climate="atlantis"))


def test_command_without_energyplus_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyenergyplus", None)
    monkeypatch.delitem(sys.modules, "pyenergyplus.dataset", raising=False)
    done = CliRunner().invoke(app, ["savings-energyplus"])
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == 'EnergyPlus is not installed: pip install "occupair[energyplus]"'
