"""What the tests of recorded webs share: three pages that link to each other, and the terms of a page."""

from scenthound.store.batches import RawPage, RawRecord
from scenthound.store.recorded_web import RecordedWeb


def three_pages() -> list[RawRecord]:
    """Dogs links to cats (twice, once by its alias) and outside; cats links to dogs and to itself; fish to nobody."""
    return [
        RawPage(
            "http://a.org/dogs",
            html=(
                "<title>Dogs</title><p>the dog chases a cat <a href='/cats'>the cats</a> "
                "<a href='/old-cats' rel=nofollow>cat</a> <a href='http://b.org/out'>dogs</a>"
            ),
            topics=("pets", "loud"),
        ),
        RawPage(
            "http://a.org/cats",
            text="cat dog",
            title="Cats",
            links=("dogs", "http://a.org/cats", "mailto:cat@a.org"),
            aliases=("http://a.org/old-cats", "http://c.org/cats"),
            topics=("pets",),
        ),
        RawPage("http://a.org/fish", text="the fish"),
    ]


def terms_of(web: RecordedWeb, page: int) -> dict[str, int]:
    where = slice(web.term_offset[page], web.term_offset[page + 1])
    assert web.term[where].tolist() == sorted(web.term[where].tolist())
    return {
        web.vocabulary[term]: int(count) for term, count in zip(web.term[where], web.term_count[where], strict=True)
    }
