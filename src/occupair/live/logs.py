"""Logs of the service: lines of text or JSON on standard error, with no secret in them.

Modules log by ``logging.getLogger(__name__)`` and give what a program may look for as ``extra``:
``log.info("room is stale", extra={"room": "lab"})``. A web server that is not to bring its own handlers is
started with ``log_config=None``.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TextIO
from urllib.parse import quote, quote_plus, unquote, urlsplit

from occupair.web.tokens import PREFIX

if TYPE_CHECKING:
    from occupair.live.config import ServiceConfig

HIDDEN = "***"
_STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
_SECRET_NAMES = r"[\w-]*(?:password|passwd|secret|token|authorization|cookie|api[_-]?key)"
_SECRET_NAME = re.compile(_SECRET_NAMES, re.IGNORECASE)
_PATTERNS = (
    (re.compile(rf"{PREFIX}[\w-]+"), HIDDEN),
    (re.compile(r"(\w://[^\s/:@]*:)[^\s/]*@"), rf"\1{HIDDEN}@"),  # scheme://user:password@host
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (
        re.compile(rf"""\b({_SECRET_NAMES}["']?\s*[=:]\s*["']?)(?!(?:bearer|basic)\b)[^\s"'&,;)}}]+""", re.I),
        rf"\1{HIDDEN}",
    ),
)


class Redactor(logging.Filter):
    """A filter that takes secrets out of records: words, arguments, extras and tracebacks.

    Parameters
    ----------
    secrets : iterable of str
        What must never be seen, as it is; passwords in URLs and tokens are found by their looks.

    Examples
    --------
    >>> Redactor(["hunter22"]).clean("hunter22 at postgresql://me:pass@host/db")
    '*** at postgresql://me:***@host/db'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        forms = {form for secret in secrets for form in _forms(secret) if form}
        self.secrets = tuple(sorted(forms, key=len, reverse=True))  # one may be part of another

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record in place; it is always kept."""
        record.msg, record.args = self.clean(_message_of(record)), ()
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
            record.exc_info = None  # a later handler would write it out anew
        record.exc_text = self.clean(record.exc_text)
        record.stack_info = self.clean(record.stack_info)
        for name in vars(record).keys() - _STANDARD:
            setattr(record, name, self._named(name, getattr(record, name)))
        return True

    def clean(self, value: Any) -> Any:
        """Take secrets out of a text, or of the texts in a table or array; other values stay."""
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, HIDDEN)
            for pattern, instead in _PATTERNS:
                value = pattern.sub(instead, value)
            return value
        if isinstance(value, Mapping):
            return {self.clean(str(name)): self._named(str(name), item) for name, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(item) for item in value]
        return value if value is None or isinstance(value, bool | int | float) else self.clean(str(value))

    def _named(self, name: str, value: Any) -> Any:
        hide = isinstance(value, str | bytes) and _SECRET_NAME.fullmatch(name)
        return HIDDEN if hide else self.clean(value)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, what was given as extra, error."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record that the filter has cleaned."""
        line: dict[str, Any] = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in _extras(record).items() if name not in line}
        if record.exc_text:
            line["error"] = record.exc_text
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """One line of text: time, level, message, extras; what a message has of control characters is escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record that the filter has cleaned."""
        extras = "".join(f" {name}={_escaped(str(value))}" for name, value in _extras(record).items())
        line = f"{_time_of(record)} {record.levelname.lower():7} {_escaped(record.getMessage())}{extras}"
        if record.exc_text:
            line += "\n    " + record.exc_text.replace("\n", "\n    ")
        return line


def start_logging(
    log: Literal["json", "text"] = "text",
    level: str = "info",
    *,
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
) -> logging.Handler:
    """Send all logs of this process to standard error; called again, it takes the place of the first.

    Parameters
    ----------
    log : {"json", "text"}
    level : str
        The least that is told: ``"debug"``, ``"info"``, ``"warning"`` or ``"error"``.
    secrets : iterable of str
        What must never be seen; see `secrets_of`.
    stream : file, optional
        Where to write instead.

    Returns
    -------
    logging.Handler
        What was put on the root logger.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.set_name("occupair")
    handler.setFormatter(JsonLines() if log == "json" else TextLines())
    handler.addFilter(Redactor(secrets))
    root = logging.getLogger()
    for old in [one for one in root.handlers if one.get_name() == "occupair"]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    return handler


def secrets_of(config: ServiceConfig) -> list[str]:
    """Give the secrets of settings: passwords of the broker and of the database."""
    found = []
    if config.mqtt is not None and config.mqtt.password is not None:
        found.append(config.mqtt.password.get_secret_value())
    if password := password_in_url(config.store):
        found += [password, unquote(password)]
    return found


def password_in_url(url: str) -> str | None:
    """Give the password in a URL, None where there is none."""
    try:
        return urlsplit(url).password or None
    except ValueError:  # no URL
        return None


def _forms(secret: str) -> list[str]:
    """Write a secret as texts may have it: plain, as Python, as JSON, in a URL."""
    written = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return [secret, *(one[1:-1] for one in written), quote(secret, safe=""), quote_plus(secret)]


def _message_of(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # words and arguments do not fit: tell both, not a traceback
        return f"{record.msg} {record.args}"


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _time_of(record: logging.LogRecord) -> str:
    time = dt.datetime.fromtimestamp(record.created, dt.UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _escaped(words: str) -> str:
    """Escape what would begin a line of its own or move the terminal's cursor."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in words)
