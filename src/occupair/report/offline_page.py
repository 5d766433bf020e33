"""Pages of many rooms as one self-contained HTML file: shared style, script parts and template.

The parts are in ``offline/``: elements, number formats, sorting, CSV, a table of any length, a panel with the
details of a room, and parts of figures. The script of a page is one module made of them and of its own parts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from string import Template
from typing import Any

STYLE = "base.css"
SCRIPTS = (
    "dom.js",
    "formats.js",
    "address.js",
    "sorting.js",
    "csv.js",
    "figure-parts.js",
    "room-table.js",
    "room-panel.js",
)
"""Shared parts of the script of a page, in order."""

_UNSAFE = {"&": r"\u0026", "<": r"\u003c", ">": r"\u003e"}
_DIGITS = re.compile(r"(\d+)")


def render_offline_page(
    package: str, folder: str, scripts: Sequence[str], *, title: str, data: str, **parts: str
) -> str:
    """Render a page from its body ``page.html``, its style sheet ``page.css`` and its scripts.

    Its Content Security Policy permits only its script and its style sheet, and no requests.

    Parameters
    ----------
    package, folder : str
        Package, and folder in it, of the files of the page.
    scripts : sequence of str
        Names of the parts of the script, in order; they follow the shared parts.
    title : str
        Title of the page, as HTML.
    data : str
        Data of the script, see ``script_json``.
    **parts
        Parts of the body, as HTML; ``table`` is the table of rooms with the panel of its details.
    """
    own = _reader(package, folder)
    shared = _reader("occupair.report", "offline")
    css = "\n".join([shared(STYLE), own("page.css")])
    script = "\n".join([*map(shared, SCRIPTS), *map(own, scripts)])
    body = Template(own("page.html")).substitute(table=shared("rooms-table.html"), **parts)
    page = Template(shared("document.html")).substitute(
        title=title,
        body=body,
        css=css,
        data=data,
        script=script,
        style_hash=_hash(f"\n{css}\n"),
        script_hash=_hash(f"\n{script}\n"),
    )
    return page.encode(errors="replace").decode()  # file names are not always valid Unicode


def script_json(data: Any) -> str:
    r"""Return data as JSON that is safe inside a script element.

    Examples
    --------
    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[&<>]", lambda match: _UNSAFE[match[0]], text)


def natural_key(name: str) -> tuple[list[str], str]:
    """Return a sort key of a name, by which numbers in names are in numerical order.

    Examples
    --------
    >>> sorted(["B10", "b2", "A1"], key=natural_key)
    ['A1', 'b2', 'B10']
    """
    parts = _DIGITS.split(name.casefold())
    padded = [f"{len(part.lstrip('0')):09}{part.lstrip('0')}" for part in parts[1::2]]
    return [text for pair in zip(parts[::2], [*padded, ""], strict=True) for text in pair], name


def _reader(package: str, folder: str) -> Callable[[str], str]:
    return lambda name: files(package).joinpath(folder, name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """Return the source of an inline script or style sheet for a Content Security Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
