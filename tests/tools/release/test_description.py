"""The description on a package index: made from the README by the build hook, without relative links."""

import importlib.util
import io
import re
import tarfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tools.release.description import description_problems

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
SOURCE = "https://github.com/someone/occupair"
TEXT = """\
# occupair

It [works](docs/how-it-works.md#members), see the
[changelog](CHANGELOG.md) and [PyPI](https://pypi.org).

![A day](docs/day.png)

![A week](docs/week.png)

*Two figures with
a caption.*

*How many people?*
"""


@pytest.fixture(scope="module")
def index_description():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.index_description


def test_links_lead_to_the_tag_of_the_version(index_description):
    assert (
        index_description(TEXT, SOURCE + "/", "0.1.0")
        == """\
# occupair

It [works](https://github.com/someone/occupair/blob/v0.1.0/docs/how-it-works.md#members), see the
[changelog](https://github.com/someone/occupair/blob/v0.1.0/CHANGELOG.md) and [PyPI](https://pypi.org).

![A day](https://github.com/someone/occupair/raw/v0.1.0/docs/day.png)

![A week](https://github.com/someone/occupair/raw/v0.1.0/docs/week.png)

*Two figures with
a caption.*

*How many people?*
"""
    )


def test_links_of_a_development_version_lead_to_the_newest_commit(index_description):
    assert f"({SOURCE}/blob/HEAD/CHANGELOG.md)" in index_description(TEXT, SOURCE, "0.2.0.dev0")


def test_links_without_a_repository_are_text_and_figures_are_left_out(index_description):
    assert (
        index_description(TEXT, None, "0.1.0")
        == """\
# occupair

It works, see the
changelog and [PyPI](https://pypi.org).

*How many people?*
"""
    )


@pytest.mark.parametrize("source", [SOURCE, None])
def test_readme_keeps_its_text(index_description, tmp_path, source):
    text = index_description(README, source, "0.1.0")
    assert description_problems(sdist(tmp_path, text)) == []
    assert headings(text) == headings(README)
    assert code(text) == code(README)


def headings(text):
    return re.findall(r"^#+ .*$", text, re.MULTILINE)


def code(text):
    return [token.content for token in MarkdownIt().parse(text) if token.type in ("fence", "code_block")]


def sdist(folder, text, kind="text/markdown"):
    """An sdist that has nothing but metadata."""
    path = folder / "occupair-1.0.0.tar.gz"
    metadata = f"Metadata-Version: 2.4\nName: occupair\nDescription-Content-Type: {kind}\n\n{text}".encode()
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("occupair-1.0.0/PKG-INFO")
        info.size = len(metadata)
        archive.addfile(info, io.BytesIO(metadata))
    return path


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("See [this](docs/live.md).", "docs/live.md"),
        ("See [this](#accuracy).", "#accuracy"),
        ("See [this][1].\n\n[1]: docs/live.md", "docs/live.md"),
        ("| a |\n| --- |\n| [b](b.md) |", "b.md"),
        ("![Figure](docs/day.png)", "docs/day.png"),
        ('<img alt="" src="docs/day.png">', "docs/day.png"),
        ('Text with <a href="docs/live.md">HTML</a>', "docs/live.md"),
    ],
)
def test_relative_link_is_reported(tmp_path, text, target):
    (problem,) = description_problems(sdist(tmp_path, f"# occupair\n\n{text}\n"))
    assert problem == f"occupair-1.0.0.tar.gz: relative link to {target} in the description"


def test_description_in_another_format_is_reported(tmp_path):
    path = sdist(tmp_path, "# occupair\n", kind="text/x-rst")
    assert description_problems(path) == [f"{path.name}: description is text/x-rst, not text/markdown"]


def test_missing_description_is_reported(tmp_path):
    path = sdist(tmp_path, "")
    assert description_problems(path) == [f"{path.name}: description is not the README"]
