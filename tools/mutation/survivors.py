"""Reasons for mutants that no test can or should notice: ``survivors.toml``.

Each entry has a file, a function (empty at module level), the changed line before and after, and the reason.
``after`` is one line or a list of lines for which the same reason holds.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.mutation.mutants import Mutant

FILE = Path(__file__).with_name("survivors.toml")
FIELDS = {"file", "function", "before", "after", "reason"}

Key = tuple[str, str, str, str]


def read_reasons(file: Path = FILE) -> dict[Key, str]:
    """Return the reason of each explained survivor."""
    reasons: dict[Key, str] = {}
    for entry in tomllib.loads(file.read_text()).get("survivor", []):
        if set(entry) != FIELDS or not entry["reason"].strip():
            raise ValueError(f"{file.name}: an entry needs {', '.join(sorted(FIELDS))}, got {entry}")
        after = entry["after"] if isinstance(entry["after"], list) else [entry["after"]]
        for line in after:
            key = (entry["file"], entry["function"], entry["before"], line)
            if key in reasons:
                raise ValueError(f"{file.name}: two reasons for {key}")
            reasons[key] = entry["reason"]
    return reasons


def unexplained(survivors: list[Mutant], reasons: dict[Key, str]) -> list[Mutant]:
    """Return the survivors without a reason."""
    return [mutant for mutant in survivors if mutant.key not in reasons]


def outdated(reasons: dict[Key, str], survivors: list[Mutant], finished: set[str]) -> list[Key]:
    """Return the reasons of finished files whose mutant no longer survives or no longer exists."""
    surviving = {mutant.key for mutant in survivors}
    return [key for key in reasons if key[0] in finished and key not in surviving]
