"""The tables of docs/licences.md, from the licences found."""

from __future__ import annotations

import platform
from pathlib import Path

from packaging.utils import canonicalize_name

from tools.release.bundled import GPL_LIBRARIES
from tools.release.licences import Licensed, is_permissive

PAGE = Path(__file__).parents[2] / "docs/licences.md"
MARKER = "<!-- The rest is written by make sbom. -->\n"


def with_tables(
    page: str, packages: list[Licensed], libraries: list[Licensed], by_extra: dict[str, set[str]]
) -> str:
    """Return the page with new tables after its marker."""
    text, marker, _ = page.partition(MARKER)
    if not marker:
        raise SystemExit(f"{PAGE}: has no line {MARKER.strip()}")
    core = len(by_extra[""])
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    rows = [(one.name, one.version, mark(one), extras_of(one.name, by_extra)) for one in packages]
    inside = sorted({(*one.name.split("/"), mark(one)) for one in libraries})  # some are there twice
    return (
        f"{text}{marker}\n## Packages\n\n"
        f"{len(packages)} packages with all extras, {core} of them in a plain installation ({system}).\n\n"
        f"{table(('Package', 'Version', 'Licence', 'Installed by'), rows)}\n## Libraries\n\n"
        f"{len(inside)} shared libraries in these wheels.\n\n"
        f"{table(('Package', 'Library', 'Licence'), inside)}"
    )


def mark(one: Licensed) -> str:
    """Return a licence, in bold if it is not permissive."""
    if one.name in GPL_LIBRARIES:
        return f"**{one.licence}**, see above"
    return one.licence if is_permissive(one.licence) else f"**{one.licence}**"


def extras_of(package: str, by_extra: dict[str, set[str]]) -> str:
    name = canonicalize_name(package)
    if name in by_extra[""]:
        return "occupair"
    return ", ".join(f"`{extra}`" for extra, names in by_extra.items() if name in names)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
