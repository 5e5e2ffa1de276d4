"""Compiled reading of text and inline elements: words are split and hashed in one pass. Requires numba.

Words are split and hashed as in `text.word_lookup`: the hash is c0 + c1 base + c2 base^2 + ... of the characters c in
lower case. An inline tag does not end a word, so a word may continue behind it; `state[N_CHARACTERS]` characters of it
are read then. Bigrams of unspaced letters are complete as soon as they are read, so that only characters of more than
one byte have to care for them. While a link or a label is open, only inline elements may be opened and closed in it,
and none that was opened outside may be closed, so that it ends where its end tag is.
"""

import numpy as np

from scenthound.jit import inline_jitable, jitable
from scenthound.model import LongArray
from scenthound.text.scripts import UNSPACED
from scenthound.text.word_table import MAX_WORD_CHARACTERS, TOO_LONG, HashArray
from scenthound.web.compiled_bytes import (
    ALT,
    AMPERSAND,
    CAPITAL_DOTTED_I,
    CAPITAL_SIGMA,
    EXCLAMATION,
    HREF,
    INLINE,
    INNER,
    LABEL,
    LAST_UNSPACED,
    LESS,
    LINE_BREAK,
    LINK,
    LINK_SIZE,
    LINKS,
    MAX_INNER,
    MAX_LINKS,
    MAX_OPEN_INLINE,
    N_CHARACTERS,
    N_INLINE,
    N_INNER,
    N_LINKS,
    N_TEXT,
    N_UNSPACED,
    N_WORDS,
    NO_BREAK,
    OPEN_INLINE,
    OPEN_LINK,
    QUESTION,
    SLASH,
    SOFT_HYPHEN,
    SPANS,
    UNSPACED_END,
    UNSPACED_START,
    UNSUPPORTED,
    Bytes,
    Page,
    is_letter,
    leading_letters,
    load_eight,
    lowered,
    n_bytes,
    read_reference,
    read_sequence,
    store_eight,
    write_character,
)

#: Kinds of bytes in a text: separator of words, letter or digit, or one that needs a closer look.
_SEPARATOR, _LETTER, _SPECIAL = 0, 1, 2
_KIND_OF = np.zeros(256, np.uint8)
_KIND_OF[list(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] = _LETTER
_KIND_OF[list(b"<&")] = _KIND_OF[0x80:] = _SPECIAL

_BYTE, _BYTE_BITS = np.uint64(0xFF), np.uint64(8)


@inline_jitable
def end_word(page: Page) -> None:
    """End the current word, if there is one."""
    state = page.state
    n_words, n_characters = state[N_WORDS], state[N_CHARACTERS]
    page.edges[2 * n_words + 1] = state[N_TEXT]
    if n_characters > MAX_WORD_CHARACTERS:
        page.hashes[n_words] = TOO_LONG
    state[N_WORDS], state[N_CHARACTERS], state[N_UNSPACED] = n_words + (n_characters > 0), 0, 0


@inline_jitable
def hash_of(letters: np.uint64, powers: HashArray) -> np.uint64:
    """The hash of up to eight letters, padded with 0."""
    total = letters & _BYTE
    for index in range(1, 8):
        letters >>= _BYTE_BITS
        total += (letters & _BYTE) * powers[index]
    return total


@inline_jitable
def read_character(page: Page, position: int) -> int:
    """Read a character written with more than one byte; return the position behind it."""
    state, powers = page.state, page.powers
    is_reference = page.data[position] == AMPERSAND
    code, position = read_reference(page, position) if is_reference else read_sequence(page.data, position)
    if position < 0 or code in (SOFT_HYPHEN, CAPITAL_DOTTED_I, CAPITAL_SIGMA):
        return UNSUPPORTED
    letter = np.uint64(page.lower[code])
    if letter >= UNSPACED:
        add_unspaced(page, letter, code)
        return position
    n_words, n_characters = state[N_WORDS], state[N_CHARACTERS]
    if letter == 0:
        end_word(page)
    elif n_characters == 0:
        page.edges[2 * n_words], page.hashes[n_words] = state[N_TEXT], letter
        state[N_CHARACTERS] = 1
    else:
        page.hashes[n_words] += letter * powers[min(n_characters, MAX_WORD_CHARACTERS)]
        state[N_CHARACTERS] += 1
    state[N_TEXT] = write_character(page.text, state[N_TEXT], code)
    return position


@inline_jitable
def add_unspaced(page: Page, letter: np.uint64, code: int) -> None:
    """Add the bigram of the last letter and this one. The first letter of a run is a word until a second follows."""
    state, edges = page.state, page.edges
    start = state[N_TEXT]
    end = write_character(page.text, start, code)
    # What separates words within a text is written between them.
    if state[N_UNSPACED] > 0 and state[UNSPACED_END] == start:
        word = state[N_WORDS] - (state[N_UNSPACED] == 1)
        edges[2 * word] = state[UNSPACED_START]
        page.hashes[word] = np.uint64(state[LAST_UNSPACED]) + letter * page.powers[1]
    else:
        end_word(page)
        word = state[N_WORDS]
        edges[2 * word], page.hashes[word] = start, letter
    edges[2 * word + 1] = end
    state[N_WORDS] = word + 1
    state[N_UNSPACED] += 1
    state[LAST_UNSPACED], state[UNSPACED_START], state[UNSPACED_END], state[N_TEXT] = letter, start, end, end


@inline_jitable
def read_text(page: Page, position: int, end: int) -> int:
    """Read characters up to `end` or to a `<` that opens markup; return that position.

    No word continues at `end`, so eight bytes can be loaded at every letter. Values that change with every word are
    kept in local variables, which saves a tenth of the time."""
    data, text, state = page.data, page.text, page.state
    hashes, edges, powers = page.hashes, page.edges, page.powers
    n_text, n_words, n_characters = state[N_TEXT], state[N_WORDS], state[N_CHARACTERS]
    word_hash = hashes[n_words]
    while position < end:
        byte = data[position]
        kind = _KIND_OF[byte]
        if kind == _LETTER:
            eight = load_eight(page.padded, position)
            mask = leading_letters(eight)
            hash_of_letters = hash_of(lowered(eight, mask), powers)
            if n_characters == 0:
                edges[2 * n_words], word_hash = n_text, hash_of_letters
            else:
                word_hash += hash_of_letters * powers[min(n_characters, MAX_WORD_CHARACTERS)]
            store_eight(text, n_text, eight)
            count = n_bytes(mask)
            position, n_text, n_characters = position + count, n_text + count, n_characters + count
        elif kind == _SEPARATOR or (byte == LESS and not opens_markup(data, position)):
            edges[2 * n_words + 1] = n_text
            hashes[n_words] = word_hash if n_characters <= MAX_WORD_CHARACTERS else np.uint64(TOO_LONG)
            n_words, n_characters = n_words + (n_characters > 0), 0
            text[n_text] = byte
            position, n_text = position + 1, n_text + 1
        elif byte == LESS:
            break
        else:
            hashes[n_words] = word_hash
            state[N_TEXT], state[N_WORDS], state[N_CHARACTERS] = n_text, n_words, n_characters
            position = read_character(page, position)
            if position < 0 or position > end:
                return UNSUPPORTED
            n_text, n_words, n_characters = state[N_TEXT], state[N_WORDS], state[N_CHARACTERS]
            word_hash = hashes[n_words]
    hashes[n_words] = word_hash
    state[N_TEXT], state[N_WORDS], state[N_CHARACTERS] = n_text, n_words, n_characters
    return position


@inline_jitable
def opens_markup(data: Bytes, position: int) -> bool:
    """Whether the `<` at `position` opens a tag, comment or declaration."""
    if position + 1 >= len(data):
        return False
    return is_letter(data[position + 1]) or data[position + 1] in (SLASH, EXCLAMATION, QUESTION)


@jitable
def read_raw_text(page: Page, position: int, end: int) -> bool:
    """Read all characters up to `end`, where `<` opens no markup."""
    while 0 <= position < end:
        position = read_text(page, position, end)
        if 0 <= position < end:
            end_word(page)
            page.text[page.state[N_TEXT]] = LESS
            page.state[N_TEXT] += 1
            position += 1
    return position >= 0


# Inline elements, links, labels and images


@inline_jitable
def open_inline(state: LongArray, tag: int) -> bool:
    state[N_INLINE] += 1
    state[OPEN_INLINE + tag] += 1
    if state[OPEN_LINK]:
        if state[N_INNER] == MAX_INNER:
            return False
        state[INNER + state[N_INNER]] = tag
        state[N_INNER] += 1
    return bool(state[N_INLINE] < MAX_OPEN_INLINE)


@inline_jitable
def close_inline(state: LongArray, tag: int) -> bool:
    if state[OPEN_LINK] and not close_inner(state, tag):
        return False
    if state[OPEN_INLINE + tag]:
        state[OPEN_INLINE + tag] -= 1
        state[N_INLINE] -= 1
    return True


@inline_jitable
def close_inner(state: LongArray, tag: int) -> bool:
    """Close the last element of this tag in the open link or label; false if there is none."""
    index = INNER + state[N_INNER] - 1
    while index >= INNER and state[index] != tag:
        index -= 1
    if index < INNER:
        return False
    state[N_INNER] -= 1
    while index < INNER + state[N_INNER]:
        state[index] = state[index + 1]
        index += 1
    return True


@inline_jitable
def open_link(page: Page, tag: int) -> bool:
    state = page.state
    if state[OPEN_LINK] or state[N_LINKS] == state[MAX_LINKS]:
        return False
    if state[SPANS + 2 * HREF] < 0:
        return open_inline(state, tag)
    link = LINKS + LINK_SIZE * state[N_LINKS]
    for index in range(4):
        state[link + index] = state[SPANS + 2 * HREF + index]
    end_word(page)
    state[link + 4] = state[N_WORDS]
    state[N_LINKS] += 1
    state[OPEN_LINK], state[N_INNER] = tag, 0
    return True


@inline_jitable
def close_link(page: Page, tag: int) -> bool:
    state = page.state
    if state[OPEN_LINK] != tag:
        return close_inline(state, tag)
    end_word(page)
    state[LINKS + LINK_SIZE * state[N_LINKS] - 1] = state[N_WORDS]
    state[OPEN_LINK] = 0
    return True


@inline_jitable
def handle_label(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close a label."""
    state = page.state
    if state[OPEN_LINK] != (tag if is_end else 0):
        return False
    end_word(page)
    state[OPEN_LINK], state[N_INNER] = 0 if is_end else tag, 0
    return True


@inline_jitable
def write_alt_text(page: Page) -> bool:
    """Write the alt text of an image, separated from its neighbours."""
    first, last = page.state[SPANS + 2 * ALT], page.state[SPANS + 2 * ALT + 1]
    if first >= last:
        return True
    end_word(page)
    is_read = read_raw_text(page, first, last)
    end_word(page)
    return is_read


@inline_jitable
def handle_inline(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close an inline element, a link, a label or a line break."""
    kind, state = page.tables[tag], page.state
    if kind == LINK:
        return close_link(page, tag) if is_end else open_link(page, tag)
    if kind == LABEL:
        return handle_label(page, tag, is_end)
    if kind == NO_BREAK and not is_end and state[OPEN_LINK]:
        # It would close one opened outside the link.
        return False
    if kind in (INLINE, NO_BREAK):
        return close_inline(state, tag) if is_end else open_inline(state, tag)
    if kind == LINE_BREAK:
        end_word(page)
    return kind != LINE_BREAK or not is_end
