"""Pages in a real browser: what they see, and what they cannot do."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from rendered_pages import LIMITS, URL, RenderThread, page, processes_with, render_thread, script
from scenthound.crawler import renderer
from scenthound.crawler.page_requests import Answer
from scenthound.crawler.rendering import MAX_BROKEN, RenderedDocument, ScriptRedirect
from scenthound.text.tokenizer import WordScanner
from scenthound.web import browser_process
from scenthound.web.parse import parse_html
from timing import wait_until


@pytest.fixture(scope="module")
def tab() -> Iterator[RenderThread]:
    with render_thread() as thread:
        yield thread


def test_a_document_has_what_scripts_made_of_it(tab: RenderThread) -> None:
    code = "fetch('data.json').then(r => r.json()).then(d => document.getElementById('app').textContent = d.text)"
    answers = {
        "http://a.test/app.js": script(code),
        "http://a.test/folder/data.json": Answer(200, {"content-type": "application/json"}, b'{"text": "found it"}'),
    }
    html = tab.text("<!doctype html><title>é</title><div id=app></div><script src=/app.js></script>", answers)
    assert html == (
        '<!DOCTYPE html><html><head><title>é</title></head><body><div id="app">found it</div>'
        '<script src="/app.js"></script></body></html>'
    )
    assert tab.requested == ["http://a.test/app.js", "http://a.test/folder/data.json"]


def test_images_fonts_styles_media_frames_and_beacons_are_not_requested(tab: RenderThread) -> None:
    html = tab.text(
        "<link rel=stylesheet href=a.css onload='document.title=`styled`'><link rel=icon href=i.ico>"
        "<style>@font-face { font-family: f; src: url(f.woff2) } p { font-family: f; background: url(b.png) }</style>"
        "<p>text<img src=i.png><video src=v.mp4></video><audio src=a.mp3></audio><iframe src=frame></iframe>"
        "<object data=o.swf></object><script>navigator.sendBeacon('beacon', 'x'); new EventSource('events')</script>"
    )
    assert tab.requested == []
    assert "<title>styled</title>" in html


def test_lone_surrogates_are_replaced_as_browsers_do(tab: RenderThread) -> None:
    html = tab.text("<p id=p></p><script>p.textContent = 'a\\ud800b \\ud83c\\udf88'</script>")
    assert '<p id="p">a\ufffdb \U0001f388</p>' in html


def test_only_get_requests_are_made(tab: RenderThread) -> None:
    code = (
        "for (const method of ['POST', 'PUT', 'DELETE', 'HEAD'])"
        "  fetch('/' + method, { method }).catch(() => document.body.append(method + ' refused '));"
        "const form = document.createElement('form'); form.method = 'post'; form.action = '/form';"
        "document.body.append(form); form.submit()"
    )
    html = tab.text(f"<p>text<script>{code}</script>")
    assert tab.requested == []
    assert all(f"{method} refused" in html for method in ("POST", "PUT", "DELETE", "HEAD"))


# Only a secure context has WebTransport and service workers.
@pytest.mark.parametrize(("url", "web_transport"), [(URL, "undefined"), ("https://a.test/", "function")])
def test_nothing_leaves_the_browser_but_through_the_crawl(tab: RenderThread, url: str, web_transport: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(server.getsockname())
        for each in (server, datagrams):
            each.settimeout(0.2)
        origin = f"127.0.0.1:{server.getsockname()[1]}"
        code = (
            f"new WebSocket('ws://{origin}/socket').onclose = () => document.body.append('socket closed ');"
            f"fetch('http://{origin}/fetch').catch(() => document.body.append('fetch refused '));"
            f"new Image().src = 'http://{origin}/image'; window.open('http://{origin}/window');"
            f"try {{ new WebTransport('https://{origin}/transport') }} catch (error) {{}}"
            f"const urls = ['stun:{origin}', 'turn:{origin}?transport=tcp'];"
            "const peer = new RTCPeerConnection({ iceServers: [{ urls, username: 'u', credential: 'c' }] });"
            "peer.createDataChannel('c'); peer.createOffer().then(offer => peer.setLocalDescription(offer));"
            f"new Worker(URL.createObjectURL(new Blob(['fetch(`http://{origin}/worker`)'])));"
            "navigator.serviceWorker?.register('/service.js').catch(() => {});"
            "document.title = typeof WebTransport"
        )
        html = tab.text(f"<p>text<link rel=preconnect href='http://{origin}'><script>{code}</script>", url=url)
        with pytest.raises(TimeoutError):
            server.accept()
        with pytest.raises(TimeoutError):
            datagrams.recv(1)
    assert f"<title>{web_transport}</title>" in html
    assert "socket closed" in html
    assert "fetch refused" in html
    assert set(tab.requested) <= {f"http://{origin}/fetch", f"http://{origin}/worker"}


def test_a_script_that_does_not_end_is_ended(tab: RenderThread) -> None:
    assert "<p>before" in tab.text("<p>before<script>document.title = 'looping'; for (;;) {}</script><p>after")


def test_dialogs_windows_reloads_and_downloads_do_not_hold_up_a_page(tab: RenderThread) -> None:
    html = tab.text(
        "<p>text<script>alert(1); confirm(2); prompt(3); print(); window.open('/window'); location.reload();"
        "const link = document.createElement('a'); link.href = 'data:,x'; link.download = 'x'; link.click();"
        "document.title = 'went on'</script>"
    )
    assert "<title>went on</title>" in html
    assert tab.requested == []


def test_a_page_makes_no_more_requests_than_allowed(tab: RenderThread) -> None:
    code = "const more = n => fetch('/' + n).catch(() => more(n + 50)); for (let n = 0; n < 50; n++) more(n)"
    html = tab.text(f"<p>text<script>{code}</script>")
    assert "<p>text" in html
    assert len(tab.requested) == LIMITS.requests


def test_a_huge_document_is_cut_off(tab: RenderThread) -> None:
    outcome = tab.document("<p>text<script>document.body.append('y'.repeat(3_000_000))</script>")
    assert isinstance(outcome, RenderedDocument)
    assert outcome.truncated
    assert len(outcome.html) == LIMITS.document_bytes


def test_a_page_that_fills_the_memory_fails(tab: RenderThread) -> None:
    code = "setInterval(() => { for (let i = 0; i < 50; i++) document.body.append('x'.repeat(1e6) + i) }, 1)"
    assert tab.render(f"<p>text<script>{code}</script>") is None
    assert "<p>after" in tab.text("<p>after")


def test_a_navigation_by_script_is_a_redirect(tab: RenderThread) -> None:
    assert tab.render("<script>location.href = '../other#part'</script>") == ScriptRedirect("http://a.test/other")
    assert tab.render("<script>setTimeout(() => location.replace('http://b.test'), 50)</script>") == ScriptRedirect(
        "http://b.test/"
    )
    assert tab.requested == []


def test_pages_leave_nothing_behind_for_the_next_one(tab: RenderThread) -> None:
    tab.render("<script>localStorage.seen = sessionStorage.seen = 1; document.cookie = 'seen=1'</script>")
    code = "document.title = [localStorage.seen, sessionStorage.seen, document.cookie]"
    assert "<title>,,</title>" in tab.text(f"<p>text<script>{code}</script>")


def test_shadow_trees_are_read_and_links_stay_relative_to_the_address_that_is_shown(tab: RenderThread) -> None:
    code = "app.attachShadow({ mode: 'open' }).innerHTML = '<a href=next>next</a>'; history.pushState({}, '', '/x/y')"
    html = tab.text(f"<div id=app></div><script>{code}</script>")
    assert '<base href="http://a.test/x/y">' in html
    assert '<a href="next">next</a>' in html


def test_scripts_of_a_page_cannot_change_what_is_read(tab: RenderThread) -> None:
    code = (
        "Object.defineProperty(Element.prototype, 'outerHTML', { get: () => 'forged' });"
        "String.prototype.slice = () => 'forged'; Array.prototype.toJSON = () => 'forged'"
    )
    assert tab.text(f"<p>text<script>{code}</script>").startswith("<html><head></head><body><p>text")


def test_a_browser_that_crashes_is_replaced_and_the_page_counts_as_failed(tab: RenderThread) -> None:
    assert tab.text("<p>before")
    first, failed = tab.renderer.browser, tab.renderer.counts.n_failed
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: tab.renderer.browser == 0)
    assert "<p>after" in tab.text("<p>after")
    assert tab.renderer.browser not in (0, first)
    assert (tab.renderer.counts.problem, tab.renderer.counts.n_failed) == ("", failed)


def send_at_request(tab: RenderThread, number: int) -> int:
    """Send a signal to the browser when a page requests something, once."""
    browser = tab.renderer.browser
    assert browser is not None

    def send() -> None:
        tab.requests.on_request = lambda: None
        os.kill(browser, number)

    tab.requests.on_request = send
    return browser


def test_a_browser_that_is_killed_while_it_renders_fails_the_page_only(tab: RenderThread) -> None:
    assert tab.text("<p>before")
    send_at_request(tab, signal.SIGKILL)
    assert tab.render("<p>text<script src=/app.js></script>") is None
    assert "<p>after" in tab.text("<p>after")


def test_a_browser_that_hangs_is_killed_and_replaced(tab: RenderThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_process, "END_S", 1.0)
    assert tab.text("<p>before")
    browser = send_at_request(tab, signal.SIGSTOP)
    assert tab.render("<p>text<script src=/app.js></script>") is None
    assert "<p>after" in tab.text("<p>after")
    wait_until(lambda: not Path(f"/proc/{browser}").exists())


ENDLESS_UNLOAD = "<p>text<script>onbeforeunload = () => { for (;;) {} }</script>"


def takes(thread: RenderThread, url: str) -> bool:
    html = "<p>text<script></script>"
    return thread.renderer.takes(page(html, url), parse_html(html, url, WordScanner()))


def test_a_site_that_keeps_breaking_the_browser_is_not_rendered_and_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "MAX_STARTS", MAX_BROKEN + 1)
    with render_thread() as thread:
        for number in range(MAX_BROKEN):
            url = f"http://{number}.hostile.test/"
            assert takes(thread, url)
            assert "<p>text" in thread.text(ENDLESS_UNLOAD, url=url)
        assert "<p>after" in thread.text("<p>after")
        assert (takes(thread, "http://hostile.test/"), takes(thread, URL)) == (False, True)
        assert thread.renderer.counts.problem == ""


def test_a_browser_that_breaks_with_most_pages_turns_rendering_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "MAX_STARTS", 1)
    with render_thread() as thread:
        for _ in range(3):
            assert thread.text("<p>text")
        for _ in range(2):
            # The second start, after four pages, is not one too many; the third, after five, is.
            assert thread.text(ENDLESS_UNLOAD)
        assert thread.render("<p>text") is None
        assert thread.renderer.counts.problem
        assert not takes(thread, URL)


def test_a_browser_that_cannot_be_started_turns_rendering_off() -> None:
    with render_thread(path="/bin/false") as thread:
        assert [thread.render("<p>text"), thread.render("<p>text")] == [None, None]
        assert thread.renderer.counts.problem


def test_no_process_is_left_behind() -> None:
    with render_thread() as thread:
        thread.render("<p>text")
        browser = thread.renderer.browser
        options = Path(f"/proc/{browser}/cmdline").read_text().split("\0")
        (folder,) = (each.partition("=")[2] for each in options if each.startswith("--user-data-dir="))
        assert browser in processes_with(folder)
    wait_until(lambda: not processes_with(folder))
    wait_until(lambda: not Path(folder).parent.exists())
