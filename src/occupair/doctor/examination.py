"""The examination of an installation as one document, with problems and what to do about each."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import occupair
from occupair.doctor import machine
from occupair.doctor.compiled_code import CompiledCode, try_compiled_code
from occupair.doctor.extras import EXTRAS, install_line
from occupair.doctor.folders import Folder, find_folders
from occupair.doctor.requirements import Dependency, dependencies


@dataclass(frozen=True)
class Extra:
    """An extra: what it adds, and which of its packages are missing or of another version."""

    name: str
    adds: str
    dependencies: list[Dependency]

    @property
    def installed(self) -> bool:
        """Whether all of its packages are there, in supported versions."""
        return all(one.supported for one in self.dependencies)

    @property
    def missing(self) -> list[str]:
        """Requirements that are not met."""
        return [one.requirement for one in self.dependencies if not one.supported]


@dataclass(frozen=True)
class Problem:
    """A finding in one line with its remedy; a required one makes the command fail."""

    finding: str
    remedy: str
    required: bool = True

    def __str__(self) -> str:
        return f"{self.finding}: {self.remedy}"


@dataclass
class Examination:
    """Everything that was found."""

    python: dict[str, str]
    dependencies: list[Dependency]
    extras: list[Extra]
    compiled: CompiledCode
    cores: dict[str, int]
    time_zones: str | None
    folders: list[Folder]
    blas: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    version: str = occupair.__version__
    location: str = str(Path(occupair.__file__).parent)

    @property
    def passed(self) -> bool:
        """Whether nothing required is broken."""
        return not any(one.required for one in self.problems)

    def document(self) -> dict[str, Any]:
        """Return the examination as a JSON document."""
        return {
            "occupair": {"version": self.version, "location": self.location},
            "passed": self.passed,
            "problems": [asdict(one) for one in self.problems],
            "python": self.python,
            "dependencies": [asdict(one) for one in self.dependencies],
            "extras": [
                {
                    "name": one.name,
                    "adds": one.adds,
                    "installed": one.installed,
                    "missing": one.missing,
                    "install": install_line(one.name),
                }
                for one in self.extras
            ],
            "compiled_code": asdict(self.compiled),
            "blas": self.blas,
            "cores": self.cores,
            "time_zones": self.time_zones,
            "folders": [asdict(one) | {"path": str(one.path)} for one in self.folders],
        }


def examine() -> Examination:
    """Examine this installation. The first time, compilation takes some 10 seconds."""
    needed = dependencies()
    extras = [Extra(name, adds, dependencies(name)) for name, adds in EXTRAS.items()]
    compiled = try_compiled_code()
    found = Examination(
        python=machine.describe_python(),
        dependencies=needed,
        extras=extras,
        compiled=compiled,
        cores=machine.count_cores(),
        time_zones=machine.time_zone_source(),
        folders=find_folders(compiled.cache),
    )
    try:
        found.blas = machine.blas_libraries()
    except ImportError as error:
        remedy = "pip install --force-reinstall numpy scipy threadpoolctl"
        found.problems.append(Problem(f"linear algebra cannot be loaded ({error})", remedy))
    found.problems += find_problems(found)
    return found


def find_problems(found: Examination) -> list[Problem]:
    """Return the problems of dependencies, extras, compiled code and time zones."""
    problems = [_of_dependency(one) for one in found.dependencies if not one.supported]
    for extra in found.extras:
        outdated = [one for one in extra.dependencies if one.installed and not one.supported]
        problems += [_of_dependency(one, extra.name) for one in outdated]
    numba = next((one for one in found.dependencies if one.name == "numba"), None)
    if not found.compiled.works and (numba is None or numba.supported):
        finding = f"numba does not work ({found.compiled.error}), so the paper's live estimator is slower"
        remedy = (
            "use a platform with wheels of numba" if numba is None else "pip install --force-reinstall numba"
        )
        problems.append(Problem(finding, remedy, required=numba is not None))
    if found.compiled.works and found.compiled.cache is None:
        finding = "compiled code cannot be cached, so every start compiles for some 10 s"
        problems.append(Problem(finding, "set NUMBA_CACHE_DIR to a writable folder", required=False))
    if found.time_zones is None:
        problems.append(Problem("there is no time zone database", "pip install tzdata"))
    return problems


def _of_dependency(one: Dependency, extra: str = "") -> Problem:
    what = "is not installed" if one.installed is None else f"{one.installed} is not supported"
    use = f" by the extra {extra}" if extra else ""
    return Problem(f"{one.name} {what}{use}", f'pip install "{one.requirement}"', required=not extra)
