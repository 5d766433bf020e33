"""The error for everything a user can correct, a check that raises it, and the warning of slow fallbacks."""

from numbers import Integral


class InputError(ValueError):
    """An input breaks a rule; the message names the input, the rule and the offending value.

    The command line prints the message as one line and exits with status 2. Any other exception is a bug and
    keeps its traceback.
    """


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
