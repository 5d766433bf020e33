import re

import numpy as np
import pandas as pd
import pytest
from savings.short_study import SEED, SHORT, run_totals

import occupair.simulation.closed_loop as simulated
from occupair.errors import InputError
from occupair.report.text_table import markdown
from occupair.savings import tables
from occupair.savings.co2_control import least_air, manual_control, pi_candidates, proportional_candidates
from occupair.savings.policy_list import CURVES, POLICY_NAMES
from occupair.savings.result import StudyResult
from occupair.savings.run_study import run_study
from occupair.savings.savings_page import render_savings_page
from occupair.savings.schedule import scheduled_flow
from occupair.savings.study import training_readings, tune
from occupair.savings.study_settings import StudySettings


@pytest.fixture(scope="module")
def result(evaluated):
    """The study with a second seed that has the same totals."""
    totals = evaluated.totals | {(key, 4): one for (key, _), one in evaluated.totals.items()}
    return StudyResult(SHORT, (SEED, 4), totals, evaluated.example, 1.0)


def test_every_policy_is_evaluated(result):
    keys = {key for key, _ in result.totals}
    assert {name.key for name in POLICY_NAMES} | {key for keys in CURVES.values() for key in keys} == keys


def test_balances_are_closed(result):
    co2, heat = result.balance_errors
    assert co2 < 1e-6
    assert heat < 1e-6


def test_bounds_of_all_policies(result):
    """The fixed flow has the most air, the true count is never below the flow, all have the same people."""
    fixed, true = result.of("fixed")[0], result.of("true")[0]
    assert fixed.below_flow == true.below_flow == 0
    for one in result.totals.values():
        assert one.outdoor_air <= fixed.outdoor_air
        assert one.person_hours == fixed.person_hours
        assert 0 <= one.well_below_flow <= one.below_flow <= one.person_hours
    below_true = [key for key, one in result.totals.items() if one.outdoor_air < 0.999 * true.outdoor_air]
    assert all(result.totals[key].below_flow > 0 for key in below_true)


def test_higher_confidence_needs_more_air(result):
    air = [result.of(key)[0].outdoor_air for key in CURVES["Upper bound, by confidence"]]
    assert air == sorted(air)


def test_training_and_tuning_never_see_evaluated_days(prepared, monkeypatch):
    usual, first = simulated.office_day, SHORT.evaluated.first_day

    def no_evaluated_days(people, meetings, day, **settings):
        assert day < first
        return usual(people, meetings, day, **settings)

    monkeypatch.setattr(simulated, "office_day", no_evaluated_days)
    fixed, stepped = (training_readings(SHORT, [SEED], kind)[0] for kind in ("fixed", "stepped"))
    assert fixed.index.max() < pd.Timestamp("2015-08-10") > stepped.index.max()  # the first week
    assert set(fixed["ventilation"]) == {0.0, 1.0}
    assert stepped["ventilation"].between_time("08:00", "21:55").nunique() > 10
    assert stepped["ventilation"].between_time("08:00", "21:55").min() >= 55.8 / 143.3
    again = tune(SHORT, prepared)
    assert again[SEED].co2 == prepared[SEED].co2


def test_manual_control_by_hand():
    # EN 16798-1: 35 * 7 + 186 * 0.7 = 375.2 L/s; 400 ppm + 0.0052 * 35 / 375.2 = 885 ppm
    policy = manual_control(StudySettings("EN 16798-1").ventilation)
    assert (policy.lowest, policy.highest) == (pytest.approx(130.2), pytest.approx(375.2))
    assert (policy.begin, policy.end) == (400.0, pytest.approx(885.07, abs=0.01))


def test_candidates_cover_the_manual_control():
    office = SHORT.ventilation
    assert len(proportional_candidates(office)) > 40 < len(pi_candidates(office))
    ends = [one.end for one in proportional_candidates(office)]
    assert min(ends) < manual_control(office).end < max(ends)


def test_least_air_among_those_that_are_rarely_below_the_flow():
    tried = [run_totals(air=60, below=9), run_totals(air=70, below=2), run_totals(air=80, below=1)]
    assert [least_air(tried, share) for share in (0.1, 0.05, 0.02, 0.015, 0.0)] == [0, 1, 1, 2, 2]


def test_schedule_uses_the_quantile_of_each_hour():
    times = pd.date_range("2024-01-08", periods=5 * 96, freq="15min")
    people = np.where(times.hour == 10, times.day_of_week * 5.0, 0.0)  # 0 to 20 people at 10:00
    readings = pd.DataFrame({"occupancy": people}, index=times)
    flows = scheduled_flow(readings, SHORT.ventilation, quantile=0.5).flows
    assert flows[9] == pytest.approx(0.3 * 186)
    assert flows[10] == pytest.approx(0.3 * 186 + 2.5 * 10)


def test_tables_have_a_row_per_policy(result):
    for table in (tables.summary_table(result), tables.totals_table(result)):
        assert [row[0] for row in table.rows] == [name.label for name in POLICY_NAMES]
        assert len({len(line) for line in markdown(table).splitlines()}) == 1
    assert tables.summary_table(result).rows[0][2:5] == ["100", "100", "100"]


def test_conclusions_state_the_comparison_with_co2_control(result):
    text = " ".join(tables.conclusions(result))
    assert "CO2 control, tuned to be below the flow as rarely" in text
    saved = 100 - 100 * result.of("upper-stepped")[0].outdoor_air / result.of("fixed")[0].outdoor_air
    assert f"The upper bound saves {saved:.1f} ± 0.0 %" in text


def test_page_is_self_contained(result):
    page = render_savings_page(result)
    assert page.count('class="plot"') == 3
    assert "<script src" not in page
    names = re.findall(r'<(?:section|table|div)[^>]* id="([^"]+)"', page)
    assert len(names) == len(set(names)) > 9
    assert "http://" not in page.replace("http://www.w3.org", "")[:3000]


def test_table_of_all_totals(result):
    table = result.table()
    assert len(table) == len(result.totals)
    assert table.set_index(["policy", "seed"]).loc[("fixed", SEED), "below_flow"] == 0


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1]])
def test_invalid_seeds_are_refused(seeds):
    with pytest.raises(InputError, match=r"^seeds must be different integers of 0 or more, got "):
        run_study(SHORT, seeds)


@pytest.mark.parametrize("name", ["days", "train_weeks", "tuning_weeks"])
def test_empty_study_is_refused(name):
    with pytest.raises(InputError, match=f"^{name} must be 1 or more, got 0$"):
        StudySettings(**{name: 0})
