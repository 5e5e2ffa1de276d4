"""Where the CPU time of a live crawl goes, by stage.

Rules
- The main thread is sampled by its own CPU clock: waiting costs nothing, and other load changes nothing. Python handles
  the signal when a call of C code returns, so a sample belongs to the Python function that made the call.
- A sample belongs to the stage of its innermost function that is listed in `STAGES`.
- Not sampled but measured: the start up to the sampler's, other threads (the one that writes commits), child processes
  (which write checkpoints).
- Linux only: other systems have no CPU clocks for threads.
"""

import ctypes
import importlib.util
import os
import resource
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import scenthound
from scenthound.errors import Failure

#: Modules of the package, or functions of one (`module:function`), by stage. The most specific one counts.
STAGES: Mapping[str, tuple[str, ...]] = {
    "start": ("crawler.start", "crawler.assembly", "crawler.settings", "registry"),
    "fetch": (
        *("web.curl_fetcher", "web.curl_handle", "web.fetch", "web.content_coding", "web.dns", "web.access"),
        *("web.addresses", "web.proxies", "web.open_files", "crawler.network"),
    ),
    "HTML and text": ("web.parse", "web.html", "web.decode", "web.refresh"),
    "links and URL table": (
        *("web.references", "web.urls", "frontier.url_table"),
        *("crawler.live_web", "crawler.link_depths", "crawler.scope", "crawler.reader:visible_links"),
    ),
    "words": ("text.tokenizer", "text.scripts"),
    "scoring": ("relevance", "text.vectors", "crawler.reader:PageScorer"),
    "near-duplicates": ("web.near_duplicates", "web.soft_404", "crawler.reader:PageFilter"),
    "strategy and frontier": ("strategies", "frontier.base", "frontier.priority"),
    "scheduling": (
        *("crawler.engine", "crawler.scheduler", "crawler.runner", "crawler.live_crawl", "crawler.reader"),
        *(
            "crawler.throttle",
            "crawler.robots_cache",
            "crawler.tasks",
            "crawler.visit_numbers",
            "bounded_cache",
        ),
        *("crawler.sitemap_links", "frontier.politeness", "web.robots", "web.sitemaps", "web.traps"),
    ),
    "archive": ("store.archive", "store.warc_format"),
    "journal and database": (
        *("crawler.journal", "store.crawl_store", "store.crawl_database"),
        *("store.crawl_records", "store.crawl_folder", "store.batches", "store.tables"),
    ),
    "checkpoints": ("crawler.checkpointing", "store.checkpoints", "saved_state"),
    "status and commands": ("crawler.state", "crawler.control", "crawler.topic_notes"),
}
IMPORTS = "start: imports"
BEFORE = "start: before the first sample"
THREADS = "journal and database: commit thread"
CHILDREN = "checkpoints: child processes"
OTHER = "other"

_EVERY_S = 0.001
_CLOCK_THREAD_CPUTIME_ID = 3
_SIGEV_THREAD_ID = 4
_PACKAGE = Path(scenthound.__file__).parent


class Stages:
    """Finds the stage of a function. Raises Failure if a stage names a module that does not exist."""

    def __init__(self) -> None:
        self._stage_of = {name: stage for stage, names in STAGES.items() for name in names}
        for name in self._stage_of:
            module = f"scenthound.{name.partition(':')[0]}"
            if importlib.util.find_spec(module) is None:
                raise Failure(f"A stage of the benchmark names {module}, which does not exist: change the stages.")

    def stage(self, name: str) -> str | None:
        """The stage of `module:function`; None if neither the function nor its module is in one."""
        module, _, function = name.partition(":")
        functions = [f"{module}:{function[:end]}" for end in _ends(function)]
        parts = module.split(".")
        modules = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
        return next((self._stage_of[each] for each in (*functions, *modules) if each in self._stage_of), None)


def _ends(function: str) -> list[int]:
    """Where a function's name and those of its classes end, the longest first."""
    return [len(function), *(place for place in range(len(function) - 1, 0, -1) if function[place] == ".")]


class StageSampler:
    """Samples the thread that makes it until `end`; `cpu_s` and `functions` are the result."""

    def __init__(self) -> None:
        self._stages = Stages()
        self._before_s = time.thread_time()
        self._before_all_s = time.process_time()
        self._n_samples: Counter[tuple[str, str]] = Counter()
        signal.signal(signal.SIGPROF, self._sample)
        signal.siginterrupt(signal.SIGPROF, False)
        self._timer = _Timer()

    def end(self) -> None:
        self._timer.end()
        signal.signal(signal.SIGPROF, signal.SIG_IGN)

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds by stage."""
        found = defaultdict(float, {BEFORE: self._before_all_s})
        own_s = time.thread_time() - self._before_s
        n_samples = max(1, self._n_samples.total())
        for (stage, _), n in self._n_samples.items():
            found[stage] += own_s * n / n_samples
        found[THREADS] = time.process_time() - self._before_all_s - own_s
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        found[CHILDREN] = children.ru_utime + children.ru_stime
        return dict(found)

    def functions(self, n: int) -> list[tuple[str, str, float]]:
        """The functions with the most samples: stage, name, share of all samples."""
        total = max(1, self._n_samples.total())
        return [(*names, count / total) for names, count in self._n_samples.most_common(n)]

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        self._n_samples[self._classified(frame)] += 1

    def _classified(self, frame: FrameType | None) -> tuple[str, str]:
        innermost = ""
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith("<frozen importlib"):
                return IMPORTS, "imports"
            if file.startswith(str(_PACKAGE)):
                module = ".".join(Path(file).relative_to(_PACKAGE).with_suffix("").parts)
                name = f"{module}:{frame.f_code.co_qualname}"
                innermost = innermost or name
                stage = self._stages.stage(name)
                if stage is not None:
                    return stage, innermost
            frame = frame.f_back
        return OTHER, innermost or "outside the package"


class _SignalEvent(ctypes.Structure):
    """`struct sigevent` of Linux."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("number", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("padding", ctypes.c_char * 44),
    )


class _TimeSpan(ctypes.Structure):
    """`struct itimerspec`: interval, then first expiration."""

    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("first_s", ctypes.c_long),
        ("first_ns", ctypes.c_long),
    )


class _Timer:
    """Sends SIGPROF to this thread after each interval of its CPU time."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._timer = ctypes.c_void_p()
        event = _SignalEvent(None, signal.SIGPROF, _SIGEV_THREAD_ID, threading.get_native_id())
        every_ns = int(1e9 * _EVERY_S)
        span = _TimeSpan(0, every_ns, 0, every_ns)
        create, start = self._library.timer_create, self._library.timer_settime
        created = create(_CLOCK_THREAD_CPUTIME_ID, ctypes.byref(event), ctypes.byref(self._timer))
        if created != 0 or start(self._timer, 0, ctypes.byref(span), None) != 0:
            raise Failure(f"Cannot sample the crawl by its CPU time: {os.strerror(ctypes.get_errno())}.")

    def end(self) -> None:
        self._library.timer_delete(self._timer)
