"""Access control: only those who know the token, and only from pages that the dashboard serves itself.

Rules
- Requests need the token: in a header, or as the cookie that a browser receives in exchange for the token in the
  printed URL, and is then redirected to the URL without it. If the dashboard is `open_to_all`, reading needs no token;
  changes always need it. Scripts and style sheets of the package need none, because they contain no data.
- The cookie is not the token, because browsers send cookies to all ports of a host. Tokens are compared in constant
  time.
- Pages of other sites must neither read nor change crawls, although the reader's browser can reach this port. Therefore
  the Host header must name this machine and port (after DNS rebinding it names another), and requests that a browser
  marks as cross-site are rejected, including those that only read. A change with the cookie must come from an own page.
- Every response has headers that restrict what a browser may run, load, frame or cache. There are no CORS headers.
- Request bodies are bounded before they are parsed, and incomplete ones are not.
"""

import hmac
import html
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scenthound.ui.dashboard.problems import is_api, plain_page, problem_response

MAX_BODY_BYTES = 10_000
TOKEN_HEADER = "x-scenthound-token"
#: In responses to requests without the token, so that pages know that they cannot make changes.
READ_ONLY_HEADER = "x-scenthound-read-only"
#: The query parameter of the printed URL.
TOKEN_PARAMETER = "token"
ASSETS_PATH = "/assets/"
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
_NO_TOKEN = "The token is missing: open the URL that the dashboard printed, or send the token in a header."
_WRONG_TOKEN = "The token is not valid. If the dashboard was restarted, open the new URL, which it printed."


class Token:
    """The token of a dashboard, and the cookie for it. `one_time` can be used instead of it once, in a URL: command
    lines, such as that of a browser, can be read by all users of a machine."""

    def __init__(self, value: str, port: int, one_time: str | None = None) -> None:
        self._value = value
        self._one_time = one_time
        self.cookie_name = f"scenthound-{port}"
        self._cookie = hmac.digest(value.encode(), b"cookie", "sha256").hex()

    def is_in_header(self, headers: Headers) -> bool:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        sent = [headers.get(TOKEN_HEADER, "")]
        if scheme.lower() in ("bearer", "token"):
            sent.append(credentials.strip())
        return any(_equal(each, self._value) for each in sent)

    def is_in(self, headers: Headers) -> bool:
        return self.is_in_header(headers) or any(_equal(each, self._cookie) for each in self._cookies(headers))

    def is_attempted(self, headers: Headers) -> bool:
        """Whether there is a token, valid or not."""
        return TOKEN_HEADER in headers or "authorization" in headers or bool(self._cookies(headers))

    def accept(self, value: str) -> bool:
        """Whether the value, from a URL, may be exchanged for the cookie."""
        if self._one_time is not None and _equal(value, self._one_time):
            self._one_time = None
            return True
        return _equal(value, self._value)

    @property
    def set_cookie(self) -> str:
        return f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    def _cookies(self, headers: Headers) -> list[str]:
        pairs = [each.strip().partition("=") for line in headers.getlist("cookie") for each in line.split(";")]
        return [value for name, _, value in pairs if name == self.cookie_name]


def _equal(sent: str, expected: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "replace"), expected.encode())


class Guard:
    """Middleware that rejects requests and adds headers to responses."""

    def __init__(self, app: ASGIApp, *, port: int, token: Token, open_to_all: bool = False) -> None:
        self._app = app
        self._hosts = own_hosts(port)
        self._origins = {f"http://{host}" for host in self._hosts}
        self._token = token
        self._open_to_all = open_to_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        response = self._response(scope, headers)
        if response is None and scope["method"] == "POST":
            body = await _bounded_body(receive)
            if body is None:
                return
            receive = _replayed(body, receive)
            if len(body) > MAX_BODY_BYTES:
                message = f"The request body is longer than {MAX_BODY_BYTES:,} bytes."
                response = problem_response(scope["path"], 413, message)
        added = HEADERS if self._token.is_in(headers) else {**HEADERS, READ_ONLY_HEADER: "1"}
        await (self._app if response is None else response)(scope, receive, _with_headers(send, added))

    def _response(self, scope: Scope, headers: Headers) -> Response | None:
        """The response to requests that do not reach the application."""
        method, path = scope["method"], scope["path"]
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == TOKEN_PARAMETER]
        others = [(name, value) for name, value in query if name != TOKEN_PARAMETER]
        try:
            self.check(method, headers)
            if method == "GET" and not is_api(path) and tokens:
                return self._exchanged(scope, tokens[-1], others)
            if method != "POST":
                self._check_reading(path, headers)
        except HTTPException as rejection:
            if rejection.status_code == 401:
                return _unauthorized(scope, rejection.detail, others)
            return problem_response(path, rejection.status_code, rejection.detail)
        return None

    def _exchanged(self, scope: Scope, token: str, query: list[tuple[str, str]]) -> Response:
        """The cookie for the token in the URL, and a redirect to the URL without it."""
        if not self._token.accept(token):
            raise HTTPException(401, _WRONG_TOKEN)
        # Browsers take what follows two slashes or backslashes for a host.
        path = "/" + quote(scope["path"].lstrip("/\\"), safe="/:@!$&'()*+,;=~")
        location = f"{path}?{urlencode(query)}" if query else path
        return RedirectResponse(location, 303, {"set-cookie": self._token.set_cookie})

    def check(self, method: str, headers: Headers) -> None:
        """HTTPException if the request is rejected whatever its path."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise HTTPException(421, "This is not the dashboard's address: open the URL that it printed.")
        is_foreign = any(origin not in self._origins for origin in headers.getlist("origin"))
        if is_foreign or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise HTTPException(403, "Cross-site request rejected: paste the URL that the dashboard printed.")
        if method == "POST":
            self._check_change(headers)
        elif method not in ("GET", "HEAD"):
            raise HTTPException(405, "Only GET, HEAD and POST are supported.")

    def _check_reading(self, path: str, headers: Headers) -> None:
        if not (self._open_to_all or path.startswith(ASSETS_PATH)):
            self._check_token(headers)

    def _check_change(self, headers: Headers) -> None:
        self._check_token(headers)
        # A foreign origin was rejected already. A cookie is sent by all pages, so the page must name itself.
        names_itself = "origin" in headers or headers.get("sec-fetch-site") == "same-origin"
        if not names_itself and not self._token.is_in_header(headers):
            raise HTTPException(403, "Changes with the cookie must come from a page of the dashboard.")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "Changes must be sent with Content-Type: application/json.")

    def _check_token(self, headers: Headers) -> None:
        if not self._token.is_in(headers):
            raise HTTPException(401, _WRONG_TOKEN if self._token.is_attempted(headers) else _NO_TOKEN)


def _unauthorized(scope: Scope, message: str, query: list[tuple[str, str]]) -> Response:
    """JSON for paths of the API, otherwise a page with a form that opens the same page with the token."""
    if is_api(scope["path"]):
        response = problem_response(scope["path"], 401, message)
    else:
        policy = POLICY.replace("form-action 'none'", "form-action 'self'")
        page = plain_page("Scenthound: token needed", _form(scope, message, query), kind="token-page")
        response = HTMLResponse(page, 401, {"content-security-policy": policy})
    response.headers["www-authenticate"] = 'Bearer realm="Scenthound dashboard"'
    return response


def _form(scope: Scope, message: str, query: list[tuple[str, str]]) -> str:
    kept = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">' for name, value in query
    )
    problem = f'<div class="box problem" role="alert"><p>{message}</p></div>' if message == _WRONG_TOKEN else ""
    host = html.escape(Headers(scope=scope)["host"])
    return f"""<h1>This dashboard needs its token</h1>{problem}
<p>Open the complete URL that <code>scenthound dashboard</code> printed in its terminal. It looks like this:</p>
<pre>http://{host}/?{TOKEN_PARAMETER}=…</pre>
<p>Or enter the part after <code>{TOKEN_PARAMETER}=</code> here:</p>
<form><label for="token">Token</label><input id="token" name="{TOKEN_PARAMETER}" type="password" required
autocomplete="off" autofocus>{kept}<button type="submit" class="press">Open</button></form>
<p class="note">This browser remembers it until it is closed.</p>"""


def own_hosts(port: int) -> set[str]:
    """The valid Host headers. Browsers omit port 80."""
    hosts = {f"{name}:{port}" for name in _HOST_NAMES}
    return hosts | set(_HOST_NAMES) if port == 80 else hosts


async def _bounded_body(receive: Receive) -> bytes | None:
    """Not all of it if it is too long; None if the client disconnected before its end."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY_BYTES or not message.get("more_body", False):
            return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives the body that was read already, then whatever follows."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send, added: dict[str, str]) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
