"""Markdown of the generated pages."""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"(`[^`]*`)|([\\*_<>|$])")
_FLAG = re.compile(r"(?<![\w`-])(--[a-z][a-z0-9-]*)(?![`\w])")


def escape(text: str) -> str:
    """Escape what Markdown would interpret, except in code between backticks.

    >>> escape("a_b | `c_d`")
    'a\\\\_b \\\\| `c_d`'
    """
    return _SPECIAL.sub(lambda found: found[1].replace("|", "\\|") if found[1] else f"\\{found[2]}", text)


def prose(text: str) -> str:
    """Return plain text of a help text or description as Markdown, with flags as code."""
    return escape(_FLAG.sub(r"`\1`", " ".join(text.split())))


def code(text: str) -> str:
    """Return text as code; empty text stays empty."""
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`" if text else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, without columns that are empty in all rows."""
    rows = [list(row) for row in rows]
    used = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    lines = [[heads[i] for i in used], ["---"] * len(used), *([row[i] for i in used] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
