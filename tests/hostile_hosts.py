"""Hostile cases of hosts: redirects, errors, robots.txt, other protocols, failed connections, invalid TLS."""

import gzip
from collections.abc import Callable

from hostile_cases import HOST, PAGE, PAGE_FETCHED, Handler, Outcome, Wire, case, response_bytes
from scenthound.reasons import SkipReason

#: Where a redirect must never lead.
FORBIDDEN_TARGETS = {
    "to-file": "file:///etc/passwd",
    "to-script": "javascript:alert(1)",
    "to-data": "data:text/html,hello",
    "to-ftp": "ftp://hostile.test/",
    "to-gopher": "gopher://hostile.test:25/_HELO",
    "to-garbage": "http://[not an address",
    "to-nothing": "",
}
#: Addresses that a crawler must not connect to, in several spellings.
PRIVATE_TARGETS = {
    "to-this-machine": "http://127.0.0.1:1/",
    "to-hex": "http://0x7f.1:1/",
    "to-number": "http://2130706433:1/",
    "to-mapped": "http://[::ffff:127.0.0.1]:1/",
    "to-private": "http://10.0.0.1/",
    "to-metadata": "http://169.254.169.254/latest/meta-data/",
    "to-zero": "http://0.0.0.0:1/",
}


def _redirect_case(name: str, target: str, description: str, crawled: SkipReason) -> None:
    @case(f"redirect-{name}", f"a redirect to {description}", PAGE_FETCHED, crawled=crawled)
    async def _redirect(wire: Wire) -> None:
        await wire.respond(b"", "302 Found", Location=target)


for _name, _target in FORBIDDEN_TARGETS.items():
    _redirect_case(_name, _target, repr(_target), SkipReason.REDIRECT_FORBIDDEN)
for _name, _target in PRIVATE_TARGETS.items():
    _redirect_case(_name, _target, _target, SkipReason.ADDRESS_FORBIDDEN)


@case("redirect-loop", "a redirect to itself", PAGE_FETCHED, crawled=SkipReason.REDIRECT_LOOP)
async def _redirect_loop(wire: Wire) -> None:
    await wire.respond(b"", "301 Moved Permanently", Location="/redirect-loop")


@case("redirect-circle", "two redirects to each other", PAGE_FETCHED, crawled=SkipReason.REDIRECT_LOOP)
async def _redirect_circle(wire: Wire) -> None:
    await wire.respond(b"", "302 Found", Location="/redirect-circle-back")


@case("redirect-circle-back", "the other of the two redirects", PAGE_FETCHED, crawled=SkipReason.REDIRECT_LOOP)
async def _redirect_circle_back(wire: Wire) -> None:
    await wire.respond(b"", "302 Found", Location="/redirect-circle")


@case("redirect-chain", "redirects to ever new URLs", PAGE_FETCHED, crawled=SkipReason.REDIRECT_LOOP)
async def _redirect_chain(wire: Wire) -> None:
    step = int(wire.path.partition("?")[2] or 0)
    await wire.respond(b"", "302 Found", Location=f"/redirect-chain?{step + 1}")


@case("redirect-without-location", "302 without Location", PAGE_FETCHED, crawled=SkipReason.REDIRECT_FORBIDDEN)
async def _redirect_without_location(wire: Wire) -> None:
    await wire.respond(b"", "302 Found")


@case("redirect-bomb", "a redirect with an endless body", PAGE_FETCHED, crawled=PAGE_FETCHED)
async def _redirect_bomb(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 302 Found\r\nLocation: /page\r\n\r\n")
    await wire.flood(b"redirect" * 5_000)


@case("not-found", "404", PAGE_FETCHED, crawled=SkipReason.CLIENT_ERROR)
async def _not_found(wire: Wire) -> None:
    await wire.respond(status="404 Not Found")


@case("server-error", "500", PAGE_FETCHED, crawled=SkipReason.SERVER_ERROR)
async def _server_error(wire: Wire) -> None:
    await wire.respond(status="500 Internal Server Error")


def _storm_case(name: str, status: str, retry_after: str | None) -> None:
    host = f"{name}.{HOST}"

    @case(name, f"{status} for every request", PAGE_FETCHED, crawled=SkipReason.RATE_LIMITED, host=host, path="/storm")
    async def _storm(wire: Wire) -> None:
        headers = {} if retry_after is None else {"Retry_After": retry_after}
        await wire.respond(status=status, **headers)


_storm_case("storm-429", "429 Too Many Requests", "1")
_storm_case("storm-429-bare", "429 Too Many Requests", None)
_storm_case("storm-429-century", "429 Too Many Requests", "3155760000")
_storm_case("storm-503", "503 Service Unavailable", "Fri, 31 Dec 1999 23:59:59 GMT")
_storm_case("storm-503-garbage", "503 Service Unavailable", "soon")


def _robots_case(name: str, description: str, fetched: Outcome, crawled: Outcome) -> Callable[[Handler], Handler]:
    return case(name, description, fetched, crawled=crawled, host=f"{name}.{HOST}", path="/robots.txt", html_only=False)


@_robots_case("robots-slow", "a robots.txt sent byte by byte", SkipReason.BODY_TIMEOUT, SkipReason.ROBOTS_UNREACHABLE)
async def _robots_slow(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    await wire.trickle(b"User-agent: *\nDisallow: /\n" * 1_000)


@_robots_case("robots-huge", "an endless robots.txt: truncated", PAGE_FETCHED, PAGE_FETCHED)
async def _robots_huge(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\n")
    await wire.flood(b"Disallow: /private\n" * 1_000)


@_robots_case("robots-html", "a robots.txt that is HTML", PAGE_FETCHED, PAGE_FETCHED)
async def _robots_html(wire: Wire) -> None:
    await wire.respond()


@_robots_case("robots-5xx", "a robots.txt that fails with 500", PAGE_FETCHED, SkipReason.ROBOTS_UNREACHABLE)
async def _robots_5xx(wire: Wire) -> None:
    await wire.respond(status="500 Internal Server Error")


@_robots_case("robots-loop", "a robots.txt that redirects to itself", PAGE_FETCHED, PAGE_FETCHED)
async def _robots_loop(wire: Wire) -> None:
    await wire.respond(b"", "302 Found", Location="/robots.txt")


@_robots_case(
    "robots-never", "a robots.txt without a response", SkipReason.HEADERS_TIMEOUT, SkipReason.ROBOTS_UNREACHABLE
)
async def _robots_never(wire: Wire) -> None:
    await wire.hold()


@_robots_case("robots-nuls", "a robots.txt of NULs", PAGE_FETCHED, PAGE_FETCHED)
async def _robots_nuls(wire: Wire) -> None:
    await wire.respond(bytes(10_000), Content_Type="text/plain")


#: A tag and ten million blanks, in 10 KB.
SLOW_SITEMAP = gzip.compress(b"<urlset><url><loc>" + b" " * 10_000_000 + b">")


@_robots_case("robots-sitemap", "a robots.txt with a sitemap of ten million blanks", PAGE_FETCHED, PAGE_FETCHED)
async def _robots_sitemap(wire: Wire) -> None:
    if wire.path.endswith("?sitemap"):
        await wire.respond(SLOW_SITEMAP, Content_Type="application/gzip")
    else:
        await wire.respond(b"Sitemap: /robots.txt?sitemap\n", Content_Type="text/plain")


@case("early-response", "a response before the request: accepted", PAGE_FETCHED, listener="early")
async def _early_response(wire: Wire) -> None:
    await wire.send(response_bytes())
    # Closed with unread bytes, the connection would be reset.
    await wire.reader.readuntil(b"\r\n\r\n")


@case("ssh", "an SSH server", SkipReason.PROTOCOL_ERROR, crawled=SkipReason.ROBOTS_UNREACHABLE, listener="ssh")
async def _ssh(wire: Wire) -> None:
    await wire.send(b"SSH-2.0-OpenSSH_9.2p1\r\n")
    await wire.hold()


@case(
    "closes-on-connect",
    "a connection that is closed at once",
    SkipReason.PROTOCOL_ERROR,
    crawled=SkipReason.ROBOTS_UNREACHABLE,
    listener="closing",
)
async def _closes_on_connect(wire: Wire) -> None:
    wire.writer.close()


@case("closed-port", "a closed port", SkipReason.CONNECT_FAILED, listener="closed")
async def _closed_port(wire: Wire) -> None:
    raise AssertionError("no listener")


@case("never-accepts", "a full accept queue", SkipReason.CONNECT_TIMEOUT, listener="full")
async def _never_accepts(wire: Wire) -> None:
    raise AssertionError("no accepted connection")


def _name_case(name: str, description: str, fetched: SkipReason) -> None:
    @case(name, description, fetched, listener="name", host=f"{name}.invalid", path="/page")
    async def _unreachable(wire: Wire) -> None:
        raise AssertionError("no address, no connection")


_name_case("dns-no-such-host", "a name that does not exist", SkipReason.DNS_NOT_FOUND)
_name_case("dns-fails", "a name server that fails", SkipReason.DNS_FAILED)
_name_case("dns-slow", "a name server that does not respond in time", SkipReason.DNS_FAILED)


def _tls_case(name: str, description: str, fetched: Outcome, host: str = HOST) -> None:
    @case(name, description, fetched, listener=name, host=host, path="/page")
    async def _tls(wire: Wire) -> None:
        await wire.respond(PAGE)


_tls_case("tls", "a valid host", PAGE_FETCHED)
_tls_case("tls-self-signed", "a self-signed certificate", SkipReason.TLS_FAILED)
_tls_case("tls-expired", "an expired certificate", SkipReason.TLS_FAILED)
_tls_case("tls-other-host", "the certificate of another host", SkipReason.TLS_FAILED)
_tls_case("tls-plain", "plain HTTP on a TLS port", SkipReason.TLS_FAILED)
_tls_case("tls-silent", "a host without a TLS handshake", SkipReason.CONNECT_TIMEOUT)
