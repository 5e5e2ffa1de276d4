"""The compiled reader of text: words are cut, hashed and written down while they are read.

Importing this file needs numba (the extra `fast`). Words are cut, and hash, as `text.word_lookup` says: the sum
c0 + c1 base + c2 base^2 + ... of the characters c in lower case. A word goes on behind a tag that parts no words, so
one may be open between two texts: `room[N_CHARACTERS]` of it are read then.
"""

import numpy as np

from scenthound.jit import inline_jitable, jitable
from scenthound.model import LongArray
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
    N_WORDS,
    NO_BREAK,
    NOT_ORDINARY,
    OPEN_INLINE,
    QUESTION,
    SLASH,
    SOFT_HYPHEN,
    SPANS,
    WHOLE,
    Bytes,
    Page,
    eight_at,
    is_letter,
    leading_letters,
    lowered,
    n_bytes,
    read_reference,
    read_sequence,
    write_character,
    write_eight,
)

#: What a byte of a text does: it parts words, is a letter or a digit, or must be looked at.
_PARTED, _LETTER, _SPECIAL = 0, 1, 2
_KIND_OF = np.zeros(256, np.uint8)
_KIND_OF[list(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] = _LETTER
_KIND_OF[list(b"<&")] = _KIND_OF[0x80:] = _SPECIAL

_BYTE, _BYTE_BITS = np.uint64(0xFF), np.uint64(8)


@inline_jitable
def end_word(page: Page) -> None:
    """End the word that is open, if one is."""
    room = page.room
    n_words, n_characters = room[N_WORDS], room[N_CHARACTERS]
    page.edges[2 * n_words + 1] = room[N_TEXT]
    if n_characters > MAX_WORD_CHARACTERS:
        page.hashes[n_words] = TOO_LONG
    room[N_WORDS], room[N_CHARACTERS] = n_words + (n_characters > 0), 0


@inline_jitable
def hash_of(letters: np.uint64, powers: HashArray) -> np.uint64:
    """The hash of eight letters; those at the end may be 0."""
    total = letters & _BYTE
    for at in range(1, 8):
        letters >>= _BYTE_BITS
        total += (letters & _BYTE) * powers[at]
    return total


@inline_jitable
def read_character(page: Page, place: int) -> int:
    """Read a character that is written with more than one byte: the place behind it."""
    room, powers = page.room, page.powers
    is_reference = page.data[place] == AMPERSAND
    code, place = read_reference(page, place) if is_reference else read_sequence(page.data, place)
    if place < 0 or code in (SOFT_HYPHEN, CAPITAL_DOTTED_I, CAPITAL_SIGMA):
        return NOT_ORDINARY
    letter = np.uint64(page.lower[code])
    n_words, n_characters = room[N_WORDS], room[N_CHARACTERS]
    if letter == 0:
        end_word(page)
    elif n_characters == 0:
        page.edges[2 * n_words], page.hashes[n_words] = room[N_TEXT], letter
        room[N_CHARACTERS] = 1
    else:
        page.hashes[n_words] += letter * powers[min(n_characters, MAX_WORD_CHARACTERS)]
        room[N_CHARACTERS] += 1
    room[N_TEXT] = write_character(page.text, room[N_TEXT], code)
    return place


@inline_jitable
def read_text(page: Page, place: int, end: int) -> int:
    """Read characters up to `end`, or to a `<` that opens something: the place of that, or the end.

    No word goes on at `end`, so that eight bytes may be looked at wherever a letter is. What changes with every word
    is kept out of `room`, which saves a tenth of the time of reading a page."""
    data, text, room = page.data, page.text, page.room
    hashes, edges, powers = page.hashes, page.edges, page.powers
    n_text, n_words, n_characters = room[N_TEXT], room[N_WORDS], room[N_CHARACTERS]
    word_hash = hashes[n_words]
    while place < end:
        byte = data[place]
        kind = _KIND_OF[byte]
        if kind == _LETTER:
            eight = eight_at(page.padded, place)
            mask = leading_letters(eight)
            hash_of_letters = hash_of(lowered(eight, mask), powers)
            if n_characters == 0:
                edges[2 * n_words], word_hash = n_text, hash_of_letters
            else:
                word_hash += hash_of_letters * powers[min(n_characters, MAX_WORD_CHARACTERS)]
            write_eight(text, n_text, eight)
            count = n_bytes(mask)
            place, n_text, n_characters = place + count, n_text + count, n_characters + count
        elif kind == _PARTED or (byte == LESS and not opens_something(data, place)):
            edges[2 * n_words + 1] = n_text
            hashes[n_words] = word_hash if n_characters <= MAX_WORD_CHARACTERS else np.uint64(TOO_LONG)
            n_words, n_characters = n_words + (n_characters > 0), 0
            text[n_text] = byte
            place, n_text = place + 1, n_text + 1
        elif byte == LESS:
            break
        else:
            hashes[n_words] = word_hash
            room[N_TEXT], room[N_WORDS], room[N_CHARACTERS] = n_text, n_words, n_characters
            place = read_character(page, place)
            if place < 0 or place > end:
                return NOT_ORDINARY
            n_text, n_words, n_characters = room[N_TEXT], room[N_WORDS], room[N_CHARACTERS]
            word_hash = hashes[n_words]
    hashes[n_words] = word_hash
    room[N_TEXT], room[N_WORDS], room[N_CHARACTERS] = n_text, n_words, n_characters
    return place


@inline_jitable
def opens_something(data: Bytes, place: int) -> bool:
    """Whether the `<` at `place` does."""
    if place + 1 >= len(data):
        return False
    return is_letter(data[place + 1]) or data[place + 1] in (SLASH, EXCLAMATION, QUESTION)


@jitable
def read_literally(page: Page, place: int, end: int) -> bool:
    """Read all characters up to `end`, between which no `<` opens anything."""
    while 0 <= place < end:
        place = read_text(page, place, end)
        if 0 <= place < end:
            end_word(page)
            page.text[page.room[N_TEXT]] = LESS
            page.room[N_TEXT] += 1
            place += 1
    return place >= 0


# The compiled reader of what stands in a line: links, labels, images, and elements that part no words.
#
# Importing this file needs numba (the extra `fast`). While a link or a label is open, only inline elements may be
# opened and closed, and what was opened outside may not be closed: then it ends where it is written to end, in one
# piece.


@inline_jitable
def open_inline(room: LongArray, tag: int) -> bool:
    room[N_INLINE] += 1
    room[OPEN_INLINE + tag] += 1
    if room[WHOLE]:
        if room[N_INNER] == MAX_INNER:
            return False
        room[INNER + room[N_INNER]] = tag
        room[N_INNER] += 1
    return bool(room[N_INLINE] < MAX_OPEN_INLINE)


@inline_jitable
def close_inline(room: LongArray, tag: int) -> bool:
    if room[WHOLE] and not close_inner(room, tag):
        return False
    if room[OPEN_INLINE + tag]:
        room[OPEN_INLINE + tag] -= 1
        room[N_INLINE] -= 1
    return True


@inline_jitable
def close_inner(room: LongArray, tag: int) -> bool:
    """Close the last of these tags within the link or label that is open, if there is one."""
    at = INNER + room[N_INNER] - 1
    while at >= INNER and room[at] != tag:
        at -= 1
    if at < INNER:
        return False
    room[N_INNER] -= 1
    while at < INNER + room[N_INNER]:
        room[at] = room[at + 1]
        at += 1
    return True


@inline_jitable
def open_link(page: Page, tag: int) -> bool:
    room = page.room
    if room[WHOLE] or room[N_LINKS] == room[MAX_LINKS]:
        return False
    if room[SPANS + 2 * HREF] < 0:
        return open_inline(room, tag)
    link = LINKS + LINK_SIZE * room[N_LINKS]
    for at in range(4):
        room[link + at] = room[SPANS + 2 * HREF + at]
    end_word(page)
    room[link + 4] = room[N_WORDS]
    room[N_LINKS] += 1
    room[WHOLE], room[N_INNER] = tag, 0
    return True


@inline_jitable
def close_link(page: Page, tag: int) -> bool:
    room = page.room
    if room[WHOLE] != tag:
        return close_inline(room, tag)
    end_word(page)
    room[LINKS + LINK_SIZE * room[N_LINKS] - 1] = room[N_WORDS]
    room[WHOLE] = 0
    return True


@inline_jitable
def turn_label(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close a label."""
    room = page.room
    if room[WHOLE] != (tag if is_end else 0):
        return False
    end_word(page)
    room[WHOLE], room[N_INNER] = 0 if is_end else tag, 0
    return True


@inline_jitable
def speak_for_image(page: Page) -> bool:
    """Write the alt text of an image, apart from its neighbours."""
    first, last = page.room[SPANS + 2 * ALT], page.room[SPANS + 2 * ALT + 1]
    if first >= last:
        return True
    end_word(page)
    is_read = read_literally(page, first, last)
    end_word(page)
    return is_read


@inline_jitable
def turn_inline(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close an inline element, or what stands in a line."""
    kind, room = page.tables[tag], page.room
    if kind == LINK:
        return close_link(page, tag) if is_end else open_link(page, tag)
    if kind == LABEL:
        return turn_label(page, tag, is_end)
    if kind == NO_BREAK and not is_end and room[WHOLE]:
        # It would close one that was opened outside.
        return False
    if kind in (INLINE, NO_BREAK):
        return close_inline(room, tag) if is_end else open_inline(room, tag)
    if kind == LINE_BREAK:
        end_word(page)
    return kind != LINE_BREAK or not is_end
