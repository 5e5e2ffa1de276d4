"""Webs of any size, made up: the arrays of a recorded web whose pages link mostly to their neighbours."""

import numpy as np

from scenthound.model import IntArray
from scenthound.store.layout import LAYOUT, AnyArray
from scenthound.store.text_table import offsets_of

N_HOSTS = 1000
#: How far a link to a neighbour may lead, and how many links lead there; the others lead anywhere.
NEIGHBOURHOOD = 500
SHARE_OF_NEIGHBOURS = 0.7


def large_web(n_pages: int, links_per_page: int, words_per_page: int = 1, n_words: int = 1) -> dict[str, AnyArray]:
    """The arrays of a web; its words are `w1`, `w2`, ..., the frequent ones first."""
    rng = np.random.default_rng(1)
    urls = [f"http://host{i % N_HOSTS}.org/{i}".encode() for i in range(n_pages)]
    hosts = [f"host{i}.org".encode() for i in range(N_HOSTS)]
    stems = [f"w{i}".encode() for i in range(1, n_words + 1)]
    each = np.arange(n_pages, dtype=np.int32)
    link = _links(rng, n_pages, links_per_page)
    word = _words(rng, n_pages * words_per_page, n_words)
    place = rng.integers(0, words_per_page, len(link), dtype=np.int32)
    page_term = np.unique(np.repeat(each.astype(np.int64), words_per_page) << 32 | word, return_counts=True)
    term_length = np.bincount(page_term[0] >> 32, minlength=n_pages)
    arrays: dict[str, AnyArray] = {
        "url_text": np.frombuffer(b"".join(urls), np.uint8),
        "url_offset": offsets_of(np.array([len(url) for url in urls])),
        "url_host": each % N_HOSTS,
        "url_page": each,
        "host_text": np.frombuffer(b"".join(hosts), np.uint8),
        "host_offset": offsets_of(np.array([len(host) for host in hosts])),
        "fingerprint_key": np.sort(rng.integers(0, 1 << 63, n_pages, dtype=np.uint64)),
        "fingerprint_url": each,
        "link_offset": np.arange(n_pages + 1, dtype=np.int64) * links_per_page,
        "link_url": link,
        "link_start": place,
        "link_end": place,
        "link_nofollow": np.zeros(len(link), np.bool_),
        "word_offset": np.arange(n_pages + 1, dtype=np.int64) * words_per_page,
        "word": word,
        "vocabulary_text": np.frombuffer(b"".join(stems), np.uint8),
        "vocabulary_offset": offsets_of(np.array([0, *map(len, stems)])),
        "document_frequency": np.bincount(page_term[0] & 0xFFFFFFFF, minlength=n_words + 1).astype(np.int32),
        "term_offset": offsets_of(term_length),
        "term": (page_term[0] & 0xFFFFFFFF).astype(np.int32),
        "term_count": page_term[1].astype(np.int32),
        "page_norm": np.sqrt(np.bincount(page_term[0] >> 32, page_term[1].astype(np.float64) ** 2, n_pages)),
        "page_noindex": np.zeros(n_pages, np.bool_),
        "title_text": np.zeros(0, np.uint8),
        "title_offset": np.zeros(n_pages + 1, np.int64),
        "label_offset": np.zeros(n_pages + 1, np.int64),
        "label": np.zeros(0, np.int32),
        "label_name_text": np.zeros(0, np.uint8),
        "label_name_offset": np.zeros(1, np.int64),
    }
    return {name: arrays[name] for name in LAYOUT}


def _links(rng: np.random.Generator, n_pages: int, links_per_page: int) -> IntArray:
    source = np.repeat(np.arange(n_pages, dtype=np.int64), links_per_page)
    near = source + rng.integers(1, NEIGHBOURHOOD, len(source))
    anywhere = rng.integers(0, n_pages, len(source))
    return np.where(rng.random(len(source)) < SHARE_OF_NEIGHBOURS, near % n_pages, anywhere).astype(np.int32)


def _words(rng: np.random.Generator, n: int, n_words: int) -> IntArray:
    """Word numbers, by Zipf's law."""
    chance = 1.0 / np.arange(1, n_words + 1)
    return (np.searchsorted(np.cumsum(chance / chance.sum()), rng.random(n)) + 1).clip(1, n_words).astype(np.int32)
