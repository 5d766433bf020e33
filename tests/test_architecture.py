"""The core imports none of the shells around it, and importing the package runs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src/occupair"
SHELLS = {
    "simulation",
    "datasets",
    "baselines",
    "benchmark",
    "reproduction",
    "report",
    "live",
    "groundtruth",
    "cli",
}
CORE = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if path.relative_to(SOURCE).parts[0].removesuffix(".py") not in SHELLS | {"__init__", "__main__"}
)


def imported(path):
    """Modules of ours that a file imports, at the top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("occupair"):
            yield from [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("occupair"))


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_core_imports_no_shell(path):
    assert {name.split(".")[1] for name in imported(path) if "." in name} & SHELLS == set()


def test_the_simulation_knows_no_estimator():
    for path in SOURCE.glob("simulation/*.py"):
        modules = {name.split(".")[1] for name in imported(path) if "." in name}
        assert modules <= {"simulation", "errors"}, path


def test_there_is_a_core():
    assert {"smoothing", "features", "elm", "estimator", "live_room", "model_file"} <= {
        path.stem for path in CORE
    }


def test_importing_loads_no_shell_but_the_simulator_and_prints_nothing():
    code = "import sys, occupair; print([m for m in ('plotly', 'typer', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_importing_waits_for_nothing():
    heavy = ("numpy", "pandas", "scipy", "sklearn", "numba", "plotly", "typer", "rich")
    code = f"import sys, occupair; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_every_name_is_found_when_it_is_asked_for():
    import occupair

    assert all(getattr(occupair, name) is not None for name in occupair.__all__)
    assert set(occupair.__all__) <= set(dir(occupair))
    for name in ("no_such_name", "_no_such_name", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'occupair' has no attribute '{name}'"):
            getattr(occupair, name)


def test_nothing_is_pickled():
    for path in SOURCE.rglob("*.py"):
        assert not {"pickle", "joblib", "dill", "marshal"} & {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }, path
