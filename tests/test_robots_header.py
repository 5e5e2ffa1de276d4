"""X-Robots-Tag: whom a header speaks to, and what it asks."""

import pytest

from scenthound.web.robots import header_directives


@pytest.mark.parametrize(
    ("values", "wishes"),
    [
        ([], (False, False)),
        (["noindex"], (True, False)),
        (["NoFollow , noarchive"], (False, True)),
        (["none"], (True, True)),
        (["all", "nofollow", "noindex"], (True, True)),
        (["otherbot: noindex, nofollow"], (False, False)),
        (["scenthound: noindex, nofollow"], (True, True)),
        (["Scenthound:nofollow"], (False, True)),
        (["otherbot: noindex, scenthound: nofollow"], (False, True)),
        (["*: noindex"], (True, False)),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"], (True, False)),
        (["max-snippet: 10, nofollow"], (False, True)),
        (["noindexing"], (False, False)),
        ([",,:,"], (False, False)),
    ],
)
def test_headers_speak_to_all_or_to_the_agent_they_name(values: list[str], wishes: tuple[bool, bool]) -> None:
    assert header_directives(values, "Scenthound/1.0") == wishes
