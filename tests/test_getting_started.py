"""The first tutorial: its commands run in their order, on a part of its web, and print what it shows."""

import re
import runpy
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scenthound.experiments.demo import run as demo_module
from scenthound.experiments.demo.run import Demo
from scenthound.experiments.demo.web import write_demo_pages

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "getting_started.md").read_text(encoding="utf-8")
PORT = "8780"
MODULES = [
    *("_socket", "asyncio.streams", "asyncio.transports", "asyncore", "contextlib", "enum", "errno", "ftplib"),
    *("http.client", "http.server", "imaplib", "io", "ipaddress", "nntplib", "os", "poplib", "queue", "select"),
    *("selectors", "signal", "smtplib", "socket", "socketserver", "ssl", "struct", "telnetlib", "threading", "time"),
    *("xmlrpc.client", "zlib"),
]
#: Lines of an output that depend on timing or on the web, by their first words.
OPTIONAL = {"best", "better", "given", "lost", "recall", "left", "next", "pages", "on"}
#: What makes the experiments small.
SMALLER = {
    "crawl": {"--pages": {"60": "15", "100": "40"}},
    "simulate": {"--pages": {"150": "20"}},
    "compare": {"--pages": {"100": "15"}},
}


def blocks() -> list[tuple[str, str]]:
    """The code blocks, each with its language."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def first_words(output: str) -> set[str]:
    """The first word of each line, or the first cell of a row of a table, without numbers."""
    found = (re.search(r"[A-Za-z_]{2,}", line) for line in output.splitlines())
    return {word[0].lower() for word in found if word}


def arguments_of(command: str, port: int) -> list[str]:
    words = shlex.split(command.replace(PORT, str(port)))[1:]
    smaller = SMALLER.get(words[0], {})
    for at, word in enumerate(words[:-1]):
        words[at + 1] = smaller.get(word, {}).get(words[at + 1], words[at + 1])
    return words + (["--workers", "1"] if words[0] in ("simulate", "compare", "export") else [])


@contextmanager
def hidden(_title: str) -> Iterator[Callable[..., None]]:
    yield lambda *_: None


def test_the_commands_print_what_the_tutorial_shows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenthound: Callable[..., tuple[int, str, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(
        demo_module, "write_demo_pages", lambda path, progress: write_demo_pages(path, progress, MODULES)
    )
    said: list[str] = []
    served = Demo(Path("demo"), say=said.append, show_progress=hidden, show_crawl=hidden).serve()
    output, ran = "", []
    with served:
        for language, text in blocks():
            lines = text.replace("\\\n", " ").splitlines()
            commands = [line for line in lines if line.startswith("scenthound ") and "example.org" not in line]
            if language == "python":
                Path("example.py").write_text(text, encoding="utf-8")
                runpy.run_path("example.py")
                output = capsys.readouterr().out
                assert "relevance" in output
            elif language == "text" and ran[-1] not in ("demo", "python"):
                assert first_words(text) - first_words(output) <= OPTIONAL, text
            for command in commands if not language else ():
                words = arguments_of(command, served.port)
                ran.append(words[0])
                if words[0] != "demo":
                    status, output, error = scenthound(*words)
                    assert status == 0, (command, error)
    assert ran == ["demo", "crawl", "crawl", "explain", "report", "export", "simulate", "evaluate", "compare"]
    assert any(f" {len(MODULES)} pages " in line for line in said)
    assert all(
        (tmp_path / name).exists() for name in ("sockets.jsonl", "sockets/report.html", "comparison/report.html")
    )
