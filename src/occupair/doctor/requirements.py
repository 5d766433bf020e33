"""Dependencies of the installed package, their bounds and the installed versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement

from occupair.errors import InputError

PACKAGE = "occupair"


@dataclass(frozen=True)
class Dependency:
    """A package that is needed.

    Attributes
    ----------
    name : str
        Its name on PyPI.
    bounds : str
        Versions that occupair supports, such as ``">=2.0"``; empty for any.
    installed : str or None
        Installed version.
    supported : bool
        Whether that version is within the bounds.
    """

    name: str
    bounds: str
    installed: str | None
    supported: bool

    @property
    def requirement(self) -> str:
        """Name and bounds, as pip takes them."""
        return f"{self.name}{self.bounds}"


def dependencies(extra: str = "", *, requirements: Iterable[str] | None = None) -> list[Dependency]:
    """Return what the package needs on this machine, or what one of its extras needs in addition.

    Parameters
    ----------
    extra : str
        Name of the extra; empty for what every installation needs.
    requirements : iterable of str, optional
        Requirements with their markers; default: those of the installed package.

    Raises
    ------
    InputError
        If the package runs from its source folder and is not installed.

    Examples
    --------
    >>> [one.requirement for one in dependencies("fast", requirements=["pip>=1; extra == 'fast'", "pip"])]
    ['pip>=1']
    """
    stated = _stated() if requirements is None else requirements
    return [_installed(one) for one in _applicable(stated, extra)]


def _stated() -> list[str]:
    try:
        return metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        raise InputError("occupair is not installed: run 'pip install .' in its source folder") from None


def _applicable(requirements: Iterable[str], extra: str) -> Iterator[Requirement]:
    """Yield the requirements of an extra that the rest of the package does not have, on this machine."""
    for one in map(Requirement, requirements):
        if _applies(one, extra) and not (extra and _applies(one, "")):
            yield one


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _installed(requirement: Requirement) -> Dependency:
    try:
        found: str | None = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        found = None
    supported = found is not None and requirement.specifier.contains(found, prereleases=True)
    return Dependency(requirement.name, str(requirement.specifier), found, supported)
