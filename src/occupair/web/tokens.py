"""Access tokens. A token is printed once, when it is created; only its hash is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar

Role = Literal["read", "write", "admin"]
PREFIX = "occupair_"
"""First characters of every token, by which log filters and secret scanners recognize one."""


class StoredToken(Protocol):
    """A token as the settings store it."""

    @property
    def name(self) -> str:
        """Name of the token."""

    @property
    def role(self) -> Role:
        """Role that the token grants."""

    @property
    def hash(self) -> str:
        """Hash of the token, see `hash_token`."""


Token = TypeVar("Token", bound=StoredToken)


def make_token() -> str:
    """Create a token from 32 random bytes.

    Examples
    --------
    >>> len(make_token())
    52
    """
    return PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return the hash under which the settings store a token.

    One round of SHA-256 is enough: 32 random bytes cannot be guessed, however fast the hash.

    Examples
    --------
    >>> hash_token("abc")
    'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    """
    return f"sha256:{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def find_token(token: str, stored: Iterable[Token]) -> Token | None:
    """Return the stored token that matches, or None.

    Comparison takes constant time: every hash is compared to its end, so timing does not reveal how close
    a guess is.
    """
    given = hash_token(token).encode()
    found: Token | None = None
    for candidate in stored:
        if hmac.compare_digest(given, candidate.hash.encode()):
            found = candidate
    return found
