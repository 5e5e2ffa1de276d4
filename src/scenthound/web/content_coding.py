"""Bodies decoded as they come in: gzip, deflate, br and zstd, one in another, within bounds.

Rules
- Codings are undone in the reverse of the order in which they were applied (RFC 9110, 8.4). Names that nobody knows
  ("none", "utf-8", ...) are passed over, as browsers do: what carries them is mostly plain.
- The content is cut at `most_bytes`. No stage before it takes more than that and a slack, and none hands on more than
  `STEP_BYTES` at a time: a bomb costs no more memory than the limits allow, and what it would have come to is never
  known.
- A body is a bomb when a stage has given more than `expansion` times what was put in, and at least `FLOOR_BYTES` (or
  all that is allowed, if that is less). A megabyte is more than nearly every page, so that small ones of one repeated
  line, which compress as well as any bomb, pass.
- A body that ends early gives what could be read, and is `truncated`. Nothing raises.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from scenthound.reasons import Reason
from scenthound.web.decompressors import DAMAGE, DECOMPRESSORS

#: What a body must swell to before it can be called a bomb.
FLOOR_BYTES = 1_000_000
STEP_BYTES = 65_536
#: Packed bytes may be more than what they come to, and are unpacked in blocks of up to 128 KB (RFC 8878, 3.1.1.2).
SLACK_BYTES = 262_144
#: More codings on one body are an attack: honest servers send one, and some proxies add another.
MOST_CODINGS = 5
_SMALLEST_PIECE_BYTES = 256
_ALIASES = {"x-gzip": "gzip"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a body came to. With a `fault`, `content` is what was read before it showed."""

    content: bytes
    truncated: bool
    fault: Reason | None = None


def codings_of(values: Iterable[str]) -> tuple[str, ...]:
    """The codings that Content-Encoding headers name, in the order in which they were applied."""
    names = (name.strip().lower() for value in values for name in value.split(","))
    known = (_ALIASES.get(name, name) for name in names)
    return tuple(name for name in known if name in DECOMPRESSORS)


def decode_all(body: bytes, codings: tuple[str, ...], most_bytes: int, expansion: float = 100.0) -> Decoded:
    """Decode a whole body. `codings` are those of `codings_of`."""
    decoder = BodyDecoder(codings, most_bytes, expansion)
    decoder.feed(body)
    return decoder.finish()


class BodyDecoder:
    """Decodes one body. Feed it until it says that it wants no more."""

    def __init__(self, codings: tuple[str, ...], most_bytes: int, expansion: float) -> None:
        self._fault = Reason.BAD_CODING if len(codings) > MOST_CODINGS else None
        self._stages = [DECOMPRESSORS[name]() for name in reversed(codings[:MOST_CODINGS])]
        self._most_bytes = most_bytes
        self._expansion = expansion
        self._floor_bytes = min(FLOOR_BYTES, most_bytes)
        # What goes in at a time. Libraries do not tell how much of it they have used when the output reaches the limit,
        # so it must be too little to make a bomb look modest.
        self._piece_bytes = max(_SMALLEST_PIECE_BYTES, int(self._floor_bytes / expansion / 2))
        # What came to each stage; after the last of them, the content.
        self._n_bytes = [0] * (len(self._stages) + 1)
        self._content = bytearray()
        self._full = False

    def feed(self, data: bytes) -> bool:
        """Take more of the body; False when no more is wanted: the limit is reached, or the body is at fault."""
        for begin in range(0, len(data), self._piece_bytes):
            if self._full or self._fault is not None or not self._take(0, data[begin : begin + self._piece_bytes]):
                return False
        return True

    def finish(self) -> Decoded:
        """What there is, now that the body has ended or no more of it is wanted."""
        cut = self._full or (self._n_bytes[0] > 0 and not all(stage.ended for stage in self._stages))
        return Decoded(bytes(self._content), cut, self._fault)

    def _take(self, number: int, data: bytes) -> bool:
        """Put data into a stage (or, after the last, into the content); False when no more is wanted."""
        is_content = number == len(self._stages)
        room = self._most_bytes + (0 if is_content else SLACK_BYTES) - self._n_bytes[number]
        self._n_bytes[number] += len(data)
        if self._is_bomb(self._n_bytes[number]):
            self._fault = Reason.COMPRESSION_BOMB
            return False
        if len(data) > room:
            self._full = True
            data = data[:room]
        if is_content:
            self._content += data
            return not self._full
        return self._decompress(number, data) and not self._full

    def _decompress(self, number: int, data: bytes) -> bool:
        stage = self._stages[number]
        while True:
            try:
                out = stage.decompress(data, STEP_BYTES)
            except DAMAGE:
                self._fault = Reason.BAD_CODING
                return False
            if out and not self._take(number + 1, out):
                return False
            if not stage.has_more:
                return True
            data = b""

    def _is_bomb(self, n_bytes: int) -> bool:
        return n_bytes >= self._floor_bytes and n_bytes > self._expansion * self._n_bytes[0]
