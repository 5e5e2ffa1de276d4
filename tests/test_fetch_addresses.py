"""Connections go to the addresses of the request only, and to private ones only if allowed."""

import pytest

from fetching import PATIENT, fetched
from hostile_cases import PAGE
from page_server import ADDRESS, PageServer, not_fetched, page, response, with_server
from scenthound.reasons import SkipReason
from scenthound.web import curl_fetcher
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.curl_handle import HostPins
from scenthound.web.fetch import Request


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        assert response(await fetched(fetcher, page(server))).content == PAGE

    with_server(use)


def test_connections_go_to_the_addresses_of_the_request() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        for host in ("name.test", "name.test."):
            request = Request(server.url("/", host), ("127.0.0.1",))
            assert response(await fetched(fetcher, request)).address == "127.0.0.1"
        assert f"Host: name.test:{server.port}" in server.heads[0]

    with_server(use)


def test_one_reachable_address_is_enough() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        request = Request(server.url("/", "name.test"), ("::1", "127.0.0.2", "127.0.0.1"))
        assert response(await fetched(fetcher, request)).address == "127.0.0.1"

    with_server(use)


def test_new_addresses_are_used_and_missing_ones_not_resolved() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        url = server.url("/", "localhost")
        assert not_fetched(await fetched(fetcher, Request(url, ()))).reason is SkipReason.DNS_FAILED
        assert not_fetched(await fetched(fetcher, Request(url, ("127.0.0.2",)))).reason is SkipReason.CONNECT_FAILED
        assert response(await fetched(fetcher, Request(url, ("127.0.0.1",)))).address == "127.0.0.1"

    with_server(use)


def test_hosts_are_pinned_only_during_their_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: set[str] = set()

    class Watched(HostPins):
        def pin(self, authority: str, addresses: tuple[str, ...]) -> list[str]:
            entries = super().pin(authority, addresses)
            pinned.difference_update(one[1:] for one in entries if one.startswith("-"))
            pinned.update(one.rpartition(":")[0] for one in entries if not one.startswith("-"))
            return entries

    monkeypatch.setattr(curl_fetcher, "HostPins", Watched)

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        for number in range(5):
            response(await fetched(fetcher, Request(server.url("/", f"name{number}.test"), (ADDRESS,))))
        assert pinned == {f"name4.test:{server.port}"}

    with_server(use)


def test_a_host_may_be_an_address() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        # Nobody listens on 127.0.0.2, and the request does not allow 127.0.0.1.
        result = not_fetched(await fetched(fetcher, Request(server.url(), ("127.0.0.2",))))
        assert result.reason in (SkipReason.CONNECT_FAILED, SkipReason.ADDRESS_FORBIDDEN)
        assert server.connections == []

    with_server(use)


def test_private_addresses_are_rejected_unless_allowed() -> None:
    async def use(_: CurlFetcher, server: PageServer) -> None:
        strict = CurlFetcher(PATIENT, user_agent="test")
        result = not_fetched(await fetched(strict, Request(server.url("/", "public.test"), ("127.0.0.1",))))
        assert result.reason is SkipReason.ADDRESS_FORBIDDEN
        assert "127.0.0.1" in result.detail
        assert server.connections == []
        strict.close()
        lenient = CurlFetcher(PATIENT, user_agent="test", also_allowed=["127.0.0.1"])
        assert response(await fetched(lenient, page(server))).status == 200
        lenient.close()

    with_server(use)
