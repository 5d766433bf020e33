"""Requests through Home Assistant's ingress: who is trusted, roles, frames, cookies behind a path prefix."""

import asyncio
import json
import socket
import threading
import urllib.request

import pytest
from live.fake_pipeline import TOKENS, Client, FakePipeline, error_detail, make_config
from live.waiting import wait_for

from occupair.live.config import Limits
from occupair.live.http.app import make_app
from occupair.web.security_headers import SECURITY_HEADERS
from occupair.web.server import ConnectionLimits, LimitedServer

INGRESS = "172.30.32.2"
OTHER = "172.30.33.5"  # another app in Home Assistant's network
BROWSER = {"Sec-Fetch-Site": "same-origin", "Host": "homeassistant.local:8123"}


def make(**settings):
    pipeline = FakePipeline(make_config(ingress=INGRESS, host="0.0.0.0", **settings))
    return make_app(pipeline, pipeline.config)


def test_ingress_needs_no_token_and_accepts_any_host_name():
    ask = Client(make(), address=INGRESS)
    assert ask("GET", "/api/rooms", headers=BROWSER).status_code == 200
    assert ask("GET", "/api/login", headers=BROWSER).json() == {"name": "", "role": "admin"}
    assert ask("POST", "/api/rooms/lab/forget", headers=BROWSER).status_code == 204


@pytest.mark.parametrize("path", ["/", "/assets/app.js", "/api/rooms", "/metrics", "/api/openapi.json"])
def test_other_addresses_are_refused_without_tokens(path):
    forged = {"X-Forwarded-For": INGRESS, "X-Ingress-Path": "/api/hassio_ingress/x", "X-Remote-User-Id": "1"}
    for address in (OTHER, "127.0.0.1"):
        answer = Client(make(), address=address)("GET", path, headers=forged)
        assert (answer.status_code, error_detail(answer)) == (
            403,
            "requests must come through Home Assistant, because there are no tokens",
        )


@pytest.mark.parametrize("host", ["x/healthz?", "x/healthz#", "[::1"])
def test_host_header_is_no_path(host):
    answer = Client(make(), address=OTHER)("GET", "/api/rooms", headers={"Host": host})
    assert answer.status_code == 403


def test_container_can_check_its_own_health():
    answer = Client(make(), address="127.0.0.1")("GET", "/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_other_addresses_need_their_token():
    app = make(tokens=True)
    assert Client(app, address=OTHER)("GET", "/api/rooms").status_code == 401
    assert Client(app, "read", address=OTHER)("GET", "/api/rooms").status_code == 200
    assert Client(app, address=INGRESS)("GET", "/api/rooms").status_code == 200


@pytest.mark.parametrize(
    ("role", "labels", "forget"), [("read", 403, 403), ("write", 422, 403), ("admin", 422, 204)]
)
def test_users_of_home_assistant_have_the_configured_role(role, labels, forget):
    ask = Client(make(ingress_role=role), address=INGRESS)
    assert ask("GET", "/api/login").json() == {"name": "", "role": role}
    assert ask("POST", "/api/login", headers=BROWSER, json={"token": "x"}).json()["role"] == role
    assert ask("POST", "/api/rooms/lab/labels", headers=BROWSER, json={}).status_code == labels
    answer = ask("POST", "/api/rooms/lab/forget", headers=BROWSER)
    assert answer.status_code == forget
    if forget == 403:
        assert error_detail(answer) == f"role admin required, Home Assistant has role {role}"


HOST = {"Host": "homeassistant.local:8123"}
SITES = [
    (HOST | {"Sec-Fetch-Site": "same-origin"}, 204),
    (HOST | {"Sec-Fetch-Site": "cross-site"}, 403),
    (HOST | {"Origin": "http://homeassistant.local:8123"}, 204),
    ({"Host": "172.30.32.1:8123", "X-Forwarded-Host": "Ha.Example", "Origin": "https://ha.example"}, 204),
    ({"Host": "172.30.32.1:8123", "X-Forwarded-Host": "ha.example", "Origin": "https://evil.example"}, 403),
    (HOST | {"Origin": "null"}, 403),
    (HOST, 403),  # Home Assistant's cookie alone
]


@pytest.mark.parametrize(("headers", "status"), SITES)
def test_cross_site_request_through_ingress_is_rejected(headers, status):
    answer = Client(make(), address=INGRESS)("POST", "/api/rooms/lab/forget", headers=headers)
    assert answer.status_code == status


def test_forwarded_host_is_ignored_elsewhere():
    headers = {"X-Forwarded-Host": "evil.example", "Origin": "https://evil.example"}
    cookie = {"Cookie": f"occupair={TOKENS['admin']}"}
    answer = Client(make(tokens=True), address=OTHER)(
        "POST", "/api/rooms/lab/forget", headers=headers | cookie
    )
    assert answer.status_code == 403


def test_rate_limit_per_user_of_home_assistant():
    ask = Client(make(limits=Limits(requests_per_minute=2)), address=INGRESS)
    statuses = [
        ask("GET", "/api/rooms", headers={"X-Remote-User-Id": user}).status_code
        for user in ("ann", "ann", "ann", "ben")
    ]
    assert statuses == [200, 200, 429, 200]


def test_only_home_assistant_may_show_the_page_in_a_frame():
    app = make(tokens=True)
    framed = Client(app, address=INGRESS)("GET", "/").headers
    assert "frame-ancestors 'self'" in framed["content-security-policy"]
    assert framed["x-frame-options"] == "SAMEORIGIN"
    other = Client(app, address=OTHER)("GET", "/").headers
    assert "frame-ancestors 'none'" in other["content-security-policy"]
    assert other["x-frame-options"] == "DENY"
    changed = {name for name in SECURITY_HEADERS if framed[name] != other[name]}
    assert changed == {"Content-Security-Policy", "X-Frame-Options"}
    assert framed["content-security-policy"].replace("'self'", "") == other[
        "content-security-policy"
    ].replace("'self'", "").replace("frame-ancestors 'none'", "frame-ancestors ")


@pytest.mark.parametrize(
    ("prefix", "path"),
    [
        ("/occupair", "/occupair/"),
        ("/a/b-c.d/", "/a/b-c.d/"),
        ("", "/"),
        ("/", "/"),
        ("/x; Domain=example.org", "/"),
        ("occupair", "/"),
        ("//evil.example", "/"),
    ],
)
def test_cookie_is_limited_to_the_path_of_the_page(prefix, path):
    pipeline = FakePipeline(make_config(tokens=True))
    ask = Client(make_app(pipeline, pipeline.config))
    headers = {"X-Forwarded-Prefix": prefix}
    for answer in (
        ask("POST", "/api/login", headers=headers, json={"token": TOKENS["read"]}),
        ask("POST", "/api/logout", headers=headers),
    ):
        assert f"Path={path}" in answer.headers["set-cookie"].split("; ")


@pytest.mark.parametrize(("trusts_proxies", "address"), [(True, "172.30.32.2"), (False, "127.0.0.1")])
def test_forwarded_address_is_not_believed_with_ingress(trusts_proxies, address):
    """A local proxy passes on its client's X-Forwarded-For; with ingress, only the connection counts."""

    async def app(scope, receive, send):
        if scope["type"] != "http":
            return
        body = json.dumps(scope["client"][0]).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = LimitedServer(app, ConnectionLimits(), stop_seconds=1, proxy_headers=trusts_proxies)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        wait_for(lambda: server.started)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        request = urllib.request.Request(url, headers={"X-Forwarded-For": INGRESS})
        with urllib.request.urlopen(request) as response:
            assert json.load(response) == address
        server.should_exit = True
        thread.join()
