"""CHANGELOG.md has the form of Keep a Changelog 1.1.0."""

import re
from datetime import date
from pathlib import Path

import pytest

from occupair import __version__

CHANGELOG = (Path(__file__).parents[1] / "CHANGELOG.md").read_text()
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
RELEASE = re.compile(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)")
UNRELEASED, *RELEASES = re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]
HEADINGS = [section.split("\n", 1)[0] for section in RELEASES]


def test_unreleased_changes_come_first():
    assert UNRELEASED.startswith("[Unreleased]\n")


def test_releases_have_a_version_and_a_date_newest_first():
    found = [RELEASE.fullmatch(heading) for heading in HEADINGS]
    assert all(found), HEADINGS
    versions = [tuple(map(int, match[1].split("."))) for match in found]
    dates = [date.fromisoformat(match[2]) for match in found]
    assert versions == sorted(set(versions), reverse=True)
    assert dates == sorted(dates, reverse=True)


def test_version_has_an_entry():
    """A development version, such as 0.2.0.dev0, is described by the unreleased changes."""
    latest = RELEASE.fullmatch(HEADINGS[0])[1]
    assert latest == __version__ or ".dev" in __version__


@pytest.mark.parametrize("section", [UNRELEASED, *RELEASES], ids=["Unreleased", *HEADINGS])
def test_changes_are_grouped_by_kind(section):
    groups = re.split(r"^### ", section, flags=re.MULTILINE)[1:]
    kinds = [group.split("\n", 1)[0] for group in groups]
    assert kinds == [kind for kind in KINDS if kind in kinds], "one heading per kind, in this order"
    for group in groups:
        assert re.search(r"^- ", group, re.MULTILINE), f"empty: {group}"
    assert "\n- " not in section.split("\n### ", 1)[0], "a change above the first heading"
