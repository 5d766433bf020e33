"""Reading of a Dockerfile: its stages, with continued lines joined and build arguments replaced.

Enough for deploy/Dockerfile: no here-documents, no heredoc syntax, no ONBUILD.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """One stage: ``FROM base AS name``, and its instructions as pairs of a keyword and its arguments."""

    base: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, keyword: str) -> str | None:
        """Return the arguments of the last instruction of a kind, None if there is none."""
        return next((rest for word, rest in reversed(self.steps) if word == keyword), None)


def read_stages(path: Path, **arguments: str) -> dict[str, Stage]:
    """Return the stages of a Dockerfile by name; the last one is also named ``""``.

    Parameters
    ----------
    path : Path
    **arguments : str
        Build arguments that differ from their default.
    """
    values: dict[str, str] = {}
    stages: list[Stage] = []
    for word, rest in _instructions(path.read_text()):
        if word == "ARG" and not stages:
            name, _, default = rest.partition("=")
            values[name] = arguments.get(name, default)
        elif word == "FROM":
            base, *rename = replace(rest, values).split()
            stages.append(Stage(base, rename[1] if rename else ""))
        else:
            stages[-1].steps.append((word, rest))
    return {stage.name: stage for stage in stages}


def with_bases(stages: dict[str, Stage], name: str = "") -> list[Stage]:
    """Return a stage and those it is based on, the first one first."""
    stage = stages[name]
    return [*(with_bases(stages, stage.base) if stage.base in stages else []), stage]


def replace(text: str, values: dict[str, str]) -> str:
    """Replace variables in ``$name`` or ``${name}``."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda found: values.get(found[1] or found[2], ""), text)


def pairs(rest: str) -> dict[str, str]:
    """Return the variables of an ENV or LABEL instruction."""
    return dict(word.split("=", 1) for word in shlex.split(rest))


def command_of(rest: str) -> list[str]:
    """Return the command of ENTRYPOINT, CMD or HEALTHCHECK in its JSON form."""
    command: list[str] = json.loads(rest[rest.index("[") :])
    return command


def _instructions(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found = []
    for line in joined.splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            found.append((word.upper(), rest.strip()))
    return found
