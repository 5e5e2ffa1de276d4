"""Why a page was not taken: one code for every way in which a crawl can go without a page.

A crawl tells the code to its user, counts it in its summary and keeps it in its folder, so codes are stable words.
"""

from enum import StrEnum


class SkipReason(StrEnum):
    """A code; `told` says it in a few words for people."""

    told: str

    def __new__(cls, code: str, told: str) -> "SkipReason":
        member = str.__new__(cls, code)
        member._value_ = code
        member.told = told
        return member

    # What was decided before a request was made.
    REPEATED = "repeated", "had already, under another address"
    ROBOTS = "robots", "robots.txt asks to stay away"
    ROBOTS_UNREACHABLE = "robots-unreachable", "robots.txt could not be had, which means to stay away"
    HOST_BUDGET = "host-budget", "as many pages of the host as the crawl may take"
    DOMAIN_BUDGET = "domain-budget", "as many pages of the domain as the crawl may take"
    HOST_DISABLED = "host-retired", "the host failed too often, or asks for too long a rest"
    TRAP_PATH = "trap-path", "the path repeats itself"
    TRAP_CALENDAR = "trap-calendar", "one of endlessly many dates"
    TRAP_SESSION = "trap-session", "the address carries a session"
    TRAP_QUERY = "trap-query", "one of very many queries to one page"
    NOT_RECORDED = "not-recorded", "not in the recording, and fetching is off"

    # What stopped the request.
    DNS_NOT_FOUND = "dns-not-found", "no such host"
    DNS_FAILED = "dns-failed", "the name could not be looked up"
    ADDRESS_FORBIDDEN = "address-forbidden", "the host is at an address that is not public"
    CONNECT_FAILED = "connect-failed", "no connection"
    CONNECT_TIMEOUT = "connect-timeout", "no connection in time"
    TLS_FAILED = "tls-failed", "the host could not prove who it is"
    HEADERS_TIMEOUT = "headers-timeout", "no headers in time"
    HEADERS_TOO_LARGE = "headers-too-large", "headers without end"
    BODY_TIMEOUT = "body-timeout", "the body did not end in time"
    PROTOCOL_ERROR = "broken-response", "an answer that breaks the rules of HTTP, or off in the middle"
    BAD_CONTENT_ENCODING = "bad-coding", "a body that cannot be decompressed"
    COMPRESSION_BOMB = "compression-bomb", "a body that swells too much when decompressed"

    # What the answer was.
    REDIRECT_LOOP = "redirect-loop", "redirects that lead nowhere"
    REDIRECT_FORBIDDEN = "redirect-forbidden", "a redirect to what no crawler may follow"
    CLIENT_ERROR = "client-error", "the host has no such page, or does not give it (4xx)"
    SERVER_ERROR = "server-error", "the host failed (5xx)"
    RATE_LIMITED = "rate-limited", "the host asked to come later, too often (429, 503)"
    UNEXPECTED_STATUS = "odd-status", "a status that is neither a page nor a redirect nor an error"
    NOT_HTML = "not-html", "no HTML"

    # What the page was.
    PARSE_TIMEOUT = "parse-timeout", "a page that takes too long to read"
    PARSE_FAILED = "parse-failed", "a page that cannot be read"
    NEAR_DUPLICATE = "near-duplicate", "nearly the same as a page that was taken"
    SOFT_404 = "soft-404", "a page that says there is no page"


#: Reasons by their codes.
SKIP_REASONS = {reason.value: reason for reason in SkipReason}


# Why a crawl came to its end, simulated or live.


class EndReason(StrEnum):
    """Said to people as it stands."""

    BUDGET = "page budget reached"
    FRONTIER = "frontier empty"
    TIME = "time is up"
    HARVEST = "harvest below the floor"
    STOPPED = "stopped by the user"
