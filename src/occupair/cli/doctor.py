"""The doctor command: checks of the installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from occupair.cli.shared import AsJson, err, out, print_json

if TYPE_CHECKING:
    from occupair.doctor.examination import Examination


def doctor(as_json: AsJson = False) -> None:
    """Check the installation.

    Lists versions, extras, compiled code, cores and caches. Prints every problem with what to do about it,
    and exits with status 1 if something required is broken.

    Example: occupair doctor
    """
    from occupair.doctor.examination import examine

    with err.status("compiling or loading compiled code"):
        found = examine()
    if as_json:
        print_json(found.document())
    else:
        _print(found)
    raise typer.Exit(0 if found.passed else 1)


def _print(found: Examination) -> None:
    from occupair.doctor.extras import install_line

    python = found.python
    _lines(
        "Installation",
        [
            ("occupair", f"{found.version} in {found.location}"),
            ("Python", f"{python['implementation']} {python['version']}, {python['executable']}"),
            ("platform", python["platform"]),
            ("cores", f"{found.cores['usable']} usable of {found.cores['total']}"),
            *(("BLAS", f"{one['library']} {one['version']}, {one['threads']} threads") for one in found.blas),
            ("compiled code", _compiled(found)),
            ("time zones", found.time_zones or "none"),
        ],
    )
    _table(
        "Dependencies",
        [
            (one.name, one.installed or "not installed", one.bounds, "ok" if one.supported else "problem")
            for one in found.dependencies
        ],
    )
    _table(
        "Extras",
        [
            (one.name, one.adds, "installed" if one.installed else install_line(one.name))
            for one in found.extras
        ],
    )
    _lines(
        "Folders",
        [
            (
                one.content,
                "none yet" if one.size is None else _megabytes(one.size),
                one.setting,
                str(one.path),
            )
            for one in found.folders
        ],
    )
    for problem in found.problems:
        out.print(f"{'problem' if problem.required else 'note'}: {problem}", soft_wrap=True)
    if not found.problems:
        out.print("No problems found.")


def _compiled(found: Examination) -> str:
    compiled = found.compiled
    if not compiled.works:
        return "not available"
    how = "loaded from the cache" if compiled.from_cache else "compiled"
    return f"works, {how} in {compiled.seconds:.1f} s"


def _table(title: str, rows: list[tuple[Any, ...]]) -> None:
    """Print rows below a title; only the second column is wrapped."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    for column in range(len(rows[0])):
        table.add_column(no_wrap=column != 1, overflow="fold")
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print()


def _lines(title: str, rows: list[tuple[str, ...]]) -> None:
    """Print rows below a title, one line each, so that paths can be copied."""
    out.print(title, style="bold")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        out.print(f" {line.rstrip()}", soft_wrap=True, markup=False, highlight=False)
    out.print()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
