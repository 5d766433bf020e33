"""Groups of messages that differ only in names, dates and numbers, so that many rooms are fixed at once."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

VARIES = "…"
"""Stands for the part in which the messages of a group differ."""

_SLOT = "\ue001"  # in a pattern: a name, date or number
_DATE = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"
_TIME = rf"(?:{_DATE}|\d\d:\d\d)"
_QUOTE = r"""(?<!\w)(?:'[^']*'|"[^"]*")(?!\w)"""
_VARIABLE = re.compile(
    "|".join(
        [
            _SLOT,
            rf"{_QUOTE}(?:, {_QUOTE})*(?: and \d+ more)?",
            r"(?:\w+:/)?[^\s,;:()]*(?:/[^\s,;:()]+)+",  # a path or URL
            r"[^\s,;:()]+\.(?:parquet|csv|gz|json|toml)\b",
            rf"{_DATE}(?:(?:, | to | and ){_TIME})*",
            r"\b0x[0-9a-fA-F]+",
            r"(?<![\w.])[-+]?\d+(?:[.,:]\d+)*",
        ]
    )
)
_LOCATION = re.compile(rf"^{VARIES}(?:, row (?:{VARIES}|\d+))?(?:: |, (?=column ))")
_PLURALS = (
    re.compile(rf"({_SLOT} [a-z]{{3,}}?)s\b"),  # 2 days
    re.compile(rf"({_SLOT} [a-z]+ [a-z]{{3,}}?)s\b"),  # 2 whole days
)
_LOWER_CASE_WORD = re.compile(r"[a-z]+(?=[ ,]|$)")
_SENTENCE_END = re.compile(r"(?<=[.?!]) +(?=[A-Z])|\n|; ")


@dataclass(frozen=True)
class MessageGroup:
    """Messages with the same text apart from names, dates and numbers.

    Parameters
    ----------
    key : str
        Identifies the group; the same for the same text in another report.
    label : str
        The text, with `VARIES` in place of what differs, without the file.
    members : tuple of int
        Positions of the messages.
    """

    key: str
    label: str
    members: tuple[int, ...]


def group_messages(messages: Sequence[str], names: Sequence[str]) -> list[MessageGroup]:
    """Group messages by their first sentence, the largest group first.

    Parameters
    ----------
    messages : sequence of str
        Messages, such as why a room has no model.
    names : sequence of str
        The name of the room of each message, which is ignored in the comparison.

    Examples
    --------
    >>> messages = ["a.csv: needs 5 days, got 3", "b.csv: is empty", "c.csv: needs 5 days, got 1"]
    >>> for group in group_messages(messages, ["a", "b", "c"]):
    ...     print(group.label, group.members)
    Needs 5 days, got … (0, 2)
    b.csv: is empty (1,)
    """
    groups: dict[str, list[tuple[int, str, list[str]]]] = {}
    for position, (message, name) in enumerate(zip(messages, names, strict=True)):
        pattern, values = _split(message, name)
        groups.setdefault(_singular(pattern), []).append((position, pattern, values))
    found = [
        MessageGroup(
            key=f"{zlib.crc32(key.encode(errors='replace')):08x}",
            label=_label([pattern for _, pattern, _ in rows], [values for _, _, values in rows]),
            members=tuple(position for position, _, _ in rows),
        )
        for key, rows in groups.items()
    ]
    return sorted(found, key=lambda group: (-len(group.members), group.label))


def as_sentence(text: str) -> str:
    """Return a text with a capital letter if it starts with a lower-case word, not with a file name.

    Examples
    --------
    >>> as_sentence("has no readings"), as_sentence("a.csv: is empty")
    ('Has no readings', 'a.csv: is empty')
    """
    return text[:1].upper() + text[1:] if _LOWER_CASE_WORD.match(text) else text


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    Examples
    --------
    >>> sentences("CO2 is 0.4 ppm. Check the sensor.")
    ['CO2 is 0.4 ppm.', 'Check the sensor.']
    """
    return _SENTENCE_END.split(text.strip())


def _split(message: str, name: str) -> tuple[str, list[str]]:
    """Return the first sentence with slots for what may differ, and the text of each slot."""
    sentence = sentences(message.replace(_SLOT, " "))[0]
    if len(name) > 1:
        sentence = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _SLOT, sentence)
    values: list[str] = []

    def slot(match: re.Match[str]) -> str:
        values.append(match[0].replace(_SLOT, name))
        return _SLOT

    return _VARIABLE.sub(slot, sentence), values


def _singular(pattern: str) -> str:
    for plural in _PLURALS:
        pattern = plural.sub(r"\1", pattern)
    return pattern


def _label(patterns: Sequence[str], values: Sequence[Sequence[str]]) -> str:
    parts = max(patterns, key=len).split(_SLOT)  # the plural if there is one
    common = [same[0] if len(set(same)) == 1 else VARIES for same in zip(*values, strict=True)]
    label = "".join(part + value for part, value in zip(parts, [*common, ""], strict=True))
    return as_sentence(_LOCATION.sub("", label))
