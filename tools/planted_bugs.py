"""Plant one bug after another in a copy of the package, and see whether a test fails: `make mutants`.

Each bug changes one line of a core function. The tests named beside it run on the copy; a bug that they do
not notice is printed as SURVIVED and makes the exit status 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Bug(NamedTuple):
    """One line of a file, what it becomes, and the tests that should fail."""

    file: str
    line: str
    becomes: str
    tests: str


BUGS = [
    Bug("smoothing.py", "self._q = 1.0 + carried * self._q", "self._q = 1.0 + carried", "test_smoothing.py"),
    Bug("smoothing.py", "if value == values[i]:", "if abs(value - values[i]) < 1e-3:", "test_smoothing.py"),
    Bug(
        "paper/features.py",
        '"I": window[:, stride:] - window[:, :-stride],',
        '"I": window[:, stride:] + window[:, :-stride],',
        "paper/test_features.py",
    ),
    Bug(
        "paper/network.py",
        "people[k] = min(max(float(sigmoid_in_place(z) @ self.coef), 0.0), self.most_people)",
        "people[k] = max(float(sigmoid_in_place(z) @ self.coef), 0.0)",
        "test_estimator.py",
    ),
    Bug(
        "elm/regressors.py",
        "return np.broadcast_to(np.asarray(self.z_max, dtype=float), (len(sizes),))",
        "return np.broadcast_to(np.asarray(self.z_max, dtype=float), (len(sizes),))[::-1]",
        "elm/test_regressors.py",
    ),
    Bug(
        "metrics.py",
        "np.abs(y_true - y_pred) <= tolerance",
        "np.abs(y_true - y_pred) < tolerance",
        "test_metrics.py",
    ),
    Bug(
        "folds.py", "Fold([i for i in days if i % n_folds != fold]", "Fold([i for i in days]", "test_folds.py"
    ),
    Bug("readings/gaps.py", "GAP_INTERVALS = 1.5", "GAP_INTERVALS = 2.5", "readings"),
    Bug(
        "readings/grid.py",
        "there = (row >= 0) & (near[row] | (ticks - at[row] < step))",
        "there = row >= 0",
        "readings/test_grid.py",
    ),
    Bug(
        "room/equation.py",
        "np.where(is_open, if_open, if_closed),",
        "if_open,",
        "room/test_estimates.py room/test_closed_hours.py",
    ),
    Bug(
        "room/equation.py",
        "people += weights[2] * _clamp(self._trees.people(for_trees, own), limit)",
        "people += weights[2] * self._trees.people(for_trees, own)",
        "room/test_estimates.py",
    ),
    Bug(
        "room/fitted_balances.py",
        "estimates = fitted.estimate([training.days[k] for k in held_out])",
        "estimates = fit_balances(training).estimate([training.days[k] for k in held_out])",
        "room/test_training.py",
    ),
    Bug(
        "room/stack.py",
        "found = prior * (size / least) ** (-EXPONENT * n_days / (n_days + prior_days))",
        "found = prior * (size / least) ** -EXPONENT",
        "room/test_stack.py",
    ),
    Bug(
        "room/members.py",
        "members = train_members(fold.fitted, lag, seed, settings)",
        "members = train_members(folds[0].fitted, lag, seed, settings)",
        "room/test_training.py",
    ),
    Bug(
        "room/kernel_regression.py",
        "robust = np.minimum(1.0, _HUBER / np.maximum(np.abs(target - coef @ outputs), _HUBER))",
        "robust = np.ones(people.size)",
        "room/test_kernel_regression.py",
    ),
    Bug(
        "room/time_profile.py",
        "np.concatenate([values[-reach:], values, values[:reach]])",
        "np.concatenate([values[:reach], values, values[-reach:]])",
        "room/test_time_profile.py",
    ),
    Bug(
        "room/balance_shapes.py",
        "precision = np.linalg.inv(shape.covariance) / np.outer(unit, unit)",
        "precision = np.linalg.inv(shape.covariance)",
        "room/test_balance_shapes.py",
    ),
    Bug(
        "benchmark/leave_one_room_out.py",
        "if other != origin(name)})",
        "if other != name})",
        "benchmark/test_leave_one_room_out.py",
    ),
    Bug(
        "room/boosted_trees.py",
        "node = 2 * node + 1 + (own > _choose(threshold, node))",
        "node = 2 * node + 1 + (own >= _choose(threshold, node))",
        "room/test_boosted_trees.py",
    ),
    Bug(
        "room/linked_elm.py",
        "found[s * len(pairs) + p][outputs] += (step + one) / len(own)",
        "found[s * len(pairs) + p][outputs] += step / len(own)",
        "room/test_linked_elm.py",
    ),
    Bug(
        "room/prediction_intervals.py",
        "for quantile in ((1 - confidence) / 2, (1 + confidence) / 2)",
        "for quantile in (1 - confidence, confidence)",
        "room/test_prediction_intervals.py",
    ),
    Bug(
        "checks/sensor_limits.py",
        "return (co2 >= LOWEST_CO2) & (co2 <= HIGHEST_CO2)",
        "return co2 <= HIGHEST_CO2",
        "checks live/rooms",
    ),
    Bug(
        "live_room.py",
        'quality = "ok" if self.day.started else "starting"',
        'quality = "ok"',
        "test_live_room.py",
    ),
]


def notices(bug: Bug, copy: Path) -> bool:
    """Whether the tests of a bug fail in a copy of the package that has it."""
    path = copy / "src/occupair" / bug.file
    text = path.read_text()
    if text.count(bug.line) != 1:
        sys.exit(f"{bug.file}: expected this line once, found it {text.count(bug.line)} times: {bug.line}")
    path.write_text(text.replace(bug.line, bug.becomes))
    tests = [f"tests/{name}" for name in bug.tests.split()]
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    environ = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True)
    path.write_text(text)
    if done.returncode not in (0, 1):
        sys.exit(f"{bug.file}: the tests did not run:\n{done.stdout[-2000:]}")
    return done.returncode == 1


def main() -> None:
    """Plant every bug and print what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "occupair"
        copy.mkdir()
        for name in ("src", "tests", "tools", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, copy)
        survived = 0
        for bug in BUGS:
            found = notices(bug, copy)
            survived += not found
            print(f"{'caught  ' if found else 'SURVIVED'}  {bug.file}: {bug.becomes}", flush=True)
    print(f"{len(BUGS) - survived} of {len(BUGS)} planted bugs were caught")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
