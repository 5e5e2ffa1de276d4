"""Whatever the extension is given, it answers or raises an exception; `make test-native` watches its memory meanwhile.

`SIGNATURES` has the kinds of arguments of every function and method: most arrays of a call fit each other, others have
wrong lengths, items, layouts or indices. Every generator has a seed, so that a call that fails can be repeated.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from random import Random
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest

from scenthound.errors import ScenthoundError
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.native import _native
from scenthound.strategies.link_evidence import N_FEATURES, URL, FoundLinks, LinkEvidence
from scenthound.text.tokenizer import _letters, _stop_words

#: A new function or method needs an entry here, with the kind of each argument (`KINDS`).
SIGNATURES = {
    "CrawledWeb": "offsets i4 i8 i4 i4 int int",
    "CrawledWeb.crawl": "settings seeds eight eight_or_none eight_or_none flags weights bounds call call rng",
    "Heaps": "int",
    "Heaps.push": "i4 i4 f8 int",
    "Heaps.add_popped": "i4",
    "Heaps.pop": "int",
    "Heaps.rank_all": "",
    "Heaps.start_scan": "",
    "Heaps.scan": "int",
    "Heaps.scanned": "int",
    "Heaps.end_scan": "ascending int",
    "Heaps.knows": "int",
    "Heaps.scores": "i4",
    "Heaps.best_scores": "int",
    "Heaps.queued": "",
    "Heaps.popped": "",
    "Heaps.n_popped": "",
    "Heaps.n_bytes": "",
    "UrlTable": "int",
    "UrlTable.add_strings": "strings",
    "UrlTable.add_texts": "i4 bytes ends",
    "UrlTable.load": "texts",
    "UrlTable.find": "str",
    "UrlTable.url": "int",
    "UrlTable.urls": "int int",
    "UrlTable.host_numbers": "i4",
    "UrlTable.host": "int",
    "UrlTable.n_bytes": "",
    "UrlTable.resolve_texts": "base bytes ends",
    "Vocabulary": "int letters bytes",
    "Vocabulary.scan": "bytes ends",
    "Vocabulary.find": "strings",
    "Vocabulary.look_up": "strings",
    "Vocabulary.look_up_from": "vocabulary int int",
    "Vocabulary.load": "bytes",
    "Vocabulary.stem": "int",
    "Vocabulary.stems_from": "int int",
    "Vocabulary.count_unspaced": "i4",
    "Vocabulary.n_bytes": "",
    "add_link_evidence": "urls int four i4 i4 f8 f8 i4 i4 i4",
    "are_within": "f8 float float",
    "best_of_repeats": "i4 f8",
    "context_bounds": "i4 i4 int int",
    "count_cosines": "i4 f8 i4 i4 float",
    "count_terms": "i4 i4",
    "exact_dot": "f8 f8 i4",
    "learn_words": "f8 f8 i4 float",
    "link_features": "urls i4 three f8 f8",
    "pagerank": "offsets i4 float float rounds",
    "phrase_positions": "i4 i4 int",
    "read_html": "html int",
    "score_link_evidence": "urls i4 three f8 f8 limits",
    "simhash": "i4 int factors",
    "squared_length": "f8 f8",
    "squared_norm": "i4",
    "stem_word": "bytes",
    "subtract_vectors": "i4 f8 i8 f8 f8",
    "total_weight": "i4 f8",
    "vector_products": "i4 f8 i8 f8",
    "visit_link_evidence": "urls int float",
    "weigh_words": "i4 ranks f8 f8",
    "window_cosines": "i4 ranks f8 f8 i8 f8 i4 i4 float float",
}
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, MemoryError, BufferError, ScenthoundError)
CALLS = 1500
TAGS = "a p table tr td svg math mi b i title script style select frameset template ruby plaintext foreignObject base"
PIECES = [
    *(f"<{slash}{tag}{end}" for tag in TAGS.split() for slash in ("", "/") for end in (">", " href='")),
    *(
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<meta name=description content='x'>",
        "<img alt=",
        "'>",
        '"',
        "=",
        "/",
        ">",
        "<",
    ),
    *("&amp;", "&#x10FFFF;", "&notit", "&#0;", "balloon ", "Ärger ", "汉字", "\xad", "\u0130", "\x00", " ", "\n"),
    *("../", "http://h", "?q=1", "#f", "%2e"),
]


def is_damaged(rng: Random) -> bool:
    return rng.random() < 0.03


def length(rng: Random, size: int) -> int:
    """The length of most arrays of a call."""
    return rng.choice((0, 1, size + 1, max(0, size - 1), 3 * size)) if is_damaged(rng) else size


def number(rng: Random, size: int) -> int:
    return (
        rng.choice((-(2**31), -1, size, size + 1, 100_000, 2**31 - 1)) if is_damaged(rng) else rng.randrange(size + 1)
    )


def integers(item: str) -> Callable[[Random, int], Any]:
    def make(rng: Random, size: int) -> Any:
        highest = max(0, size - 1)
        return disturbed(rng, np.array([number(rng, highest) for _ in range(length(rng, size))], item))

    return make


def disturbed(rng: Random, array: Any) -> Any:
    """The array, or seldom one of other items, of another layout, not to be written, or no array."""
    if not is_damaged(rng):
        return array
    read_only = array.copy()
    read_only.flags.writeable = False
    return rng.choice((read_only, array[::2], array[::-1], array.view(np.uint8), array.tobytes(), array.tolist(), None))


def doubles(rng: Random, size: int) -> Any:
    values = [
        rng.choice((0.0, 1.0, rng.random(), rng.random(), -1e308, np.inf, np.nan)) for _ in range(length(rng, size))
    ]
    return disturbed(rng, np.array(values, np.float64))


def exactly(n: int) -> Callable[[Random, int], Any]:
    return lambda rng, _size: doubles(rng, n)


def ascending(item: str) -> Callable[[Random, int], Any]:
    def make(rng: Random, size: int) -> Any:
        numbers = integers(item)(rng, size)
        return np.unique(numbers) if isinstance(numbers, np.ndarray) and not is_damaged(rng) else numbers

    return make


def offsets(rng: Random, size: int) -> Any:
    """Where the links of each page start and end, if all of them have as many links as there are pages."""
    starts = sorted(number(rng, size) for _ in range(max(0, size - 1)))
    return disturbed(rng, np.array([0, *starts, size], "i8"))


def crawl_settings(rng: Random, _size: int) -> dict[str, Any]:
    names = [*LOOP_SETTINGS, "unknown"] if is_damaged(rng) else LOOP_SETTINGS
    chosen = {name: rng.choice((0, 1, 1, 2, 5)) for name in rng.sample(names, rng.randrange(len(names)))}
    fractions = {name: rng.choice((0.0, 0.5, 2.0, np.inf, np.nan)) for name in LOOP_FRACTIONS if rng.random() < 0.3}
    return {"budget": 20, "round_size": 1, **chosen, **fractions, "loop": rng.randrange(6 if is_damaged(rng) else 5)}


def page_call(rng: Random, _size: int) -> Callable[[int], float]:
    def call(_page: int) -> float:
        if is_damaged(rng):
            raise ValueError("no score")
        return rng.choice((rng.random(), 0.5, np.nan))

    return call


def some_int(rng: Random, size: int) -> Any:
    far = (-(2**63), -1, size, 2**24, 2**31 - 1, 2**63 - 1, 2**64, "1")
    return rng.choice(far) if rng.random() < 0.1 else rng.randrange(size + 3)


def text(rng: Random, size: int) -> bytes:
    pieces = "".join(rng.choices(PIECES, k=size)).encode()
    return bytes(rng.randrange(256) if is_damaged(rng) else byte for byte in pieces)


def string(rng: Random, size: int) -> Any:
    return rng.choice(
        (f"http://h{rng.randrange(5)}/{rng.randrange(50)}", text(rng, size).decode(errors="ignore"), "\ud800")
    )


def evidence(rng: Random, size: int) -> Any:
    """Records of URLs whose numbers may be anything."""
    records = np.zeros(length(rng, size), URL)
    records["neighbours"] = records["parents"] = -1
    for name in ("n_parents", "n_children", "parents", "neighbours", "words", "relevance"):
        if rng.random() < 0.3:
            shape = records[name].shape
            records[name] = np.reshape([number(rng, 5) for _ in range(int(np.prod(shape)))], shape)
    return disturbed(rng, records)


def page(rng: Random, size: int) -> bytes:
    return text(rng, 20 * size)


def vocabulary(rng: Random, _size: int) -> Any:
    made = _native.Vocabulary(rng.getrandbits(64), _letters(), _stop_words())
    made.load(b"balloon\nballoonist")
    return made


LOOP_SETTINGS = (
    *("found_again", "by_context", "buffer", "fifo_size", "drops_new", "seeds_first", "reshare_every", "revises_again"),
    *("keeps_when_hopeless", "hub_over_max", "split_by", "deepest", "counts_community", "renews_siblings", "delay_us"),
    *(
        "has_extras",
        "weighs_link_scores",
        "weighs_hosts",
        "weighs_cash",
        "list_size",
        "refill_at",
        "workers",
        "fetch_us",
    ),
    *("fetch_list", "asks_again"),
)
LOOP_FRACTIONS = ("page_weight", "strength", "flatness", "threshold", "score_range", "max_better")
KINDS: dict[str, Callable[[Random, int], Any]] = {
    "i4": integers("i4"),
    "i8": integers("i8"),
    "ranks": lambda rng, size: integers(rng.choice(("u2", "u4")))(rng, size) if size else np.zeros(0, "u2"),
    "f8": doubles,
    "three": exactly(3),
    "four": exactly(4),
    "limits": exactly(3 * N_FEATURES),
    "factors": lambda rng, _size: integers("i8")(rng, 4),
    "ascending": ascending("i8"),
    "ends": ascending("u4"),
    "urls": evidence,
    "int": some_int,
    "float": lambda rng, _size: rng.choice((0.0, 0.5, -1.0, np.inf, np.nan)),
    "bytes": text,
    "html": page,
    "texts": lambda rng, size: [text(rng, size), text(rng, 1)],
    "str": string,
    "strings": lambda rng, size: [string(rng, size) for _ in range(size)],
    "base": lambda rng, _size: rng.choice((b"https://h/a/b?c", b"http://h0/", b"http:///", b"", b"https://")),
    "letters": lambda rng, _size: rng.choice((_letters(), b"", bytes(10_000))),
    "vocabulary": vocabulary,
    "offsets": offsets,
    "rounds": lambda rng, _size: rng.randrange(-1, 20),
    "settings": crawl_settings,
    "seeds": lambda rng, _size: np.array([number(rng, 7) for _ in range(3)], "i4"),
    "eight": exactly(8),
    "eight_or_none": lambda rng, _size: doubles(rng, 8 * (rng.random() < 0.8)),
    "flags": lambda rng, _size: np.array(rng.choices((0, 1), k=8), "u1"),
    "weights": exactly(13),
    "bounds": lambda rng, _size: np.zeros(int(is_damaged(rng)), "i8"),
    "call": page_call,
    "rng": lambda rng, _size: rng,
}


def crawled_web(rng: Random) -> Any:
    """A web of eight pages, links and URLs."""
    starts = sorted(rng.randrange(9) for _ in range(7))
    links, hosts = ([rng.randrange(8) for _ in range(8)] for _ in range(2))
    pages = rng.sample(range(-1, 8), 8)
    arrays = [np.array([0, *starts, 8], "i8"), np.array(links, "i4"), np.arange(8)]
    return _native.CrawledWeb(*arrays, np.array(pages, "i4"), np.array(hosts, "i4"), 8, 8)


OBJECTS: dict[str, Callable[[Random], Any]] = {
    "CrawledWeb": crawled_web,
    "Heaps": lambda rng: _native.Heaps(rng.getrandbits(64)),
    "UrlTable": lambda rng: _native.UrlTable(rng.getrandbits(64)),
    "Vocabulary": lambda rng: vocabulary(rng, 0),
}


def arguments(name: str, rng: Random) -> list[Any]:
    size = rng.choice((0, 1, 2, 3, 8, 40))
    return [KINDS[kind](rng, size) for kind in SIGNATURES[name].split()]


def test_every_function_and_method_is_tried():
    exported = {name: getattr(_native, name) for name in dir(_native) if not name.startswith("__")}
    types = {name: each for name, each in exported.items() if isinstance(each, type)}
    methods = {
        f"{name}.{method}" for name, each in types.items() for method in vars(each) if not method.startswith("__")
    }
    assert all(isinstance(each, type | BuiltinFunctionType) for each in exported.values())
    assert set(SIGNATURES) == exported.keys() | methods


@pytest.mark.parametrize("name", [name for name in SIGNATURES if "." not in name])
def test_functions_answer_or_refuse_any_arguments(name):
    rng = Random(name)
    n_answers = 0
    for _ in range(CALLS):
        with suppress(*REFUSALS):
            getattr(_native, name)(*arguments(name, rng))
            n_answers += 1
    # Nothing would be tried if all arguments were refused at once.
    assert n_answers > CALLS // 20


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_can_be_used_after_any_calls(name, seed):
    rng = Random(f"{name} {seed}")
    each = OBJECTS[name](rng)
    methods = [method for method in SIGNATURES if method.startswith(f"{name}.")]
    for _ in range(CALLS // 4):
        method = rng.choice(methods)
        with suppress(*REFUSALS):
            getattr(each, method.partition(".")[2])(*arguments(method, rng))
    assert USABLE[name](each)


def is_heap_usable(heaps: Any) -> bool:
    pages = np.frombuffer(heaps.queued()[0], np.int32).tolist()
    heaps.rank_all()
    entries = heaps.pop(len(pages) + 1)
    in_order = all(one[0] >= other[0] for one, other in pairwise(entries))
    return in_order and sorted(entry[1] for entry in entries) == sorted(pages)


def is_table_usable(table: Any) -> bool:
    # A load that failed may have left the same URL twice.
    return all(table.find(url) is not None for url in decoded(table.url, len(table)))


def is_vocabulary_usable(words: Any) -> bool:
    return all(
        words.stem(int.from_bytes(words.find([stem]), sys.byteorder)) == stem
        for stem in decoded(words.stem, len(words))
    )


def decoded(text_of: Callable[[int], str], n: int) -> Iterator[str]:
    """The texts that are UTF-8."""
    for index in range(n):
        with suppress(UnicodeDecodeError):
            yield text_of(index)


def is_web_usable(web: Any) -> bool:
    rng, none = Random(1), np.zeros(0)
    settings = {"loop": 0, "budget": 8}
    arrays = np.zeros(1, "i4"), np.zeros(8), none, none, np.zeros(8, "u1"), none, np.zeros(0, "i8")
    return len(web.crawl(settings, *arrays, float, float, rng)) > 0


USABLE = {
    "CrawledWeb": is_web_usable,
    "Heaps": is_heap_usable,
    "UrlTable": is_table_usable,
    "Vocabulary": is_vocabulary_usable,
}


@pytest.mark.parametrize("seed", range(6))
def test_any_page_is_read_into_parts_that_fit_each_other(seed):
    rng = Random(seed)
    words = vocabulary(rng, 0)
    for _ in range(60):
        source = text(rng, rng.choice((5, 60, 400))).decode(errors="replace").encode()
        content, title_end, edges, opens, closes, references, ends, *_ = _native.read_html(source, 1000)
        content.decode()
        assert title_end <= len(content)
        positions, of_links = np.frombuffer(edges, np.uint32), np.frombuffer(ends, np.uint32)
        assert max(opens + closes, default=0) == 0 or len(opens) == len(closes) == len(ends)
        starts, stops = np.frombuffer(opens, np.uint32), np.frombuffer(closes, np.uint32)
        assert (starts <= stops).all()
        assert (stops < len(positions)).all()
        assert of_links.max(initial=0) == len(references)
        _native.UrlTable(seed).resolve_texts(b"http://h/a/b", references, of_links)
        words.scan(content, positions)


@pytest.mark.parametrize("seed", range(20))
def test_frontiers_and_evidence_of_damaged_checkpoints_answer_or_are_refused(seed):
    rng = Random(seed)
    n_restored = n_learned = 0
    for _ in range(10):
        size = rng.randrange(1, 9)
        is_popped = np.array(rng.choices((True, False), k=size))
        frontier = UnboundedFrontier(Random(seed))
        with suppress(*REFUSALS):
            columns = {"scores": doubles(rng, 8), "hosts": integers("i4")(rng, 8), "is_popped": is_popped}
            frontier.restore({**columns, "salt": seed})
            n_restored += 1
        frontier.pop(3, lambda host: host % 2 == 0)
        frontier.state()
        counts = {"n_visited": 1, "n_links": 1, "n_known": size, "relevance_sum": 1.0, "relevance_of_links": 1.0}
        learned = LinkEvidence()
        learned.restore({"urls": damaged_evidence(rng, size), **counts})
        pages = np.arange(size, dtype=np.int32)
        links = FoundLinks(pages, pages, np.ones(size), np.ones(size), pages * 0, pages, 0.5)
        with suppress(*REFUSALS):
            learned.add_links(0, 0.5, links, np.ones(size, np.int32))
            n_learned += 1
        learned.visit(0, 0.5)
    # Nothing would be tried if all checkpoints were refused at once.
    assert n_restored > 0
    assert n_learned > 0


def damaged_evidence(rng: Random, size: int) -> Any:
    """Records of URLs as a checkpoint has them: any bytes, or a few wrong ones."""
    records = np.zeros(size, URL)
    records["neighbours"] = records["parents"] = -1
    stored = bytearray(rng.randbytes(records.nbytes) if rng.random() < 0.5 else records.tobytes())
    for _ in range(rng.randrange(4)):
        stored[rng.randrange(len(stored))] = rng.randrange(256)
    return np.frombuffer(bytes(stored), np.uint8)
