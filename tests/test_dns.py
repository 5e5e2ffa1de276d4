"""DNS: hosts table, shared lookups, bounded cache, public addresses."""

import asyncio
import ipaddress
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidInput
from scenthound.reasons import SkipReason
from scenthound.web.dns import (
    MAX_ADDRESSES,
    Lookup,
    Resolved,
    SystemResolver,
    is_public,
    normalize_address,
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


# Public addresses


PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",  # just below the shared space
    "172.32.0.1",  # just above the private network
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",  # mapped
    "64:ff9b::808:808",  # NAT64 of 8.8.8.8
    "2002:808:808::1",  # 6to4 of 8.8.8.8
]

NOT_PUBLIC = {
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "this machine": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "shared by customers of one provider": ["100.64.0.1", "100.127.255.255"],
    "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0"],
    "site-local, given up": ["fec0::1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "broadcast and reserved": ["255.255.255.255", "240.0.0.1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"],
    "measurements": ["198.18.0.1", "198.19.255.255"],
    "protocol assignments": ["192.0.0.1", "192.88.99.1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1"],
    "compatible": ["::127.0.0.1", "::10.0.0.1"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "ISATAP": ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1"],
    "discarded": ["100::1"],
    "segment routing": ["5f00::1"],
    "no address": ["", "localhost", "256.1.1.1", "0x7f.1", "2130706433", "[::1]", "1.1.1.1:80"],
}


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(("kind", "address"), [(kind, one) for kind, all_ in NOT_PUBLIC.items() for one in all_])
def test_special_addresses_are_not_public(kind: str, address: str) -> None:
    assert not is_public(address), kind


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_as_public_as_by_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    sixtofour = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert {is_public(str(carrier)) for carrier in (mapped, nat64, sixtofour)} == {is_public(str(address))}


@given(st.text())
def test_any_text_is_accepted(text: str) -> None:
    assert is_public(text) in (True, False)


def test_addresses_are_normalized() -> None:
    assert normalize_address("2001:DB8:0:0::1") == normalize_address("2001:db8::1")
    assert normalize_address("no address") == "no address"
