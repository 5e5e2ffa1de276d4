"""The topic selection rules of the studies."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scenthound as sh
from scenthound.errors import InvalidInput
from scenthound.model import Topic
from scenthound.topics.directory import (
    Directory,
    Tree,
    leaf_topics,
    level_topics,
    odp_tree,
    topic_tree,
    topics_at_paths,
)
from scenthound.topics.files import parent_path
from scenthound.topics.select import categories_at_level, leaves_by_walks, leaves_in_order

NAMES = st.sampled_from(["A", "B", "C", "World"])
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=40)


def tree_of(**n_links: int) -> Tree:
    """A tree from names such as A_B_C for Top/A/B/C."""
    directory = Directory()
    for name, n in n_links.items():
        directory.add_links("/".join(["Top", *name.split("_")]), n)
    return directory.tree()


def dump(tmp_path: Path) -> tuple[Path, Path]:
    head = '<RDF xmlns:r="r" xmlns:d="d">'
    structure = tmp_path / "structure.rdf.u8"
    structure.write_text(
        f'{head}<Topic r:id="Top"><narrow r:resource="Top/B"/><narrow r:resource="Top/A"/></Topic>'
        '<Topic r:id="Top/A"><narrow r:resource="Top/A/Tall_Trees"/></Topic></RDF>'
    )
    content = tmp_path / "content.rdf.u8"
    body = ""
    for path, n in {"Top/A": 6, "Top/A/Tall_Trees": 12, "Top/B": 5}.items():
        urls = [f"http://{path[-1]}.test/{number}" for number in range(n)]
        body += f'<Topic r:id="{path}">' + "".join(f'<link r:resource="{url}"/>' for url in urls) + "</Topic>"
        for url in urls:
            body += f'<ExternalPage about="{url}"><d:Title>t{url[-1]}</d:Title>'
            body += f"<d:Description>d{url[-1]}</d:Description><topic>{path}</topic></ExternalPage>"
    content.write_text(f"{head}{body}</RDF>")
    return structure, content


def test_adding_a_path_adds_its_ancestors() -> None:
    directory = Directory()
    assert directory.add("Top" + "/x" * 1_500) == 1_500
    assert directory.add("Top/x") == 1
    tree = directory.tree()
    assert tree.parent.tolist() == list(range(-1, 1_500))
    assert tree.level.max() == 1_500


def test_leaves_are_in_breadth_first_order() -> None:
    tree = tree_of(B_C=5, A_D_E=9, A_F=7, G=5)
    assert leaves_in_order(tree, 3).paths == ("Top/G", "Top/B/C", "Top/A/F")
    assert leaves_in_order(tree, 3).shortfall == ""


def test_a_leaf_needs_five_links_and_no_children() -> None:
    tree = tree_of(A=99, A_B=4, A_C=5)
    assert leaves_in_order(tree, 1).paths == ("Top/A/C",)


def test_a_shortfall_of_leaves_is_explained() -> None:
    selection = leaves_in_order(tree_of(A=5, B=4), 3)
    assert selection.paths == ("Top/A",)
    assert selection.shortfall.startswith("1 of 3 topics: 2 categories ")
    assert "\n" not in selection.shortfall


def test_random_walks_alternate_between_main_categories() -> None:
    tree = tree_of(A_B=5, A_C=5, A_D=5, A_E_F=5, G_H=5, G_I=5, J_K=1)
    for seed in range(10):
        paths = leaves_by_walks(tree, 4, random.Random(seed)).paths
        assert Counter(path[:5] for path in paths) == {"Top/A": 2, "Top/G": 2}
        assert "Top/A/E/F" not in paths
    assert len({leaves_by_walks(tree, 4, random.Random(seed)).paths for seed in range(30)}) > 5
    everything = leaves_by_walks(tree, 9, random.Random(0))
    assert len(set(everything.paths)) == 6
    assert everything.shortfall.startswith("6 of 9 topics")


@given(paths=PATHS, n=st.integers(0, 8), seed=st.integers(0, 9))
def test_walks_and_ordered_leaves_agree_if_all_are_selected(paths: list[list[str]], n: int, seed: int) -> None:
    directory = Directory()
    for path in paths:
        directory.add_links("/".join(["Top", *path]), n)
    tree = directory.tree()
    ordered, walked = leaves_in_order(tree, 999).paths, leaves_by_walks(tree, 999, random.Random(seed)).paths
    named = {"/".join(["Top", *path]) for path in paths}
    parents = {"/".join(["Top", *path[:depth]]) for path in paths for depth in range(len(path))}
    # The same path may occur several times, with n links each.
    expected = {path for path in named - parents if n * paths.count(path.split("/")[1:]) >= 5}
    assert set(walked) == expected
    assert set(ordered) - {"Top"} == expected
    assert list(ordered) == sorted(ordered, key=lambda path: path.count("/"))


@given(paths=PATHS, n=st.integers(1, 30), seed=st.integers(0, 9), min_links=st.integers(0, 6))
def test_the_level_rule_respects_all_limits_and_is_maximal(
    paths: list[list[str]], n: int, seed: int, min_links: int
) -> None:
    directory = Directory()
    for path in paths:
        directory.add_links("/".join(["Top", *path]), 2)
    selection = categories_at_level(directory.tree(), n, random.Random(seed), min_links=min_links)
    parents = [parent_path(path) for path in selection.paths]
    grandparents = Counter(parent_path(parent) for parent in parents)
    assert all(path.count("/") == 3 and not path.startswith("Top/World/") for path in selection.paths)
    assert len(set(parents)) == len(parents)
    assert all(count <= 3 for count in grandparents.values())
    links = Counter("/".join(["Top", *path[:3]]) for path in paths if len(path) >= 3 for _ in range(2))
    fit = [path for path in links if links[path] >= min_links and "/World/" not in path[:10]]
    best = Counter(parent_path(parent) for parent in {parent_path(path) for path in fit})
    largest = sum(min(3, count) for count in best.values())
    assert len(selection.paths) == min(n, largest)
    assert bool(selection.shortfall) == (largest < n)


def test_no_four_topics_have_the_same_grandparent() -> None:
    tree = tree_of(A_B_U=9, A_C_V=9, A_D_W=9, A_E_X=9, F_G_Y=9)
    chosen = categories_at_level(tree, 5, random.Random(0), min_links=1).paths
    assert len(chosen) == 4
    assert sum(path.startswith("Top/A/") for path in chosen) == 3


def test_links_of_the_subtree_count_at_a_level() -> None:
    tree = tree_of(A_B_C=1, A_B_C_D=3, A_B_C_D_E=4, A_F_G=7)
    assert categories_at_level(tree, 1, random.Random(0), min_links=8).paths == ("Top/A/B/C",)


def test_a_shortfall_of_categories_is_explained() -> None:
    selection = categories_at_level(tree_of(A_B_C=9, A_B_D=9, A_E_F=1), 3, random.Random(0), min_links=5)
    assert re.match(r"1 of 3 topics: 3 categories .*\b3, 2 .*\b5 links\b", selection.shortfall)


def test_examples_repeated_by_parent_topics_count_once() -> None:
    topics = [
        Topic("a", ("k",), path="Top/A", examples=("u1", "u2", "u3")),
        Topic("ab", ("k",), path="Top/A/B", examples=("u1", "u2")),
        Topic("nowhere", ("k",), examples=("u9",)),
    ]
    tree = topic_tree(topics)
    links = dict(zip(tree.paths, tree.n_links_below.tolist(), strict=True))
    assert links == {"Top": 3, "Top/A": 3, "Top/A/B": 2}
    assert topics_at_paths(topics, leaves_in_order(tree, 5, min_links=1).paths) == [topics[1]]


def test_leaf_topics_of_a_dump_have_ten_examples_and_the_editors_text(tmp_path: Path) -> None:
    structure, content = dump(tmp_path)
    tree = odp_tree(structure, content, pytest.fail)
    selection = leaves_in_order(tree, 2)
    assert selection.paths == ("Top/B", "Top/A/Tall_Trees")
    _, tall = leaf_topics(content, selection.paths, pytest.fail)
    assert tall.keywords == ("A", "Tall", "Trees")
    assert tall.examples == tuple(f"http://s.test/{number}" for number in range(10))
    assert tall.description.startswith("t0 d0 t1 d1")
    assert tall.description.endswith("t9 d9")


def test_the_tree_of_a_content_file_alone(tmp_path: Path) -> None:
    _, content = dump(tmp_path)
    assert list(odp_tree(None, content, pytest.fail).paths) == ["Top", "Top/A", "Top/A/Tall_Trees", "Top/B"]


def test_level_topics_have_ten_random_seeds_and_all_other_pages_as_targets(tmp_path: Path) -> None:
    _, content = dump(tmp_path)
    (topic,) = level_topics(content, ["Top/A"], random.Random(1), pytest.fail, n_seeds=4)
    assert len(topic.examples) == 18
    assert len(topic.seeds) == 4
    assert set(topic.seeds) | set(topic.targets) == set(topic.examples)
    assert not set(topic.seeds) & set(topic.targets)
    assert [topic] == level_topics(content, ["Top/A"], random.Random(1), pytest.fail, n_seeds=4)


@pytest.mark.parametrize(("name", "n_leaves"), [("wpschools", 100), ("nlab", 108), ("mdn", 100)])
def test_leaves_of_real_collections(shared: Path, name: str, n_leaves: int) -> None:
    from scenthound.topics.files import read_topics

    topics = read_topics(shared / "data" / name / "topics.jsonl")
    selection = leaves_by_walks(topic_tree(topics), n_leaves, random.Random(1))
    assert len(selection.paths) == n_leaves
    assert all(len(topic.examples) >= 5 for topic in topics_at_paths(topics, selection.paths))


def test_a_selection_is_written_to_a_file(tmp_path: Path) -> None:
    structure, content = dump(tmp_path)
    imported = sh.import_topics(content, structure, count=1, out=tmp_path / "one.jsonl")
    assert [topic.id for topic in sh.open_topics(tmp_path / "one.jsonl")] == [topic.id for topic in imported]
    with pytest.raises(InvalidInput, match="force=True"):
        sh.select_topics(tmp_path / "one.jsonl", out=tmp_path / "one.jsonl")
