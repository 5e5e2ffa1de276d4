"""Access control, security headers, and invalid requests."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from dashboard_client import HOST, PORT, TOKEN, Client, ended_crawl, scope
from scenthound.ui.dashboard.parameters import MAX_PAGES
from scenthound.ui.dashboard.security import HEADERS, MAX_BODY_BYTES, Guard, Token

CRAWL = "/api/crawls/crawl"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(ended_crawl(tmp_path_factory.mktemp("folders") / "crawl"))


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_all_names_of_this_machine_are_accepted(client: Client, host: str) -> None:
    assert client.get(CRAWL, host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.test", f"evil.test:{PORT}", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1.evil.test:{PORT}", ""]
)
def test_other_host_names_are_rejected(client: Client, host: str) -> None:
    response = client.get(CRAWL, host=host)
    assert (response.status, "ballooning" in response.text) == (421, False)


def test_two_host_headers_are_rejected() -> None:
    guard = Guard(Starlette(), port=PORT, token=Token(TOKEN, PORT))
    own = (b"host", HOST.encode())
    guard.check("GET", Headers(raw=[own]))
    with pytest.raises(HTTPException) as rejection:
        guard.check("GET", Headers(raw=[own, (b"host", b"evil.test")]))
    assert rejection.value.status_code == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", [CRAWL, "/", "/assets/dashboard.js", "/metrics", "/report/crawl"])
def test_other_sites_cannot_read(client: Client, path: str, site: str) -> None:
    assert client.get(path, sec_fetch_site=site).status == 403


@pytest.mark.parametrize("origin", ["http://evil.test", "null", f"https://{HOST}", "http://127.0.0.1:3000"])
def test_foreign_origins_are_rejected(client: Client, origin: str) -> None:
    assert client.get(CRAWL, origin=origin).status == 403
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, origin=origin).status == 403


def test_the_pages_of_the_dashboard_are_accepted(client: Client) -> None:
    assert client.get(CRAWL, sec_fetch_site="same-origin", origin=f"http://{HOST}").status == 200
    assert client.get(CRAWL, sec_fetch_site="none").status == 200


def test_an_incomplete_change_is_not_made(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr("scenthound.crawler.control.pause", made.append)
    messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"{}", "more_body": True}]
    headers = [
        (b"host", HOST.encode()),
        (b"x-scenthound-token", TOKEN.encode()),
        (b"content-type", b"application/json"),
    ]

    async def receive() -> Any:
        return messages.pop()

    async def send(message: Any) -> None:
        made.append(message)

    asyncio.run(client.dashboard.app(scope("POST", f"{CRAWL}/pause", headers), receive, send))
    assert (made, messages) == ([], [])


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_content_types_that_forms_can_send_are_rejected(client: Client, kind: str) -> None:
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, content_type=kind).status == 415


def test_long_bodies_are_rejected(client: Client) -> None:
    assert client.post(f"{CRAWL}/budget", {"pages": 20, "x": "x" * MAX_BODY_BYTES}).status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_rejected(client: Client, method: str) -> None:
    response = client.request(method, CRAWL, {})
    assert response.status == 405
    assert not any(name.startswith("access-control") for name in response.headers)


@pytest.mark.parametrize(
    "path", ["/", CRAWL, "/api", "/api/nope", "/nope", "/metrics", "/assets/look.css", "/report/nope", "/assets/nope"]
)
def test_every_response_has_the_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS if name != "cache-control"} == {
        name: value for name, value in HEADERS.items() if name != "cache-control"
    }
    assert headers["cache-control"] == ("no-cache" if path == "/assets/look.css" else "no-store")
    assert not any(name.startswith("access-control") for name in headers)
    assert "unsafe" not in headers["content-security-policy"]


def test_error_responses_have_the_headers_too(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("scenthound.ui.dashboard.app.metrics_text", broken)
    with pytest.raises(RuntimeError, match="secret"):
        # It is raised again after the response was sent.
        client.get("/metrics")
    assert "secret detail" in capsys.readouterr().err
    assert client.last_response.status == 500
    assert "secret" not in client.last_response.text
    assert "terminal" in client.last_response.json["message"]
    for response in (client.last_response, client.get(CRAWL, host="evil.test")):
        assert response.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_a_report_allows_its_own_script_and_nothing_else(client: Client) -> None:
    response = client.get("/report/crawl")
    policy = response.headers["content-security-policy"]
    assert response.status == 200
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2Fapp.py", "index.html", "/etc/passwd", "views/../../app.py", "views"]
)
def test_nothing_but_assets_is_found_among_them(client: Client, name: str) -> None:
    assert client.get(f"/assets/{name}").status == 404


def test_cached_assets_are_not_sent_again(client: Client) -> None:
    first = client.get("/assets/dashboard.js")
    again = client.get("/assets/dashboard.js", if_none_match=first.headers["etag"])
    assert (first.status, again.status, again.content) == (200, 304, b"")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/api/crawls/nope", 404, "nope"),
        ("/api/crawls/crawl/pages?limit=0", 400, "limit"),
        (f"/api/crawls/crawl/pages?limit={MAX_PAGES + 1}", 400, "limit"),
        ("/api/crawls/crawl/pages?limit=1e1", 400, "integer"),
        ("/api/crawls/crawl/pages?order=bets", 400, "best"),
        ("/api/crawls/crawl/pages?form=1", 400, "form"),
        ("/api/crawls/crawl/pages?id=other", 400, "id"),
        ("/api/crawls/crawl/graph?n=1e9", 400, "n is not a parameter"),
        ("/api/crawls/crawl/curves?points=-5", 400, "points"),
        ("/api/crawls/crawl/hosts?limit=0", 400, "limit"),
        ("/api/crawls/crawl/pages/0?limit=1", 400, "limit"),
        ("/api/crawls/crawl/events?from=3", 400, "from"),
        ("/api/folders?limit=1", 400, "limit"),
        (f"/api/crawls/crawl/pages?query={'x' * 501}", 400, "query"),
        ("/api/crawls/crawl/pages/4", 404, "4"),
        ("/api/crawls/crawl/pages/-1", 400, "visit"),
        ("/api/crawls/crawl/pages/99999999999999999999", 400, "visit"),
        ("/api/crawls/crawl/explain", 400, "url"),
        ("/api/crawls/crawl/explain?url=ftp://x", 400, "ftp"),
        ("/api/crawls/crawl/skipped?reason=robot", 400, "robots"),
        ("/api/compare?crawl=crawl", 400, "crawl"),
        ("/api/experiments/crawl", 404, "/crawls/crawl"),
        ("/api/nope", 404, "no page"),
    ],
)
def test_invalid_requests_are_explained(client: Client, path: str, status: int, word: str) -> None:
    response = client.get(path)
    assert response.status == status
    assert word in response.json["message"]
    assert "\n" not in response.json["message"]


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b"7", b'{"pages": "many"}', b'{"pages": true}', b'{"pages": 0}', b'{"pages": 1, "x": 2}', b""]
)
def test_invalid_changes_are_explained(client: Client, body: bytes) -> None:
    response = client.request("POST", f"{CRAWL}/budget", {"content_type": "application/json"}, body)
    assert (response.status, bool(response.json["message"])) == (400, True)


def test_error_pages_are_escaped(client: Client) -> None:
    response = client.get("/report/<script>alert(1)")
    assert response.status == 404
    assert "<script" not in response.text
    assert "&lt;script&gt;" in response.text
    assert response.headers["content-type"].startswith("text/html")


def test_all_pages_are_one_file(client: Client) -> None:
    pages = {client.get(path).content for path in ("/", "/crawls/x", "/crawls/x/pages", "/compare", "/experiments/x")}
    assert len(pages) == 1
    assert b"<script" in pages.pop()


def test_a_missing_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(ended_crawl(tmp_path / "crawl"))

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "crawl.json")

    monkeypatch.setattr("scenthound.ui.dashboard.api.crawl_graph", denied)
    response = client.get(f"{CRAWL}/graph")
    assert (response.status, response.json["message"]) == (500, "Permission denied: crawl.json.")
