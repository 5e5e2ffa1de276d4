"""DNS: hosts table, shared lookups, bounded cache."""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from scenthound.errors import InvalidInput
from scenthound.reasons import SkipReason
from scenthound.web.dns import (
    MAX_ADDRESSES,
    Lookup,
    Resolved,
    SystemResolver,
    read_hosts,
    system_lookup,
)
from scenthound.web.fetch import NotFetched
from timing import WAIT_S, SkippingLoop, skip, until

Result = Resolved | NotFetched


class NameServer:
    """A name server that knows the given hosts and counts lookups."""

    def __init__(self, **addresses: list[str]) -> None:
        self._addresses = addresses
        self.lookups: Counter[str] = Counter()

    def __call__(self, host: str) -> list[str]:
        self.lookups[host] += 1
        name = host.partition(".")[0]
        if name not in self._addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return self._addresses[name]


def with_resolver(use: Callable[[SystemResolver], Awaitable[None]], lookup: Lookup, **settings: float) -> None:
    async def run() -> None:
        resolver = SystemResolver(asyncio.get_running_loop(), {"fixed.test": "127.1.2.3"}, lookup=lookup, **settings)
        try:
            await use(resolver)
        finally:
            resolver.close()

    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        runner.run(run())


async def resolve(resolver: SystemResolver, host: str) -> Result:
    result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
    resolver.start(host, result.set_result)
    return await asyncio.wait_for(result, WAIT_S)


def reason(result: Result) -> SkipReason:
    assert isinstance(result, NotFetched)
    return result.reason


def test_the_table_comes_first_and_addresses_resolve_to_themselves() -> None:
    names = NameServer()

    async def use(resolver: SystemResolver) -> None:
        assert await resolve(resolver, "fixed.test") == Resolved(("127.1.2.3",))
        assert await resolve(resolver, "192.0.2.7") == Resolved(("192.0.2.7",))
        assert await resolve(resolver, "[2001:db8::1]") == Resolved(("2001:db8::1",))

    with_resolver(use, names)
    assert not names.lookups


def test_the_callback_is_never_called_from_start() -> None:
    async def use(resolver: SystemResolver) -> None:
        calls: list[Result] = []
        resolver.start("fixed.test", calls.append)
        resolver.start("a.test", calls.append)
        assert calls == []
        await until(lambda: len(calls) == 2)

    with_resolver(use, NameServer(a=["192.0.2.1"]))


def test_a_forgotten_host_is_looked_up_again() -> None:
    addresses = ["192.0.2.1"]
    names = NameServer(a=addresses)

    async def use(resolver: SystemResolver) -> None:
        assert await resolve(resolver, "a.test") == Resolved(("192.0.2.1",))
        addresses[0] = "192.0.2.2"
        assert await resolve(resolver, "a.test") == Resolved(("192.0.2.1",))
        resolver.forget("a.test")
        assert await resolve(resolver, "a.test") == Resolved(("192.0.2.2",))
        assert await resolve(resolver, "a.test") == Resolved(("192.0.2.2",))
        resolver.forget("fixed.test")
        assert await resolve(resolver, "fixed.test") == Resolved(("127.1.2.3",))

    with_resolver(use, names)
    assert names.lookups == {"a.test": 2}


def test_forgetting_a_host_does_not_cancel_its_lookup() -> None:
    async def use(resolver: SystemResolver) -> None:
        waiting = asyncio.ensure_future(resolve(resolver, "a.test"))
        await asyncio.sleep(0)
        resolver.forget("a.test")
        assert await waiting == Resolved(("192.0.2.1",))

    with_resolver(use, NameServer(a=["192.0.2.1"]))


def test_concurrent_requests_share_a_lookup_and_later_ones_use_the_cache() -> None:
    names = NameServer(a=["192.0.2.1", "2001:db8::1", "192.0.2.1"])

    async def use(resolver: SystemResolver) -> None:
        results = await asyncio.gather(*(resolve(resolver, "a.test") for _ in range(50)))
        assert set(results) == {Resolved(("192.0.2.1", "2001:db8::1"))}
        assert await resolve(resolver, "a.test") == results[0]

    with_resolver(use, names)
    assert names.lookups == {"a.test": 1}


def test_a_nonexistent_host_is_cached() -> None:
    names = NameServer(empty=[])

    async def use(resolver: SystemResolver) -> None:
        for _ in range(2):
            assert reason(await resolve(resolver, "none.test")) is SkipReason.DNS_NOT_FOUND
        assert reason(await resolve(resolver, "empty.test")) is SkipReason.DNS_NOT_FOUND

    with_resolver(use, names)
    assert names.lookups == {"none.test": 1, "empty.test": 1}


def test_a_failed_lookup_is_not_cached() -> None:
    lookups: Counter[str] = Counter()

    def lookup(host: str) -> list[str]:
        lookups[host] += 1
        if lookups[host] == 1:
            raise socket.gaierror(socket.EAI_AGAIN, "later")
        return ["192.0.2.1"]

    async def use(resolver: SystemResolver) -> None:
        assert reason(await resolve(resolver, "a.test")) is SkipReason.DNS_FAILED
        assert await resolve(resolver, "a.test") == Resolved(("192.0.2.1",))

    with_resolver(use, lookup)


def test_cached_results_expire() -> None:
    names = NameServer(a=["192.0.2.1"])

    async def use(resolver: SystemResolver) -> None:
        for wait_s, n_lookups in ((0, 1), (800, 1), (300, 2)):
            skip(wait_s)
            await resolve(resolver, "a.test")
            assert names.lookups["a.test"] == n_lookups

    with_resolver(use, names, lifetime_s=1_000)


def test_the_size_of_the_cache_is_limited() -> None:
    names = NameServer(a=["192.0.2.1"], b=["192.0.2.2"], c=["192.0.2.3"])

    async def use(resolver: SystemResolver) -> None:
        for host in ("a.test", "b.test", "c.test", "c.test", "b.test", "a.test"):
            await resolve(resolver, host)

    with_resolver(use, names, max_cached=2)
    # The third result replaced the first, which was looked up again.
    assert names.lookups == {"a.test": 2, "b.test": 1, "c.test": 1}


def test_a_slow_lookup_times_out_and_its_late_result_is_ignored() -> None:
    lookups, release, finished = threading.Event(), threading.Event(), threading.Event()

    def lookup(host: str) -> list[str]:
        lookups.set()
        release.wait(WAIT_S)
        finished.set()
        return ["192.0.2.1"]

    async def use(resolver: SystemResolver) -> None:
        calls: list[Result] = []
        resolver.start("slow.test", calls.append)
        await until(lookups.is_set)
        skip(990)
        await asyncio.sleep(0.01)
        assert calls == []
        skip(10)
        await until(lambda: calls)
        release.set()
        await until(finished.is_set)
        await asyncio.sleep(0.05)
        assert [reason(call) for call in calls] == [SkipReason.DNS_FAILED]

    with_resolver(use, lookup, timeout_s=1_000)


def test_no_callback_is_called_after_close() -> None:
    calls: list[Result] = []
    lookups, release, finished = threading.Event(), threading.Event(), threading.Event()

    def lookup(host: str) -> list[str]:
        lookups.set()
        release.wait(WAIT_S)
        finished.set()
        return ["192.0.2.1"]

    async def use(resolver: SystemResolver) -> None:
        resolver.start("a.test", calls.append)
        await until(lookups.is_set)
        resolver.close()
        release.set()
        await until(finished.is_set)
        await asyncio.sleep(0.05)

    with_resolver(use, lookup)
    assert calls == []


def test_impossible_names_are_not_found() -> None:
    async def use(resolver: SystemResolver) -> None:
        for host in ("a..test", "x" * 64 + ".test"):
            assert reason(await resolve(resolver, host)) is SkipReason.DNS_NOT_FOUND

    with_resolver(use, system_lookup)


def test_the_number_of_addresses_of_a_host_is_limited() -> None:
    many = [f"192.0.2.{number}" for number in range(256)]

    async def use(resolver: SystemResolver) -> None:
        assert await resolve(resolver, "many.test") == Resolved(tuple(many[:MAX_ADDRESSES]))

    with_resolver(use, NameServer(many=many))


def test_in_a_hosts_file_the_first_line_wins(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# comment\n\n127.0.0.2  A.test b.test # more\n::1 c.test\n127.0.0.3 a.test\n")
    assert read_hosts(path) == {"a.test": "127.0.0.2", "b.test": "127.0.0.2", "c.test": "::1"}


@pytest.mark.parametrize("line", ["a.test 127.0.0.1", "127.0.0.1", "999.0.0.1 a.test"])
def test_an_invalid_line_of_a_hosts_file_is_reported_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"127.0.0.1 fine.test\n{line}\n")
    with pytest.raises(InvalidInput, match="hosts, line 2") as caught:
        read_hosts(path)
    assert "\n" not in str(caught.value)


def test_a_binary_hosts_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="UTF-8"):
        read_hosts(path)
