"""Run the tutorial as printed, and take its pictures: docs/tutorial/*.png.

Usage: python -m tools.tutorial [FOLDER]   (needs chromium and the data set ROBOD)

FOLDER is where the commands run; by default a temporary folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.chromium import MISSING, find_chromium
from tools.load.servers import free_port

PAGE = Path(__file__).parents[1] / "docs/tutorial/first-room.md"
BLOCK = re.compile(r"^(<!-- fragment -->\n)?```(sh|toml|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SERVE = "occupair serve rooms.toml"


@dataclass
class Step:
    """A command or a settings file of the page, and the output that the page quotes."""

    line: int
    text: str
    is_file: bool = False
    quoted: str = ""


def read_steps(page: str) -> list[Step]:
    """Return the commands and files of a page in order; text blocks quote the output of a command."""
    steps: list[Step] = []
    for match in BLOCK.finditer(page):
        fragment, kind, text = match.groups()
        line = page.count("\n", 0, match.start()) + 1
        if fragment:
            continue
        if kind == "text":
            steps[-1].quoted += text
        elif kind == "toml":
            steps.append(Step(line, text, is_file=True))
        else:
            steps += [Step(line, one) for one in text.replace("\\\n", " ").splitlines() if one.strip()]
    return steps


def find_difference(quoted: str, output: str) -> str | None:
    """Return the first quoted line that the output does not have, or None.

    Lines must be consecutive, except where a line ``...`` marks an omission. Numbers with decimals may differ
    by 5 % or by two units of their last digit, percentages by 3, because training is not the same to the
    last bit on every machine.
    """
    lines, start = _lines(output), 0
    for part in re.split(r"^\.\.\.\n", quoted, flags=re.MULTILINE):
        wanted = _lines(part)
        places = range(start, len(lines) - len(wanted) + 1)
        found = next((place for place in places if all(map(_same, wanted, lines[place:]))), None)
        if found is None:
            missing = [line for line in wanted if not any(_same(line, other) for other in lines[start:])]
            return (missing or wanted)[0]
        start = found + len(wanted)
    return None


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.strip("\n").splitlines()]


def _same(quoted: str, printed: str) -> bool:
    if NUMBER.sub("#", quoted) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.finditer(quoted), NUMBER.findall(printed), strict=True)
    return all(
        abs(float(one[0]) - float(other)) <= _tolerance(one[0], quoted[one.end() :]) for one, other in pairs
    )


def _tolerance(number: str, after: str) -> float:
    if after.lstrip().startswith("%"):
        return 3.0
    digits = len(number.partition(".")[2])
    return max(0.05 * float(number), 2 * 10.0**-digits) + 1e-9 if digits else 0.0


@contextmanager
def served(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run the service on the port of the environment; yield its address once it responds."""
    url = environment["OCCUPAIR_URL"]
    with (folder / "serve.log").open("w") as log:
        command = [sys.executable, "-m", "occupair", *SERVE.split()[1:]]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        while not _responds(url):
            if process.poll() is not None:
                raise RuntimeError((folder / "serve.log").read_text())
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def _responds(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"{url}/healthz", timeout=60).status == 200)
    except OSError:
        return False


def service_environment() -> dict[str, str]:
    """Return the environment with a free port for the service, which the commands of the page then use."""
    port = free_port()
    known = {name: value for name, value in os.environ.items() if not name.startswith("OCCUPAIR_")}
    if "OCCUPAIR_DATA" in os.environ:
        known["OCCUPAIR_DATA"] = os.environ["OCCUPAIR_DATA"]
    return known | {
        "OCCUPAIR_PORT": str(port),
        "OCCUPAIR_URL": f"http://127.0.0.1:{port}",
        "COLUMNS": "120",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def main(arguments: list[str]) -> str | None:
    """Run all steps, compare their output with the page, and take the pictures."""
    from tools.tutorial_pictures import Camera

    if find_chromium() is None:
        return f"tutorial: {MISSING}"
    folder = Path(arguments[0] if arguments else tempfile.mkdtemp(prefix="occupair-tutorial-"))
    folder.mkdir(parents=True, exist_ok=True)
    environment, camera = service_environment(), Camera(folder, PAGE.parent)
    steps = read_steps(PAGE.read_text(encoding="utf-8"))
    serve = next(k for k, step in enumerate(steps) if step.text == SERVE)
    differences = [_run(step, folder, environment) for step in steps[:serve]]
    camera.files()
    with served(folder, environment) as url:
        rest = steps[serve + 1 :]
        replay = threading.Thread(
            target=lambda: differences.extend(_run(step, folder, environment) for step in rest)
        )
        replay.start()
        camera.live(url, is_running=replay.is_alive)
        replay.join()
        camera.whole_day(url)
    camera.close()
    print(f"commands ran in {folder}")
    found = [difference for difference in differences if difference]
    return "\n".join(["tutorial: the page differs from the output:", *found]) if found else None


def _run(step: Step, folder: Path, environment: dict[str, str]) -> str | None:
    if step.is_file:
        (folder / "rooms.toml").write_text(step.text)
        return None
    print(f"$ {step.text}", flush=True)
    done = subprocess.run(
        step.text, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    print(done.stdout + done.stderr, flush=True)
    missing = find_difference(step.quoted, done.stdout) if step.quoted else None
    return missing and f"line {step.line}, {step.text}: {missing}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
