"""Markdown documents of the repository: their code blocks, links and headings."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
GENERATED = ROOT / "docs/reference"
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [path for path in ROOT.glob("docs/**/*.md") if GENERATED not in path.parents]
)
"""Documents whose code and links are checked. The reference is generated at each build of the site."""
_MARK = re.compile(r"<!-- fragment(?:: .+)? -->\s*")
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A code block.

    Parameters
    ----------
    path : Path
        The document.
    line : int
        Line of its first line of code or of its fence, from 1.
    language : str
        Language of the fence; empty for indented blocks.
    code : str
    is_fragment : bool
        Whether the line before it is ``<!-- fragment -->`` or ``<!-- fragment: reason -->``.
    """

    path: Path
    line: int
    language: str
    code: str
    is_fragment: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def blocks_of(path: Path, text: str | None = None) -> list[Block]:
    """Return the code blocks of a document in order, without directives of Sphinx."""
    tokens = _PARSER.parse(path.read_text() if text is None else text)
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type not in ("fence", "code_block") or token.info.startswith("{"):
            continue
        is_fragment = (
            before is not None
            and before.type == "html_block"
            and bool(_MARK.fullmatch(before.content))
            and before.map[1] == token.map[0]
        )
        language = token.info.split()[0] if token.info else ""
        found.append(Block(path, token.map[0] + 1, language, token.content, is_fragment))
    return found


def inline_code_of(path: Path) -> list[str]:
    """Return the code within paragraphs and tables."""
    return [
        child.content.replace("\n", " ")
        for token in _PARSER.parse(path.read_text())
        for child in token.children or ()
        if child.type == "code_inline"
    ]


def links_of(path: Path) -> list[str]:
    """Return the targets of links and images."""
    children = [child for token in _PARSER.parse(path.read_text()) for child in token.children or ()]
    return [str(child.attrs.get("href") or child.attrs["src"]) for child in children if _is_link(child.type)]


def _is_link(kind: str) -> bool:
    return kind in ("link_open", "image")


@cache
def anchors_of(path: Path) -> set[str]:
    """Return the anchors of the headings of a document, as GitHub and the site make them."""
    tokens = _PARSER.parse(path.read_text())
    seen: Counter[str] = Counter()
    anchors = set()
    for heading, inline in itertools.pairwise(tokens):
        if heading.type != "heading_open":
            continue
        text = "".join(one.content for one in inline.children if one.type in ("text", "code_inline"))
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return anchors
