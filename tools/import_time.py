"""Time of imports and of starting the command line, by package.

Every start is measured in fresh processes; figures are medians. The processor time is that beyond a bare
interpreter, or beyond numpy and pandas; the shares are those of `python -X importtime`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from statistics import median

LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| +(\S+)")
BASE = "import numpy, pandas"
MAIN = "import sys; sys.argv = ['occupair', '{}']; from occupair.__main__ import main; main()"
STARTS = {
    "`import occupair`": ("import occupair", "pass"),
    "`import occupair.estimator`, beyond numpy and pandas": (f"{BASE}; import occupair.estimator", BASE),
    "`occupair --version`": (MAIN.format("--version"), "pass"),
    "`occupair --help`": (MAIN.format("--help"), "pass"),
}
SHOWN = 5
"""Number of packages listed."""


def imported(code: str) -> dict[str, float]:
    """Return the time that each module takes itself, without those it imports [ms]."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return parse(done.stderr)


def parse(report: str) -> dict[str, float]:
    """Parse the report of `python -X importtime`."""
    return {name: int(own) / 1000 for own, _, name in LINE.findall(report)}


def by_package(times: dict[str, float], excluded: set[str]) -> Counter[str]:
    """Sum the times of modules by package; those of the standard library are one."""
    total: Counter[str] = Counter()
    for module, own in times.items():
        if module not in excluded:
            package = module.partition(".")[0]
            standard = (
                package.removeprefix("_") in sys.stdlib_module_names or package in sys.stdlib_module_names
            )
            total["standard library" if standard else package] += own
    return total


def shares(code: str, base: str, repeats: int) -> dict[str, float]:
    """Return the share of each package in the time of imports, largest first."""
    excluded = set(imported(base))
    runs = [by_package(imported(code), excluded) for _ in range(repeats)]
    packages = {name: median(run[name] for run in runs) for name in set().union(*runs)}
    total = sum(packages.values()) or 1.0
    return {name: ms / total for name, ms in sorted(packages.items(), key=lambda item: -item[1])}


def cpu_time(code: str) -> float:
    """Return the processor time of a process [ms], which other processes affect little."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{code}: exit status {process.returncode}")
    return 1000 * (usage.ru_utime + usage.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    print("| start | processor time | share of packages in the time of imports |\n| --- | ---: | --- |")
    for title, (code, base) in STARTS.items():
        both = [(cpu_time(code), cpu_time(base)) for _ in range(repeats)]
        beyond = median(one for one, _ in both) - median(other for _, other in both)
        packages = [f"{name} {100 * share:.0f} %" for name, share in shares(code, base, repeats).items()]
        print(f"| {title} | {max(beyond, 0.0):.0f} ms | {', '.join(packages[:SHOWN])} |", flush=True)


if __name__ == "__main__":
    main()
