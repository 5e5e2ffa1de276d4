"""Access control: only pages that the dashboard serves itself may use it.

Rules
- Pages of other sites must neither read nor change crawls, although the reader's browser can reach this port. Therefore
  the Host header must name this machine and port (after DNS rebinding it names another), and requests that a browser
  marks as cross-site are rejected, including those that only read.
- Changes need the token, which is in the fragment of the printed URL and therefore never sent by itself.
- Every response has headers that restrict what a browser may run, load, frame or cache. There are no CORS headers.
- Request bodies are bounded before they are parsed.
"""

import hmac
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scenthound.ui.dashboard.problems import problem_response

MAX_BODY_BYTES = 10_000
TOKEN_HEADER = "x-scenthound-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: Added to responses that do not set them.
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_HOST_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Rejection:
    status: int
    message: str


class Guard:
    """Middleware that rejects requests and adds headers to responses."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._hosts = own_hosts(port)
        self._origins = {f"http://{host}" for host in self._hosts}
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":
            return
        rejection = self.check(scope["method"], Headers(scope=scope))
        body = None
        if rejection is None and scope["method"] == "POST":
            body = await _bounded_body(receive)
            if body is None:
                rejection = Rejection(413, f"The request body is longer than {MAX_BODY_BYTES:,} bytes.")
        send_with_headers = _with_headers(send)
        if rejection is not None:
            response = problem_response(scope["path"], rejection.status, rejection.message)
            await response(scope, receive, send_with_headers)
            return
        await self._app(scope, receive if body is None else _replayed(body, receive), send_with_headers)

    def check(self, method: str, headers: Headers) -> Rejection | None:
        """Why the request is rejected; None if it is not."""
        rejection = self._check_origin(headers)
        if rejection is None and method == "POST":
            return self._check_change(headers)
        if rejection is None and method not in ("GET", "HEAD"):
            return Rejection(405, "Only GET, HEAD and POST are supported.")
        return rejection

    def _check_origin(self, headers: Headers) -> Rejection | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Rejection(421, "This is not the dashboard's address: open the URL that it printed.")
        is_foreign = any(origin not in self._origins for origin in headers.getlist("origin"))
        if is_foreign or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Rejection(403, "Cross-site request rejected: open the URL that the dashboard printed.")
        return None

    def _check_change(self, headers: Headers) -> Rejection | None:
        token = headers.get(TOKEN_HEADER, "").encode("latin-1", "replace")
        if not hmac.compare_digest(token, self._token):
            return Rejection(403, "Changes need the token: open the URL that the dashboard printed.")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return Rejection(415, "Changes must be sent with Content-Type: application/json.")
        return None


def own_hosts(port: int) -> set[str]:
    """The valid Host headers. Browsers omit port 80."""
    hosts = {f"{name}:{port}" for name in _HOST_NAMES}
    return hosts | set(_HOST_NAMES) if port == 80 else hosts


async def _bounded_body(receive: Receive) -> bytes | None:
    """None if it is too long."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives the body that was read already, then whatever follows."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
