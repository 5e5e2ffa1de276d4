"""The token: who may read and change, in which ways it is sent, and its exchange for a cookie."""

import html
import re
from pathlib import Path

import pytest

from dashboard_client import HOST, ONE_TIME_TOKEN, PORT, TOKEN, Client, ended_crawl
from scenthound.ui.dashboard.security import HEADERS, READ_ONLY_HEADER, Token

CRAWL = "/api/crawls/crawl"
PAGES = ("/", "/crawls/crawl", "/report/crawl", "/api", "/compare?crawl=crawl", "/nope")
DATA = (CRAWL, "/api/folders", "/api/openapi.json", "/api/crawls/crawl/events", "/api/nope", "/metrics")
NO_TOKEN = {"authorization": ""}
WRONG_TOKENS = (
    {"authorization": "Bearer wrong"},
    {"authorization": f"Bearer {TOKEN}x"},
    {"authorization": f"Bearer {TOKEN[:-1]}"},
    {"authorization": f"Basic {TOKEN}"},
    {"authorization": TOKEN},
    {"authorization": "Bearer \xe4"},
    {"authorization": "", "x_scenthound_token": "wrong"},
    {"authorization": "", "cookie": f"scenthound-{PORT}={TOKEN}"},
    {"authorization": "", "cookie": f"scenthound-{PORT}="},
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(ended_crawl(tmp_path_factory.mktemp("folders") / "crawl"))


@pytest.fixture(scope="module")
def open_client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(ended_crawl(tmp_path_factory.mktemp("folders") / "crawl"), open_to_all=True)


@pytest.mark.parametrize("headers", [NO_TOKEN, *WRONG_TOKENS], ids=str)
def test_a_change_needs_the_token(client: Client, open_client: Client, headers: dict[str, str]) -> None:
    for each in (client, open_client):
        response = each.post(f"{CRAWL}/budget", {"pages": 20}, **headers)
        assert (response.status, "token" in response.json["message"]) == (401, True)
        assert each.post(f"{CRAWL}/budget", {"pages": 20}).status == 200


def test_a_token_in_the_query_string_authorizes_no_request_to_the_api(client: Client) -> None:
    assert client.post(f"{CRAWL}/budget?token={TOKEN}", {"pages": 20}, **NO_TOKEN).status == 401
    response = client.get(f"{CRAWL}?token={TOKEN}", **NO_TOKEN)
    assert (response.status, "set-cookie" in response.headers) == (401, False)


@pytest.mark.parametrize("path", [*PAGES, *DATA])
def test_reading_needs_the_token(client: Client, path: str) -> None:
    for method in ("GET", "HEAD"):
        for headers in (NO_TOKEN, *WRONG_TOKENS):
            response = client.request(method, path, headers)
            assert response.status == 401
            assert response.headers["www-authenticate"].startswith("Bearer")
            assert "ballooning" not in response.text


@pytest.mark.parametrize("path", DATA)
def test_programs_without_the_token_get_json(client: Client, path: str) -> None:
    missing, wrong = (client.get(path, **headers).json["message"] for headers in (NO_TOKEN, WRONG_TOKENS[0]))
    assert "token" in missing
    assert missing != wrong


def test_browsers_without_the_token_get_a_page_that_opens_the_same_one_with_it(client: Client) -> None:
    response = client.get('/compare?crawl=a%22b&crawl=%3Cscript%3E&token=wrong&token="><b>', **NO_TOKEN)
    assert response.status == 401
    assert response.headers["content-type"].startswith("text/html")
    assert 'name="token"' in response.text
    kept = [html.unescape(value) for value in re.findall(r'name="crawl" value="([^"]*)"', response.text)]
    assert kept == ['a"b', "<script>"]
    assert "<script>" not in response.text
    assert "<b>" not in response.text
    policy = response.headers["content-security-policy"]
    assert policy == HEADERS["content-security-policy"].replace("form-action 'none'", "form-action 'self'")


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"authorization": f"bearer  {TOKEN} "},
        {"authorization": f"token {TOKEN}"},
        {"authorization": "", "x_scenthound_token": TOKEN},
    ],
    ids=str,
)
def test_programs_send_the_token_in_a_header(client: Client, headers: dict[str, str]) -> None:
    assert {client.get(path, **headers).status for path in (CRAWL, "/metrics", "/", "/report/crawl")} == {200}
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, **headers).status == 200


def test_scripts_and_style_sheets_need_no_token(client: Client) -> None:
    assert client.get("/assets/dashboard.js", **NO_TOKEN).status == 200
    assert client.get("/assets/look.css", **NO_TOKEN).status == 200


def cookie_of(client: Client, path: str = "/", token: str = TOKEN) -> str:
    """The cookie that a browser sends after opening the URL with the token."""
    separator = "&" if "?" in path else "?"
    response = client.get(f"{path}{separator}token={token}", **NO_TOKEN)
    assert response.status == 303
    cookie, *attributes = response.headers["set-cookie"].split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert response.headers["cache-control"] == "no-store"
    assert TOKEN not in cookie
    assert TOKEN not in response.headers["location"]
    return cookie


def test_the_printed_url_is_exchanged_for_a_cookie_that_reads_and_changes(client: Client) -> None:
    cookie = cookie_of(client)
    headers = {"authorization": "", "cookie": f"other=1; {cookie}; scenthound-1=x"}
    assert {client.get(path, **headers).status for path in (CRAWL, "/", "/metrics", "/report/crawl")} == {200}
    own = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, **headers, **own).status == 200


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/", "/"),
        ("/crawls/a%20b", "/crawls/a%20b"),
        ("/compare?crawl=a&crawl=b%26c", "/compare?crawl=a&crawl=b%26c"),
        ("//evil.test/x", "/evil.test/x"),
        ("/\\evil.test", "/evil.test"),
        ("/\r\nx: y", "/%0D%0Ax:%20y"),
    ],
)
def test_the_token_is_removed_from_the_url(client: Client, path: str, location: str) -> None:
    separator = "&" if "?" in path else "?"
    # Servers decode the path.
    response = client.get(f"{path.replace('%20', ' ')}{separator}token={TOKEN}", **NO_TOKEN)
    assert (response.status, response.headers["location"]) == (303, location)


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x"])
def test_a_wrong_token_in_the_url_brings_no_cookie(client: Client, token: str) -> None:
    # Not even with a valid cookie: the reader asked for another dashboard.
    response = client.get(f"/?token={token}")
    assert (response.status, "set-cookie" in response.headers) == (401, False)


def test_the_url_for_the_browser_works_once(tmp_path: Path) -> None:
    client = Client(tmp_path)
    path = f"/?token={ONE_TIME_TOKEN}"
    assert client.request("HEAD", path, NO_TOKEN).status == 401
    assert [client.get(path, **NO_TOKEN).status for _ in range(2)] == [303, 401]
    assert client.get("/?token=None", **NO_TOKEN).status == 401


def test_the_cookie_is_of_one_start_and_one_port() -> None:
    cookies = {Token(value, port).set_cookie for value in ("first", "second") for port in (8787, 8788)}
    assert len(cookies) == 4
    assert len({each.partition("=")[0] for each in cookies}) == 2


def test_a_change_with_the_cookie_must_come_from_an_own_page(client: Client) -> None:
    headers = {"authorization": "", "cookie": cookie_of(client)}
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, **headers).status == 403
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, **headers, origin="http://127.0.0.1:1").status == 403
    assert client.post(f"{CRAWL}/budget", {"pages": 20}, **headers, sec_fetch_site="same-site").status == 403


def test_an_open_dashboard_is_read_without_the_token(open_client: Client) -> None:
    for path in (CRAWL, "/metrics", "/", "/report/crawl", "/api", "/assets/look.css"):
        for headers in (NO_TOKEN, WRONG_TOKENS[0]):
            response = open_client.get(path, **headers)
            assert (response.status, response.headers.get(READ_ONLY_HEADER)) == (200, "1")
        assert READ_ONLY_HEADER not in open_client.get(path).headers
    assert open_client.get("/?token=wrong", **NO_TOKEN).status == 401
    assert open_client.get(CRAWL, **NO_TOKEN, host="evil.test").status == 421
    assert open_client.get(CRAWL, **NO_TOKEN, sec_fetch_site="cross-site").status == 403
