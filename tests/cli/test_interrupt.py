"""Ctrl-C: exit status 130 and no traceback, whatever the command line is doing."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MODULE, _, FUNCTION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"][
    "occupair"
].partition(":")
STARTS = {
    "module": ["-m", "occupair"],
    "script": ["-c", f"import sys; from {MODULE} import {FUNCTION}; sys.exit({FUNCTION}())"],
}
WAITING = 'import time\nprint("importing", flush=True)\ntime.sleep(600)\n'
CONVERTING = (
    'import time\nprint("importing", flush=True)\n'
    'try:\n    time.sleep(600)\nexcept BaseException:\n    raise ImportError("no module") from None\n'
)


def start(arguments, *, how="module", path=()):
    """Start the command line in a process of its own."""
    folders = os.pathsep.join([*map(str, path), str(ROOT / "src")])
    return subprocess.Popen(
        [sys.executable, *STARTS[how], *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": folders},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # as in a terminal
    )


@pytest.mark.parametrize("how", STARTS)
@pytest.mark.parametrize("content", [WAITING, CONVERTING], ids=["waiting", "converting"])
@pytest.mark.parametrize("imported", ["typer", "pandas"])  # by all commands at their start, and by check
def test_interrupt_during_import(tmp_path, how, content, imported):
    (tmp_path / f"{imported}.py").write_text(content)
    (tmp_path / "room.csv").write_text("time,co2\n")
    with start(["check", tmp_path / "room.csv"], how=how, path=[tmp_path]) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "")


def test_interrupt_while_a_command_works(tmp_path):
    os.mkfifo(tmp_path / "room.csv")
    with start(["check", tmp_path / "room.csv"]) as process, (tmp_path / "room.csv").open("w"):
        process.send_signal(signal.SIGINT)  # the command has opened the file to read it
        _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "")


def test_ignored_interrupt_stays_ignored(tmp_path):
    """As under nohup."""
    command = [sys.executable, *STARTS["module"], "check", str(tmp_path / "room.csv")]
    os.mkfifo(tmp_path / "room.csv")
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as process:
        with (tmp_path / "room.csv").open("w") as written:
            process.send_signal(signal.SIGINT)
            written.write("time,co2\n")
        _, errors = process.communicate()
    assert process.returncode == 2
    assert "room.csv: has no readings" in errors
