"""Names that the tools import from the package are there, also in tools that no other test runs."""

import ast
import importlib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported_names(path):
    """Return module and name of each import from the package in a file, at any depth."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "occupair":
            yield from ((node.module, alias.name) for alias in node.names)


def exists(module, name):
    if hasattr(importlib.import_module(module), name):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def test_imported_names_exist():
    wanted = {
        (module, name): path.relative_to(ROOT)
        for path in (ROOT / "tools").rglob("*.py")
        for module, name in imported_names(path)
    }
    assert len(wanted) > 200
    assert [f"{path}: {name[1]}" for name, path in wanted.items() if not exists(*name)] == []
