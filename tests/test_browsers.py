"""Watched pages report errors: without that, the other browser tests would prove nothing."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import browsers
import environments
from browsers import watched

STRICT = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"


def errors_of(browser: Browser, folder: Path, html: str) -> str:
    """The errors reported while a page is loaded."""
    (folder / "page.html").write_text(f"<!doctype html><title>page</title>{html}")
    with pytest.raises(AssertionError) as failure, watched(browser) as page:
        page.goto((folder / "page.html").as_uri())
    return str(failure.value)


@pytest.mark.parametrize(
    ("html", "error"),
    [
        ("<script>console.error('oh dear')</script>", "oh dear"),
        ("<script>missing()</script>", "missing"),
        (f"{STRICT}<script>document.title = 'run'</script>", "Content Security Policy"),
        (f"{STRICT}<b style='color: red'>b</b>", "Content Security Policy"),
        ("<img src='http://example.org/pixel.png'>", "host: http://example.org/pixel.png"),
        ("<img src='http://192.0.2.7/pixel.png'>", "ERR_NAME_NOT_RESOLVED"),
    ],
)
def test_an_error_in_a_page_fails_the_test(browser: Browser, tmp_path: Path, html: str, error: str) -> None:
    assert error in errors_of(browser, tmp_path, html)


def test_a_page_without_errors_passes(watched_page: Page, tmp_path: Path, screenshots: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><title>well</title><p>All is well.")
    watched_page.goto((tmp_path / "page.html").as_uri())
    assert watched_page.title() == "well"
    watched_page.screenshot(path=screenshots / "a-page-of-the-tests.png")


def test_a_missing_browser_skips_with_instructions_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENTHOUND_BROWSER", "no-such-browser")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        browsers.browser_path()


def test_in_ci_a_browser_that_cannot_be_installed_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENTHOUND_BROWSER", "no-such-browser")
    monkeypatch.setenv("CI", "1")
    monkeypatch.setattr(environments, "_installed", lambda _find, _packages: None)
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        browsers.browser_path()
