"""One input: run within limits of time and memory, and its outcome checked against the contract.

An input is accepted, or rejected by an `InputError` whose message is one plain line. Any other exception, a
warning, more than `HANG` seconds of CPU time, and more memory than `MEMORY` are findings.
"""

from __future__ import annotations

import contextlib
import re
import resource
import signal
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from occupair.errors import InputError
from tools.fuzz.target import Target

HANG = 20.0
"""CPU time after which an input is stopped [s]."""
KILLED = 60.0
"""CPU time after which the process is ended by the system, if it could not be stopped before [s]."""
MEMORY = 1_000_000_000
"""Memory that inputs may take in addition to that of the loaded program [bytes]."""
LONGEST = 2_000
"""Longest message [characters]."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
_SOURCE = "/occupair/"


class HangError(BaseException):
    """An input took too long. Not an Exception, so that no handler takes it for an error of the input."""


class ContractError(AssertionError):
    """An outcome that the contract does not allow, although no exception was raised."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of an input: "accepted", "rejected" or "finding", with its message or traceback."""

    kind: str
    message: str = ""
    cause: str = ""  # type and place of a finding, the same for inputs with the same defect


def attempt(target: Target, data: bytes) -> Outcome:
    """Run one input."""
    try:
        with _time_limit(), warnings.catch_warnings():
            warnings.simplefilter("error")
            target.run(data)
    except InputError as error:
        return _rejected(str(error), target, error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 any other is a finding
        return Outcome("finding", _traceback(error), _cause(error))
    return Outcome("accepted")


def _rejected(message: str, target: Target, error: InputError) -> Outcome:
    broken = broken_rule(message, one_line=target.one_line)
    if broken is None:
        return Outcome("rejected", message)
    what = f"message {broken}: {message[:300]!r}"
    return Outcome("finding", f"{what}\n{_traceback(error)}", f"message {broken}, {_place(error)}")


def broken_rule(message: str, *, one_line: bool = True) -> str | None:
    """Return the rule for messages that a message breaks, None if it breaks none.

    Examples
    --------
    >>> broken_rule("room.csv: is empty"), broken_rule("is\\nempty"), broken_rule("")
    (None, 'has control characters or several lines', 'is empty')
    """
    if not message.strip():
        return "is empty"
    for line in [message] if one_line else message.split("\n"):
        if not line.isprintable():
            return "has control characters or several lines"
        if len(line) > LONGEST:
            return f"is longer than {LONGEST} characters"
    if _ADDRESS.search(message):
        return "has a memory address"
    return "has a traceback" if "Traceback (most recent" in message else None


def limit_memory() -> None:
    """Limit the memory of this process to `MEMORY` more than it has now."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    used = int(re.search(r"^VmData:\s+(\d+) kB", status.read_text(), re.MULTILINE)[1]) * 1024  # type: ignore[index]
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, hard))


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    signal.signal(signal.SIGPROF, _stop)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    signal.setitimer(signal.ITIMER_VIRTUAL, KILLED)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(number: int, frame: FrameType | None) -> None:
    raise HangError(f"more than {HANG:g} s of CPU time")


def _cause(error: BaseException) -> str:
    kind = type(error).__name__
    if isinstance(error, HangError):
        return kind
    about = f": {error}" if isinstance(error, ContractError) else ""
    return f"{kind}{about[:80]}, {_place(error)}"


def _place(error: BaseException) -> str:
    """Return the innermost line of occupair in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _SOURCE in frame.filename] or frames[-1:]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "unknown place"


def _traceback(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error, limit=-12))
    return text.encode("utf-8", "backslashreplace").decode()[-6_000:]


def check(holds: bool, rule: str) -> None:
    """Raise a finding unless an accepted input meets a rule."""
    if not holds:
        raise ContractError(rule)
