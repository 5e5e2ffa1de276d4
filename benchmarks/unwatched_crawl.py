"""A live crawl that notes nothing for those who watch: what the notes cost is the difference to a usual one."""

from benchmarks import live_scenthound
from scenthound.drivers.live.moments import Moments


def _note_nothing(*_: object, **__: object) -> None:
    pass


def main() -> None:
    Moments.note = _note_nothing  # type: ignore[method-assign]
    live_scenthound.main()


if __name__ == "__main__":
    main()
