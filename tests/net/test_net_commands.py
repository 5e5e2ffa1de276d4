"""What the program says of itself and of wrong uses: help, lists, error lines."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import scenthound as sh
from goldens import Golden

Program = Callable[..., tuple[int, str, str]]
#: No line of help is wrapped.
WIDE = "2000"
FRAME = re.compile(r"[│╭╰╮╯─┃┏┓┗┛━┳┻┡┩╇└┘┴├┤┼]+")


def unframed(text: str) -> str:
    """The words of tables and panels, without frames and the widths of columns."""
    lines = (" ".join(FRAME.sub(" ", line).split()) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


@pytest.fixture
def help_of(program: Program, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def call(*command: str) -> str:
        code, out, err = program(*command, "--help", columns=WIDE)
        assert (code, err) == (0, "")
        return out

    return call


def commands_of(text: str) -> list[str]:
    """The commands in panels of a help text; options start with a hyphen."""
    rows = (re.match(r"│ ([a-z][a-z-]+) {2,}\S", line) for line in text.splitlines())
    return [row[1] for row in rows if row]


def test_help(help_of: Callable[..., str], golden: Golden) -> None:
    main = help_of()
    texts = {"scenthound": main}
    for command in commands_of(main):
        texts[command] = text = help_of(command)
        if command == "topics":
            texts |= {f"topics {each}": help_of("topics", each) for each in commands_of(text)}
    assert len(texts) > 20
    golden.text("".join(f"### {name}\n{unframed(text)}\n" for name, text in texts.items()))


@pytest.mark.parametrize("command", ["strategies", "metrics", "relevance"])
def test_list(command: str, program: Program, golden: Golden) -> None:
    code, out, _ = program(command, "--json")
    assert code == 0
    listed = json.loads(out)
    golden.json(listed)
    code, out, _ = program(command, columns=WIDE)
    assert code == 0
    assert all(each["name"] in out for each in listed)


def test_plugins(program: Program, golden: Golden) -> None:
    code, out, _ = program("plugins", "--json")
    assert code == 0
    # The versions of installed packages differ between environments.
    golden.json([{name: each[name] for name in each if "version" not in name} for each in json.loads(out)])


def test_names_of_the_package(golden: Golden) -> None:
    golden.json(sh.__all__)


def test_topics(program: Program, topics: Path, tmp_path: Path, golden: Golden, plain: Callable[[str], str]) -> None:
    code, out, _ = program("topics", "list", topics)
    listed, as_json = unframed(plain(out)).splitlines(), json.loads(program("topics", "list", topics, "--json")[1])
    assert code == 0
    paths = ["Top/Arts", "Top/Arts/Music", "Top/Arts/Music/Organ", "Top/Games", "Top/Games/Chess"]
    rows = [{"id": path, "path": path, "examples": [f"http://a.test/{path}/{i}" for i in range(12)]} for path in paths]
    (tmp_path / "paths.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "content.rdf.u8").write_text(DIRECTORY)
    selected, imported = tmp_path / "selected.jsonl", tmp_path / "imported.jsonl"
    said = [
        program("topics", "select", tmp_path / "paths.jsonl", "--count", 2, "--min-links", 10, "--out", selected),
        program("topics", "import", "--content", tmp_path / "content.rdf.u8", "--min-links", 1, "--out", imported),
    ]
    golden.json(
        {
            "list": listed,
            "list --json": [{**each, "examples": len(each["examples"])} for each in as_json],
            "select": [*said[0][:1], *map(plain, said[0][1:])],
            "selected": selected.read_text().splitlines() if selected.exists() else None,
            "import": [*said[1][:1], *map(plain, said[1][1:])],
            "imported": imported.read_text().splitlines() if imported.exists() else None,
        }
    )


#: A few topics in the format of the Open Directory.
DIRECTORY = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
<Topic r:id="Top/Arts/Music"><catid>2</catid><link r:resource="http://a.test/1"></link></Topic>
<ExternalPage about="http://a.test/1">
<d:Title>Organ pipes</d:Title><d:Description>All about pipes &amp; stops.</d:Description><topic>Top/Arts/Music</topic>
</ExternalPage>
<Topic r:id="Top/Games/Chess"><catid>3</catid><link r:resource="http://a.test/2"></link></Topic>
<ExternalPage about="http://a.test/2">
<d:Title>Chess openings</d:Title><d:Description>Gambits.</d:Description><topic>Top/Games/Chess</topic>
</ExternalPage>
</RDF>
"""
SIMULATE = "simulate --web WEB --topics TOPICS --strategy otie --out TMP/x"
CRAWL = "crawl --keywords balloon --seed http://a.test/ --out TMP/c"
WRONG_USES = {
    "no such command": "crwal",
    "no such option": "crawl --sed http://a.test/",
    "missing option": "simulate --web WEB",
    "not a number": f"{SIMULATE} --pages ten",
    "out of range": f"{SIMULATE} --pages 0",
    "no such strategy": f"{SIMULATE} --strategy oti",
    "no such parameter": f"{SIMULATE} --strategy otie:aa=1",
    "parameter out of range": f"{SIMULATE} --strategy best_n_first:n=0",
    "no such mode": f"{SIMULATE} --mode fast",
    "no such relevance model": f"{SIMULATE} --relevance bert",
    "no such topic": f"{SIMULATE} --topic ships",
    "no such web": f"{SIMULATE} --web TMP/none",
    "no such topic file": f"{SIMULATE} --topics TMP/none.jsonl",
    "broken topic file": f"{SIMULATE} --topics TMP/broken.jsonl",
    "which topic": "crawl TOPICS --out TMP/c",
    "no topic": "crawl --out TMP/c",
    "not a URL": "crawl --keywords balloon --seed mailto:me --out TMP/c",
    "order and patience": f"{CRAWL} --strict-order --patience 0.5",
    "not a time": f"{CRAWL} --time soon",
    "no crawl to resume": "crawl --resume TMP",
    "a web is no crawl": "crawl --resume WEB",
    "no folder to explain": "explain TMP/none http://a.test/",
    "no such export": "export WEB --to docx --out TMP/x",
    "a web cannot be exported": "export WEB --to jsonl --out TMP/x.jsonl",
    "no such run": "evaluate TMP/run",
    "no such study": "study nobody1999 --web WEB --topics TOPICS --out TMP/s",
    "folder in use": "record --from PAGES --out WEB",
    "nothing to record": "record --from TMP/none.jsonl --out TMP/w",
    "broken record": "record --from TMP/broken.jsonl --out TMP/w",
    "no such configured option": f"{CRAWL} --config TMP/unknown.toml",
    "configured type": f"{CRAWL} --config TMP/type.toml",
    "no such profile": f"{CRAWL} --config TMP/type.toml --profile night",
}


def test_wrong_uses(
    program: Program, web: Path, topics: Path, tmp_path: Path, golden: Golden, plain: Callable[[str], str]
) -> None:
    (tmp_path / "broken.jsonl").write_text('{"id": "x",\n')
    (tmp_path / "unknown.toml").write_text("[crawl]\npage = 5\n")
    (tmp_path / "type.toml").write_text('[crawl]\npages = "many"\n')
    places = {"WEB": str(web), "TOPICS": str(topics), "PAGES": str(web.parent / "pages.jsonl"), "TMP": str(tmp_path)}
    named, said = re.compile("|".join(places)), {}
    for name, line in WRONG_USES.items():
        code, out, err = program(*named.sub(lambda found: places[found[0]], line).split())
        assert (code, out) == (2, ""), name
        # Progress is shown when it takes time, so whether there are lines of it differs.
        *progress, said[name] = plain(err).splitlines()
        assert all(part.startswith("recording: ") for part in progress), name
    golden.json(said)
