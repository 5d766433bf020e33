"""The error for everything a user can correct, a check that raises it, and the warning of slow fallbacks."""

from numbers import Integral

LONGEST_LINE = 2_000
"""Characters of a message before it is cut; it may quote any part of a file."""


class InputError(ValueError):
    r"""An input breaks a rule; the message names the input, the rule and the offending value.

    The command line prints the message as one line and exits with status 2. Any other exception is a bug and
    keeps its traceback.

    Parameters
    ----------
    *lines : str
        The message, or several of them, one per line. Control characters, which a message may quote from a
        file, are escaped, so that each is one line of printable text.

    Examples
    --------
    >>> str(InputError("room 'a\x1b' is there twice")), str(InputError("one", "two"))
    ("room 'a\\x1b' is there twice", 'one\ntwo')
    """

    def __init__(self, *lines: str) -> None:
        super().__init__(*map(plain_line, lines))

    def __str__(self) -> str:
        return "\n".join(self.args)


def plain_line(text: str) -> str:
    r"""Return text as one line of printable characters, cut to 2,000.

    Examples
    --------
    >>> print(plain_line("Süd\nNord"), len(plain_line("x" * 9999)))
    Süd\nNord 2000
    """
    text = _cut(text)
    if text.isprintable():
        return text
    return _cut("".join(one if one.isprintable() else repr(one)[1:-1] for one in text))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 3]}..."


class SlowFallbackWarning(RuntimeWarning):
    """A package is missing, and slower code with the same results is used in its place.

    The command line and the log of the service show the message as one line, without its place in the code.
    """


def check_integer(name: str, value: object, *, least: int) -> None:
    """Raise InputError unless ``value`` is an integer of at least ``least``.

    Examples
    --------
    >>> check_integer("n_hidden", 0, least=1)
    Traceback (most recent call last):
    ...
    occupair.errors.InputError: n_hidden must be an integer, 1 or more, got 0
    """
    if not (isinstance(value, Integral) and int(value) >= least):
        raise InputError(f"{name} must be an integer, {least} or more, got {value!r}")
