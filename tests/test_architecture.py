"""Lazy imports, no pickling, module names, and complete package docstrings.

`make lint` checks the import contracts.
"""

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import occupair

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/occupair"
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


def module_names(package):
    """Return the names of the modules and subpackages in the folder of a package."""
    for path in package.iterdir():
        if path.suffix == ".py" and path.stem != "__init__":
            yield path.stem
        elif (path / "__init__.py").is_file():
            yield path.name


def test_tools_hide_no_installed_package():
    """`python tools/seeds.py` looks for every import in tools/ first."""
    names = set(module_names(ROOT / "tools"))
    assert {"seeds", "fuzz"} < names
    assert not names & {*packages_distributions(), *sys.stdlib_module_names}


PACKAGES = {
    path.parent.relative_to(SOURCE.parent).as_posix(): path.parent
    for path in sorted(SOURCE.rglob("__init__.py"))
    if path.parent.name != "versions"  # of the store, one file per schema revision
}


@pytest.mark.parametrize("package", PACKAGES)
def test_package_docstring_lists_every_module(package):
    docstring = ast.get_docstring(ast.parse((PACKAGES[package] / "__init__.py").read_text()))
    listed = {name for quoted in re.findall(r"`([\w/]+)`", docstring) for name in quoted.split("/")}
    assert sorted(set(module_names(PACKAGES[package])) - listed) == []


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


def test_version_is_printed_without_the_command_line():
    code = "sys.argv = ['occupair', '--version']; from occupair.__main__ import main; main()"
    heavy = ("numpy", "pandas", "typer", "rich", "pydantic", "occupair.cli")
    assert loaded_by(code, *heavy) == ["occupair", occupair.__version__]


def test_help_loads_no_packages_of_commands():
    code = "from occupair.cli import app"
    heavy = (
        "numpy",
        "pandas",
        "scipy",
        "sklearn",
        "numba",
        "plotly",
        "rich.progress",
        "fastapi",
        "sqlalchemy",
    )
    assert loaded_by(code, *heavy) == []


def test_estimator_loads_no_packages_of_training_and_reports():
    heavy = ("sklearn.base", "sklearn.ensemble", "numba", "plotly", "typer", "rich.table", "dask")
    assert loaded_by("import occupair.estimator", *heavy) == ["sklearn.base"]


def test_every_public_name_is_importable():
    assert len(occupair.__all__) == 15
    assert all(getattr(occupair, name) is not None for name in occupair.__all__)
    assert set(occupair.__all__) <= set(dir(occupair))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = occupair.no_such_name
