"""The command line run in this process, as a user would run it."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest

from occupair.cli import main


class Done(NamedTuple):
    """What a finished command leaves."""

    returncode: int
    stdout: str
    stderr: str


def occupair(*arguments, cwd="."):
    """Run the command line in this process, which saves the start-up of a new one."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(stdout), redirect_stderr(stderr):
        patch.setattr(sys, "argv", ["occupair", *map(str, arguments)])
        patch.setenv("COLUMNS", "200")
        patch.chdir(cwd)
        try:
            main()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
    return Done(status, stdout.getvalue(), stderr.getvalue())
