"""What libcurl's error codes mean to a crawl: a table.

Time-outs are not in it, because their one code says nothing of what was waited for; codes that are not listed are
answers that broke off in a way nobody foresaw.
"""

import pycurl

from scenthound.reasons import Reason

# Codes that pycurl has no name for.
_HTTP2_STREAM = 92
_TOO_LARGE = 100

REASONS: dict[int, Reason] = {
    # No connection. An address that libcurl cannot read, though our URL library could, is one nobody can connect to.
    pycurl.E_URL_MALFORMAT: Reason.CONNECT_FAILED,
    pycurl.E_COULDNT_RESOLVE_PROXY: Reason.CONNECT_FAILED,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT_FAILED,
    pycurl.E_INTERFACE_FAILED: Reason.CONNECT_FAILED,
    pycurl.E_OUT_OF_MEMORY: Reason.CONNECT_FAILED,
    # A name without addresses: libcurl is not let look it up.
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS_FAILED,
    pycurl.E_ABORTED_BY_CALLBACK: Reason.DNS_FAILED,
    # No trust.
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS_FAILED,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS_FAILED,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS_FAILED,
    pycurl.E_SSL_CIPHER: Reason.TLS_FAILED,
    pycurl.E_SSL_ENGINE_INITFAILED: Reason.TLS_FAILED,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS_FAILED,
    pycurl.E_SSL_SHUTDOWN_FAILED: Reason.TLS_FAILED,
    pycurl.E_SSL_CRL_BADFILE: Reason.TLS_FAILED,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS_FAILED,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS_FAILED,
    pycurl.E_USE_SSL_FAILED: Reason.TLS_FAILED,
    # A broken answer. A body without a head (HTTP/0.9) is an unsupported protocol to libcurl.
    pycurl.E_UNSUPPORTED_PROTOCOL: Reason.BROKEN_RESPONSE,
    pycurl.E_FTP_WEIRD_SERVER_REPLY: Reason.BROKEN_RESPONSE,
    pycurl.E_HTTP2: Reason.BROKEN_RESPONSE,
    _HTTP2_STREAM: Reason.BROKEN_RESPONSE,
    pycurl.E_PARTIAL_FILE: Reason.BROKEN_RESPONSE,
    pycurl.E_GOT_NOTHING: Reason.BROKEN_RESPONSE,
    pycurl.E_SEND_ERROR: Reason.BROKEN_RESPONSE,
    pycurl.E_RECV_ERROR: Reason.BROKEN_RESPONSE,
    pycurl.E_BAD_CONTENT_ENCODING: Reason.BROKEN_RESPONSE,
    # libcurl's own bound on headers, which counts if it is the narrower one.
    _TOO_LARGE: Reason.HEADERS_TOO_LARGE,
}


def reason_of(code: int) -> Reason:
    """The reason behind an error code other than that of a time-out."""
    return REASONS.get(code, Reason.BROKEN_RESPONSE)
