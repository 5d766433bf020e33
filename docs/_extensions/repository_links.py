"""Links out of ``docs/``: on GitHub to a file, in the site to its page or to a copy of the file."""

import posixpath
import re

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PAGES = {
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../README.md": "index.md",
}
"""Documents of the repository that are pages of the site, by their path from ``docs/``."""
LINK = re.compile(r"\]\((\.\./[^)#\s]+\.md)(?=[)#])")


def replace_links(app: Sphinx, page: str, source: list[str]) -> None:
    """Point links to Markdown files outside ``docs/`` at their page, or else at a copy of the file."""
    folder = posixpath.dirname(page)

    def replaced(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if path in PAGES:
            return f"](./{posixpath.relpath(PAGES[path], folder or '.')}"
        return f"](path:{link[1]}" if path.startswith("../") else link[0]

    source[0] = LINK.sub(replaced, source[0])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("source-read", replace_links)
    app.add_lexer("csv", TextLexer)  # Pygments has none for these
    return {"parallel_read_safe": True, "parallel_write_safe": True}
