"""Access tokens: randomness, hashing and constant-time comparison."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from occupair.live.config import TokenConfig
from occupair.web import tokens
from occupair.web.tokens import find_token, hash_token, make_token

# SHA-256 of "abc" and of the empty string: FIPS 180-2, appendix B.1, and NIST's example of the empty message.
ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_token_is_32_random_bytes_and_url_safe():
    made = {make_token() for _ in range(100)}
    assert len(made) == 100
    for token in made:
        start, _, rest = token.partition("_")
        assert start == "occupair"
        assert len(base64.urlsafe_b64decode(rest + "=")) == 32


def test_hash_is_sha256():
    assert hash_token("abc") == ABC
    assert hash_token("") == EMPTY
    assert hash_token("å") == "sha256:" + hashlib.sha256(b"\xc3\xa5").hexdigest()


def test_token_grants_its_role():
    ours = {role: make_token() for role in ("read", "write", "admin")}
    known = [TokenConfig(name=role, role=role, hash=hash_token(token)) for role, token in ours.items()]
    assert [find_token(ours[role], known).role for role in ours] == ["read", "write", "admin"]


@pytest.mark.parametrize("change", [str.upper, str.strip, lambda t: t[:-1], lambda t: t + " ", lambda t: ""])
def test_altered_token_is_rejected(change):
    known = [TokenConfig(name="a", role="admin", hash=hash_token(token := make_token() + " "))]
    assert find_token(change(token), known) is None


def test_hash_is_not_a_valid_token():
    known = [TokenConfig(name="a", role="admin", hash=ABC)]
    assert find_token(ABC, known) is None
    assert find_token(ABC.removeprefix("sha256:"), known) is None
    assert find_token("abc", ()) is None


@given(st.text(st.characters()))
@example("\ud800")
def test_any_string_can_be_checked(text):
    stored = TokenConfig(name="a", role="admin", hash=ABC)
    assert find_token(text, [stored]) == (stored if text == "abc" else None)


def test_every_hash_is_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(one, other):
        compared.append(other)
        return one == other

    monkeypatch.setattr(tokens.hmac, "compare_digest", compare)
    known = [TokenConfig(name="a", role="admin", hash=ABC), TokenConfig(name="b", role="read", hash=EMPTY)]
    assert find_token("abc", known).role == "admin"
    assert compared == [ABC.encode(), EMPTY.encode()]
    assert hmac is tokens.hmac


def test_repr_hides_the_hash():
    assert "sha256" not in repr(TokenConfig(name="a", role="admin", hash=ABC))
