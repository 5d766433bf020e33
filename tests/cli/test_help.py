"""The help of commands: an example each, and lists that are complete."""

import pytest
from command import occupair

COMMANDS = [
    "simulate",
    "fit",
    "estimate",
    "evaluate",
    "reproduce",
    "datasets",
    "datasets fetch",
    "check",
    "benchmark",
    "validate",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    done = occupair(*command.split(), "--help")
    assert done.returncode == 0
    assert f"Example: occupair {command}" in done.stdout


def test_without_a_command_all_are_listed():
    done = occupair()
    assert all(command.split()[0] in done.stdout + done.stderr for command in COMMANDS)


@pytest.mark.parametrize("group", ["", "fleet", "groundtruth", "bacnet", "datasets", "export", "import"])
def test_descriptions_of_commands_are_not_cut_off(group):
    listed = occupair(*group.split(), "--help").stdout.partition("Commands:")[2]
    assert listed.count("\n") > 1
    assert "..." not in listed
