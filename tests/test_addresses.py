"""Public addresses: the registries, embedded addresses, clouds, and the tables of newer Python versions."""

import ipaddress
import json
import shutil
import subprocess
import sys
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.addresses import (
    GLOBAL_UNICAST,
    METADATA_SERVICES,
    SPECIAL_V4,
    SPECIAL_V6,
    is_address,
    is_public,
    normalize_address,
)

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",  # just below the shared space
    "172.32.0.1",  # just above the private network
    "168.63.129.15",  # beside that of Azure
    "192.0.1.0",
    "192.31.196.1",  # AS112, globally reachable
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:200::1",  # just above the protocol assignments
    "2620:4f:8000::1",  # AS112
    "3ffe:ffff::1",
    "3fff:1000::1",
    "::ffff:8.8.8.8",  # mapped
    "64:ff9b::808:808",  # NAT64 of 8.8.8.8
    "2002:808:808::1",  # 6to4 of 8.8.8.8
    "2606:4700::5efe:8.8.8.8",  # ISATAP
]

NOT_PUBLIC = {
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "this machine": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "shared by customers of one provider": ["100.64.0.1", "100.127.255.255"],
    "link-local": ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1"],
    "site-local, given up": ["fec0::1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "broadcast and reserved": ["255.255.255.255", "240.0.0.1", "4000::1", "8000::1", "fe00::1", "200::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1", "3fff:fff:ffff::1"],
    "benchmarking": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "protocol assignments": ["192.0.0.1", "192.0.0.8", "192.0.0.170", "192.0.0.255", "192.88.99.1", "2001:100::1"],
    "the nearest gateway or relay": ["192.0.0.9", "192.0.0.10", "2001:1::1", "2001:1::2", "2001:1::3", "2001:3::1"],
    "identifiers": ["2001:10::1", "2001:20::1", "2001:30::1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254"],
    "compatible and translated": ["::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "2002:a9fe:a9fe::1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::a83f:8110"],
    "NAT64 of a network": ["64:ff9b:1::1", "64:ff9b:1::808:808", "64:ff9b:1:fffe::808:808"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:808:808:0:0:f7f7:f7f7"],
    "ISATAP": ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "2002:808:808::5efe:10.0.0.1"],
    "discarded": ["100::1", "100:0:0:1::1"],
    "segment routing": ["5f00::1"],
    "AWS": ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fd00:ec2::23"],
    "Azure": ["168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::168.63.129.16", "2002:a83f:8110::1"],
    "Google": ["169.254.169.254", "fd20:ce::254"],
    "Oracle": ["192.0.0.192", "fd00:c1::a9fe:a9fe"],
    "Alibaba and Tencent": ["100.100.100.200", "100.88.222.5", "169.254.0.23"],
    "Equinix Metal": ["192.80.8.124"],
    "Scaleway and OpenStack": ["169.254.42.42", "fd00:42::42", "fe80::a9fe:a9fe"],
    "no address": ["", "localhost", "256.1.1.1", "0x7f.1", "2130706433", "[::1]", "1.1.1.1:80", "1.1.1.01"],
}


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(("kind", "address"), [(kind, one) for kind, all_ in NOT_PUBLIC.items() for one in all_])
def test_special_addresses_are_not_public(kind: str, address: str) -> None:
    assert not is_public(address), kind


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_as_public_as_by_itself(address: IPv4Address) -> None:
    number = int(address)
    mapped = IPv6Address((0xFFFF << 32) | number)
    nat64 = IPv6Address((0x64FF9B << 96) | number)
    sixtofour = IPv6Address((0x2002 << 112) | (number << 80))
    isatap = IPv6Address((0x26064700 << 96) | (0x5EFE << 32) | number)
    assert {is_public(str(carrier)) for carrier in (mapped, nat64, sixtofour, isatap)} == {is_public(str(address))}


@given(st.text())
def test_any_text_is_accepted(text: str) -> None:
    assert is_public(text) in (True, False)
    assert is_address(text) or not is_public(text)


def test_addresses_are_normalized() -> None:
    assert normalize_address("2001:DB8:0:0::1") == normalize_address("2001:db8::1")
    assert normalize_address("no address") == "no address"


# The tables of newer Python versions: what the main branch of CPython calls not global, and exceptions to that.

NOT_GLOBAL = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"),
    *("::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    *("fc00::/7", "fe80::/10"),
]
GLOBAL_EXCEPTIONS = [
    *("192.0.0.9/32", "192.0.0.10/32"),
    *("2001:1::1/128", "2001:1::2/128", "2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28"),
]
#: Global there and not public here: multicast, old relays, clouds, the exceptions above, all that is not unicast, and
#: the prefix for documentation, which was added last.
STRICTER = [*GLOBAL_EXCEPTIONS, "224.0.0.0/4", "192.88.99.0/24", *METADATA_SERVICES, "3fff::/20"]
NETWORKS = [*map(ipaddress.ip_network, (*NOT_GLOBAL, *STRICTER, *SPECIAL_V4, *SPECIAL_V6, GLOBAL_UNICAST))]
CARRIERS = [IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"), IPv6Network("2002::/16")]


def is_in(address: IPv4Address | IPv6Address, networks: list[str]) -> bool:
    return any(address in ipaddress.ip_network(network) for network in networks)


def is_global(address: IPv4Address | IPv6Address) -> bool:
    """As newer Python versions have it."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return is_global(address.ipv4_mapped)
    return not is_in(address, NOT_GLOBAL) or is_in(address, GLOBAL_EXCEPTIONS)


def expected(address: IPv4Address | IPv6Address, *, global_there: bool) -> bool:
    """Whether an address is public, given what Python says."""
    if isinstance(address, IPv4Address):
        return global_there and not is_in(address, STRICTER)
    number = int(address)
    if address.sixtofour is not None:
        return is_public(str(address.sixtofour))
    if address in CARRIERS[0] or address.ipv4_mapped is not None:
        return is_public(str(IPv4Address(number & 0xFFFFFFFF)))
    return global_there and address in IPv6Network(GLOBAL_UNICAST) and not is_in(address, STRICTER)


def edges(network: IPv4Network | IPv6Network) -> list[IPv4Address | IPv6Address]:
    """The first and the last address of a network, and those beside it."""
    first, last = int(network.network_address), int(network.broadcast_address)
    kind = type(network.network_address)
    numbers = (first - 1, first, first + 1, last - 1, last, last + 1)
    return [kind(number) for number in numbers if 0 <= number < 1 << network.max_prefixlen]


def samples() -> list[IPv4Address | IPv6Address]:
    found = [address for network in (*NETWORKS, *CARRIERS) for address in edges(network)]
    embedded = [int(address) for address in found if isinstance(address, IPv4Address)]
    return [
        *found,
        *(IPv6Address((0xFFFF << 32) | number) for number in embedded),
        *(IPv6Address((0x64FF9B << 96) | number) for number in embedded),
        *(IPv6Address((0x2002 << 112) | (number << 80) | 1) for number in embedded),
    ]


def test_edges_of_all_networks_are_as_public_as_in_newer_python_versions() -> None:
    wrong = [
        str(address)
        for address in samples()
        if is_public(str(address)) != expected(address, global_there=is_global(address))
    ]
    assert wrong == []


@given(st.sampled_from(NETWORKS).flatmap(lambda network: st.ip_addresses(network=network)) | st.ip_addresses())
def test_addresses_are_as_public_as_in_newer_python_versions(address: IPv4Address | IPv6Address) -> None:
    # ISATAP is by the interface, in any network.
    if address.version == 4 or int(address) >> 32 & 0xFDFFFFFF != 0x5EFE:
        assert is_public(str(address)) == expected(address, global_there=is_global(address))


ASK = (
    "import ipaddress, json, sys; print(json.dumps([ipaddress.ip_address(a).is_global for a in json.load(sys.stdin)]))"
)


def answers(python: str, addresses: list[str]) -> list[bool] | None:
    """None if it cannot be started, as a shim of a version manager whose version is not selected."""
    done = subprocess.run(
        [python, "-I", "-c", ASK], input=json.dumps(addresses), capture_output=True, text=True, check=False, timeout=60
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def newer_pythons() -> list[str]:
    """This Python and others, in the path or beside it, whose tables were corrected (3.12.4, 3.13 and newer)."""
    named = (shutil.which(f"python3.{minor}") for minor in range(12, 20))
    beside = sorted(map(str, Path(sys.base_prefix).parent.glob("*/bin/python3.1[2-9]")))
    pythons = dict.fromkeys([sys.executable, *(path for path in named if path is not None), *beside])
    corrected = ["192.0.0.192", "64:ff9b:1::1"]
    return [python for python in pythons if answers(python, corrected) == [False, False]]


def test_installed_newer_python_versions_agree() -> None:
    pythons = newer_pythons()
    if not pythons:
        pytest.skip("no Python with corrected tables (3.12.4, 3.13 or newer) is installed")
    addresses = samples()
    for python in pythons:
        there = answers(python, [str(address) for address in addresses])
        assert there is not None
        pairs = zip(addresses, there, strict=True)
        wrong = [
            str(address) for address, each in pairs if is_public(str(address)) != expected(address, global_there=each)
        ]
        assert wrong == [], python
