"""The workflows in .github call make targets that exist, with pinned actions and few permissions."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in FILES}
JOBS = {f"{name}-{job}": body for name, one in WORKFLOWS.items() for job, body in one["jobs"].items()}
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
EVERY_JOB = pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)


def make_targets(job):
    """Return the targets that a job makes, those of its matrix included."""
    for step in job["steps"]:
        for target in re.findall(r"\bmake (\S+)", step.get("run", "")):
            if target == '"$TARGET"':
                assert step["env"] == {"TARGET": "${{ matrix.target }}"}
                yield from job["strategy"]["matrix"]["target"]
            else:
                yield target


def test_workflows_are_complete():
    assert set(WORKFLOWS) == {"tests", "docs", "release", "container", "weekly"}
    made = {target for job in JOBS.values() for target in make_targets(job)}
    often = {"test", "wheel-test", "docs", "dist", "sbom", "container", "lint-workflows"}
    assert made >= often | {"matrix", "fuzz", "soak", "mutation", "coverage", "audit"}


@EVERY_JOB
def test_make_targets_exist(job):
    assert set(make_targets(job)) <= TARGETS


@EVERY_JOB
def test_jobs_end_by_themselves(job):
    assert 0 < job["timeout-minutes"] <= 360  # the longest that hosted runners allow


@EVERY_JOB
def test_checkout_leaves_no_credentials(job):
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_workflow_may_only_read_unless_a_job_says_otherwise(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_actions_are_pinned_to_a_commit(path):
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


def test_actions_have_one_version():
    pins = {
        use.split("@")[0]: set() for path in FILES for use in re.findall(r"uses: (\S+)", path.read_text())
    }
    for path in FILES:
        for name, pin in re.findall(r"uses: ([^@]+)@(.+)", path.read_text()):
            pins[name].add(pin)
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


def test_tests_run_on_every_supported_python():
    project = (ROOT / "pyproject.toml").read_text()
    lowest = re.search(r'requires-python = ">=(\S+)"', project)[1]
    assert JOBS["tests-test"]["strategy"]["matrix"]["python"][0] == lowest


def test_release_publishes_what_was_built_once():
    release = WORKFLOWS["release"]["jobs"]
    assert release["pypi"]["permissions"] == {"id-token": "write"}
    assert release["pypi"]["environment"]["name"] == "pypi"
    assert not list(make_targets(release["pypi"])) + list(make_targets(release["github"]))
    assert list(make_targets(release["build"])) == ["dist", "sbom"]


def test_image_is_built_for_both_platforms():
    (build,) = [
        step
        for step in JOBS["container-image"]["steps"]
        if step.get("uses", "").startswith("docker/build-push-action@")
    ]
    assert build["with"]["platforms"] == "linux/amd64,linux/arm64"
    assert (ROOT / build["with"]["file"]).is_file()


def test_dependabot_watches_actions_image_and_packages():
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    assert {one["package-ecosystem"] for one in updates} == {"github-actions", "docker", "pip"}
    assert all((ROOT / one["directory"].strip("/")).is_dir() for one in updates)


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda p: p.stem
)
def test_issue_forms_have_the_required_keys(path):
    form = yaml.safe_load(path.read_text())
    if path.stem == "config":
        assert "blank_issues_enabled" in form
        return
    assert {"name", "description", "body"} <= set(form)
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in form["body"])
