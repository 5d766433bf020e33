"""Names of files to write: their suffix must be that of the format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from occupair.errors import InputError

Format = Literal["table", "report", "model", "backup", "turtle", "json", "settings"]

SUFFIXES: dict[Format, tuple[str, ...]] = {
    "table": (".csv", ".parquet", ".pq", ".txt"),
    "report": (".html", ".htm"),
    "model": (".occupair", ".json"),
    "backup": (".zip",),
    "turtle": (".ttl",),
    "json": (".json",),
    "settings": (".toml",),
}
"""Suffixes of each format; a name without suffix is valid, too."""

RULES: dict[Format, str] = {
    "table": "must end in .csv or .parquet (spreadsheet programs open CSV)",
    "report": "must end in .html (a browser can print it to PDF)",
    "model": "must end in .occupair",
    "backup": "must end in .zip",
    "turtle": "must end in .ttl",
    "json": "must end in .json",
    "settings": "must end in .toml",
}


def check_suffix(path: Path | str, form: Format) -> None:
    """Raise InputError if a file to write has the suffix of another format; pipes and devices may have any.

    Examples
    --------
    >>> check_suffix("people.xlsx", "table")
    Traceback (most recent call last):
    ...
    occupair.errors.InputError: people.xlsx: must end in .csv or .parquet (spreadsheet programs open CSV)
    """
    path = Path(path)
    is_device = path.exists() and not path.is_file()
    if path.suffix.lower() not in ("", *SUFFIXES[form]) and not is_device:
        raise InputError(f"{path}: {RULES[form]}")
