"""Inputs that broke the contract, saved with the command that repeats them."""

from __future__ import annotations

import re
from pathlib import Path

from tools.fuzz.target import load_target
from tools.fuzz.worker import Finding

FOLDER = Path("build/fuzz")
_PER_CAUSE = 3


class FindingFiles:
    """Files of the findings of a campaign, at most three with the same cause."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        self._causes: dict[tuple[str, str], int] = {}

    @property
    def causes(self) -> list[tuple[str, str]]:
        """Targets and causes so far."""
        return sorted(self._causes)

    def add(self, finding: Finding) -> None:
        """Save a finding."""
        key = (finding.target, finding.cause)
        self._causes[key] = self._causes.get(key, 0) + 1
        if self._causes[key] > _PER_CAUSE:
            return
        folder = self._folder / finding.target
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{re.sub(r'[^A-Za-z0-9]+', '-', finding.cause)[:60].strip('-')}-{finding.number}"
        (folder / stem).write_bytes(load_target(finding.target).input(self._seed, finding.number))
        command = repeat_command(finding.target, finding.number, self._seed)
        report = f"{finding.cause}\nrepeat: {command}\n\n{finding.report}\n"
        (folder / f"{stem}.txt").write_text(report, encoding="utf-8", errors="backslashreplace")


def repeat_command(target: str, number: int, seed: int) -> str:
    """Return the command that runs one input again."""
    chosen = f" --seed {seed}" if seed else ""
    return f".venv/bin/python -m tools.fuzz repeat {target}:{number}{chosen}"
