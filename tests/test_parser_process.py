"""Guarded parsing: equal results in both processes, timeouts, crashes and limits."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

from scenthound.errors import PluginError
from scenthound.reasons import SkipReason
from scenthound.text.tokenizer import WordScanner
from scenthound.web import parser_process as guarded_parser
from scenthound.web.parse import parse_html
from scenthound.web.parser_process import GuardedParser, PageToParse, ParserProcess, _parse_page
from timing import WAIT_S, until, wait_until

URL = "http://balloons.test/news/"
PAGES = [
    b"<title>Balloons</title><p>Hot air <a href=race>balloon races</a> and <a rel=nofollow href=/b>more</a>",
    "<meta name=robots content=noindex><p>Ein heißer Ballon, ein Luftballon; hot balloon".encode("latin-1"),
    b"",
    b"<p>" + b"balloon basket zeppelin " * 20_000,
]
#: Takes more than half a second, and is always given up after some milliseconds.
SLOW = b"<b><i><p>word" * 150_000


@pytest.fixture
def make_parser():
    made = []

    def make(scanner=None, timeout_s=WAIT_S, **settings):
        made.append(GuardedParser(scanner or WordScanner(), agent="scenthound", timeout_s=timeout_s, **settings))
        return made[-1]

    yield make
    for parser in made:
        parser.close()


def assert_same(page, expected):
    for field in fields(expected):
        assert np.array_equal(getattr(page, field.name), getattr(expected, field.name)), field.name


def run(main, loop_kind="asyncio"):
    """Run a coroutine on an event loop of this kind."""
    uvloop = pytest.importorskip("uvloop") if loop_kind == "uvloop" else None
    with asyncio.Runner(loop_factory=uvloop.new_event_loop if uvloop else None) as runner:
        return runner.run(asyncio.wait_for(main, WAIT_S))


each_kind_of_loop = pytest.mark.parametrize("loop_kind", ["asyncio", "uvloop"])


async def results(parser, pages):
    """The results of pages that are started at once, in the order of delivery."""
    delivered, done = [], asyncio.Event()

    def on_done(number, result):
        delivered.append((number, result))
        if len(delivered) == len(pages):
            done.set()

    for number, html in enumerate(pages):
        parser.start(html, URL, None, lambda result, number=number: on_done(number, result))
    await done.wait()
    return delivered


@each_kind_of_loop
def test_pages_parsed_in_the_child_have_the_same_words_and_numbers(make_parser, loop_kind):
    here, there = WordScanner(), WordScanner()
    delivered = run(results(make_parser(there, inline_bytes=-1), PAGES), loop_kind)
    assert [number for number, _ in delivered] == [0, 1, 2, 3]
    for (_, page), html in zip(delivered, PAGES, strict=True):
        assert_same(page, parse_html(html, URL, here, agent="scenthound"))
    assert there.stems_from(0) == here.stems_from(0)


def test_parse_now_returns_the_same(make_parser):
    here, there = WordScanner(), WordScanner()
    parser = make_parser(there, inline_bytes=-1)
    for html in PAGES:
        assert_same(parser.parse_now(html, URL, None), parse_html(html, URL, here, agent="scenthound"))
    assert there.stems_from(0) == here.stems_from(0)


def test_charset_and_agent_are_passed_to_the_child(make_parser):
    html = "<meta name=Scenthound content=nofollow><title>\u0436</title>".encode("koi8-r")
    page = make_parser(inline_bytes=-1).parse_now(html, URL, "koi8-r")
    assert page.title == "\u0436"
    assert page.nofollow


def test_a_parser_can_be_used_with_and_without_loops(make_parser):
    parser = make_parser(inline_bytes=10)
    pages = [parser.parse_now(PAGES[0], URL, None)]
    pages += [result for _, result in run(results(parser, [PAGES[0], PAGES[0]]))]
    pages += [result for _, result in run(results(parser, [PAGES[0]]))]
    pages += [parser.parse_now(PAGES[0], URL, None)]
    assert [page.title for page in pages] == ["Balloons"] * 5

    async def both_at_once():
        parser.start(PAGES[0], URL, None, pages.append)
        with pytest.raises(PluginError, match="parse_now"):
            parser.parse_now(PAGES[0], URL, None)

    run(both_at_once())


def test_small_pages_number_their_words_before_a_pending_large_one(make_parser):
    scanner = WordScanner()
    parser = make_parser(scanner, inline_bytes=20)
    delivered = run(results(parser, [b"<p>large balloon and basket", b"<p>small"]))
    assert [number for number, _ in delivered] == [1, 0]
    assert scanner.stems_from(0) == ["", "small", "larg", "balloon", "basket"]


def test_no_process_is_started_for_small_pages(make_parser):
    parser = make_parser()
    parser.parse_now(PAGES[0], URL, None)
    assert parser._process is None


@each_kind_of_loop
def test_a_slow_page_times_out_and_the_next_ones_are_parsed(make_parser, loop_kind):
    parser = make_parser(timeout_s=0.01, inline_bytes=10)

    async def slow_and_others():
        delivered = await results(parser, [SLOW, SLOW, b"<p>small"])
        parser._timeout_s = WAIT_S
        return delivered + await results(parser, [PAGES[0]])

    delivered = run(slow_and_others(), loop_kind)
    assert [result for _, result in delivered[1:3]] == [SkipReason.PARSE_TIMEOUT] * 2
    assert delivered[3][1].title == "Balloons"


def test_slow_pages_time_out_in_parse_now(make_parser):
    parser = make_parser(timeout_s=0.01, inline_bytes=10)
    assert parser.parse_now(SLOW, URL, None) == SkipReason.PARSE_TIMEOUT
    parser._timeout_s = WAIT_S
    assert parser.parse_now(PAGES[0], URL, None).title == "Balloons"


def test_a_page_that_crashes_the_child_fails_and_the_next_ones_are_parsed(make_parser):
    parser = make_parser(inline_bytes=10)

    async def deaths():
        # Once while it starts, and once while it has nothing to do.
        asyncio.get_running_loop().call_soon(kill)
        delivered = await results(parser, [PAGES[0], PAGES[1]])
        kill()
        await until(lambda: parser._process is None)
        return delivered + await results(parser, [PAGES[3]])

    def kill():
        parser._process._process.kill()

    first, second, third = (result for _, result in run(deaths()))
    assert first == SkipReason.PARSE_FAILED
    assert second.noindex
    assert len(third.words) == 60_000


def test_parse_now_survives_a_crash_of_the_child(make_parser):
    parser = make_parser(inline_bytes=10)
    assert parser.parse_now(PAGES[0], URL, None).title == "Balloons"
    os.kill(parser._process._process.pid, signal.SIGKILL)
    assert parser.parse_now(PAGES[0], URL, None) == SkipReason.PARSE_FAILED
    assert parser.parse_now(PAGES[0], URL, None).title == "Balloons"


def test_an_error_in_parsing_is_parse_failed(make_parser, monkeypatch):
    def broken(*_arguments, **_settings):
        raise RecursionError

    monkeypatch.setattr(guarded_parser, "parse_html", broken)
    assert make_parser().parse_now(b"<p>", URL, None) == SkipReason.PARSE_FAILED
    # The child cannot be patched, so an invalid URL is used there.
    assert _parse_page(PageToParse(b"<p>", None, None, "", 1.0)) == SkipReason.PARSE_FAILED
    parser = make_parser(inline_bytes=-1)
    assert parser.parse_now(b"<p>", None, None) == SkipReason.PARSE_FAILED
    assert parser.parse_now(b"<title>next", URL, None).title == "next"


def test_a_child_that_cannot_be_started_fails_only_its_page(make_parser, monkeypatch):
    parser = make_parser(inline_bytes=10)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nowhere/python")
        assert [result for _, result in run(results(parser, PAGES[:2]))] == [SkipReason.PARSE_FAILED] * 2
        assert parser.parse_now(PAGES[0], URL, None) == SkipReason.PARSE_FAILED
    assert parser.parse_now(PAGES[0], URL, None).title == "Balloons"


@each_kind_of_loop
def test_after_close_no_callback_is_called_and_no_process_is_left(make_parser, loop_kind):
    parser, delivered = make_parser(inline_bytes=10), []

    async def closed_early():
        for html in (SLOW, PAGES[0]):
            parser.start(html, URL, None, delivered.append)
        await asyncio.sleep(0.05)
        process = parser._process._process
        parser.close()
        # Pending pages are not parsed later either.
        await results(parser, [PAGES[1]])
        return process

    assert run(closed_early(), loop_kind).returncode == -signal.SIGKILL
    assert delivered == []


def test_the_memory_of_the_child_is_limited():
    code = (
        "from scenthound.web import parser_process as p; p.limit_memory(p.MEMORY_BYTES)\n"
        "try: bytearray(p.MEMORY_BYTES)\n"
        "except MemoryError: print('held')"
    )
    if not sys.platform.startswith("linux"):
        pytest.skip("the limit on data is kept by Linux")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert ran.stdout == "held\n"


def test_the_child_ends_when_the_crawl_is_killed():
    code = (
        "import time; from scenthound.web.parser_process import ParserProcess\n"
        "process = ParserProcess(60.0); process.receive_some()\n"
        "print(process._process.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as crawl:
        pid = int(crawl.stdout.readline())
        crawl.kill()
    wait_until(lambda: not _is_running(pid), "the end of the process")


def test_the_child_ends_itself_after_the_timeout():
    process = ParserProcess(60.0)
    try:
        process.receive_some()
        process.queue_page(PageToParse(SLOW, URL, None, "", timeout_s=-4.99))
        while not process.send_some():
            pass
        with pytest.raises((EOFError, ConnectionResetError)):
            process.receive_some()
        assert process._process.wait(WAIT_S) == -signal.SIGALRM
    finally:
        process.end()


def _is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
