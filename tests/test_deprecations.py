"""Deprecated names warn, are documented, and are removed in the version that they name."""

import re
import warnings
from pathlib import Path

import pytest
from command import occupair

import occupair as oc
from occupair.deprecations import DEPRECATIONS, OccupairDeprecationWarning, warn_deprecated

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
EVERY = pytest.mark.parametrize("deprecation", DEPRECATIONS.values(), ids=DEPRECATIONS)


def numbers(version):
    """Return major, minor and patch; 0.3.0.dev0 counts as 0.3.0."""
    return tuple(int(number) for number in re.match(r"(\d+)\.(\d+)\.(\d+)", version).groups())


@EVERY
def test_deprecated_name_is_removed_in_time(deprecation):
    assert numbers(oc.__version__) < numbers(deprecation.removed_in), f"remove {deprecation.name} now"


@EVERY
def test_deprecated_name_works_in_one_more_minor_version(deprecation):
    since, removed_in = numbers(deprecation.since), numbers(deprecation.removed_in)
    assert removed_in >= (since[0], since[1] + 2, 0) or (removed_in[0] > since[0])
    assert removed_in[2] == 0, "not in a patch release"


@EVERY
def test_deprecated_name_is_in_the_changelog(deprecation):
    section = re.search(rf"^## \[{deprecation.since}\].*?(?=^## |\Z)", CHANGELOG, re.MULTILINE | re.DOTALL)[0]
    assert f"`{deprecation.name}`" in section.split("### Deprecated\n", 1)[1]


def test_warning_is_shown_to_users_and_names_the_caller():
    message = "^'occupair prove' is deprecated and will be removed in version 0.3.0: use 'occupair validate'$"

    def deprecated():
        warn_deprecated("occupair prove")

    with pytest.warns(OccupairDeprecationWarning, match=message) as caught:
        deprecated()
    assert caught[0].filename == __file__
    with warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()
        warnings.simplefilter("ignore", DeprecationWarning)  # as Python does outside of __main__
        deprecated()
    assert len(shown) == 1


@pytest.mark.filterwarnings("default::occupair.deprecations.OccupairDeprecationWarning")
def test_command_prints_the_warning_in_one_line():
    done = occupair("prove", "attic")
    assert done.returncode == 2
    first, error = done.stderr.splitlines()
    assert first == f"occupair: {DEPRECATIONS['occupair prove']}"
    assert error.startswith("occupair: unknown room 'attic'")


def test_policy_lists_what_is_deprecated():
    row = re.compile(r"^\| `(.+)` \| `(.+)` \| (\d\S+) \| (\d\S+) \|$", re.MULTILINE)
    listed = row.findall((ROOT / "docs/versioning.md").read_text())
    assert listed == [(one.name, one.use, one.since, one.removed_in) for one in DEPRECATIONS.values()]
