"""Logging of the service: text or JSON lines on standard error, with secrets redacted.

Modules use ``logging.getLogger(__name__)`` and pass structured fields as ``extra``:
``log.info("sensor offline", extra={"room": "lab"})``. Start web servers with ``log_config=None``, so that
they do not install handlers of their own. Python warnings, such as those of numpy, are logged as well.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TextIO
from urllib.parse import quote, quote_plus, unquote, urlsplit

from occupair.errors import SlowFallbackWarning
from occupair.web.log_throttle import LogThrottle
from occupair.web.tokens import PREFIX

if TYPE_CHECKING:
    from occupair.live.config import ServiceConfig

_warnings_log = logging.getLogger("py.warnings")
HIDDEN = "***"
_STANDARD_FIELDS = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
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
    """Logging filter that redacts secrets in messages, arguments, extras and tracebacks.

    Parameters
    ----------
    secrets : iterable of str
        Known secrets. Passwords in URLs, tokens and values of secret-looking names are redacted as well.

    Examples
    --------
    >>> Redactor(["hunter22"]).clean("hunter22 at postgresql://me:pass@host/db")
    '*** at postgresql://me:***@host/db'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        forms = {form for secret in secrets for form in _encodings(secret) if form}
        self.secrets = tuple(sorted(forms, key=len, reverse=True))  # longest first: one may contain another

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact a record in place, and return True to log it."""
        record.msg, record.args = self.clean(_format_message(record)), ()
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
            record.exc_info = None  # a later handler would format it again, unredacted
        record.exc_text = self.clean(record.exc_text)
        record.stack_info = self.clean(record.stack_info)
        for name in vars(record).keys() - _STANDARD_FIELDS:
            setattr(record, name, self._clean_named(name, getattr(record, name)))
        return True

    def clean(self, value: Any) -> Any:
        """Return a value with the secrets in its strings redacted, at any depth of mappings and lists."""
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, HIDDEN)
            for pattern, replacement in _PATTERNS:
                value = pattern.sub(replacement, value)
            return value
        if isinstance(value, Mapping):
            return {self.clean(str(name)): self._clean_named(str(name), item) for name, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(item) for item in value]
        return value if value is None or isinstance(value, bool | int | float) else self.clean(str(value))

    def _clean_named(self, name: str, value: Any) -> Any:
        hide = isinstance(value, str | bytes) and _SECRET_NAME.fullmatch(name)
        return HIDDEN if hide else self.clean(value)


class JsonLines(logging.Formatter):
    """Formatter of one JSON object per line: time, level, logger, message, extras and traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a redacted record."""
        line: dict[str, Any] = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in _extras(record).items() if name not in line}
        if record.exc_text:
            line["error"] = record.exc_text
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """Formatter of one line of text: time, level, message and extras; control characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a redacted record."""
        extras = "".join(f" {name}={_escape(str(value))}" for name, value in _extras(record).items())
        line = f"{_format_time(record)} {record.levelname.lower():7} {_escape(record.getMessage())}{extras}"
        if record.exc_text:
            line += "\n    " + record.exc_text.replace("\n", "\n    ")
        return line


def start_logging(
    log: Literal["json", "text"] = "text",
    level: str = "info",
    *,
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
    fields: Mapping[str, str] | None = None,
) -> logging.Handler:
    """Send the logs of this process to standard error; a second call replaces the handler of the first.

    Parameters
    ----------
    log : {"json", "text"}
    level : str
        Lowest level that is logged: ``"debug"``, ``"info"``, ``"warning"`` or ``"error"``.
    secrets : iterable of str
        Secrets to redact, see `find_secrets`.
    stream : file, optional
        Default: standard error.
    fields : mapping, optional
        Fields that every record has, such as the shard.

    Returns
    -------
    logging.Handler
        The handler added to the root logger.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.set_name("occupair")
    handler.setFormatter(JsonLines() if log == "json" else TextLines())
    if fields:
        handler.addFilter(_with_fields(dict(fields)))
    handler.addFilter(Redactor(secrets))
    root = logging.getLogger()
    for old in [other for other in root.handlers if other.get_name() == "occupair"]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    warnings.showwarning = _log_warning
    LogThrottle.install(_warnings_log)
    return handler


def _with_fields(fields: Mapping[str, str]) -> Callable[[logging.LogRecord], bool]:
    """Return a filter that adds fields to records."""

    def add(record: logging.LogRecord) -> bool:
        vars(record).update(fields)
        return True

    return add


def find_secrets(config: ServiceConfig) -> list[str]:
    """Return the secrets in the settings: the passwords of the broker and of the database."""
    found = []
    if config.mqtt is not None and config.mqtt.password is not None:
        found.append(config.mqtt.password.get_secret_value())
    return found + secrets_in_url(config.store)


def secrets_in_url(url: str) -> list[str]:
    """Return the password in a URL, as it is there and decoded."""
    password = password_in_url(url)
    return [password, unquote(password)] if password else []


def password_in_url(url: str) -> str | None:
    """Return the password in a URL, or None."""
    try:
        return urlsplit(url).password or None
    except ValueError:  # not a URL
        return None


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a warning, in place of ``warnings.showwarning``."""
    if issubclass(category, SlowFallbackWarning):
        _warnings_log.warning(str(message))
        return
    _warnings_log.warning(f"{category.__name__}: {message}", extra={"file": f"{filename}:{lineno}"})


def _encodings(secret: str) -> list[str]:
    """Return a secret as it may occur in text: plain, in a Python or JSON string, or in a URL."""
    literals = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return [secret, *(literal[1:-1] for literal in literals), quote(secret, safe=""), quote_plus(secret)]


def _format_message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # format string and arguments do not match
        return f"{record.msg} {record.args}"


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS}


def _format_time(record: logging.LogRecord) -> str:
    time = dt.datetime.fromtimestamp(record.created, dt.UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _escape(text: str) -> str:
    """Escape control characters, which could start a new line or move the cursor of a terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
