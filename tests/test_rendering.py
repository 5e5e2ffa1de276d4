"""Which pages are rendered, and the spacing of requests: without a browser."""

import asyncio
from collections.abc import Callable

import pytest

from scenthound.crawler.host_gate import HostGate
from scenthound.crawler.rendering import (
    MAX_BROKEN,
    MAX_FRUITLESS,
    RECHECKED,
    Gain,
    RenderMemory,
    RenderMode,
    has_scripts,
    needs_rendering,
)
from scenthound.errors import UnknownName
from scenthound.text.tokenizer import WordScanner
from scenthound.web.browser_messages import MessageReader, frame
from scenthound.web.parse import parse_html
from timing import VirtualLoop

SHELL = "<title>A long title that is no text of the page</title><div id=app></div>"
SCRIPT = "<script src=app.js></script>"


def needs(html: str) -> bool:
    return needs_rendering(html.encode(), "utf-8", parse_html(html, "http://a.test/", WordScanner()))


def test_a_page_with_scripts_and_hardly_any_text_is_rendered() -> None:
    assert needs(f"{SHELL}{SCRIPT}")
    assert needs(f"{SHELL}{SCRIPT.upper()}<noscript>Enable JavaScript to use this app.</noscript>")
    assert not needs(SHELL)
    assert not has_scripts(b"<scripture>")


def test_a_page_is_rendered_if_it_has_less_than_200_characters_of_text() -> None:
    assert needs(f"{SHELL}{SCRIPT}<p>{'ab ' * 66}c")  # 199 characters
    assert not needs(f"{SHELL}{SCRIPT}<p>{'ab ' * 66}cd")
    # Many words in a script without spaces are few characters.
    assert needs(f"{SHELL}{SCRIPT}<p>{'日本語' * 60}")


@pytest.mark.parametrize(
    ("before", "after", "paid"),
    [
        ((0, 0), (0, 0), False),
        ((0, 0), (9, 0), False),
        ((0, 0), (10, 0), True),
        ((30, 0), (59, 0), False),
        ((30, 0), (60, 0), True),
        ((0, 0), (0, 1), True),
        ((50, 4), (50, 8), False),
        ((50, 4), (10, 9), True),
    ],
)
def test_rendering_pays_if_it_brings_twice_the_text_or_links(
    before: tuple[int, int], after: tuple[int, int], paid: bool
) -> None:
    assert Gain(before[0], after[0], before[1], after[1]).has_paid is paid


def test_a_page_of_which_nothing_is_left_is_empty() -> None:
    assert Gain(50, 0, 0, 0).is_empty
    assert Gain(0, 0, 3, 0).is_empty
    assert not Gain(50, 1, 0, 0).is_empty
    assert not Gain(50, 0, 0, 1).is_empty
    assert not Gain(0, 0, 0, 0).is_empty


def turns(memory: RenderMemory, n_pages: int, *, paid: bool) -> list[bool]:
    """Which of the next pages of a host are rendered."""
    taken = []
    for _ in range(n_pages):
        taken.append(memory.take_turn("a.test"))
        if taken[-1]:
            memory.note("a.test", paid=paid)
    return taken


def test_a_host_on_which_rendering_does_not_pay_is_rechecked_with_every_tenth_page() -> None:
    memory = RenderMemory()
    taken = turns(memory, MAX_FRUITLESS + 2 * RECHECKED, paid=False)
    assert taken == [True] * MAX_FRUITLESS + ([False] * (RECHECKED - 1) + [True]) * 2
    assert memory.take_turn("b.test")


def test_all_pages_of_a_host_are_rendered_again_once_it_pays() -> None:
    memory = RenderMemory()
    turns(memory, MAX_FRUITLESS + RECHECKED - 1, paid=False)
    assert all(turns(memory, 20, paid=True))


def test_a_checkpoint_has_what_was_learned_of_hosts() -> None:
    memory, restored = RenderMemory(), RenderMemory()
    turns(memory, MAX_FRUITLESS + 4, paid=False)
    restored.restore(memory.state())
    assert turns(restored, 12, paid=False) == turns(memory, 12, paid=False)


def note_tabs(memory: RenderMemory, n_pages: int, *, broken: bool) -> None:
    for number in range(n_pages):
        memory.note_tab(f"{number}.a.test", broken=broken)


def test_a_domain_whose_pages_keep_breaking_the_browser_is_not_rendered() -> None:
    memory, restored = RenderMemory(), RenderMemory()
    note_tabs(memory, MAX_BROKEN - 1, broken=True)
    assert not memory.breaks("a.test")
    note_tabs(memory, 1, broken=True)
    restored.restore(memory.state())
    assert [each.breaks("b.a.test") for each in (memory, restored)] == [True, True]
    assert not memory.breaks("b.test")


def test_a_domain_may_break_the_browser_with_a_tenth_of_its_pages() -> None:
    memory = RenderMemory()
    note_tabs(memory, 1, broken=True)
    note_tabs(memory, 27, broken=False)
    note_tabs(memory, 2, broken=True)
    assert not memory.breaks("a.test")
    note_tabs(memory, 1, broken=True)
    assert memory.breaks("a.test")


def test_an_unknown_mode_is_an_error() -> None:
    assert RenderMode.named("always") is RenderMode.ALWAYS
    with pytest.raises(UnknownName):
        RenderMode.named("sometimes")


def test_messages_are_read_in_any_pieces() -> None:
    sent = frame({"is": "rendered", "number": 1}, b"\0html") + frame({"is": "idle"})
    for size in (1, 7, len(sent)):
        reader, received = MessageReader(), []
        for start in range(0, len(sent), size):
            reader.add(sent[start : start + size])
            while (message := reader.next()) is not None:
                received.append(message)
        assert received == [({"is": "rendered", "number": 1}, b"\0html"), ({"is": "idle"}, b"")]


def gate_times(
    use: Callable[[HostGate, Callable[[str], Callable[[], None]]], None], address_delay_s: float
) -> dict[str, float]:
    """When requests through a gate start, in seconds. Each takes two seconds, and hosts have a delay of one."""
    loop = VirtualLoop()
    started: dict[str, float] = {}
    gate = HostGate(loop, loop.time, lambda host: 1.0, address_delay_s)

    def request(name: str) -> Callable[[], None]:
        def start() -> None:
            started[name] = loop.time() - 1_000
            loop.call_later(2.0, gate.done, name[0])

        return start

    async def run() -> None:
        use(gate, request)
        await asyncio.sleep(60)

    loop.run_until_complete(run())
    loop.close()
    return started


def test_requests_to_a_host_are_sent_one_at_a_time_a_delay_apart() -> None:
    def use(gate: HostGate, request: Callable[[str], Callable[[], None]]) -> None:
        for name in ("a1", "a2", "b1", "a3"):
            gate.request(name[0], f"address of {name[0]}", request(name))

    assert gate_times(use, 0.0) == {"a1": 0, "b1": 0, "a2": 3, "a3": 6}


def test_requests_to_hosts_of_one_address_start_apart() -> None:
    def use(gate: HostGate, request: Callable[[str], Callable[[], None]]) -> None:
        for name in ("a1", "b1", "c1"):
            gate.request(name[0], "127.0.0.1", request(name))

    assert gate_times(use, 0.25) == {"a1": 0, "b1": 0.25, "c1": 0.5}


def test_a_request_that_is_not_sent_costs_no_delay() -> None:
    def use(gate: HostGate, request: Callable[[str], Callable[[], None]]) -> None:
        gate.request("a", "", lambda: gate.done("a", is_sent=False))
        gate.request("a", "", request("a1"))

    assert gate_times(use, 0.0) == {"a1": 0}
