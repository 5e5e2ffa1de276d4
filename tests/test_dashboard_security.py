"""Who may talk to the dashboard, what every answer forbids a browser, and what bad questions are told."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers

from asked_dashboard import HOST, PORT, TOKEN, Asker, ended_crawl
from scenthound.ui.dashboard.queries import MOST_LISTED
from scenthound.ui.dashboard.security import HEADERS, MOST_BODY_BYTES, Guard

CRAWL = "/api/crawls/crawl"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Asker:
    return Asker(ended_crawl(tmp_path_factory.mktemp("folders") / "crawl"))


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_this_machine_is_answered_by_any_of_its_names(asker: Asker, host: str) -> None:
    assert asker.get(CRAWL, host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.test", f"evil.test:{PORT}", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1.evil.test:{PORT}", ""]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(asker: Asker, host: str) -> None:
    answer = asker.get(CRAWL, host=host)
    assert (answer.status, "ballooning" in answer.text) == (421, False)


def test_two_hosts_are_none() -> None:
    guard = Guard(Starlette(), port=PORT, token=TOKEN)
    own = (b"host", HOST.encode())
    assert guard.refuses("GET", Headers(raw=[own])) is None
    refused = guard.refuses("GET", Headers(raw=[own, (b"host", b"evil.test")]))
    assert refused is not None
    assert refused.status == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", [CRAWL, "/", "/assets/dashboard.js", "/metrics", "/report/crawl"])
def test_other_sites_may_not_even_read(asker: Asker, path: str, site: str) -> None:
    assert asker.get(path, sec_fetch_site=site).status == 403


@pytest.mark.parametrize("origin", ["http://evil.test", "null", f"https://{HOST}", "http://127.0.0.1:3000"])
def test_foreign_origins_are_refused(asker: Asker, origin: str) -> None:
    assert asker.get(CRAWL, origin=origin).status == 403
    assert asker.post(f"{CRAWL}/budget", {"pages": 20}, origin=origin).status == 403


def test_the_pages_of_the_dashboard_itself_are_answered(asker: Asker) -> None:
    assert asker.get(CRAWL, sec_fetch_site="same-origin", origin=f"http://{HOST}").status == 200
    assert asker.get(CRAWL, sec_fetch_site="none").status == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], "ä"])
def test_a_change_needs_the_token(asker: Asker, token: str) -> None:
    answer = asker.post(f"{CRAWL}/budget", {"pages": 20}, x_scenthound_token=token)
    assert answer.status == 403
    assert "token" in answer.json["says"]
    assert asker.post(f"{CRAWL}/budget", {"pages": 20}).status == 200


def test_a_token_in_the_address_changes_nothing(asker: Asker) -> None:
    assert asker.post(f"{CRAWL}/budget?token={TOKEN}", {"pages": 20}, x_scenthound_token="").status == 403


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_what_a_form_of_another_site_could_send_is_refused(asker: Asker, kind: str) -> None:
    assert asker.post(f"{CRAWL}/budget", {"pages": 20}, content_type=kind).status == 415


def test_what_is_too_long_is_refused(asker: Asker) -> None:
    assert asker.post(f"{CRAWL}/budget", {"pages": 20, "x": "x" * MOST_BODY_BYTES}).status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused_and_told_nothing(asker: Asker, method: str) -> None:
    answer = asker.ask(method, CRAWL, {})
    assert answer.status == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    "path", ["/", CRAWL, "/api", "/api/nope", "/nope", "/metrics", "/assets/look.css", "/report/nope", "/assets/nope"]
)
def test_every_answer_has_the_headers(asker: Asker, path: str) -> None:
    headers = asker.get(path).headers
    assert {name: headers[name] for name in HEADERS if name != "cache-control"} == {
        name: value for name, value in HEADERS.items() if name != "cache-control"
    }
    assert headers["cache-control"] == ("no-cache" if path == "/assets/look.css" else "no-store")
    assert not any(name.startswith("access-control") for name in headers)
    assert "unsafe" not in headers["content-security-policy"]


def test_refusals_and_failures_have_the_headers_too(
    asker: Asker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("scenthound.ui.dashboard.app.metrics_text", broken)
    with pytest.raises(RuntimeError, match="secret"):
        # The server is told as well; it writes nothing, because the answer is out by then.
        asker.get("/metrics")
    assert "secret detail" in capsys.readouterr().err
    assert asker.told_last.status == 500
    assert "secret" not in asker.told_last.text
    assert "terminal" in asker.told_last.json["says"]
    for answer in (asker.told_last, asker.get(CRAWL, host="evil.test")):
        assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_a_report_allows_its_own_script_and_nothing_else(asker: Asker) -> None:
    answer = asker.get("/report/crawl")
    policy = answer.headers["content-security-policy"]
    assert answer.status == 200
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", ["../app.py", "..%2Fapp.py", "index.html", "/etc/passwd", "views/../api.js", "views"])
def test_files_are_given_by_their_names_and_never_by_a_path(asker: Asker, name: str) -> None:
    assert asker.get(f"/assets/{name}").status == 404


def test_a_browser_that_has_a_file_is_not_sent_it_again(asker: Asker) -> None:
    first = asker.get("/assets/dashboard.js")
    again = asker.get("/assets/dashboard.js", if_none_match=first.headers["etag"])
    assert (first.status, again.status, again.content) == (200, 304, b"")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/api/crawls/nope", 404, "nope"),
        ("/api/crawls/crawl/pages?limit=0", 400, "limit"),
        (f"/api/crawls/crawl/pages?limit={MOST_LISTED + 1}", 400, "limit"),
        ("/api/crawls/crawl/pages?limit=1e1", 400, "whole number"),
        ("/api/crawls/crawl/pages?order=bets", 400, "best"),
        ("/api/crawls/crawl/pages?form=1", 400, "from"),
        ("/api/crawls/crawl/pages?id=other", 400, "id"),
        (f"/api/crawls/crawl/pages?query={'x' * 501}", 400, "query"),
        ("/api/crawls/crawl/pages/4", 404, "4"),
        ("/api/crawls/crawl/pages/-1", 400, "visit"),
        ("/api/crawls/crawl/pages/99999999999999999999", 400, "visit"),
        ("/api/crawls/crawl/explain", 400, "url"),
        ("/api/crawls/crawl/explain?url=ftp://x", 400, "ftp"),
        ("/api/crawls/crawl/skipped?reason=robot", 400, "robots"),
        ("/api/compare?crawl=crawl", 400, "crawl"),
        ("/api/experiments/crawl", 404, "/crawls/crawl"),
        ("/api/nope", 404, "no such page"),
    ],
)
def test_bad_questions_are_told_why(asker: Asker, path: str, status: int, word: str) -> None:
    answer = asker.get(path)
    assert answer.status == status
    assert word in answer.json["says"]
    assert "\n" not in answer.json["says"]


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b"7", b'{"pages": "many"}', b'{"pages": true}', b'{"pages": 0}', b'{"pages": 1, "x": 2}', b""]
)
def test_bad_changes_are_told_why(asker: Asker, body: bytes) -> None:
    headers = {"x_scenthound_token": TOKEN, "content_type": "application/json"}
    answer = asker.ask("POST", f"{CRAWL}/budget", headers, body)
    assert (answer.status, bool(answer.json["says"])) == (400, True)


def test_people_are_told_on_a_page_and_nothing_in_it_runs(asker: Asker) -> None:
    answer = asker.get("/report/<script>alert(1)")
    assert answer.status == 404
    assert "<script" not in answer.text
    assert "&lt;script&gt;" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_the_pages_are_one_file(asker: Asker) -> None:
    shells = {asker.get(path).content for path in ("/", "/crawls/x", "/crawls/x/pages", "/compare", "/experiments/x")}
    assert len(shells) == 1
    assert b"<script" in shells.pop()


def test_a_folder_whose_rights_are_missing_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = Asker(ended_crawl(tmp_path / "crawl"))

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "crawl.json")

    monkeypatch.setattr("scenthound.ui.dashboard.handlers.crawl_graph", refused)
    answer = asker.get(f"{CRAWL}/graph")
    assert (answer.status, answer.json["says"]) == (500, "Permission denied: crawl.json.")
