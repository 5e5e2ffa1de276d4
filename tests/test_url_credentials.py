"""User names and passwords in URLs: pages cannot choose them, and those of seeds are refused and never stored."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import scenthound as sh
from fetching import fetched
from page_server import ADDRESS, PageServer, response, with_server
from scenthound.crawler.settings import CrawlSettings, canonical_seeds
from scenthound.errors import UsageError
from scenthound.model import Topic
from scenthound.reasons import SkipReason
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.fetch import Request
from scenthound.web.refresh import Refresh, refresh_of
from scenthound.web.sitemaps import read_sitemap
from scenthound.web.urls import canonical, has_user, resolve, without_user
from virtual_site import VirtualSite, crawl_virtually, plan, visited_urls

Call = Callable[..., tuple[int, str, str]]
SECRET = "s3cr3t-t0ken"
A, B, C, D = (f"http://a.test/{name}" for name in "abcd")


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://user:word@example.com/", "http://example.com/"),
        ("https://user@example.com:8443/a@b?c@d", "https://example.com:8443/a@b?c@d"),
        ("http://:word@example.com/", "http://example.com/"),
        ("http://a@b:c@d@example.com/", "http://example.com/"),
        ("http://u:p@[2001:db8::1]:81/", "http://[2001:db8::1]:81/"),
        ("http:\\\\u:p@example.com\\a", "http://example.com/a"),
        ("http:u:p@example.com/a", "http://example.com/a"),
        ("http://u@h/", "http://h/"),
        ("http://h/@", "http://h/@"),
        ("http://h/?@", "http://h/?@"),
    ],
)
def test_a_canonical_url_has_no_user(url: str, form: str) -> None:
    assert canonical(url) == resolve(url, "") == resolve("ftp://base.test/x", url) == form
    assert has_user(url) == (url.count("@") > form.count("@"))
    assert without_user(form) == form


def test_a_base_url_passes_no_user_to_its_links() -> None:
    for reference, url in (("x", "http://h/a/x"), ("/y", "http://h/y"), ("?é", "http://h/a/b?%C3%A9"), ("//o/z", None)):
        assert resolve("http://u:p@h/a/b", reference) == (url or "http://o/z")


def test_refreshes_and_sitemaps_have_no_user() -> None:
    assert refresh_of("0; url=http://u:p@b.test/x", A) == Refresh(0, "http://b.test/x")
    # The page itself, by another name.
    assert refresh_of("0; url=http://u:p@a.test/a", A) is None
    sitemap = b"<urlset><url><loc>http://u:p@a.test/x</loc></url></urlset>"
    assert list(read_sitemap(sitemap, "http://a.test/sitemap.xml", 10).urls) == ["http://a.test/x"]


def page(*links: str) -> str:
    return "<title>sea</title>" + "".join(f"<p>sea <a href='{link}'>wave</a>" for link in links)


def test_urls_that_differ_by_their_user_are_one_page_of_one_origin(tmp_path: Path) -> None:
    site = VirtualSite(
        {
            A: page("http://me@a.test/b", "http://you:x@a.test/b", B, "http://x:y@a.test/c"),
            B: page("http://u:p@a.test/a", D),
            D: "<meta http-equiv=refresh content='0; url=http://u:p@a.test/a'>",
        },
        {C: "http://z:z@a.test/b"},
    )
    crawl_virtually(tmp_path / "crawl", plan((A,)), site)
    assert visited_urls(tmp_path / "crawl") == [A, B]
    assert site.requests == {"http://a.test/robots.txt": 1, A: 1, B: 1, C: 1, D: 1}
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert {row.reason for row in store.skipped()} == {SkipReason.REPEATED}


def test_no_request_has_credentials_of_its_url() -> None:
    """A crawl of an older version may have stored such a URL."""

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        url = server.url().replace("http://", f"http://me:{SECRET}@")
        assert response(await fetched(fetcher, Request(url, (ADDRESS,)))).status == 200
        assert "authorization" not in server.heads[0].lower()
        assert server.heads[0].startswith("GET / HTTP/1.1")

    with_server(use)


WITH_CREDENTIALS = [
    f"https://me:{SECRET}@example.org/",
    f"https://{SECRET}@example.org/a",
    f"me:{SECRET}@example.org",
    f" http://me:{SECRET}@example.org",
    f"http:me:{SECRET}@example.org",
    f"ftp://me:{SECRET}@example.org/",
    f"https://me:{SECRET}@example.org:99999/",
]


@pytest.mark.parametrize("url", WITH_CREDENTIALS)
def test_seeds_with_credentials_are_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        canonical_seeds([url])
    assert SECRET not in str(caught.value)
    assert "example.org" in str(caught.value)


def test_the_command_says_how_to_send_credentials(tmp_path: Path, scenthound: Call) -> None:
    seed = f"https://me:{SECRET}@example.org/"
    code, out, err = scenthound("crawl", "--keywords", "sea", "--seed", seed, "--out", tmp_path / "out")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "--header" in err
    assert "--cookie-file" in err
    assert SECRET not in err
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match=r"header='Authorization"):
        sh.crawl("sea", seed, out=tmp_path / "out")


def test_settings_are_stored_without_the_credentials_of_topics() -> None:
    urls = (f"https://me:{SECRET}@example.org/a@b", f"me:{SECRET}@example.org", f"ftp://me:{SECRET}@example.org/", A)
    topic = Topic("sea", ("sea",), examples=urls, seeds=urls, targets=urls, description_from=urls)
    stored = CrawlSettings(topic, (A,)).as_settings()
    assert SECRET not in json.dumps(stored)
    kept = ["https://example.org/a@b", "https://example.org/", A]
    assert all(stored["topic"][name] == kept for name in ("examples", "seeds", "targets", "description_from"))


def test_a_mail_address_in_a_path_is_no_user() -> None:
    assert canonical_seeds(["http://example.org/me@mail.org", "example.org/@me"]) == (
        "http://example.org/me@mail.org",
        "https://example.org/@me",
    )
