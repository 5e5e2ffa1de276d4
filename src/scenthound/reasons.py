"""Why a page was skipped, and why a crawl ended.

The codes are stored in crawl folders and printed in summaries, so they are stable.
"""

from enum import StrEnum
from typing import Self


class SkipReason(StrEnum):
    """A code; `text` describes it in a few words."""

    text: str

    def __new__(cls, code: str, text: str = "") -> Self:
        member = str.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member

    # Decided before a request was made.
    REPEATED = "already-visited", "already visited under another URL"
    ROBOTS = "robots", "disallowed by robots.txt"
    ROBOTS_UNREACHABLE = "robots-unreachable", "robots.txt unreachable"
    HOST_BUDGET = "host-budget", "host page limit reached"
    DOMAIN_BUDGET = "domain-budget", "domain page limit reached"
    HOST_DISABLED = "host-disabled", "host disabled after repeated failures"
    TRAP_PATH = "trap-path", "crawler trap: repeating path"
    TRAP_CALENDAR = "trap-calendar", "crawler trap: endless calendar"
    TRAP_SESSION = "trap-session", "crawler trap: session ID"
    TRAP_QUERY = "trap-query", "crawler trap: endless queries"
    NOT_RECORDED = "not-recorded", "not in the recording"
    MAX_DEPTH = "max-depth", "further from the seeds than the maximum depth"
    SITEMAP_ELSEWHERE = "sitemap-elsewhere", "sitemap on a third host"
    OTHER_SHARD = "other-shard", "on a host of another shard"
    SITEMAP_REPEATED = "sitemap-repeated", "sitemap read often enough for other hosts"

    # The request failed.
    DNS_NOT_FOUND = "dns-not-found", "host not found"
    DNS_FAILED = "dns-failed", "DNS lookup failed"
    ADDRESS_FORBIDDEN = "address-forbidden", "IP address not public"
    PROXY_FAILED = "proxy-failed", "proxy failed"
    PROXY_REFUSED = "proxy-refused", "refused by the proxy"
    TOO_MANY_FILES = "too-many-open-files", "too many open files"
    CONNECT_FAILED = "connect-failed", "connection failed"
    CONNECT_TIMEOUT = "connect-timeout", "connection timed out"
    TLS_FAILED = "tls-failed", "TLS certificate invalid"
    HEADERS_TIMEOUT = "headers-timeout", "response headers timed out"
    HEADERS_TOO_LARGE = "headers-too-large", "response headers too large"
    BODY_TIMEOUT = "body-timeout", "response body timed out"
    PROTOCOL_ERROR = "http-protocol-error", "HTTP protocol error"
    BAD_CONTENT_ENCODING = "content-encoding-error", "response body cannot be decompressed"
    COMPRESSION_BOMB = "compression-bomb", "compression bomb"

    # The response was not a page.
    REDIRECT_LOOP = "redirect-loop", "too many redirects"
    HANDED_ON = "handed-on", "redirects to a page of another shard"
    REDIRECT_FORBIDDEN = "redirect-forbidden", "redirect to a forbidden URL"
    OUT_OF_SCOPE = "out-of-scope", "URL out of scope"
    CLIENT_ERROR = "client-error", "client error (4xx)"
    SERVER_ERROR = "server-error", "server error (5xx)"
    RATE_LIMITED = "rate-limited", "too many requests (429/503)"
    UNEXPECTED_STATUS = "unexpected-status", "unexpected HTTP status"
    NOT_HTML = "not-html", "not HTML"
    EMPTY_PAGE = "empty-page", "empty page"

    # The page was rejected. Crawls of version 0.8 may have `PARSE_TIMEOUT`.
    PARSE_TIMEOUT = "parse-timeout", "parsing timed out"
    PARSE_FAILED = "parse-failed", "parsing failed"
    NEAR_DUPLICATE = "near-duplicate", "near-duplicate of a visited page"
    SOFT_404 = "soft-404", "soft 404 page"


class EndReason(StrEnum):
    """Why a simulated or live crawl ended, as it is printed."""

    BUDGET = "page budget reached"
    FRONTIER = "frontier empty"
    TIME = "time limit reached"
    HARVEST = "harvest below the floor"
    RECALL = "estimated recall reached"
    STOPPED = "stopped by the user"
    PROXY = "proxy failed"
    FILES = "too many open files"
