import pandas as pd
import pytest
from command import occupair
from savings.short_study import SEED, made_up_totals

from occupair.savings import run_study
from occupair.savings.result import StudyResult


@pytest.fixture
def studies(monkeypatch):
    """Replace the study by made-up results; return the settings that the command passes."""
    seen = []

    def run(settings, seeds, *, jobs):
        seen.append((settings, list(seeds), jobs))
        return StudyResult(settings, (SEED,), made_up_totals(), None, 1.0)

    monkeypatch.setattr(run_study, "run_study", run)
    return seen


def test_command_prints_tables_and_writes_files(studies, tmp_path):
    done = occupair("savings", "--out", tmp_path / "s.html", "--csv", tmp_path / "s.csv")
    assert done.returncode == 0, done.stderr
    assert "| Fixed design flow " in done.stdout
    assert "…" not in done.stdout  # in a narrow terminal, too
    assert "The upper bound saves " in done.stdout
    assert "<title>occupair savings</title>" in (tmp_path / "s.html").read_text()
    table = pd.read_csv(tmp_path / "s.csv")
    assert {"policy", "seed", "outdoor_air", "below_flow"} <= set(table.columns)
    ((settings, seeds, jobs),) = studies
    assert (settings.standard, settings.days, seeds, jobs) == ("ASHRAE 62.1", 365, list(range(10)), 1)


def test_options_reach_the_study(studies):
    options = "--standard en --days 20 --seeds 2 --seed 100 --no-vacations --heat-recovery 0.75 --jobs 2"
    assert occupair("savings", *options.split()).returncode == 0
    ((settings, seeds, jobs),) = studies
    assert (settings.standard, settings.days, settings.vacations) == ("EN 16798-1", 20, False)
    assert (settings.energy.heat_recovery, seeds, jobs) == (0.75, [100, 101], 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "s.pdf"], "s.pdf: must end in .html (a browser can print it to PDF)"),
        (["--heat-recovery", "1.5"], "heat recovery must be 0 or more and below 1, got 1.5"),
    ],
)
def test_invalid_options_are_refused(options, message, tmp_path):
    done = occupair("savings", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"occupair: {message}\n")
