"""Deprecated names, until when they work, and the warning that they issue. The policy: docs/versioning.md."""

from __future__ import annotations

import warnings
from dataclasses import dataclass


class OccupairDeprecationWarning(FutureWarning):
    """A deprecated name was used. Shown by default, as users rather than developers have to act."""


@dataclass(frozen=True)
class Deprecation:
    """A name that still works and will be removed.

    Parameters
    ----------
    name : str
        The command, Python name, setting, HTTP path, topic or metric as users write it.
    use : str
        Its replacement.
    since : str
        First version that warns.
    removed_in : str
        First version without it: at least two minor versions later.

    Examples
    --------
    >>> str(Deprecation("occupair prove", "occupair validate", since="0.1.0", removed_in="0.3.0"))
    "'occupair prove' is deprecated and will be removed in version 0.3.0: use 'occupair validate'"
    """

    name: str
    use: str
    since: str
    removed_in: str

    def __str__(self) -> str:
        removal = f"will be removed in version {self.removed_in}"
        return f"{self.name!r} is deprecated and {removal}: use {self.use!r}"


DEPRECATIONS = {
    one.name: one
    for one in (Deprecation("occupair prove", "occupair validate", since="0.1.0", removed_in="0.3.0"),)
}
"""Everything deprecated at present, by name."""


def warn_deprecated(name: str, *, stacklevel: int = 2) -> None:
    """Warn that a name of ``DEPRECATIONS`` was used.

    Commands print the warning as one line, the live service logs it.
    """
    warnings.warn(str(DEPRECATIONS[name]), OccupairDeprecationWarning, stacklevel=stacklevel + 1)
