"""Tokens: who may get in. A token is shown once, when it is made; only its hash is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occupair.live.config import Role, TokenConfig

START = "occupair_"  # by which logs and scanners know a token


def make_token() -> str:
    """Make a token of 32 random bytes.

    Examples
    --------
    >>> len(make_token())
    52
    """
    return START + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Give the hash by which settings know a token.

    One round of SHA-256 is enough: nobody guesses 32 random bytes, however fast.

    Examples
    --------
    >>> hash_token("abc")
    'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    """
    return f"sha256:{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def check_token(token: str, tokens: Iterable[TokenConfig]) -> Role | None:
    """Tell the role that a token gives, None where it is nobody's.

    How long that takes does not tell how near a guess is: every hash is compared, and to its end.

    Parameters
    ----------
    token : str
        What a client showed.
    tokens : iterable of TokenConfig
        Who may get in.
    """
    shown = hash_token(token).encode()
    role: Role | None = None
    for one in tokens:
        if hmac.compare_digest(shown, one.hash.encode()):
            role = one.role
    return role
