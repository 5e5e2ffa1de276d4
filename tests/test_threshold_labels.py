"""Label files: what is read, what is refused, and what is written for a person to fill in."""

import csv
import gzip

import pytest

from scenthound.errors import InvalidInput
from scenthound.experiments.threshold.labels import PageToLabel, read_labels, write_pages_to_label


def labels_of(tmp_path, text, name="labels.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_labels(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "http://a.test/,yes\nhttp://b.test/,no\n",
        "url,label\nhttp://a.test/,relevant\nhttp://b.test/,irrelevant\n",
        'Label,title,URL\n1,"a, b",http://a.test/\n0,,http://b.test/\n',
        '{"url": "http://a.test/", "label": true}\n\n{"url": "http://b.test/", "label": 0}\n',
        '{"url": "http://a.test/", "label": "Yes"}\n{"url": "http://b.test/", "label": "NO", "more": [1]}\n',
    ],
)
def test_labels_are_read_in_every_form(tmp_path, text):
    read = labels_of(tmp_path, text)
    assert [(label.url, label.is_relevant, label.weight) for label in read.labels] == [
        ("http://a.test/", True, 1),
        ("http://b.test/", False, 1),
    ]
    assert not read.has_scores


def test_scores_take_the_place_of_pages(tmp_path):
    read = labels_of(tmp_path, "0.5,yes,3\n-1e-3,no\n")
    assert [(label.score, label.is_relevant, label.weight) for label in read.labels] == [
        (0.5, True, 3),
        (-0.001, False, 1),
    ]
    assert read.has_scores
    # A score decides, even if a page stands beside it.
    assert labels_of(tmp_path, "url,score,label\nhttp://a.test/,0.5,yes\n").labels[0].url is None


def test_lines_without_a_label_are_still_to_be_done(tmp_path):
    read = labels_of(tmp_path, "url,label\nhttp://a.test/,\nhttp://b.test/,yes\nhttp://c.test/\n")
    assert (len(read.labels), read.n_open) == (1, 2)
    assert labels_of(tmp_path, '{"url": "http://a.test/", "label": null}\n').n_open == 1


def test_compressed_files_are_read(tmp_path):
    (tmp_path / "labels.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfhttp://a.test/,yes\n"))
    assert read_labels(tmp_path / "labels.csv.gz").labels[0].url == "http://a.test/"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://a.test/,yes\nhttp://b.test/,perhaps\n", "line 2: the label is 'perhaps'; write yes or no"),
        ("url,label\n,yes\n", "line 2: neither a url nor a score"),
        ("score,label\nhigh,yes\n", "line 2: the score is 'high', which is not a valid number"),
        ("score,label\n1e308,yes\n", "which is not a valid number"),
        ("score,label\nnan,yes\n", "which is not a valid number"),
        ("http://a.test/,yes,0\n", "the weight is 0; it must be more than 0"),
        ("0.5,yes\n,no\n", "line 2: the score is|neither a url"),
        ("url,score,label\nhttp://a.test/,,yes\n,0.5,no\n", "some lines have a score and some a URL"),
        ('{"url": "http://a.test/", "label"\n', "line 1: not JSON"),
        ('{"url": "http://a.test/", "label": 1}\n[1]\n', "line 2: no object"),
        ('{"url": 7, "label": 1}\n', "neither a url nor a score"),
        ('"http://a.test/,yes\n', None),
    ],
)
def test_a_bad_line_is_named_with_what_to_write(tmp_path, text, says):
    if says is None:
        # A quote that is never closed swallows the rest, and no label is left.
        assert labels_of(tmp_path, text).n_open == 1
        return
    with pytest.raises(InvalidInput, match=says) as error:
        labels_of(tmp_path, text)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "labels.csv").write_bytes(b"http://a.test/\xff,yes\n")
    with pytest.raises(InvalidInput, match="not UTF-8 at byte 14"):
        read_labels(tmp_path / "labels.csv")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"http://a.test/,yes\n" * 99)[:-12])
    with pytest.raises(InvalidInput, match="damaged"):
        read_labels(tmp_path / "cut.gz")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_labels(tmp_path / "nowhere.csv")


def test_what_is_written_to_fill_in_is_read_back(tmp_path):
    file = tmp_path / "labels.csv"
    write_pages_to_label(file, [PageToLabel("http://a.test/?a,b", 'So "it" is,\nor not', 12.5)])
    assert (read_labels(file).labels, read_labels(file).n_open) == ((), 1)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    rows[0]["label"] = "yes"
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, rows[0])
        table.writeheader()
        table.writerows(rows)
    (label,) = read_labels(file).labels
    assert (label.url, label.is_relevant, label.weight) == ("http://a.test/?a,b", True, 12.5)
