"""What was sent, in an error: in the words of JSON."""

from __future__ import annotations


def in_json_words(got: object) -> str:
    """Show in one short line what was sent.

    Examples
    --------
    >>> in_json_words("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    words = {True: "true", False: "false", None: "null"}
    if isinstance(got, bool) or got is None:
        return words[got]
    if isinstance(got, int) and abs(got) > 10**40:
        return "a number of more than forty digits"
    if isinstance(got, dict | list):
        return "an object" if isinstance(got, dict) else "a list"
    text = repr(got)
    return text if len(text) <= 41 else text[:38] + "..."
