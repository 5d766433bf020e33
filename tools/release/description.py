"""Check of the package description, which an index shows without the repository."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

from markdown_it import MarkdownIt

LINKS = ("link_open", "image")
HTML = ("html_block", "html_inline")
HTML_LINK = re.compile(r"""(?:href|src)\s*=\s*["']?([^"'>\s]+)""")


def description_problems(path: Path) -> list[str]:
    """Return what is wrong with the description of a wheel or an sdist, one line each."""
    metadata = metadata_of(path)
    if (kind := metadata["Description-Content-Type"]) != "text/markdown":
        return [f"{path.name}: description is {kind}, not text/markdown"]
    text = str(metadata.get_payload())
    if not text.startswith("# occupair\n"):
        return [f"{path.name}: description is not the README"]
    return [
        f"{path.name}: relative link to {target} in the description"
        for target in _link_targets(text)
        if not re.match(r"https?:|mailto:", target)
    ]


def metadata_of(path: Path) -> Message:
    """Return the metadata of a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return Parser().parsestr(archive.read(name).decode())
    with tarfile.open(path) as archive:
        content = archive.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert content is not None
        return Parser().parsestr(content.read().decode())


def _link_targets(text: str) -> list[str]:
    """Return the targets of links and images of a Markdown text, also of those in HTML."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    parts = [*tokens, *(child for token in tokens for child in token.children or ())]
    targets = [str(one.attrs.get("href") or one.attrs["src"]) for one in parts if one.type in LINKS]
    return targets + HTML_LINK.findall("\n".join(one.content for one in parts if one.type in HTML))
