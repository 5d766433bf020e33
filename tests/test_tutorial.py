"""Every command of the tutorial is run in order, as printed, and prints what the page quotes."""

import re
import shlex

import pytest
from command import occupair

from tools.tutorial import PAGE, SERVE, find_difference, read_steps, served, service_environment

TEXT = PAGE.read_text(encoding="utf-8")


def run(step, folder):
    """Run a step and assert that it prints what the page quotes."""
    if step.is_file:
        (folder / "rooms.toml").write_text(step.text)
        return
    program, *arguments = shlex.split(step.text)
    assert program == "occupair"
    done = occupair(*arguments, cwd=folder)
    rejected = "Not fit to train on" in step.quoted  # the page shows a file that fails the check
    assert done.returncode == (1 if rejected else 0), f"line {step.line}: {step.text}\n{done.stderr}"
    if step.quoted:
        missing = find_difference(step.quoted, done.stdout)
        assert missing is None, f"line {step.line}: {step.text} does not print {missing!r} but\n{done.stdout}"


@pytest.mark.slow
def test_every_command_prints_what_the_page_quotes(published, tmp_path, monkeypatch):
    published("robod")
    environment = service_environment()
    for name in ("OCCUPAIR_PORT", "OCCUPAIR_URL"):
        monkeypatch.setenv(name, environment[name])
    steps = read_steps(TEXT)
    serve = [step.text for step in steps].index(SERVE)
    assert serve > 10
    for step in steps[:serve]:
        run(step, tmp_path)
    with served(tmp_path, environment):
        for step in steps[serve + 1 :]:
            run(step, tmp_path)


def test_numbers_in_the_text_are_those_of_the_output():
    quoted = [step.quoted for step in read_steps(TEXT)]
    rmse = [one for text in quoted for one in re.findall(r"^ +rmse +(\S+)", text, re.MULTILINE)]
    prose = " ".join(TEXT.split())
    ((first, second, refined),) = re.findall(
        r"reduce the error from (\S+) to (\S+) people, and to (\S+) if an estimate may wait", prose
    )
    assert [first, second, refined] == [f"{float(one):.2f}" for one in rmse]


def test_every_picture_is_small_and_used():
    used = set(re.findall(r"\]\((\w[\w-]*\.png)\)", TEXT))
    there = {path.name for path in PAGE.parent.glob("*.png")}
    assert used == there
    assert all((PAGE.parent / name).stat().st_size < 150_000 for name in there)


FIRST = "room.csv: 288 readings of 1 day."
OUTPUT = f"""{FIRST}

  rmse        1.4737    root mean square error [people]
  fdr         0.0692    share of readings
  within_0    0.6075    share of readings
The 90 % interval covers 94 % of them.
"""


@pytest.mark.parametrize(
    ("quoted", "missing"),
    [
        ("room.csv: 288 readings of 1 day.\n", None),
        ("rmse 1.45 root mean square error [people]\n", None),  # within 5 %
        ("rmse 1.30 root mean square error [people]\n", "rmse 1.30 root mean square error [people]"),
        ("room.csv: 287 readings of 1 day.\n", "room.csv: 287 readings of 1 day."),  # integers are exact
        ("The 90 % interval covers 92 % of them.\n", None),
        ("The 90 % interval covers 80 % of them.\n", "The 90 % interval covers 80 % of them."),
        ("room.csv: 288 readings of 1 day.\n...\nfdr 0.0692 share of readings\n", None),
        (
            "rmse 1.4737 root mean square error [people]\nwithin_0 0.6075 share of readings\n",
            "rmse 1.4737 root mean square error [people]",  # not consecutive
        ),
        (
            "fdr 0.0692 share of readings\n...\nroom.csv: 288 readings of 1 day.\n",
            "room.csv: 288 readings of 1 day.",
        ),
        ("mae 1.2\n", "mae 1.2"),
    ],
)
def test_quoted_output_is_compared(quoted, missing):
    assert find_difference(quoted, OUTPUT) == missing
