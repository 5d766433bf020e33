"""CITATION.cff, the page on citing and the package agree."""

import re
from pathlib import Path

import pytest
import yaml

import occupair
from occupair.datasets import DATASETS

ROOT = Path(__file__).parent.parent
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PAGE = (ROOT / "docs/citing.md").read_text()
ENTRIES = {
    kind: dict(re.findall(r"^  (\w+) += \{(.*)\},?$", body, re.MULTILINE))
    for kind, body in re.findall(r"```bibtex\n@(\w+)\{\w+,\n(.*?)\n\}\n```", PAGE, re.DOTALL)
}


def test_required_keys_of_the_citation_file_format_are_present():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert CITATION["type"] == "software"
    assert (ROOT / "LICENSE").read_text().startswith(CITATION["license"])


def test_version_is_that_of_the_package_and_date_that_of_the_latest_release():
    """A development version, such as 0.2.0.dev0, has the date of the release before."""
    releases = re.findall(r"^## \[(\d\S*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    version, date = releases[0]
    assert str(CITATION["date-released"]) == date
    assert CITATION["version"] == occupair.__version__
    assert version == occupair.__version__ or ".dev" in occupair.__version__


def test_bibtex_of_occupair_agrees_with_the_citation_file():
    entry = ENTRIES["software"]
    assert entry["author"].strip("{}") == CITATION["authors"][0]["name"]
    assert entry["title"] == CITATION["title"]
    assert entry["version"] == CITATION["version"]
    assert entry["year"] == str(CITATION["date-released"].year)
    assert entry["license"] == CITATION["license"]


def test_bibtex_of_the_paper_agrees_with_the_citation_file():
    (paper,) = CITATION["references"]
    entry = ENTRIES["article"]
    names = [f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]]
    assert entry["author"].split(" and ") == names
    assert entry["pages"] == f"{paper['start']}--{paper['end']}"
    for key in ("title", "journal", "volume", "year", "doi"):
        assert entry[key] == str(paper[key])
    assert all(name.split(",")[0] in (ROOT / "docs/equations.md").read_text() for name in names)


@pytest.mark.parametrize("data_set", DATASETS.values(), ids=lambda data_set: data_set.name)
def test_page_cites_the_data_set_as_the_catalogue_does(data_set):
    assert f"| [{data_set.title}]({data_set.page}) |" in PAGE
    assert f"| {data_set.citation} | {data_set.licence} |" in PAGE
