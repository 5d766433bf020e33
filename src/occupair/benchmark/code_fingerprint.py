"""Hash of the source code behind a model: its module and all modules of the package that it imports."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
ALWAYS = ("folds.py", "benchmark/lookahead.py", "benchmark/methods.py", "benchmark/fold_run.py")


def source_digest(model: object) -> str | None:
    """Return a hash of the source code behind a model, or None if it has no source file.

    Only modules imported by the model's module are included, so changing one method does not
    invalidate the cached results of the others.
    """
    file = getattr(sys.modules.get(type(model).__module__), "__file__", None)
    return None if file is None else _digest(Path(file))


@cache
def _digest(file: Path) -> str:
    files = {PACKAGE / name for name in ALWAYS} | source_files(file)
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def source_files(file: Path) -> set[Path]:
    """Return a file and all files of the package that it imports, directly or indirectly.

    Examples
    --------
    >>> sorted(path.name for path in source_files(PACKAGE / "smoothing.py"))
    ['errors.py', 'smoothing.py']
    """
    found, todo = set(), [file]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo.extend(_imported(path))
    return found


def _imported(path: Path) -> Iterator[Path]:
    """Yield the package files imported by a file, at module level or inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = [_file_of(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = node.module
            named = [_file_of(f"{module}.{alias.name}") or _file_of(module) for alias in node.names]
        else:
            named = []
        yield from (file for file in named if file is not None)


def _file_of(module: str) -> Path | None:
    """Return the file of a module of the package; None for a name inside a module or another package."""
    first, *rest = module.split(".")
    if first != PACKAGE.name:
        return None
    path = PACKAGE.joinpath(*rest)
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((file for file in candidates if file.is_file()), None)
