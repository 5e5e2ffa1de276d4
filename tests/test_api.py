"""The public Python API: what a script or a notebook imports from `scenthound`."""

import asyncio
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import scenthound as sh
from live_site import live_site
from ring_web import topic
from scenthound import registry
from scenthound.cli.app import load
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, MissingExtra, UnknownName, UsageError
from scenthound.metrics.base import padded
from scenthound.reasons import EndReason
from scenthound.strategies.breadth_first import BreadthFirst

PAGES = [
    {
        "url": f"http://w{i % 3}.test/{i}",
        "html": f"<title>Page {i}</title><a href=http://w{(i + 1) % 3}.test/{i + 1}>next</a> balloon word{i}",
    }
    for i in range(12)
]
BALLOON = sh.Topic(keywords="balloon", examples=[page["url"] for page in PAGES])


class Mine(BreadthFirst):
    summary = "a strategy of this test"

    def __init__(self, n: int = 1) -> None:
        super().__init__()
        self.n = n


class Needy(BreadthFirst):
    summary = "a strategy with a parameter that has no default"

    def __init__(self, n: int) -> None:
        super().__init__()


class Scorer(sh.Relevance):
    pass


class Seen(sh.Metric):
    name = "seen"
    summary = "a metric of this test"

    def curve(self, trace, ground_truth, n_steps):
        return padded(trace.relevance > 0, n_steps).cumsum()


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    return sh.record(str(folder / "pages.jsonl"), folder / "web", workers=1)


@pytest.fixture(scope="module")
def run(web):
    return sh.simulate(web, BALLOON, ["best_first", Mine(n=3)], pages=8, repeats=2, workers=1)


def test_every_public_name_can_be_used_and_is_listed():
    for name in sh.__all__:
        assert getattr(sh, name) is not None
    assert dir(sh) == sorted(sh.__all__)
    with pytest.raises(AttributeError, match="crawlz"):
        sh.crawlz  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    look = (
        "import sys, scenthound; heavy = ('numpy', 'asyncio', 'rich', 'scenthound.errors');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_topic_needs_no_id_and_takes_lists():
    made = sh.Topic(keywords=["hot air balloon", "ballooning"], seeds="http://a.test/")
    assert (made.id, made.keywords, made.seeds) == (
        "hot air balloon",
        ("hot air balloon", "ballooning"),
        ("http://a.test/",),
    )
    assert made == sh.Topic("hot air balloon", ("hot air balloon", "ballooning"), seeds=("http://a.test/",))
    assert hash(made)
    with pytest.raises(InvalidTopic):
        sh.Topic()


def test_a_recorded_web_is_a_table_of_pages(web):
    assert (len(web), len(web.pages), web.summary.pages) == (12, 12, 12)
    assert web.pages[0].url == "http://w0.test/0"
    assert [page.title for page in web.pages[:2]] == ["Page 0", "Page 1"]
    assert len(sh.open_web(web.folder)) == 12


def test_strategies_are_names_classes_or_instances_with_and_without_workers(web, run):
    assert run.strategies == ["best_first", "Mine:n=3"]
    assert len(run.crawls) == 4
    again = sh.simulate(web, [BALLOON], ["best_first", Mine(3)], pages=8, repeats=2, workers=2)
    assert [page.url for page in again.pages] == [page.url for page in run.pages]
    assert sh.simulate(web, BALLOON, Mine, pages=4, workers=1).strategies == ["Mine"]


def test_two_classes_of_one_name_are_rejected(web):
    first, second = (type("Twin", (BreadthFirst,), {"__module__": __name__}) for _ in range(2))
    for strategies in ([first, second], [first(), second], [first, second()]):
        with pytest.raises(InvalidParameter, match="'Twin'"):
            sh.simulate(web, BALLOON, strategies, pages=4, workers=1)


def test_an_evaluation_is_a_table_for_people_and_rows_for_programs(run):
    evaluation = run.evaluate("target_recall", Seen, at=4)
    assert {score.metric for score in evaluation.scores} == {"target_recall", "seen"}
    values = {(score.metric, score.strategy, score.pages): score.mean for score in evaluation.scores}
    assert values["seen", "Mine:n=3", 8] == 8
    text = str(evaluation.tables["seen"])
    assert "after 4 pages" in text
    assert text.count("8.000*") == 2
    assert "* best." in text
    assert "Mine:n=3" in text
    html = evaluation._repr_html_()
    assert html.count("<table>") == 1
    assert "<svg" in html
    assert run.evaluate("precision@4").evaluated.checkpoints == (4, 8)
    assert sh.evaluate(run, Seen()).evaluated.metrics == ("seen",)


def test_an_evaluation_prints_one_table_and_has_the_others(run):
    evaluation = run.evaluate()
    assert evaluation.table.columns == ["metric", "strategy", "pages", "mean", "standard_error", "n_topics"]
    [shown] = evaluation._tables()
    assert shown.columns == ["strategy", "target recall", "recall", "precision", "pages"]
    assert {"target_recall", "precision", "recall", "cost"} <= set(evaluation.tables)
    [shown] = run.evaluate("precision")._tables()
    assert shown.columns[-1] == "after 8 pages"
    [shown] = run.evaluate("target_recall", "precision", at=4)._tables()
    assert shown.columns == ["strategy", "after 4 pages", "after 8 pages"]
    [shown] = run.evaluate("precision", Seen)._tables()
    assert shown.columns == ["strategy", "precision", "seen", "pages"]


def test_metrics_are_passed_one_by_one_or_in_a_list(run):
    both = ("target_recall", "seen")
    for evaluation in (
        run.evaluate(["target_recall", Seen]),
        sh.evaluate(run, "target_recall", Seen()),
        sh.evaluate(run, ["target_recall", Seen]),
    ):
        assert evaluation.evaluated.metrics == both


def test_tables_become_data_frames(run):
    table = run.pages
    for frame in (table.to_pandas(), table.to_polars(), table.to_arrow().to_pandas()):
        assert frame.shape == (len(table), len(table.columns))
    assert list(table.to_pandas()["step"][:3]) == [1, 2, 3]
    assert list(run.to_pandas().columns) == run.crawls.columns


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_a_missing_library_is_reported_with_the_command_that_installs_it(name, run, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    convert = {"pandas": run.table.to_pandas, "polars": run.table.to_polars, "pyarrow": run.table.to_arrow}[name]
    with pytest.raises(MissingExtra, match="pip install 'scenthound\\["):
        convert()


def test_html_escapes_what_comes_from_pages():
    table = sh.Table([("<b>bold</b>",)], {"title": lambda row: row[0]})
    assert "&lt;b&gt;" in table._repr_html_()
    assert "<b>" not in table._repr_html_()


def test_long_tables_are_cut_in_print_only():
    table = sh.Table(range(100), {"number": lambda row: row})
    assert "80 more rows" in repr(table)
    assert len(table.to_pandas()) == 100


def test_a_run_can_be_kept_and_opened_again(web, tmp_path):
    made = sh.simulate(web, BALLOON, "best_first", pages=4, out=tmp_path / "run", workers=1)
    opened = sh.open_run(str(tmp_path / "run"))
    assert [page.url for page in opened.pages] == [page.url for page in made.pages]
    assert opened.report() == tmp_path / "run" / "report.html"
    assert "<svg" not in made._repr_html_()
    assert re.match(r"1 .*\b1 topic: 4 pages\.", str(made))
    assert [file.name for file in made.evaluate("precision").save()] == ["evaluation.json", "evaluation.csv"]
    assert "<svg" in opened._repr_html_()


def test_a_temporary_run_is_deleted_with_its_object(web):
    made = sh.simulate(web, BALLOON, "best_first", pages=4, workers=1)
    folder = made.folder
    assert folder.is_dir()
    del made
    assert not folder.exists()


def test_a_crawl_returns_its_pages_and_can_be_resumed_exported_and_opened(web, tmp_path):
    crawl = sh.crawl(BALLOON, web=web, offline=True, pages=5, out=tmp_path / "crawl", strategy=Mine(n=2))
    assert (len(crawl), crawl.ended, crawl.settings.strategy) == (5, EndReason.BUDGET, "Mine:n=2")
    assert [page.status for page in crawl.pages] == [200] * 5
    assert "Page" in str(crawl)
    assert "<svg" in crawl._repr_html_()
    assert len(crawl.resume(pages=7)) == 7
    assert crawl.export("jsonl", tmp_path / "pages.jsonl").written == 7
    assert crawl.explain(crawl.pages[0].url).visit is not None
    opened = sh.open_crawl(tmp_path / "crawl")
    assert (opened.ended, len(opened.runs), opened.folder) == (EndReason.BUDGET, 2, crawl.folder)
    assert f"Ended: {EndReason.BUDGET.value}." in str(opened)
    runs = opened.runs._repr_html_()
    assert f">{os.getpid()}<" in runs
    assert runs.count(" UTC<") == 4
    with pytest.raises(UsageError, match=r"strategy= .*\bbest_first\b.*\bMine:n=2\b"):
        sh.resume(opened, strategy="best_first")


def test_a_crawl_with_a_class_of_another_process_says_how_to_resume_it(web, tmp_path, monkeypatch):
    sh.crawl(BALLOON, web=web, offline=True, pages=3, out=tmp_path / "crawl", strategy=Mine(n=2))
    monkeypatch.setattr(registry, "_LOCAL", {})
    with pytest.raises(UsageError, match=r"sh\.resume\(.*, strategy=Mine\)"):
        sh.resume(tmp_path / "crawl")
    assert len(sh.resume(tmp_path / "crawl", pages=4, strategy=Mine(n=2))) == 4


def test_a_rejected_class_is_not_known(web):
    for wrong in (Needy, Scorer):
        with pytest.raises(InvalidParameter):
            sh.simulate(web, BALLOON, wrong)
    with pytest.raises(UnknownName) as raised:
        sh.simulate(web, BALLOON, "needy")
    assert "Needy" not in str(raised.value)


def test_crawls_work_where_an_event_loop_is_running(web, tmp_path):
    async def work():
        first = await sh.acrawl("balloon", PAGES[0]["url"], web=web, offline=True, pages=3, out=tmp_path / "a")
        second = sh.crawl(["balloon"], PAGES[0]["url"], web=web, offline=True, pages=3, out=tmp_path / "b")
        return len(first), len(second)

    assert asyncio.run(work()) == (3, 3)


def test_a_crawl_leaves_signal_handlers_as_they_were(web, tmp_path):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    sh.crawl("balloon", PAGES[0]["url"], web=web, offline=True, pages=2, out=tmp_path / "crawl")
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_cancelling_a_crawl_leaves_a_folder_that_can_be_resumed(tmp_path):
    async def work(site):
        options = {"hosts": site.hosts, "allow_private": True, "delay": 0.2}
        task = asyncio.create_task(sh.acrawl("balloon", site.url(0), out=tmp_path / "crawl", **options))
        while not site.pages_requested():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with live_site(tmp_path) as site:
        asyncio.run(work(site))
        n_pages = len(sh.open_crawl(tmp_path / "crawl"))
        assert len(sh.resume(tmp_path / "crawl", pages=n_pages + 2)) == n_pages + 2


@contextmanager
def default_interrupts():
    """A shell may have started the tests with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_stops_a_crawl_properly(tmp_path):
    with live_site(tmp_path) as site, default_interrupts():

        def interrupt():
            while not site.pages_requested():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            sh.crawl(
                "balloon", site.url(0), out=tmp_path / "crawl", hosts=str(site.hosts), allow_private=True, delay=0.2
            )
        thread.join()
        crawl = sh.open_crawl(tmp_path / "crawl")
        assert [run.ended for run in crawl.runs] == [EndReason.STOPPED.value]
        assert len(crawl.resume(pages=len(crawl) + 1)) == len(crawl)


def test_a_script_without_a_main_guard_may_use_workers_and_its_own_strategies(web, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import scenthound as sh\n"
        "from scenthound.strategies.breadth_first import BreadthFirst\n"
        "class Mine(BreadthFirst):\n"
        "    summary = 'mine'\n"
        f"urls = {[page['url'] for page in PAGES]}\n"
        "topics = [sh.Topic(name, 'balloon', examples=urls) for name in 'ab']\n"
        f"run = sh.simulate({str(web.folder)!r}, topics, [Mine, 'best_first'], pages=4, workers=2)\n"
        "print(len(run.pages), sorted(set(page.strategy for page in run.pages)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=300)
    assert (done.stdout, done.stderr) == ("16 ['Mine', 'best_first']\n", "")


@pytest.mark.usefixtures("no_figures")
def test_strategies_are_ranked(web_path, topics_file, tmp_path):
    compared = sh.compare(
        *(web_path, topics_file, ["best_first", Mine]),
        topic="balloon",
        pages=8,
        repeats=2,
        start=2,
        workers=1,
    )
    assert sorted(row.strategy for row in compared.ranking) == ["Mine", "best_first"]
    assert compared.best is None
    assert compared.verdict.doubts == ("few observations",)
    assert "otie" in compared.left_out
    assert compared.ranking[0].strategy in str(compared)
    assert compared.to_pandas()["rank"].tolist() == [1, 2]
    with pytest.raises(InvalidInput, match=r"compare\(\.\.\., out="):
        sh.report(compared)
    assert "<svg" in compared._repr_html_()


def test_topics_may_be_objects_or_a_file(web_path, topics_file):
    options = {"pages": 5, "start": 2, "workers": 1}
    by_file = sh.simulate(web_path, str(topics_file), "best_first", **options)
    by_objects = sh.simulate(web_path, [topic("balloon"), topic("train")], "best_first", **options)
    assert [page.url for page in by_file.pages] == [page.url for page in by_objects.pages]
    only = sh.simulate(web_path, topics_file, "best_first", topic="train", **options)
    assert {each.topic for each in only.crawls} == {"train"}


WRONG = {
    "unknown strategy": (lambda web: sh.simulate(web, BALLOON, "bestfirst"), UnknownName, "'best_first'"),
    "not a strategy": (lambda web: sh.simulate(web, BALLOON, [object()]), InvalidParameter, "not a strategy"),
    "not a strategy class": (lambda web: sh.simulate(web, BALLOON, dict), InvalidParameter, "dict is not a strategy"),
    "a class that needs values": (lambda web: sh.simulate(web, BALLOON, Needy), InvalidParameter, r"Needy\(n=...\)"),
    "unknown parameter": (lambda web: sh.simulate(web, BALLOON, "otie:nn=3"), UnknownName, "'n'"),
    "no strategy": (lambda web: sh.simulate(web, BALLOON, []), InvalidParameter, r"list_strategies\(\)"),
    "no topic at all": (lambda web: sh.simulate(web, None, "otie"), InvalidTopic, "None is not a topic"),
    "None as keywords": (lambda web: sh.crawl(None), InvalidTopic, "not a topic"),
    "relevance of one topic": (
        lambda web: sh.simulate(web, BALLOON, "otie", relevance=Scorer),
        InvalidParameter,
        "subclass of RelevanceModel",
    ),
    "not a metric": (lambda web: sh.compare(web, BALLOON, by=object()), InvalidParameter, "not a metric"),
    "unknown relevance": (lambda web: sh.simulate(web, BALLOON, "otie", relevance="cosin"), UnknownName, "'cosine'"),
    "not a topic": (lambda web: sh.simulate(web, [3], "otie"), InvalidTopic, "Topic objects"),
    "not keywords": (lambda web: sh.crawl(3), InvalidTopic, "keywords"),
    "no seeds": (lambda web: sh.crawl("balloon"), UsageError, "seeds="),
    "no web": (lambda web: sh.crawl(BALLOON, offline=True), UsageError, "web="),
    "a web that is a file": (lambda web: sh.simulate(web.folder / "web.json", BALLOON, "otie"), InvalidInput, "file"),
    "no such folder": (lambda web: sh.open_crawl("no-such-folder"), InvalidInput, "no-such-folder"),
    "a web, not a crawl": (sh.open_crawl, InvalidInput, "not a crawl: it is a recorded web"),
    "a web, not a run": (sh.evaluate, InvalidInput, "not a simulation run: it is a recorded web"),
    "not a folder": (lambda web: sh.open_crawl(3), InvalidInput, "int"),
    "two kinds of training": (
        lambda web: sh.simulate(web, BALLOON, "otie", train=3, as_published=True),
        InvalidParameter,
        "train=.*as_published=True",
    ),
    "a bad time": (lambda web: sh.crawl(BALLOON, time="soon"), UsageError, "time="),
    "a number as text": (lambda web: sh.crawl(BALLOON, pages="3"), InvalidParameter, "pages='3'"),
    "a truth value as number": (lambda web: sh.crawl(BALLOON, pages=True), InvalidParameter, "pages=True .*an integer"),
    "a fraction": (lambda web: sh.simulate(web, BALLOON, "otie", pages=2.5), InvalidParameter, "2.5 .*an integer"),
    "no workers": (lambda web: sh.simulate(web, BALLOON, "otie", workers=0), InvalidParameter, "workers=0 .*least 1"),
    "a step as text": (lambda web: sh.evaluate(web, at="50"), InvalidParameter, "at='50' .*an integer"),
    "a step of several as text": (lambda web: sh.evaluate(web, at=[5, "50"]), InvalidParameter, "an integer"),
    "no progress": (lambda web: sh.evaluate(web, progress="x"), InvalidParameter, "progress='x'"),
    "no budget": (lambda web: sh.crawl(BALLOON, pages=0), InvalidParameter, "pages=0"),
    "a negative delay": (lambda web: sh.crawl(BALLOON, delay=-1), InvalidParameter, "delay=-1"),
    "no topics": (lambda web: sh.threshold("labels.csv", topic="a"), UsageError, "need topics="),
    "seed sets": (
        lambda web: sh.validate(web, BALLOON, "otie", "out", small=3, large=2),
        InvalidParameter,
        "small=3 and large=2",
    ),
    "unknown rule": (lambda web: sh.select_topics("topics.toml", rule="leafs"), UnknownName, "'leaves'"),
    "no pages": (lambda web: sh.simulate(web, BALLOON, "otie", pages=0), InvalidParameter, "pages=0 must be"),
    "nothing to report": (lambda web: sh.report(), UsageError, "report"),
    "unknown export": (lambda web: sh.export("x", "html", "y"), UnknownName, "'html'"),
    "export of no crawl": (lambda web: sh.export("x", "jsonl", "y"), InvalidInput, "'?x'?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_usage_errors_are_one_line_that_names_arguments(case, web, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, error, says = WRONG[case]
    with pytest.raises(error, match=says) as raised:
        call(web)
    assert "\n" not in str(raised.value)
    assert not any(word.startswith("--") for word in str(raised.value).split())
    assert list(Path().iterdir()) == []


def test_a_synthetic_web_has_topics_to_crawl_for(tmp_path):
    web = sh.synthesize(tmp_path / "web", pages=300, topics=3, pages_per_host=30)
    topics = sh.open_topics(web.folder / "topics.jsonl")
    assert (len(web), len(topics)) == (300, 3)
    assert topics.table.to_dict()["id"] == [topic.id for topic in topics]
    assert sh.simulate(web, topics, "best_first", pages=20, topics_max=2, workers=1).crawls[0].pages == 20
    assert (topics[0].id, topics[1:]) == (next(iter(topics)).id, list(topics)[1:])
    assert sh.open_topics(topics.save(tmp_path / "copy.toml")).table.to_dict() == topics.table.to_dict()
    with pytest.raises(InvalidInput, match="force=True"):
        topics.save(tmp_path / "copy.toml")


def test_a_threshold_is_suggested_from_scores(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("score,label\n" + "".join(f"0.{i:02},{'yes' if i >= 20 else 'no'}\n" for i in range(1, 41)))
    found = sh.threshold(labels)
    assert 0.19 < found.value <= 0.2
    [suggested] = [row for row in found.thresholds if row.is_suggested]
    assert (suggested.threshold, suggested.f1) == (found.value, 1.0)
    found.draw(tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size


def test_plug_ins_are_listed_with_their_parameters():
    listed = {each.name: each for each in sh.list_strategies()}
    assert "n=1" in listed["best_n_first"].parameters
    assert {each.name for each in sh.list_relevance_models()} == {"cosine", "rocchio", "svm"}
    assert "target_recall" in {each.name for each in sh.list_metrics()}


COMMANDS = ["crawl", "record", "synthesize", "simulate", "compare", "evolve", "validate", "threshold"]


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_functions_have_the_same_options_and_defaults(name):
    arguments = inspect.signature(getattr(sh, name)).parameters
    shared = 0
    for option in load(name).params:
        argument = arguments.get(option.name)
        if argument is not None and option.default is not None:
            assert option.default == argument.default, option.name
            shared += 1
    assert shared


def test_signatures_list_every_option_with_its_default():
    assert inspect.signature(sh.simulate).parameters["start"].default == 10
    assert inspect.signature(sh.acrawl).parameters["connections"].default == 16
    assert inspect.iscoroutinefunction(sh.acrawl)


def test_an_unknown_argument_is_a_type_error_with_the_nearest_one(web):
    with pytest.raises(TypeError, match=r"'strateg'.*'strategy'"):
        sh.crawl(BALLOON, web=web, strateg="otie")
    with pytest.raises(TypeError, match="'repeat'"):
        sh.simulate(web, BALLOON, "otie", repeat=3)


def test_the_command_line_names_flags_where_python_names_arguments(scenthound, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = scenthound("crawl", "--keywords", "balloon")
    assert code == 2
    assert "--seed" in err


SEED = "http://127.0.0.1:9/"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"allow_private": "no"}, "allow_private='no'"),
        ({"random_seed": None}, "random_seed=None"),
        ({"delay": float("nan")}, "delay=nan"),
        ({"timeout": float("inf")}, "timeout=inf"),
        ({"page_bytes": 0}, "page_bytes=0"),
        ({"contact": 3}, "contact=3"),
        ({"out": 3}, "out=3"),
        ({"seeds": 3}, "seeds=3"),
        ({"seeds": b"http://a/"}, "seeds=b'http://a/'"),
        ({"hosts": {"a.test": "bogus"}}, "'a.test': 'bogus'"),
        ({"topic_id": "trains"}, "topic_id='trains'"),
        ({"topic": ""}, "topic"),
        ({"cookie_file": "a\0b"}, "cookie_file='a\\x00b' must not contain a null character"),
        ({"include": "\ud800"}, "include='\\ud800' must be valid Unicode"),
        ({"allow_domain": [None]}, "allow_domain=[None] should be a text or a list of texts"),
        ({"header": {"a": "b"}}, "header={'a': 'b'} should be a text or a list of texts"),
        ({"include": (each for each in "ab")}, "should be a text or a list of texts"),
        ({"time": True}, "time=True should be a text or a number"),
        ({"hosts": 5}, "hosts=5 should be a path or a dictionary"),
        ({"hosts": "/tmp"}, "with hosts="),
        (
            {"train_from": os.devnull, "relevance": "svm"},
            "/dev/null is not a folder: name another one with train_from=",
        ),
        ({"user_agent": "My Bot"}, "user_agent='My Bot' must"),
        ({"random_seed": 1 << 63}, "random_seed=9223372036854775808 must"),
        ({"contact": "m\u00fc@a.test"}, "contact='m\u00fc@a.test' must"),
        ({"delay": 1e300}, "delay=1e+300 must be from 0 to 86,400"),
        ({"pages": 1 << 70}, "pages=1180591620717411303424 must be at most 2,147,483,647"),
    ],
)
def test_arguments_of_a_wrong_type_start_no_crawl(arguments, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(named)):
        sh.crawl(**{"topic": BALLOON, "seeds": SEED, "pages": 1, **arguments})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["topic", "out", "commit_log", "hosts", "cookie_file", "train_from", "web", "cluster"])
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_text_is_no_path(name, empty, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameter, match=f"^{name}={empty!r} must not be empty.$"):
        sh.crawl(**{"topic": BALLOON, "seeds": SEED, "pages": 1, name: empty})
    assert not list(tmp_path.iterdir())


OTHER_ARGUMENTS = {
    "empty crawl": (lambda web: sh.resume(""), "crawl='' must not be empty"),
    "empty folder": (lambda web: sh.open_web(""), "folder='' must not be empty"),
    "empty source": (lambda web: sh.record(["a", ""], "out"), r"sources=\['a', ''\] must not be empty"),
    "empty run": (lambda web: sh.evaluate(""), "run='' must not be empty"),
    "empty file of a method": (lambda web: sh.Topic(keywords="a") and sh.open_topics(""), "file='' must not be empty"),
    "a number as sweep": (lambda web: sh.compare(web, BALLOON, sweep=5), "sweep=5 should be a dictionary or a text or"),
    "None in a sweep": (lambda web: sh.compare(web, BALLOON, sweep=[None]), r"sweep=\[None\] should be"),
    "bytes as sweep": (lambda web: sh.compare(web, BALLOON, sweep=b"n=1"), "sweep=b'n=1' should be"),
    "a number as seeds": (lambda web: sh.compare(web, BALLOON, seeds=5), "seeds=5 should be a text or a list of texts"),
    "a dictionary as topics": (lambda web: sh.simulate(web, BALLOON, "otie", topic={"a": 1}), "topic={'a': 1} should"),
    "a number as condition": (
        lambda web: sh.record("a", "out", where=5),
        "where=5 should be a dictionary or a list of",
    ),
    "a number as language": (
        lambda web: sh.export("x", "jsonl", "y", language=[5]),
        r"language=\[5\] should be a text",
    ),
    "numbers as files": (lambda web: sh.evolve(web, BALLOON, "out", seed_with=[5]), "a path or a list of paths"),
    "a step as bytes": (lambda web: sh.evaluate("x", at=b"5"), "at=b'5' should be an integer or a list of integers"),
    "an option of a plan": (lambda web: sh.Crawl.plan("x", header=5), "header=5 should be a text"),
}


@pytest.mark.parametrize("case", OTHER_ARGUMENTS)
def test_a_value_of_another_type_is_one_line_with_its_argument(case, web, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, says = OTHER_ARGUMENTS[case]
    with pytest.raises(InvalidParameter, match=says):
        call(web)
    assert not list(tmp_path.iterdir())


def test_signatures_name_types_as_type_checkers_do():
    arguments = inspect.signature(sh.crawl).parameters
    types = {name: arguments[name].annotation for name in ("topic", "strategy", "web", "out", "progress")}
    assert types == {
        "topic": "TopicLike",
        "strategy": "PluginLike | None",
        "web": "FolderLike | None",
        "out": "PathLike | None",
        "progress": "ProgressLike",
    }
    assert inspect.signature(sh.compare).parameters["strategies"].annotation == "PluginsLike | None"
    assert inspect.signature(sh.threshold).parameters["topics"].annotation == "TopicsLike | None"


def test_numbers_of_numpy_are_numbers(web, tmp_path):
    crawl = sh.crawl(BALLOON, web=web, offline=True, pages=np.int64(2), delay=np.float32(0), out=tmp_path / "crawl")
    assert (len(crawl.pages), crawl.settings.page_budget) == (2, 2)


def test_a_missing_argument_is_reported_with_the_public_name():
    with pytest.raises(TypeError, match=r"crawl\(\).*'topic'"):
        sh.crawl()


def test_one_of_several_topics_is_chosen_by_its_id(tmp_path):

    (tmp_path / "topics.toml").write_text(
        '[[topic]]\nid = "a"\nkeywords = ["a"]\n[[topic]]\nid = "b"\nkeywords = ["b"]\n'
    )
    with pytest.raises(UsageError, match="topic_id="):
        sh.crawl(tmp_path / "topics.toml", SEED)


@pytest.mark.parametrize("fields", [{"keywords": [3]}, {"keywords": 3}, {"id": 3, "keywords": "a"}])
def test_a_topic_consists_of_texts(fields):
    with pytest.raises(InvalidTopic, match="3"):
        sh.Topic(**fields)


def test_no_repeats_are_rejected(web):
    with pytest.raises(UsageError, match="repeats"):
        sh.simulate(web, BALLOON, "otie", repeats=0)
