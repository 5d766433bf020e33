"""Results of earlier runs, kept in ``build/mutation`` for as long as mutant and tests are the same.

A killed mutant stays killed while the file of the test that killed it is unchanged. A survivor is run again
when any test file of its target has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.mutation.mutants import Mutant

KILLED, TIMED_OUT, SURVIVED, NOT_RUN = "killed", "timed out", "survived", "not run"


@dataclass(frozen=True)
class Result:
    """Outcome of a mutant; ``test`` is the test that noticed it."""

    outcome: str
    test: str
    tests_hash: str


def hash_files(files: Iterable[Path]) -> str:
    """Return a hash of the contents of files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class Results:
    """Results by mutant, written to a file with every new one."""

    def __init__(self, file: Path, root: Path) -> None:
        self._file, self._root = file, root
        self._results: dict[str, Result] = {}
        if file.exists():
            for line in file.read_text().splitlines():
                row = json.loads(line)
                mutant = row.pop("mutant")
                self._results[mutant] = Result(**row)

    def get(self, mutant: Mutant, tests_hash: str) -> Result | None:
        """Return the result of a mutant unless its tests have changed."""
        result = self._results.get(_mutant_hash(mutant))
        if result is None:
            return None
        wanted = self._wanted_hash(result.outcome, result.test, tests_hash)
        return result if result.tests_hash == wanted else None

    def last_test(self, mutant: Mutant) -> str:
        """Return the test that noticed a mutant in an earlier run, also if it has changed since."""
        result = self._results.get(_mutant_hash(mutant))
        return result.test if result else ""

    def add(self, mutant: Mutant, outcome: str, test: str, tests_hash: str) -> None:
        """Keep a result."""
        result = Result(outcome, test, self._wanted_hash(outcome, test, tests_hash))
        self._results[_mutant_hash(mutant)] = result
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a") as out:
            out.write(json.dumps({"mutant": _mutant_hash(mutant)} | asdict(result)) + "\n")

    def _wanted_hash(self, outcome: str, test: str, tests_hash: str) -> str:
        if outcome == SURVIVED:
            return tests_hash
        file = self._root / test.partition("::")[0]
        return hash_files([file]) if file.exists() else ""


def _mutant_hash(mutant: Mutant) -> str:
    return hashlib.sha256(f"{mutant.file}\0{mutant.source}".encode()).hexdigest()[:24]
