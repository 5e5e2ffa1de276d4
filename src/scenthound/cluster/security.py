"""Who may use a cluster: tokens, and ports that other machines can reach.

Rules
- Whoever can connect to a Ray cluster can run any program on it. Ray demands a token if it is started with
  `RAY_AUTH_MODE=token`; a cluster without one is refused, unless `SCENTHOUND_CLUSTER_WITHOUT_TOKEN` is 1.
- A token is where Ray looks for it: `RAY_AUTH_TOKEN`, the file `RAY_AUTH_TOKEN_PATH`, or `~/.ray/auth_token`. A file
  that other users can read is refused.
- The token of a local cluster is new, and is in the memory of its processes only.
"""

import os
import re
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path

from scenthound.errors import InvalidInput, printable

TOKEN_VARIABLE = "RAY_AUTH_TOKEN"
PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"
ALLOW_VARIABLE = "SCENTHOUND_CLUSTER_WITHOUT_TOKEN"
#: The state of a listening socket in /proc/net/tcp.
_LISTENING = "0A"
#: Loopback addresses there: 127.*, the same as IPv6, and ::1.
_LOOPBACK = re.compile(r"(0{16}FFFF0000)?[0-9A-F]{6}7F|0{24}01000000")


def default_token_file() -> Path:
    return Path.home() / ".ray" / "auth_token"


def token() -> str | None:
    """The token for clusters; None if there is none."""
    if from_environment := os.environ.get(TOKEN_VARIABLE, "").strip():
        return from_environment
    named = os.environ.get(PATH_VARIABLE)
    file = Path(named) if named else default_token_file()
    try:
        mode = file.stat().st_mode
        content = file.read_text("utf-8").strip()
    except FileNotFoundError:
        if named:
            raise InvalidInput(f"There is no file {printable(file)}, which {PATH_VARIABLE} names.") from None
        return None
    except (OSError, ValueError) as reason:
        raise InvalidInput(f"Cannot read the token in {printable(file)}: {printable(reason)}.") from None
    if mode & 0o077:
        raise InvalidInput(
            f"Other users can read the token in {printable(file)}: run `chmod 600 {printable(file)}`, and make a new "
            "token if somebody may have read it."
        )
    return content or None


def may_do_without_token() -> bool:
    return os.environ.get(ALLOW_VARIABLE) == "1"


def open_ports(pids: Iterable[int]) -> list[int]:
    """The TCP ports on which these processes listen for other machines; none where there is no /proc."""
    sockets = {socket for pid in pids for socket in _sockets(pid)}
    ports: set[int] = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            ports |= ports_beyond_loopback(Path("/proc/net", table).read_text(), sockets)
    return sorted(ports)


def ports_beyond_loopback(table: str, sockets: Container[str]) -> set[int]:
    """The ports on which sockets listen on other interfaces, from a table of the kernel."""
    found = set()
    for line in table.splitlines()[1:]:
        columns = line.split()
        address, _, port = columns[1].partition(":")
        if columns[3] == _LISTENING and columns[9] in sockets and not _LOOPBACK.fullmatch(address):
            found.add(int(port, 16))
    return found


def _sockets(pid: int) -> set[str]:
    """The inodes of the sockets that a process has open."""
    found = set()
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                target = os.readlink(entry.path)
                if target.startswith("socket:["):
                    found.add(target[len("socket:[") : -1])
    return found


def descendants(pid: int) -> list[int]:
    """A process and all that it has started, and their children."""
    found = [pid]
    with suppress(OSError):
        for task in os.scandir(f"/proc/{pid}/task"):
            children = Path(task.path, "children").read_text().split()
            found += [each for child in children for each in descendants(int(child))]
    return found
