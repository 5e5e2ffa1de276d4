"""Which IP addresses a crawler may talk to: those that anyone on the internet can reach, and no others.

Rules
- Public is what IANA's registries of special addresses call globally reachable, and unicast. Private networks, this
  machine, link-local and shared (CGNAT) addresses, documentation, multicast and broadcast are not.
- An IPv6 address that carries an IPv4 one (mapped, 6to4, NAT64, ISATAP) reaches that address through some
  gateway, so it is public only if that is. Teredo carries two and is never needed to reach a server.
- What is not an address is not public.
"""

import functools
import ipaddress

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
#: NAT64 within one network (RFC 8215), and what used to be site-local (RFC 3879), which old registries miss.
_NEVER = tuple(ipaddress.IPv6Network(network) for network in ("64:ff9b:1::/48", "fec0::/10", "2001::/32", "5f00::/16"))
#: Anycast relays of 6to4, given back in 2015 (RFC 7526).
_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")
_ISATAP = (0x00005EFE, 0x02005EFE)
_KEPT = 65_536


@functools.lru_cache(_KEPT)
def is_public(address: str) -> bool:
    """Whether an address in its usual spelling, without brackets, is one that anyone can reach."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return _public_v4(parsed) if isinstance(parsed, ipaddress.IPv4Address) else _public_v6(parsed)


def _public_v4(address: ipaddress.IPv4Address) -> bool:
    return address.is_global and not address.is_multicast and not address.is_reserved and address not in _RELAYS


def _public_v6(address: ipaddress.IPv6Address) -> bool:
    if address.scope_id is not None or any(address in network for network in _NEVER):
        return False
    carried = _carried(address)
    if carried is not None and not _public_v4(carried):
        return False
    if address.ipv4_mapped is not None or address in _NAT64:
        # Older registries call all of these special; what they carry has been looked at.
        return True
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to, if it leads to one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    number = int(address)
    interface = number >> 32 & 0xFFFFFFFF
    if address in _NAT64 or interface in _ISATAP:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


def same_address(address: str) -> str:
    """One spelling for all of an address, so that two can be compared; what is no address stays as it is."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address
