"""What the dashboard says to people who asked for what cannot be shown: sentences with a way on."""

from pathlib import Path

import pytest

from asked_dashboard import Asker, ended_crawl, search


@pytest.mark.parametrize("ids", [[], ["crawl"], ["crawl"] * 9])
def test_a_comparison_of_too_few_or_too_many_says_how_many_to_choose(tmp_path: Path, ids: list[str]) -> None:
    ended_crawl(tmp_path / "crawl")
    answer = Asker(tmp_path).get("/api/compare?" + "&".join(f"crawl={each}" for each in ids))
    assert (answer.status, answer.json["says"]) == (400, "Choose 2 to 8 crawls to compare.")


def test_what_is_looked_for_in_the_wrong_place_is_told_with_the_right_one(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "a crawl")
    search(tmp_path / "a search")
    asker = Asker(tmp_path)
    ids = {folder["kind"]: folder["id"] for folder in asker.get("/api/folders").json["folders"]}
    # The page makes a link of the end of these sentences.
    says = asker.get(f"/api/experiments/{ids['crawl']}").json["says"]
    assert says.endswith(f" is shown at /crawls/{ids['crawl']}.")
    says = asker.get(f"/api/crawls/{ids['search']}").json["says"]
    assert says.endswith(f" is shown at /experiments/{ids['search']}.")
