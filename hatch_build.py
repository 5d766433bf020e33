"""Build hook: README.md as the description on a package index, with links that work outside the repository.

Relative links become links to the repository named ``Source`` in ``[project.urls]`` of pyproject.toml, at the
tag of the version. Without such a URL only the text of a link is kept, and figures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?!\w+:)([^)\s]+)\)")
FIGURES = re.compile(r"(?:^!\[[^\[\]]*\]\((?!\w+:)[^)\s]+\)\n+)+(?:^\*[^*]+\*\n+)?", re.MULTILINE)
"""Figures with relative addresses, and the caption in italics that follows them."""


def index_description(readme: str, source: str | None, version: str) -> str:
    """Return the README for a package index; ``source`` is the URL of the repository on GitHub."""
    if source is None:
        return RELATIVE_LINK.sub(r"\2", FIGURES.sub("", readme))
    tag = "HEAD" if "dev" in version else f"v{version}"

    def absolute(link: re.Match[str]) -> str:
        image, text, path = link.groups()
        return f"{image}[{text}]({source.rstrip('/')}/{'raw' if image else 'blob'}/{tag}/{path})"

    return RELATIVE_LINK.sub(absolute, readme)


class IndexDescription(MetadataHookInterface):
    """Set the field ``readme`` of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the description to the metadata."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        text = index_description(readme, source, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
