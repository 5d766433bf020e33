"""Licences of the runtime dependencies: what packages state, and what is accepted.

Packages state their licence as an SPDX expression, in free text or as a classifier. The shared libraries in
their wheels are listed in `bundled`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution

from packaging.utils import canonicalize_name

PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD-3-Clause-Attribution",
    "BSD-3-Clause-Clear",
    "CC0-1.0",
    "GPL-3.0-or-later WITH GCC-exception-3.1",  # runtime of GCC, which may be linked with anything
    "ISC",
    "LicenseRef-EnergyPlus",  # BSD-3-Clause with a clause on the use of the name
    "MIT",
    "MIT-0",
    "OLDAP-2.8",
    "OpenSSL",
    "PSF-2.0",
    "PostgreSQL",
    "X11",
    "Zlib",
    "libpng-2.0",
}
"""Accepted without conditions beyond a copy of the licence."""
WEAK_COPYLEFT = {
    "EPL-2.0",
    "LGPL-2.0-or-later",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MPL-2.0",
}
"""Accepted, and noted: changes to the library itself stay under its licence."""
SPDX_OF_TEXT = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License": "ISC",
    "MIT License": "MIT",
}
STATED_ELSEWHERE = {
    "pyenergyplus-lbnl": "LicenseRef-EnergyPlus",  # its metadata has the name of a file
    "python-dateutil": "Apache-2.0 AND BSD-3-Clause",  # "Dual License"
    "scipy": "BSD-3-Clause",  # its metadata has the whole text
}
"""Packages whose metadata states no licence by name; read from the licence file in the wheel."""


@dataclass(frozen=True)
class Licensed:
    """A package or a bundled library with its licence.

    Parameters
    ----------
    name, version : str
    licence : str
        SPDX expression, or the unknown text.
    """

    name: str
    version: str
    licence: str


def licence_of(package: Distribution) -> str:
    """Return the licence of an installed package as an SPDX expression, or as stated if it is unknown."""
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    if known := STATED_ELSEWHERE.get(canonicalize_name(metadata["Name"])):
        return known
    text = str(metadata.get("License") or "").strip()
    classifiers = [line for line in metadata.get_all("Classifier") or [] if line.startswith("License")]
    for stated in (text, *(line.rpartition(" :: ")[2] for line in classifiers)):
        spdx = SPDX_OF_TEXT.get(stated, stated)
        if spdx in PERMISSIVE | WEAK_COPYLEFT:
            return spdx
    return text or ", ".join(classifiers) or "not stated"


def is_accepted(expression: str, among: Iterable[str] = PERMISSIVE | WEAK_COPYLEFT) -> bool:
    """Whether all parts of at least one side of an OR are accepted. Parentheses are not supported."""
    known = set(among)
    return any(all(part in known for part in choice.split(" AND ")) for choice in expression.split(" OR "))


def is_permissive(expression: str) -> bool:
    """Whether a licence has no copyleft."""
    return is_accepted(expression, PERMISSIVE)


def licence_problems(found: Iterable[Licensed], exceptions: dict[str, str]) -> list[str]:
    """Return a line for each licence that is neither accepted nor a documented exception, by name."""
    return [
        f"{one.name} {one.version}: licence {one.licence} is not accepted (tools/release/licences.py)"
        for one in found
        if not is_accepted(one.licence) and exceptions.get(one.name) != one.licence
    ]
