"""The table of a mutation run, and its problems: survivors without a reason, outdated reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tools.mutation.mutants import Mutant
from tools.mutation.results import KILLED, NOT_RUN, SURVIVED, TIMED_OUT
from tools.mutation.survivors import Key, outdated, unexplained

COLUMNS = ("module", "mutants", "killed", "timed out", "survived, with reason", "without reason", "not run")


@dataclass(frozen=True)
class Tried:
    """A mutant of a target and its outcome."""

    target: str
    mutant: Mutant
    outcome: str


def table(tried: list[Tried], reasons: dict[Key, str]) -> str:
    """Return the numbers by target, as a Markdown table."""
    rows = [_row(name, [one for one in tried if one.target == name], reasons) for name in _targets(tried)]
    if len(rows) > 1:
        rows.append(_row("total", tried, reasons))
    lines = [COLUMNS, ("---", *["---:"] * (len(COLUMNS) - 1)), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _targets(tried: list[Tried]) -> list[str]:
    return list(dict.fromkeys(one.target for one in tried))


def _row(name: str, tried: list[Tried], reasons: dict[Key, str]) -> tuple[object, ...]:
    count = Counter(one.outcome for one in tried)
    without = len(unexplained([one.mutant for one in tried if one.outcome == SURVIVED], reasons))
    numbers = (count[KILLED], count[TIMED_OUT], count[SURVIVED] - without, without, count[NOT_RUN])
    return name, len(tried), *numbers


def problems(tried: list[Tried], reasons: dict[Key, str]) -> list[str]:
    """Return the survivors without a reason, and the reasons without a survivor."""
    survivors = [one.mutant for one in tried if one.outcome == SURVIVED]
    unfinished = {one.mutant.file for one in tried if one.outcome == NOT_RUN}
    finished = {one.mutant.file for one in tried} - unfinished
    lines = []
    for mutant in unexplained(survivors, reasons):
        where = f"{mutant.file}:{mutant.first}" if mutant.first else mutant.file
        lines.append(
            f"survived: {where} {mutant.function or 'module level'}\n- {mutant.before}\n+ {mutant.after}"
        )
    for file, function, before, after in outdated(reasons, survivors, finished):
        lines.append(f"reason without a survivor: {file} {function or 'module level'}\n- {before}\n+ {after}")
    return lines
