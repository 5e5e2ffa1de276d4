"""The hosts that a crawl talks to, by numbers of their own.

A strategy knows hosts by the numbers of the URL table, in which only links count. A crawl also talks to hosts that it
was redirected to, so it numbers by name; both kinds of numbers are given out in order of first use.
"""

from scenthound.frontier.url_table import UrlTable
from scenthound.web.urls import host_of, registrable_domain


class Hosts:
    """Numbers for names, the domain of each host, and where its name was found to lead."""

    def __init__(self, table: UrlTable) -> None:
        self._table = table
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        self._domain: list[int] = []
        self._domain_numbers: dict[str, int] = {}
        #: By the strategy's number of a host.
        self._of_strategy: list[int] = []
        self._addresses: list[tuple[str, ...]] = []

    def __len__(self) -> int:
        return len(self._names)

    def of_url(self, url: str) -> int:
        return self._numbered(host_of(url))

    def find(self, name: str) -> int | None:
        """The number of a host that has one; to ask gives out none."""
        return self._number_of.get(name)

    def of_strategy(self, host: int) -> int:
        """The number of what the strategy calls host so-and-so."""
        known = self._of_strategy
        while host >= len(known):
            known.append(self._numbered(self._table.host(len(known))))
        return known[host]

    def domain(self, host: int) -> int:
        return self._domain[host]

    def addresses(self, host: int) -> tuple[str, ...]:
        """Empty as long as the name was not looked up."""
        return self._addresses[host]

    def set_addresses(self, host: int, addresses: tuple[str, ...]) -> None:
        self._addresses[host] = addresses

    def _numbered(self, name: str) -> int:
        number = self._number_of.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
            self._addresses.append(())
            domain = registrable_domain(name)
            self._domain.append(self._domain_numbers.setdefault(domain, len(self._domain_numbers)))
        return number
