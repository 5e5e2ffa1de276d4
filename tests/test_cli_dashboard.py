"""`scenthound dashboard`: what its help says."""

from collections.abc import Callable


def test_the_help_describes_folders_and_port(
    scenthound: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, _ = scenthound("dashboard", "--help")
    assert code == 0
    told = " ".join(out.replace("│", " ").split())
    assert "scenthound dashboard [OPTIONS] [DIR]..." in told
    assert "[default: (.)]" in told
    assert "[default: (8787, or the next free)]" in told
