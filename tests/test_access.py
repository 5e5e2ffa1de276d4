"""Proxies, headers of the user and cookies: what is sent where, and what is stored of it."""

import asyncio
import json
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import scenthound as sh
from hostile_cases import response_bytes
from hostile_certificates import Certificates, has_openssl, make_certificates
from live_site import LiveSite, live_site
from proxy_server import proxy_server, served_tls, unused_port
from scenthound.crawler import runner, start
from scenthound.crawler.credentials import CREDENTIALS_FILE
from scenthound.crawler.state import State, crawl_state
from scenthound.errors import InvalidInput, InvalidParameter, UsageError
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard.crawl_views import crawl_response
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.reports.crawl import crawl_report
from scenthound.web.access import Access, RequestHeaders, check_header
from scenthound.web.cookies import Cookies, read_cookies
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.curl_handle import PROXY_CREDENTIALS
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.proxies import Proxies, Proxy, is_bypassed, masked_proxy, parse_proxy
from timing import WAIT_S

Call = Callable[..., tuple[int, str, str]]
SECRET = "s3cr3t-t0ken"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


def hosts_of(site: LiveSite) -> dict[str, str]:
    return {name: address for address, name in (line.split() for line in site.hosts.read_text().splitlines())}


# Proxies


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("socks5h://me:pw@10.0.0.1:1080/", "socks5h://me:pw@10.0.0.1:1080"),
        ("https://[::1]:443", "https://[::1]:443"),
    ],
)
def test_a_proxy_is_a_url_with_a_port(written: str, url: str) -> None:
    assert parse_proxy(written).url == url


@pytest.mark.parametrize(
    "written",
    [
        "",
        "http://",
        "http://proxy.example",
        "ftp://p:1",
        "http://p:99999",
        "http://p:1/path",
        "http://p:x",
        "http://p\n:1",
    ],
)
def test_other_texts_are_no_proxy(written: str) -> None:
    with pytest.raises(InvalidParameter):
        parse_proxy(written)


def test_credentials_are_masked() -> None:
    proxy = parse_proxy(f"http://me:{SECRET}@p.test:8080")
    assert proxy.masked == masked_proxy(proxy.url) == "http://***@p.test:8080"
    assert SECRET not in repr(proxy)
    with pytest.raises(InvalidParameter) as caught:
        parse_proxy(f"http://me:{SECRET}@p.test")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "no_proxy", "bypassed"),
    [
        ("a.test", "", False),
        ("a.test", "b.test, a.test", True),
        ("www.a.test", ".a.test", True),
        ("www.a.test", "*.a.test", True),
        ("nota.test", "a.test", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("[::1]", "::1", True),
        ("a.test", "*", True),
    ],
)
def test_hosts_in_no_proxy_are_reached_directly(host: str, no_proxy: str, bypassed: bool) -> None:
    assert is_bypassed(host, no_proxy) == bypassed


def test_the_environment_names_proxies_by_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"https_proxy": "http://secure.test:1", "all_proxy": "socks5://all.test:2", "no_proxy": "intranet.test"}
    only_in_environment(monkeypatch, **named)
    proxies = Proxies.of(None, from_environment=True)
    assert proxies.for_url("https://a.test/") == Proxy("http://secure.test:1")
    assert proxies.for_url("http://a.test/") == Proxy("socks5://all.test:2")
    assert proxies.for_url("https://www.intranet.test/") is None
    assert Proxies.of(None).for_url("https://a.test/") is None
    with pytest.raises(UsageError):
        Proxies.of("http://p:1", from_environment=True)


def fetched(
    access: Access, url: str, addresses: tuple[str, ...], *, allow_private: bool = True, ca_file: str | None = None
) -> Response | NotFetched:
    async def run() -> Response | NotFetched:
        settings = {"allow_private": allow_private, "ca_file": ca_file}
        fetcher = CurlFetcher(FetchLimits(), user_agent="x", access=access, **settings)  # type: ignore[arg-type]
        done = asyncio.get_running_loop().create_future()
        fetcher.start(Request(url, addresses), done.set_result)
        try:
            return await done
        finally:
            fetcher.close()

    return asyncio.run(run())


def through(proxy_url: str) -> Access:
    return Access(Proxies.of(proxy_url).connected())


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
def test_a_request_goes_through_the_proxy(scheme: str, site: LiveSite) -> None:
    url = site.url(0)
    with proxy_server(hosts=hosts_of(site)) as proxy:
        # The address of the host is one that nothing listens on, unless the proxy is asked for it.
        address = hosts_of(site)["h0.test"] if scheme == "socks5" else "127.61.9.9"
        response = fetched(through(proxy.url(scheme)), url, (address,))
    assert isinstance(response, Response)
    assert response.status == 200
    asked = {"http": f"GET {url} HTTP/1.1", "socks5": address, "socks5h": "h0.test"}[scheme]
    assert proxy.requests == [asked]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if not has_openssl():
        pytest.skip("the openssl command is not installed")
    return make_certificates(tmp_path_factory.mktemp("certificates"), "secure.test")


@contextmanager
def secure_host(certificates: Certificates) -> Iterator[int]:
    """The port of a host that serves one page over TLS."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError), served_tls(server.accept()[0], certificates.good) as client:
                client.recv(10_000)
                client.sendall(response_bytes())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(WAIT_S)


@pytest.mark.parametrize("scheme", ["http", "https", "socks5", "socks5h"])
def test_https_goes_through_a_tunnel_and_the_certificate_is_that_of_the_host(
    scheme: str, certificates: Certificates
) -> None:
    own = certificates.good if scheme == "https" else None
    names = {"secure.test": "127.0.0.1"}
    with secure_host(certificates) as port, proxy_server(hosts=names, certificate=own) as proxy:
        url = proxy.url(scheme).replace("127.0.0.1", "secure.test")
        access = Access(Proxies({"https": Proxy(url, ("127.0.0.1",))}))
        page = f"https://secure.test:{port}/"
        response = fetched(access, page, ("127.0.0.1",), ca_file=str(certificates.authority))
    assert isinstance(response, Response), response
    assert response.status == 200
    assert b"x-proxy" not in response.head.lower(), "the response of the proxy is not that of the host"
    asked = {"socks5": "127.0.0.1", "socks5h": "secure.test"}.get(scheme, f"CONNECT secure.test:{port} HTTP/1.1")
    assert proxy.requests == [asked]


@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test/"])
def test_an_https_proxy_with_an_invalid_certificate_has_failed_and_not_the_host(
    url: str, certificates: Certificates
) -> None:
    with proxy_server(certificate=certificates.other_host) as proxy:
        access = Access(Proxies.of(proxy.url("https").replace("127.0.0.1", "secure.test")))
        access = Access(access.proxies.connected(lambda _proxy: ("127.0.0.1",)))
        result = fetched(access, url, ("93.184.216.34",), ca_file=str(certificates.authority))
    assert isinstance(result, NotFetched)
    assert result.reason is SkipReason.PROXY_FAILED
    assert proxy.requests == []


def test_a_name_that_only_the_proxy_can_resolve_is_left_to_it(site: LiveSite) -> None:
    with proxy_server(hosts=hosts_of(site)) as proxy:
        response = fetched(through(proxy.url("socks5")), site.url(0), ("h0.test",))
    assert isinstance(response, Response)
    assert proxy.requests == ["h0.test"]


@pytest.mark.parametrize(
    "addresses", [("10.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("localhost",), ("printer",), ("x.local",)]
)
def test_a_proxy_is_not_asked_for_hosts_that_are_not_public(addresses: tuple[str, ...]) -> None:
    with proxy_server() as proxy:
        result = fetched(through(proxy.url()), "http://a.test/", addresses, allow_private=False)
    assert isinstance(result, NotFetched)
    assert result.reason is SkipReason.ADDRESS_FORBIDDEN
    assert proxy.requests == []


@pytest.mark.parametrize(
    ("scheme", "refuses", "reason"),
    [
        ("http", 403, SkipReason.PROXY_REFUSED),
        ("http", 502, SkipReason.CONNECT_FAILED),
        ("socks5h", 2, SkipReason.PROXY_REFUSED),
        ("socks5h", 5, SkipReason.CONNECT_FAILED),
    ],
)
def test_what_a_proxy_reports_about_a_host(scheme: str, refuses: int, reason: SkipReason) -> None:
    with proxy_server(refuses=refuses) as proxy:
        result = fetched(through(proxy.url(scheme)), "https://a.test/", ("93.184.216.34",))
    assert isinstance(result, NotFetched)
    assert result.reason is reason


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("HTTP/1.1 403 No\r\nX-Squid-Error: ERR_ACCESS_DENIED 0", SkipReason.PROXY_REFUSED),
        ("HTTP/1.1 503 No\r\nX-Squid-Error: ERR_CONNECT_FAIL 111", SkipReason.CONNECT_FAILED),
        ("HTTP/1.1 502 No\r\nProxy-Status: p.test; error=dns_error", SkipReason.CONNECT_FAILED),
    ],
)
def test_a_proxy_may_say_that_a_response_is_its_own(head: str, reason: SkipReason) -> None:
    with proxy_server(responds=head) as proxy:
        result = fetched(through(proxy.url()), "http://a.test/", ("93.184.216.34",))
    assert isinstance(result, NotFetched)
    assert result.reason is reason


@pytest.mark.parametrize(
    "head", ["HTTP/1.1 403 No\r\nVia: 1.1 p.test", "HTTP/1.1 404 No\r\nProxy-Status: p.test; received-status=404"]
)
def test_other_errors_that_come_through_a_proxy_are_those_of_the_host(head: str) -> None:
    with proxy_server(responds=head) as proxy:
        result = fetched(through(proxy.url()), "http://a.test/", ("93.184.216.34",))
    assert isinstance(result, Response)


def test_a_crawl_whose_seeds_fail_behind_a_proxy_names_the_proxy(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    for number, (head, says) in enumerate(
        [
            ("HTTP/1.1 403 No\r\nX-Squid-Error: ERR_ACCESS_DENIED 0", SkipReason.PROXY_REFUSED.text),
            # Nothing tells whether the site or the proxy has sent it.
            ("HTTP/1.1 403 No", SkipReason.CLIENT_ERROR.text),
        ]
    ):
        with proxy_server(responds=head) as proxy:
            out = tmp_path / str(number)
            code, _, err = scenthound(*site.crawl("--proxy", proxy.url(), "--out", out))
        assert code == 1
        assert says in err
        assert "proxy" in err


@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test/"])
def test_a_proxy_that_rejects_our_credentials_has_failed(url: str) -> None:
    with proxy_server(credentials="me:right") as proxy:
        result = fetched(through(proxy.url(user=f"me:{SECRET}")), url, ("93.184.216.34",))
    assert isinstance(result, NotFetched)
    assert result.reason is SkipReason.PROXY_FAILED
    assert SECRET not in result.detail


def test_a_proxy_that_went_away_has_failed_and_not_the_host() -> None:
    access = Access(Proxies({"http": Proxy(f"http://127.0.0.1:{unused_port()}", ("127.0.0.1",))}))
    result = fetched(access, "http://a.test/", ("93.184.216.34",))
    assert isinstance(result, NotFetched)
    assert result.reason is SkipReason.PROXY_FAILED


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-proxy.invalid"])
def test_a_missing_proxy_costs_one_line_before_anything_starts(
    host: str, site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    proxy = f"http://me:{SECRET}@{host}:{unused_port()}"
    code, out, err = scenthound(*site.crawl("--proxy", proxy, "--render", "never", "--out", tmp_path / "out"))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert SECRET not in err
    assert not (tmp_path / "out").exists()


def test_a_crawl_through_a_proxy_keeps_the_password_out_of_everything_but_its_own_file(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    folder = tmp_path / "out"
    with proxy_server(hosts=hosts_of(site), credentials=f"me:{SECRET}") as proxy:
        options = ["--proxy", proxy.url(user=f"me:{SECRET}"), "--header", f"X-Key: {SECRET}", "--out", folder]
        code, out, err = scenthound(*site.crawl("--pages", 5, *options))
        assert code == 0
        code, resumed, _ = scenthound("crawl", "--resume", folder, "--pages", 8)
        assert code == 0
        assert len(proxy.requests) >= 8
        assert all(f"X-Key: {SECRET}" in head for head in proxy.heads if "Host: h0.test" in head)
    assert scenthound("report", folder)[0] == 0
    assert SECRET not in out + resumed + err
    assert scenthound("explain", folder, site.url(0), "--json")[0] == 0
    with_secret = [file.name for file in folder.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert with_secret == [CREDENTIALS_FILE]
    assert stat.S_IMODE((folder / CREDENTIALS_FILE).stat().st_mode) == 0o600
    settings = json.loads((folder / "crawl.json").read_text())["settings"]
    assert settings["headers"] == ["X-Key: ***"]
    assert settings["proxy"].startswith("http://***@127.0.0.1:")
    (folder / CREDENTIALS_FILE).unlink()
    code, _, err = scenthound("crawl", "--resume", folder, "--pages", 9)
    assert code == 2
    assert CREDENTIALS_FILE in err


def test_a_proxy_that_fails_during_a_crawl_ends_it_and_blames_no_host(
    site: LiveSite, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PROXY_PATIENCE_S", 0.3)
    monkeypatch.setattr(runner, "PROXY_RETRY_S", 0.1)
    folder = tmp_path / "out"
    with proxy_server(hosts=hosts_of(site)) as proxy:
        gone = Access(Proxies({"http": Proxy(f"http://127.0.0.1:{unused_port()}", ("127.0.0.1",))}))
        with monkeypatch.context() as patched:
            patched.setattr(start, "access_of", lambda settings: gone)
            options = ["--pages", 5, "--proxy", proxy.url(), "--render", "never", "--out", folder]
            code, _, err = scenthound(*site.crawl(*options))
        assert code == 1
        assert len(err.splitlines()) == 1
        with StoredCrawl.open(folder) as crawl:
            assert crawl.n_skipped() == 0
            state = crawl_state(crawl)
        assert (state.state, state.ended, state.can_resume) == (State.FAILED, EndReason.PROXY, True)
        assert scenthound("crawl", "--resume", folder)[0] == 0
    with StoredCrawl.open(folder) as crawl:
        assert (crawl.n_visits(), crawl.n_skipped()) == (5, 0)


def test_a_proxy_that_fails_before_the_first_page_is_the_reason_everywhere(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    folder = tmp_path / "out"
    with proxy_server(hosts=hosts_of(site), credentials="me:right") as proxy:
        code, _, err = scenthound(*site.crawl("--proxy", proxy.url(user=f"me:{SECRET}"), "--out", folder))
    assert code == 1
    with StoredCrawl.open(folder) as crawl:
        state = crawl_state(crawl)
        shown = crawl_response(FoundFolder("out", folder, "crawl"), crawl)
    assert (state.state, state.ended) == (State.FAILED, EndReason.PROXY)
    failure = sh.open_crawl(folder).failure
    assert PROXY_CREDENTIALS in failure
    assert failure in err
    assert "stored" not in failure
    assert shown.ended == failure
    assert failure in " ".join(crawl_report(folder).summary)
    assert SECRET not in failure


def test_a_proxy_that_fails_after_the_first_pages_says_that_they_are_stored(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    folder = tmp_path / "out"
    with proxy_server(hosts=hosts_of(site)) as proxy:
        assert scenthound(*site.crawl("--pages", 2, "--proxy", proxy.url(), "--out", folder))[0] == 0
        proxy.credentials = "me:right"
        assert scenthound("crawl", "--resume", folder, "--pages", 4)[0] == 1
    with StoredCrawl.open(folder) as crawl:
        assert crawl_state(crawl).state is State.FAILED
        assert crawl.n_visits() == 2
    assert "stored" in sh.open_crawl(folder).failure


def only_in_environment(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """These are the only variables that name proxies."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_whether_a_proxy_resolves_a_name_depends_on_the_scheme(
    site: LiveSite, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    seed, secure = site.url(0), "https://h1.test/"
    with proxy_server(hosts=hosts_of(site)) as proxy:
        only_in_environment(monkeypatch, http_proxy=proxy.url())
        seeds = ("--seed", seed, "--seed", secure, "--keywords", "balloon", "--allow-private", "--delay", 0)
        code, _, _ = scenthound("crawl", *seeds, "--pages", 4, "--proxy-from-environment", "--out", folder)
        assert code == 0
        assert any("h0.test" in line for line in proxy.requests)
        assert not any("CONNECT" in line for line in proxy.requests)
    with StoredCrawl.open(folder) as crawl:
        assert crawl.n_visits() == 4
        assert {(row.url, row.reason) for row in crawl.skipped()} == {(secure, SkipReason.DNS_NOT_FOUND)}


def test_an_environment_without_a_proxy_costs_a_note(
    site: LiveSite, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--pages", 1, "--proxy-from-environment")
    only_in_environment(monkeypatch, no_proxy="a.test")
    code, _, err = scenthound(*site.crawl(*options, "--out", tmp_path / "direct"))
    assert code == 0
    assert sum("http_proxy" in line for line in err.splitlines()) == 1
    with proxy_server(hosts=hosts_of(site)) as proxy:
        only_in_environment(monkeypatch, all_proxy=proxy.url())
        code, _, err = scenthound(*site.crawl(*options, "--out", tmp_path / "out"))
    assert code == 0
    assert "http_proxy" not in err


# Headers


@pytest.mark.parametrize(
    "line",
    [
        "",
        "X",
        "X:",
        ": x",
        "X y: z",
        "X: a\r\nHost: b",
        "X: ü",
        "Host: a",
        "content-length: 1",
        "User-Agent: x",
        "Cookie: a=b",
        "Accept-Encoding: gzip",
        "Proxy-Authorization: x",
        "From: x",
    ],
)
def test_headers_that_must_not_be_sent_are_rejected(line: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_header(line)
    assert "\n" not in str(caught.value)


def test_an_invalid_header_is_not_printed() -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_header(f"Authorization Bearer {SECRET}")
    assert SECRET not in str(caught.value)


def test_headers_are_sent_to_the_domains_of_the_seeds_only() -> None:
    headers = RequestHeaders(("Authorization: x",), ["https://www.a.test/", "http://b.test/"])
    sent = ("Authorization: x",)
    for url in (
        "https://www.a.test/1",
        "https://a.test/",
        "https://deep.www.a.test/",
        "https://b.test/",
        "http://b.test/",
    ):
        assert headers.for_url(url) == sent, url
    for url in ("http://www.a.test/", "https://c.test/", "https://a.test.evil.test/", "https://nota.test/"):
        assert headers.for_url(url) == (), url


def test_a_crawl_sends_its_headers_to_its_own_site_only(tmp_path: Path) -> None:
    sent: list[tuple[str, bool]] = []
    with live_site(tmp_path) as site:
        topic = sh.Topic(keywords=["balloon"])
        with proxy_server(hosts=hosts_of(site)) as proxy:
            sh.crawl(
                topic,
                site.url(0),
                hosts=hosts_of(site),
                proxy=proxy.url(),
                header=["Authorization: Basic x", "Accept: text/plain"],
                allow_private=True,
                delay=0,
                pages=8,
                out=tmp_path / "out",
                progress=False,
            )
    for head in proxy.heads:
        host = head.split("Host: ")[1].split(":")[0]
        sent.append((host, "Authorization: Basic x" in head and "Accept: text/plain" in head))
        assert head.count("Accept:") == 1
    assert {host for host, has_header in sent if has_header} == {"h0.test"}
    assert {host for host, has_header in sent if not has_header} >= {"h1.test", "h2.test"}


# Cookies


def cookie_file(folder: Path, *lines: str) -> Path:
    file = folder / "cookies.txt"
    file.write_text("# Netscape HTTP Cookie File\n\n" + "\n".join(line.replace(" ", "\t") for line in lines))
    return file


def test_a_cookie_is_sent_to_its_domain_and_path_until_it_expires(tmp_path: Path) -> None:
    file = cookie_file(
        tmp_path,
        ".a.test TRUE / FALSE 0 all 1",
        "a.test FALSE /docs FALSE 0 docs 2",
        "#HttpOnly_.a.test TRUE / TRUE 0 secure 3",
        ".a.test TRUE / FALSE 1000 old 4",
        "b.test FALSE / FALSE 3000 later 5",
    )
    cookies = Cookies(read_cookies(file), lambda: 2000.0)
    assert cookies.header("http://a.test/") == "all=1"
    assert cookies.header("https://www.a.test/x?y=/docs") == "all=1; secure=3"
    assert cookies.header("http://a.test/docs/x") == "docs=2; all=1"
    assert cookies.header("http://a.test/docs?q") == "docs=2; all=1"
    assert cookies.header("http://a.test/docsx") == "all=1"
    assert cookies.header("http://www.a.test/docs/") == "all=1"
    assert cookies.header("http://b.test/") == "later=5"
    assert cookies.header("http://www.b.test/") is None
    assert cookies.header("http://nota.test/") is None


@pytest.mark.parametrize(
    "line",
    [
        f"a.test TRUE / FALSE 0 {SECRET}",
        f"a.test YES / FALSE 0 n {SECRET}",
        f"a.test TRUE x FALSE 0 n {SECRET}",
        f"a.test TRUE / FALSE soon n {SECRET}",
        f".co.uk TRUE / FALSE 0 n {SECRET}",
        f"a.test TRUE / FALSE 0 n {SECRET};x=y",
        "",
    ],
)
def test_invalid_cookie_files_are_rejected_without_their_values(line: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_cookies(cookie_file(tmp_path, line))
    assert SECRET not in str(caught.value)


def test_a_crawl_sends_cookies_and_is_not_resumed_with_others(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder, file = tmp_path / "out", cookie_file(tmp_path, f".h0.test TRUE / FALSE 0 session {SECRET}")
    with proxy_server(hosts=hosts_of(site)) as proxy:
        options = ("--proxy", proxy.url(), "--cookie-file", file, "--out", folder)
        assert scenthound(*site.crawl("--pages", 4, *options))[0] == 0
        with_cookie = {head.split("Host: ")[1].split(":")[0] for head in proxy.heads if f"session={SECRET}" in head}
        assert with_cookie == {"h0.test"}
        assert not [each for each in folder.rglob("*") if each.is_file() and SECRET.encode() in each.read_bytes()]
        file.write_text(file.read_text().replace(SECRET, "other"))
        code, _, err = scenthound("crawl", "--resume", folder, "--pages", 6)
    assert code == 2
    assert str(file) in err
