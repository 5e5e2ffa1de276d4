"""Who may talk to the dashboard: the pages that it serves itself, and nobody else.

Rules
- A page of another site must not read crawls or change them, though its reader's browser can reach this port. So the
  Host header has to name this machine and this port (a name that was rebound to 127.0.0.1 names another), and requests
  that a browser marks as coming from elsewhere are refused, those that only read included.
- A change needs the token, which stands in the address that was printed, behind `#`, and so is never sent by itself.
- Every answer has the headers that forbid a browser to run, load, frame or keep what it should not. No answer ever has
  a CORS header.
- What is sent to us is read up to a bound, before anything looks at it.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scenthound.ui.dashboard.problems import problem_response

MOST_BODY_BYTES = 10_000
TOKEN_HEADER = "x-scenthound-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: Put into every answer that does not say otherwise itself.
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is not answered, and with which status."""

    status: int
    says: str


class Guard:
    """Stands before the application, and lets through what may be answered."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._hosts = own_hosts(port)
        self._origins = {f"http://{host}" for host in self._hosts}
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # A websocket is closed before it is open; there is no other use for one here.
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refused = self.refuses(scope["method"], headers)
        body = None
        if refused is None and scope["method"] == "POST":
            body = await _bounded_body(receive)
            if body is None:
                refused = Refused(413, f"What was sent is longer than {MOST_BODY_BYTES:,} bytes.")
        guarded = _with_headers(send)
        if refused is not None:
            answer = problem_response(scope["path"], refused.status, refused.says)
            await answer(scope, receive, guarded)
            return
        await self._app(scope, receive if body is None else _replayed(body, receive), guarded)

    def refuses(self, method: str, headers: Headers) -> Refused | None:
        """Why the request is not let through; None if it is."""
        return self._foreign(headers) or (self._unchangeable(headers) if method == "POST" else _unknown(method))

    def _foreign(self, headers: Headers) -> Refused | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Refused(421, "This address is not the dashboard's own: open the one that it printed.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Refused(403, "Another site asked for this: open the dashboard by the address that it printed.")
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return Refused(403, "Another site asked for this, and is not answered.")
        return None

    def _unchangeable(self, headers: Headers) -> Refused | None:
        token = headers.get(TOKEN_HEADER, "").encode("latin-1", "replace")
        if not hmac.compare_digest(token, self._token):
            return Refused(403, "Changes need the token: open the dashboard by the address that it printed.")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return Refused(415, "Changes are sent as JSON: say Content-Type: application/json.")
        return None


def own_hosts(port: int) -> set[str]:
    """What a Host header may be. A browser leaves out the port 80."""
    named = {f"{name}:{port}" for name in _NAMES}
    return named | set(_NAMES) if port == 80 else named


def _unknown(method: str) -> Refused | None:
    return None if method in ("GET", "HEAD") else Refused(405, "The dashboard answers GET, HEAD and POST.")


async def _bounded_body(receive: Receive) -> bytes | None:
    """What was sent; None if it is too long."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the application what was read already, and then whatever comes."""
    messages: Iterable[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> Message:
        for message in messages:
            return message
        return await receive()

    return replay


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
