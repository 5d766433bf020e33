"""A target: one kind of input that a stranger can send, and the code that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from random import Random

from tools.fuzz.targets import SHARES


@dataclass(frozen=True)
class Target:
    """One kind of input.

    Parameters
    ----------
    name : str
    generate : callable
        Returns an input, given a random number generator.
    run : callable
        Reads an input. It returns None if the input was accepted, after checking the result, and raises
        `InputError` if it was rejected. Anything else is a finding.
    one_line : bool
        Whether a message must be one line; otherwise each of its lines is a message.
    """

    name: str
    generate: Callable[[Random], bytes]
    run: Callable[[bytes], None]
    one_line: bool = True

    def input(self, seed: int, number: int) -> bytes:
        """Return an input by its number."""
        return self.generate(Random(f"{seed}:{self.name}:{number}"))


def load_target(name: str) -> Target:
    """Import a target by its name."""
    module = import_module(f"tools.fuzz.targets.{name}")
    return Target(name, module.generate, module.run, getattr(module, "ONE_LINE", True))


def target_names() -> list[str]:
    """Return the names of all targets."""
    return list(SHARES)
