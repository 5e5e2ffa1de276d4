"""Who may use a cluster: tokens, and ports that other machines can reach.

Rules
- Whoever can connect to a Ray cluster can run any program on it. Ray demands a token if it is started with
  `RAY_AUTH_MODE=token`; a cluster without one is refused, unless `SCENTHOUND_CLUSTER_WITHOUT_TOKEN` is 1.
- A token is where Ray looks for it: `RAY_AUTH_TOKEN`, the file `RAY_AUTH_TOKEN_PATH`, or `~/.ray/auth_token`. A file
  that other users can read is refused.
- The token of a local cluster is new, and is in the memory of its processes only.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from scenthound.errors import InvalidInput, printable

TOKEN_VARIABLE = "RAY_AUTH_TOKEN"
PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"
ALLOW_VARIABLE = "SCENTHOUND_CLUSTER_WITHOUT_TOKEN"
#: The state of a listening socket in /proc/net/tcp.
_LISTENING = "0A"
_LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")


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
    ports = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path("/proc/net", table).read_text().splitlines()[1:]:
                columns = line.split()
                address, _, port = columns[1].partition(":")
                if columns[3] == _LISTENING and columns[9] in sockets and address not in _LOOPBACK:
                    ports.add(int(port, 16))
    return sorted(ports)


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
