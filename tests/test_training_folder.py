"""Training pages in a folder: what is read of them, and what is refused."""

import errno
import os

import pytest

from scenthound.errors import InvalidInput
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.training_folder import read_training


@pytest.fixture
def web():
    return web_of([RawPage("http://w.test/", text="balloon race train station")])


def write(folder, **pages):
    for name, content in pages.items():
        kind, _, file = name.partition("__")
        path = folder / kind / file.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def stems(web, pages):
    return [[web.vocabulary[word] for word in page.tolist()] for page in pages]


def test_pages_are_read_in_the_words_of_the_web(tmp_path, web):
    folder = write(
        tmp_path,
        positive__b_html="<title>Balloons</title><p>the <a href=x>races</a> of zeppelins <script>train</script>",
        positive__a_txt="A balloon, a <race>.",
        positive__deep__er__c_HTM="<p>balloon",
        positive__notes_md="train",
        negative__a_html="<p>trains",
    )
    training = read_training(folder, web)
    # In the order of their paths; stop words, words the web lacks and files of other kinds are left out.
    assert stems(web, training.positives) == [["balloon", "race"], ["balloon", "race"], ["balloon"]]
    assert stems(web, training.negatives) == [["train"]]


def test_pages_may_be_in_any_encoding(tmp_path):
    web = web_of([RawPage("http://w.test/", text="café")])
    folder = write(
        tmp_path,
        positive__a_html="<meta charset=latin1>café".encode("latin-1"),
        positive__b_txt="un café.".encode("windows-1252"),
        positive__c_txt="café",
        negative__a_txt="\ufeffcafé".encode("utf-16-le"),
    )
    training = read_training(folder, web)
    assert stems(web, (*training.positives, *training.negatives)) == [["café"]] * 4


BAD = {
    "no subfolder": ({"positive__a_txt": "balloon"}, "has no folder 'negative'"),
    "no positive": ({"negative__a_txt": "train", "positive__a_pdf": "balloon"}, "needs positive pages"),
    "no negative": ({"positive__a_txt": "balloon", "negative__a_pdf": ""}, "needs negative pages"),
    "no known word": ({"positive__a_txt": "zeppelin", "negative__a_txt": "train"}, "has no page with a word"),
    "damaged": ({"positive__a_txt": b"\x1f\x8b broken", "negative__a_txt": "train"}, r"a\.txt is damaged"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_folder_that_cannot_train_is_rejected_in_one_line(case, tmp_path, web):
    pages, says = BAD[case]
    with pytest.raises(InvalidInput, match=says) as refused:
        read_training(write(tmp_path / "pages", **pages), web)
    assert "\n" not in str(refused.value)


def test_an_unreadable_page_is_reported(tmp_path, web):
    folder = write(tmp_path, positive__a_txt="balloon", negative__a_txt="train")
    (folder / "positive" / "gone.html").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=rf"gone\.html: {os.strerror(errno.ENOENT)}"):
        read_training(folder, web)


def test_a_missing_folder_is_rejected(tmp_path, web):
    with pytest.raises(InvalidInput, match=r"nowhere .*'positive': --train-from "):
        read_training(tmp_path / "nowhere", web)
