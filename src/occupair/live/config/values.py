"""Types of single settings: strings, hosts, topics, time zones, file paths, database URLs.

Each type is ``Annotated`` with its checks for pydantic. A check raises ``ValueError`` with the rule that the
value breaks. Relative paths are resolved against ``folder`` of the validation context, if there is one.
"""

from __future__ import annotations

import ipaddress
import re
import zoneinfo
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo

ID = re.compile(r"[a-z0-9_-]{1,64}")
"""Names of rooms and tokens."""
_MAX_TOPIC_BYTES = 65_535  # MQTT standard
_STORE_SCHEMES = ("sqlite:///", "postgresql://", "postgres://", "postgresql+psycopg://")


def check_store_url(url: str) -> str:
    """Return a database URL unchanged, or raise ``ValueError`` if the store cannot use it."""
    if not url.startswith(_STORE_SCHEMES) or url in _STORE_SCHEMES or ":memory:" in url:
        raise ValueError("must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
    return url


def _check_string(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    if not value.strip() or "\0" in value:
        raise ValueError("must not be empty or contain NUL characters")
    return value


def _check_id(name: str) -> str:
    if not ID.fullmatch(name):
        raise ValueError("must be named with 1 to 64 characters of a-z, 0-9, _ and -")
    return name


def _check_topic(topic: str) -> str:
    if "+" in topic or "#" in topic:
        raise ValueError("must be a single topic, without the wildcards + and #")
    if topic.startswith("$"):
        raise ValueError("must not start with $, which is reserved for the broker")
    if len(topic.encode()) > _MAX_TOPIC_BYTES:
        raise ValueError(f"must be at most {_MAX_TOPIC_BYTES} bytes long")
    return topic


def _check_prefix(topic: str) -> str:
    if topic.startswith("/") or topic.endswith("/"):
        raise ValueError("must not start or end with /")
    return topic


@cache
def _check_timezone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise ValueError("must be an IANA time zone such as Europe/Copenhagen") from None
    return name


def _check_host(host: str) -> str:
    if re.search(r"[\s/@]", host) or (":" in host and not _is_address(host)):
        raise ValueError("must be a host name or an IP address, without scheme and port")
    return host


def _check_token_hash(text: str) -> str:
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", text):
        raise ValueError("must be sha256: and 64 hexadecimal digits, as printed by 'occupair token'")
    return text


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _folder(info: ValidationInfo) -> Path:
    return info.context["folder"] if info.context else Path()


def _resolve_path(value: Any, info: ValidationInfo) -> Path:
    return value if isinstance(value, Path) else _folder(info) / _check_string(value)


def _resolve_store(url: str, info: ValidationInfo) -> str:
    scheme, _, rest = url.partition("sqlite:///")
    if scheme or not info.context:
        return url
    name, question, query = rest.partition("?")
    return f"sqlite:///{_folder(info) / name}{question}{query}"


def _wrap_secret(value: Any) -> SecretStr:
    return value if isinstance(value, SecretStr) else SecretStr(_check_string(value))


def _read_password_file(value: Any, info: ValidationInfo) -> SecretStr:
    try:
        password = _resolve_path(value, info).read_text("utf-8").rstrip("\r\n")
    except OSError as error:
        raise ValueError(f"must be a readable file ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError("must be a UTF-8 text file") from None
    if not password:
        raise ValueError("must not be an empty file")
    return SecretStr(password)


String = Annotated[str, BeforeValidator(_check_string)]
Id = Annotated[str, AfterValidator(_check_id)]
Host = Annotated[String, AfterValidator(_check_host)]
Port = Annotated[int, Field(ge=1, le=65_535)]
TimeZone = Annotated[String, AfterValidator(_check_timezone)]
TopicName = Annotated[String, AfterValidator(_check_topic)]
TopicPrefix = Annotated[TopicName, AfterValidator(_check_prefix)]
TokenHash = Annotated[String, AfterValidator(_check_token_hash)]
StoreUrl = Annotated[String, AfterValidator(check_store_url), AfterValidator(_resolve_store)]
FilePath = Annotated[Path, BeforeValidator(_resolve_path)]
Secret = Annotated[SecretStr, BeforeValidator(_wrap_secret)]
SecretFile = Annotated[SecretStr, BeforeValidator(_read_password_file)]
"""The contents of a file that holds a password; the setting is its path."""
