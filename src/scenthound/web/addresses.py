"""IP addresses: which of them are public, that is, which a crawler may connect to.

The tables are those of IANA's special-purpose address registries, `REGISTRY_DATE`, rather than those of Python's
`ipaddress`, which differ from version to version.

Rules
- An IPv4 address is public unless a table has it: private, loopback, link-local, shared, documentation, benchmarking,
  multicast, reserved.
- An IPv6 address is public if it is global unicast, and in no table.
- An IPv6 address that embeds an IPv4 address (mapped, NAT64, 6to4, ISATAP) is public only if that is, because a gateway
  may lead to it. Prefixes of local NAT64 and Teredo are never needed to reach a server.
- The blocks for protocols are not public at all. The registries call a few anycast addresses in them globally
  reachable; these lead to the nearest gateway or relay, which may be in the same network.
- Clouds give virtual machines access to their own metadata, often with credentials. The addresses of these services are
  private, but for a few (`METADATA_SERVICES`).
"""

import functools
import ipaddress
from collections.abc import Iterator

#: When both registries were last changed.
REGISTRY_DATE = "2025-10-09"
_CACHED_ADDRESSES = 65_536

#: https://www.iana.org/assignments/iana-ipv4-special-registry/
SPECIAL_V4 = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private use",
    "100.64.0.0/10": "shared address space of providers",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private use",
    "192.0.0.0/24": "IETF protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relay anycast, deprecated",
    "192.168.0.0/16": "private use",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast, a registry of its own",
    "240.0.0.0/4": "reserved, and limited broadcast",
}
#: Addresses of virtual machines' hosts that are not in the registries.
METADATA_SERVICES = {
    "168.63.129.16/32": "Azure",
    "192.80.8.124/32": "Equinix Metal",
}
#: https://www.iana.org/assignments/ipv6-address-space/ has no other unicast addresses for the internet.
GLOBAL_UNICAST = "2000::/3"
#: https://www.iana.org/assignments/iana-ipv6-special-registry/, as far as it is global unicast.
SPECIAL_V6 = {
    "2001::/23": "IETF protocol assignments, with Teredo, benchmarking and ORCHID",
    "2001:db8::/32": "documentation",
    "3fff::/20": "documentation",
}
_NOT_PUBLIC_V4 = tuple(map(ipaddress.IPv4Network, (*SPECIAL_V4, *METADATA_SERVICES)))
_NOT_PUBLIC_V6 = tuple(map(ipaddress.IPv6Network, SPECIAL_V6))
_GLOBAL_UNICAST = ipaddress.IPv6Network(GLOBAL_UNICAST)
#: Prefixes, outside of global unicast, whose addresses are as public as the IPv4 addresses that they end with.
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
#: The third quarter of an ISATAP address (RFC 5214), with the universal bit and without it.
_ISATAP = (0x00005EFE, 0x02005EFE)
_MASK_32 = 0xFFFFFFFF


@functools.lru_cache(_CACHED_ADDRESSES)
def is_public(address: str) -> bool:
    """Whether an IP address, without brackets, is public; False for anything else."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return _is_public_v4(parsed) if isinstance(parsed, ipaddress.IPv4Address) else _is_public_v6(parsed)


@functools.lru_cache(_CACHED_ADDRESSES)
def is_address(text: str) -> bool:
    """Whether a text is an IP address, without brackets."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def normalize_address(address: str) -> str:
    """The standard spelling of an IP address; other text is returned unchanged."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address


def _is_public_v4(address: ipaddress.IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_V4)


def _is_public_v6(address: ipaddress.IPv6Address) -> bool:
    if address.scope_id is not None or not all(map(_is_public_v4, _embedded(address))):
        return False
    if address in _MAPPED or address in _NAT64:
        return True
    return address in _GLOBAL_UNICAST and not any(address in network for network in _NOT_PUBLIC_V6)


def _embedded(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address embeds."""
    number = int(address)
    if address in _SIX_TO_FOUR:
        yield ipaddress.IPv4Address(number >> 80 & _MASK_32)
    if address in _MAPPED or address in _NAT64 or number >> 32 & _MASK_32 in _ISATAP:
        yield ipaddress.IPv4Address(number & _MASK_32)
