"""Importing the package loads nothing heavy, and nothing is pickled. `make lint` checks import contracts."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import occupair

SOURCE = Path(__file__).parent.parent / "src/occupair"
UNSAFE = {"pickle", "cPickle", "_pickle", "joblib", "dill", "cloudpickle", "marshal", "shelve"}


def imported_packages(source):
    """Return the top-level packages that source code imports, at any depth."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "def f():\n    import joblib.memory as m",
        "import os, marshal",
    ],
)
def test_unsafe_import_is_detected(source):
    assert set(imported_packages(source)) & UNSAFE


def test_nothing_is_pickled():
    paths = list(SOURCE.rglob("*.py"))
    assert len(paths) > 100
    for path in paths:
        assert not set(imported_packages(path.read_text())) & UNSAFE, path


def loaded_by(code, *names):
    """Run code in a new interpreter and return which of these packages it loaded."""
    code = f"import sys; {code}; print(*(m for m in {names} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("numpy", "pandas", "scipy", "sklearn", "numba", "plotly", "typer", "rich")
    assert loaded_by("import occupair", *heavy) == []
    assert loaded_by("import occupair; occupair.smooth", "numpy", "plotly") == ["numpy"]


def test_every_public_name_is_importable():
    assert len(occupair.__all__) == 15
    assert all(getattr(occupair, name) is not None for name in occupair.__all__)
    assert set(occupair.__all__) <= set(dir(occupair))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = occupair.no_such_name
