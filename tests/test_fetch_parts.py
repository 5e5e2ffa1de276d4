"""Parts of the fetcher: host pins, allowed addresses, libcurl's timer."""

import asyncio
from collections.abc import Callable

import certifi
import pytest

from scenthound.web.curl_fetcher import CurlTimer
from scenthound.web.curl_handle import CurlHandle, CurlSettings, HostPins, host_and_port
from scenthound.web.fetch import FetchLimits, Request
from timing import run_virtual


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://a.test/", "a.test:80"),
        ("https://a.test/b?c=http://d.test:1/", "a.test:443"),
        ("http://a.test:8080/", "a.test:8080"),
        ("http://user:pass@a.test/", "a.test:80"),
        ("http://user:pass@a.test:81/", "a.test:81"),
        ("http://[2001:db8::1]/", "[2001:db8::1]:80"),
        ("https://[2001:db8::1]:8443/", "[2001:db8::1]:8443"),
    ],
)
def test_host_and_port_of_a_url(url: str, authority: str) -> None:
    assert host_and_port(url) == authority


def test_a_host_is_pinned_with_each_request_and_released_after_its_last() -> None:
    pins = HostPins()
    assert pins.pin("a:80", ("192.0.2.1", "2001:db8::1")) == ["a:80:192.0.2.1,[2001:db8::1]"]
    assert pins.pin("a:80", ("192.0.2.1",)) == ["a:80:192.0.2.1"]
    pins.release("a:80")
    assert pins.pin("b:80", ("192.0.2.2",)) == ["b:80:192.0.2.2"]
    pins.release("a:80")
    pins.release("b:80")
    # Removals come first, so that a host can be removed and pinned again at once.
    assert pins.pin("a:80", ("192.0.2.3",)) == ["-a:80", "-b:80", "a:80:192.0.2.3"]


def test_a_host_without_addresses_is_not_pinned() -> None:
    assert HostPins().pin("a:80", ()) == []


@pytest.mark.parametrize("allow_private", [False, True])
def test_allowed_addresses(
    allow_private: bool,
) -> None:
    settings = CurlSettings(FetchLimits(), "test", None, allow_private, frozenset(["127.0.0.7"]), certifi.where())
    handle = CurlHandle(settings)
    addresses = ("93.184.216.34", "127.0.0.1", "127.0.0.7", "2606:4700:0::1111")
    handle.begin(Request("http://a.test/", addresses), lambda answer: None)
    assert [handle.may_connect(address) for address in addresses] == [True, allow_private, True, True]
    assert handle.may_connect("2606:4700::1111")
    assert not any(map(handle.may_connect, ("93.184.216.35", "127.0.0.2", "a.test", "")))
    handle.curl.close()


def calls_of(use: Callable[[CurlTimer], None], wait_s: float) -> list[float]:
    """When the timer went off, in seconds since it was used, on a made-up clock."""

    async def run() -> list[float]:
        loop = asyncio.get_running_loop()
        calls: list[float] = []
        timer = CurlTimer(loop, lambda: calls.append(loop.time()))
        started_s = loop.time()
        use(timer)
        assert calls == []
        await asyncio.sleep(wait_s)
        timer.close()
        return [call - started_s for call in calls]

    return list(run_virtual(run()))


def test_the_timer_fires_once_and_never_from_set_ms() -> None:
    assert calls_of(lambda timer: timer.set_ms(0), 1) == [0.0]
    assert calls_of(lambda timer: timer.set_ms(30), 1) == [pytest.approx(0.030)]


def test_a_postponed_timer_fires_at_the_later_time() -> None:
    def use(timer: CurlTimer) -> None:
        timer.set_ms(10)
        timer.set_ms(60)

    assert calls_of(use, 1) == [pytest.approx(0.060)]


def test_an_advanced_timer_fires_at_the_earlier_time() -> None:
    def use(timer: CurlTimer) -> None:
        timer.set_ms(5_000)
        timer.set_ms(20)

    assert calls_of(use, 10) == [pytest.approx(0.020)]


def test_a_cancelled_timer_does_not_fire() -> None:
    def use(timer: CurlTimer) -> None:
        timer.set_ms(10)
        timer.set_ms(-1)

    assert calls_of(use, 1) == []
