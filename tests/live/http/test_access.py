"""Access control: tokens, roles, cross-site requests, host names, rate and size limits."""

import asyncio
import logging
import re

import pytest
from live.fake_pipeline import MODEL, TOKENS, Client, FakePipeline, error_detail, make_config

from occupair.live.config import Limits
from occupair.live.http.app import make_app
from occupair.web.access import RateLimiter
from occupair.web.security_headers import SECURITY_HEADERS

ROLES = ("nobody", "read", "write", "admin")
# role that each route requires
ROUTES = [
    ("GET", "/api/rooms", "read"),
    ("GET", "/api/rooms/lab", "read"),
    ("GET", "/api/rooms/lab/history", "read"),
    ("GET", "/api/rooms/lab/labels", "read"),
    ("GET", "/api/rooms/lab/models", "read"),
    ("GET", "/api/rooms/lab/models/1", "read"),
    ("GET", "/api/rooms/lab/air", "read"),
    ("GET", "/api/rooms/lab/training", "read"),
    ("GET", "/api/rooms/lab/hours", "read"),
    ("GET", "/api/rooms/lab/hours.csv", "read"),
    ("GET", "/api/today", "read"),
    ("GET", "/api/today.csv", "read"),
    ("GET", "/api/floors", "read"),
    ("GET", "/api/floors/plan?floor=1", "read"),
    ("GET", "/api/login", "read"),
    ("GET", "/metrics", "read"),
    ("POST", "/api/rooms/lab/readings", "write"),
    ("POST", "/api/rooms/lab/labels", "write"),
    ("DELETE", "/api/rooms/lab/labels", "write"),
    ("POST", "/api/rooms/lab/models", "admin"),
    ("POST", "/api/rooms/lab/models/1/activate", "admin"),
    ("POST", "/api/rooms/lab/training", "admin"),
    ("POST", "/api/rooms/lab/training/accept", "admin"),
    ("DELETE", "/api/rooms/lab/training", "admin"),
    ("POST", "/api/rooms/lab/forget", "admin"),
    ("PUT", "/api/floors/plan?floor=1", "admin"),
    ("DELETE", "/api/floors/plan?floor=1", "admin"),
    ("PUT", "/api/rooms/lab/place", "admin"),
    ("DELETE", "/api/rooms/lab/place", "admin"),
    ("GET", "/healthz", "nobody"),
    ("GET", "/", "nobody"),
    ("POST", "/api/logout", "nobody"),
    ("POST", "/api/login", "nobody"),
]


@pytest.fixture
def pipeline():
    return FakePipeline(make_config(tokens=True))


@pytest.fixture
def app(pipeline):
    return make_app(pipeline, pipeline.config)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "path", "needed"), ROUTES)
def test_route_requires_its_role(app, role, method, path, needed):
    answer = Client(app, None if role == "nobody" else role)(method, path)
    if ROLES.index(role) >= ROLES.index(needed):
        assert answer.status_code not in (401, 403, 500)
    elif role == "nobody":
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="occupair"')
        assert error_detail(answer) == "token required: Authorization: Bearer ..."
    else:
        assert answer.status_code == 403
        assert error_detail(answer) == f"role {needed} required, token {role!r} has role {role}"


def test_role_of_every_route_is_tested(app):
    named = {
        (method, re.sub("/lab(?=/|$)", "/{room}", path).partition("?")[0].replace("/1", "/{version}"))
        for method, path, _ in ROUTES
    }
    there = {(m.upper(), path) for path, methods in app.openapi()["paths"].items() for m in methods}
    assert there - named == {("GET", "/api/events")}, "streams are in test_events"


@pytest.mark.parametrize(
    "shown",
    [
        "Bearer wrong",
        "Bearer ",
        "Bearer",
        f"Basic {TOKENS['admin']}",
        TOKENS["admin"],
        f"Bearer {TOKENS['admin']}x",
        f"Bearer {TOKENS['admin'][:-1]}",
        f"Bearer {TOKENS['admin']} {TOKENS['admin']}",
    ],
)
def test_invalid_token_is_rejected(app, shown):
    answer = Client(app)("GET", "/api/rooms", headers={"Authorization": shown})
    assert (answer.status_code, error_detail(answer)) == (401, "invalid token")


def test_cookie_does_not_replace_an_invalid_header(app):
    headers = {"Authorization": "Bearer wrong", "Cookie": f"occupair={TOKENS['admin']}"}
    assert Client(app)("GET", "/api/rooms", headers=headers).status_code == 401


def test_stored_hash_is_not_a_token(pipeline, app):
    for one in pipeline.config.tokens:
        for shown in (one.hash, one.hash.removeprefix("sha256:")):
            headers = {"Authorization": f"Bearer {shown}"}
            assert Client(app)("GET", "/api/rooms", headers=headers).status_code == 401


def test_removed_token_is_rejected(pipeline, app):
    ask = Client(app, "write")
    assert ask("GET", "/api/rooms").status_code == 200
    pipeline.config = pipeline.config.model_copy(update={"tokens": pipeline.config.tokens[:1]})
    assert ask("GET", "/api/rooms").status_code == 401
    assert Client(app, "read")("GET", "/api/rooms").status_code == 200


def test_local_callers_are_admin_without_tokens():
    pipeline = FakePipeline(make_config())
    ask = Client(make_app(pipeline, pipeline.config))
    assert ask("GET", "/api/login").json() == {"name": "", "role": "admin"}
    assert ask("POST", "/api/rooms/lab/forget").status_code == 204
    answer = ask("POST", "/api/login", json={"token": "any"})
    assert (answer.json(), answer.headers.get("set-cookie")) == ({"name": "", "role": "admin"}, None)


def test_body_of_unauthorized_request_is_not_read(app):
    async def send_to(path):
        sent = []

        async def receive():
            raise AssertionError("the body was read")

        async def send(message):
            sent.append(message)

        headers = [
            (b"host", b"localhost"),
            (b"content-type", b"application/octet-stream"),
            (b"content-length", b"9"),
        ]
        await app(
            {
                "type": "http",
                "method": "POST",
                "path": path,
                "raw_path": path.encode(),
                "query_string": b"",
                "headers": headers,
                "client": ("192.0.2.1", 5),
                "server": ("localhost", 80),
                "scheme": "http",
                "http_version": "1.1",
                "root_path": "",
            },
            receive,
            send,
        )
        return sent[0]["status"]

    for path in ("/api/rooms/lab/models", "/api/rooms/lab/readings", "/api/rooms/lab/labels"):
        assert asyncio.run(send_to(path)) == 401


# ---- login ----


def test_login_sets_an_http_only_cookie(app):
    answer = Client(app)("POST", "/api/login", json={"token": TOKENS["write"]})
    assert answer.json() == {"name": "write", "role": "write"}
    value, *rules = answer.headers["set-cookie"].split("; ")
    assert value == f"occupair={TOKENS['write']}"
    assert set(rules) == {"HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=strict"}
    cookie = {"Cookie": value}
    assert Client(app)("GET", "/api/login", headers=cookie).json() == {"name": "write", "role": "write"}


def test_cookie_is_secure_over_https(app):
    answer = Client(app, base="https://rooms.example")("POST", "/api/login", json={"token": TOKENS["read"]})
    assert "Secure" in answer.headers["set-cookie"].split("; ")


def test_logout_deletes_the_cookie(app):
    answer = Client(app)("POST", "/api/logout")
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith('occupair=""; expires=')


@pytest.mark.parametrize(
    ("body", "status", "line"),
    [
        ({"token": "occupair_wrong-secret"}, 401, "invalid token"),
        ({"token": ["occupair_wrong-secret"]}, 422, "token must be a string"),
        ({"token": "occupair_wrong-secret" * 50}, 422, "token must have at most 500 characters"),
        ({"token": ""}, 422, "token must not be empty"),
        ({}, 422, "token is required"),
        (["occupair_wrong-secret"], 422, "the request body must be an object, got a list"),
    ],
)
def test_failed_login_reveals_nothing(app, caplog, body, status, line):
    caplog.set_level(logging.DEBUG)
    answer = Client(app, address="192.0.2.7")("POST", "/api/login", json=body)
    assert (answer.status_code, error_detail(answer)) == (status, line)
    assert "set-cookie" not in answer.headers
    assert "wrong-secret" not in caplog.text
    if status == 401:
        assert [record.address for record in caplog.records if record.message == "login rejected"] == [
            "192.0.2.7"
        ]


# ---- cross-site requests ----

SITES = [  # headers, with the cookie, without any token set
    ({"Sec-Fetch-Site": "same-origin"}, 204, 204),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}, 204, 204),
    ({"Sec-Fetch-Site": "cross-site"}, 403, 403),
    ({"Sec-Fetch-Site": "same-site", "Origin": "http://other.localhost"}, 403, 403),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"}, 403, 403),
    ({"Origin": "http://localhost"}, 204, 204),
    ({"Origin": "http://LOCALHOST"}, 204, 204),
    ({"Origin": "http://localhost:81"}, 403, 403),
    ({"Origin": "http://evil.example"}, 403, 403),
    ({"Origin": "http://localhost.evil.example"}, 403, 403),
    ({"Origin": "null"}, 403, 403),
    ({"Origin": "http://["}, 403, 403),
    ({}, 403, 204),  # no browser
]


@pytest.mark.parametrize(("headers", "by_cookie", "by_nothing"), SITES)
def test_cross_site_request_is_rejected(app, headers, by_cookie, by_nothing):
    cookie = {"Cookie": f"occupair={TOKENS['admin']}"}
    answer = Client(app)("POST", "/api/rooms/lab/forget", headers=headers | cookie)
    assert answer.status_code == by_cookie
    if by_cookie == 403:
        assert (
            error_detail(answer)
            == "cross-site request rejected: changes must come from this service's own page"
        )
    open_app = make_app(FakePipeline(make_config()), make_config())
    assert Client(open_app)("POST", "/api/rooms/lab/forget", headers=headers).status_code == by_nothing


def test_bearer_token_allows_any_origin(app):
    answer = Client(app, "admin")("POST", "/api/rooms/lab/forget", headers={"Origin": "http://evil.example"})
    assert answer.status_code == 204


def test_no_cors_headers(app):
    answer = Client(app, "read")("GET", "/api/rooms", headers={"Origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


# ---- host names ----


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LocalHost:8099", 200),
        ("127.0.0.1:8099", 200),
        ("[::1]:8099", 200),
        ("rooms.lan", 403),
        ("evil.example:8099", 403),
        ("127.0.0.1.evil.example", 403),
        ("127.0.0.1:8099:1", 403),
        ("localhost@evil.example", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_foreign_host_is_rejected_without_tokens(host, status):
    pipeline = FakePipeline(make_config())
    answer = Client(make_app(pipeline, pipeline.config))("GET", "/api/rooms", headers={"Host": host})
    assert answer.status_code == status
    if status == 403:
        assert error_detail(answer).startswith("Host must be localhost, 127.0.0.1, [::1], got ")


def test_listen_address_is_accepted_as_host():
    pipeline = FakePipeline(make_config(host="127.0.0.2"))
    ask = Client(make_app(pipeline, pipeline.config))
    assert ask("GET", "/api/rooms", headers={"Host": "127.0.0.2:8099"}).status_code == 200


def test_any_host_is_accepted_with_tokens(app):
    assert Client(app, "read", base="http://rooms.lan:8099")("GET", "/api/rooms").status_code == 200


# ---- rate limits ----


def test_rate_limiter_refills_steadily():
    buckets = RateLimiter(60)  # one a second
    assert [buckets.take("a", 0.0) for _ in range(61)] == [0.0] * 60 + [1.0]
    assert buckets.take("a", 0.75) == pytest.approx(0.25)
    assert [buckets.take("a", 2.0), buckets.take("a", 2.0), buckets.take("a", 2.0)] == [0.0, 0.0, 1.0]
    assert buckets.take("b", 2.0) == 0.0
    assert [buckets.take("a", 1000.0) for _ in range(61)] == [0.0] * 60 + [1.0], "the bucket holds one minute"


def test_rate_limit_of_zero_means_no_limit():
    assert {RateLimiter(0).take("a", 0.0) for _ in range(1000)} == {0.0}


def test_rate_limiter_tracks_a_limited_number_of_clients():
    buckets = RateLimiter(1, max_clients=100)
    for client in range(1000):
        assert buckets.take(str(client), 0.0) == 0.0
    assert len(buckets._buckets) == 100
    assert buckets.take("999", 0.0) > 0


def test_rate_limit_per_token():
    pipeline = FakePipeline(make_config(tokens=True, limits=Limits(requests_per_minute=3)))
    app = make_app(pipeline, pipeline.config)
    ask = Client(app, "read", address="192.0.2.1")
    assert [ask("GET", "/api/rooms").status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = ask("GET", "/api/rooms")
    assert error_detail(answer) == "rate limit of 3 requests per minute exceeded, retry in 20 s"
    assert answer.headers["retry-after"] == "20"
    assert Client(app, "write", address="192.0.2.1")("GET", "/api/rooms").status_code == 200, "another token"
    assert Client(app, "read", address="192.0.2.2")("GET", "/api/rooms").status_code == 429, "the same token"


def test_token_guesses_are_limited_by_address():
    pipeline = FakePipeline(make_config(tokens=True, limits=Limits(requests_per_minute=3)))
    app = make_app(pipeline, pipeline.config)
    guesses = [{"Authorization": f"Bearer guess{place}"} for place in range(4)]
    seen = [Client(app, address="192.0.2.1")("GET", "/api/rooms", headers=one).status_code for one in guesses]
    assert seen == [401, 401, 401, 429]
    login = Client(app, address="192.0.2.1")("POST", "/api/login", json={"token": TOKENS["read"]})
    assert login.status_code == 429
    assert Client(app, "read", address="192.0.2.1")("GET", "/api/rooms").status_code == 200


# ---- headers ----


def test_content_security_policy(app):
    policy = Client(app)("GET", "/").headers["content-security-policy"].split("; ")
    assert policy == [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ]


def test_every_response_has_security_headers(pipeline, app):
    limits = Limits.model_construct(requests_per_minute=1, body_bytes=5)
    small = FakePipeline(make_config(tokens=True, limits=limits))
    busy = make_app(small, small.config)
    json_kind = {"Content-Type": "application/json"}
    answers = {
        200: Client(app, "read")("GET", "/api/rooms"),
        201: Client(app, "write")("POST", "/api/rooms/lab/labels", json={"people": 3}),
        204: Client(app, "admin")("POST", "/api/rooms/lab/forget"),
        401: Client(app)("GET", "/api/rooms"),
        403: Client(app, "read")("POST", "/api/rooms/lab/forget"),
        404: Client(app)("GET", "/nothing"),
        405: Client(app)("PUT", "/api/rooms"),
        413: Client(busy)("POST", "/api/login", content=b"123456", headers=json_kind),
        415: Client(app, "admin")(
            "POST", "/api/rooms/lab/models", content=MODEL, headers={"Content-Type": "a/b"}
        ),
        422: Client(app, "write")("POST", "/api/rooms/lab/labels", json={}),
        429: Client(busy)("GET", "/api/rooms"),
    }
    pipeline.store.error = ZeroDivisionError()
    answers[500] = Client(app, "read")("GET", "/api/rooms/lab/labels")
    assert {status: answer.status_code for status, answer in answers.items()} == {one: one for one in answers}
    for answer in answers.values():
        assert {name: answer.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert "server" not in answer.headers
