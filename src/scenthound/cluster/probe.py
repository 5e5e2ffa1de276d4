"""A question to the head node of a Ray cluster before Ray connects: is it there, and does it accept a token.

Ray itself needs 20 seconds to say that nobody answers or that the token is wrong. Its services are gRPC: requests over
HTTP/2, here with an empty message.
"""

import pycurl

from scenthound.errors import Failure, InvalidParameter, printable

#: How long an answer may take.
TIMEOUT_S = 2.0
#: Status codes of gRPC.
OK, UNAUTHENTICATED = 0, 16


def accepts(address: str, token: str | None) -> bool:
    """Whether the head node at an address, `host:port`, accepts requests with this token; None: without one."""
    status = -1

    def on_header(line: bytes) -> None:
        nonlocal status
        name, _, value = line.partition(b":")
        if name.lower() == b"grpc-status":
            status = int(value)

    headers = ["content-type: application/grpc", "te: trailers", "expect:"]
    if token is not None:
        headers.append(f"authorization: Bearer {token}")
    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, f"http://{address}/ray.rpc.NodeInfoGcsService/GetClusterId")
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.TIMEOUT_MS, round(1000 * TIMEOUT_S))
        curl.setopt(pycurl.HTTPHEADER, headers)
        curl.setopt(pycurl.POSTFIELDS, bytes(5))
        curl.setopt(pycurl.HEADERFUNCTION, on_header)
        curl.setopt(pycurl.WRITEFUNCTION, len)
        curl.perform()
    except pycurl.error as error:
        raise _unreachable(address, error.args[0]) from None
    finally:
        curl.close()
    if status < 0:
        raise _unreachable(address, pycurl.E_RECV_ERROR)
    if status not in (OK, UNAUTHENTICATED):
        raise Failure(f"The Ray cluster at {printable(address)} does not answer: gRPC status {status}.")
    return status == OK


def _unreachable(address: str, code: int) -> InvalidParameter:
    if code == pycurl.E_COULDNT_RESOLVE_HOST:
        what = "no machine of that name is known."
    elif code in (pycurl.E_COULDNT_CONNECT, pycurl.E_OPERATION_TIMEDOUT):
        what = "nobody answers there. Start a Ray cluster with `ray start --head`, or check host and port (6379)."
    else:
        what = "what answers there is no Ray cluster. Give the port of `ray start --head`, usually 6379."
    return InvalidParameter(f"--cluster {printable(address)}: {what}")
