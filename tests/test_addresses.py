"""Public addresses, and one of each kind that is not public."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.dns import is_public, normalize_address

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",  # just below the shared space
    "172.32.0.1",  # just above the private network
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",  # mapped
    "64:ff9b::808:808",  # NAT64 of 8.8.8.8
    "2002:808:808::1",  # 6to4 of 8.8.8.8
]

NOT_PUBLIC = {
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "this machine": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "shared by customers of one provider": ["100.64.0.1", "100.127.255.255"],
    "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0"],
    "site-local, given up": ["fec0::1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "broadcast and reserved": ["255.255.255.255", "240.0.0.1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"],
    "measurements": ["198.18.0.1", "198.19.255.255"],
    "protocol assignments": ["192.0.0.1", "192.88.99.1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1"],
    "compatible": ["::127.0.0.1", "::10.0.0.1"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "ISATAP": ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1"],
    "discarded": ["100::1"],
    "segment routing": ["5f00::1"],
    "no address": ["", "localhost", "256.1.1.1", "0x7f.1", "2130706433", "[::1]", "1.1.1.1:80"],
}


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(("kind", "address"), [(kind, one) for kind, all_ in NOT_PUBLIC.items() for one in all_])
def test_special_addresses_are_not_public(kind: str, address: str) -> None:
    assert not is_public(address), kind


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_as_public_as_by_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    sixtofour = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert {is_public(str(carrier)) for carrier in (mapped, nat64, sixtofour)} == {is_public(str(address))}


@given(st.text())
def test_any_text_is_accepted(text: str) -> None:
    assert is_public(text) in (True, False)


def test_addresses_are_normalized() -> None:
    assert normalize_address("2001:DB8:0:0::1") == normalize_address("2001:db8::1")
    assert normalize_address("no address") == "no address"
