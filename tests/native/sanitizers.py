"""Tests of the extension in C with AddressSanitizer and UBSan, by `make test-native`.

The arguments are those of pytest, by default all tests of the extension. The package is built in a folder of its own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "sanitized"
#: Reports go to files, because pytest captures what a process prints before it is ended.
REPORTS = BUILD / "report"
#: The sanitizer looks for functions of C++, which Python does not load.
PRELOADED = ("libasan.so", "libstdc++.so.6")
#: The tests that pass arrays to the extension.
TESTS = (
    "native",
    "test_html_reader.py",
    "test_native_crawl_driver.py",
    "test_near_duplicates.py",
    "test_pagerank_metric.py",
    "test_porter.py",
    "test_references.py",
    "test_repeats.py",
    "test_scent.py",
    "test_tokenizer.py",
    "test_unbounded_frontier.py",
    "test_url_table.py",
    "test_url_table_load.py",
    "test_word_counts.py",
    "test_word_scanner.py",
    "test_word_vectors.py",
)


def preloaded_libraries() -> str:
    compiler = os.environ.get("CC", "cc").split()
    found = []
    for name in PRELOADED:
        answer = subprocess.run([*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        path = answer.stdout.strip()
        # Compilers answer with the name itself if there is no such file.
        if answer.returncode or not os.path.isabs(path):
            sys.exit(f"{compiler[0]} has no {name}: install its sanitizers, or set CC to another compiler.")
        found.append(path)
    return " ".join(found)


def build() -> None:
    # Objects are kept, files that are no longer in the package are not.
    shutil.rmtree(BUILD / "scenthound", ignore_errors=True)
    folders = ["--build-lib", str(BUILD), "--build-temp", str(BUILD / "objects")]
    command = [sys.executable, "setup.py", "--quiet", "build", *folders]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "SCENTHOUND_SANITIZE": "1"}, check=True)


def main(arguments: list[str]) -> int:
    libraries = preloaded_libraries()
    build()
    log = f"log_path={REPORTS}"
    for report in BUILD.glob(f"{REPORTS.name}.*"):
        report.unlink()
    environment = {
        **os.environ,
        "PYTHONPATH": str(BUILD),
        # Python's own allocator would hide from the sanitizer where its objects end.
        "PYTHONMALLOC": "malloc",
        "LD_PRELOAD": libraries,
        # Python does not release all memory at its end; sizes beyond the memory are an error to handle, not to report.
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024:handle_segv=2:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
    }
    tests = arguments or [*(f"tests/{name}" for name in TESTS), "--numprocesses", "2"]
    which = "from scenthound.native import _native; print(_native.__file__)"
    found = subprocess.check_output([sys.executable, "-c", which], cwd=ROOT, env=environment, text=True)
    library = Path(found.strip())
    if not library.is_relative_to(BUILD) or b"__asan_init" not in library.read_bytes():
        sys.exit(f"{library} would be tested, which was not built with sanitizers: remove {BUILD}, and try again.")
    result = subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT, env=environment, check=False).returncode
    for report in BUILD.glob(f"{REPORTS.name}.*"):
        print(report.read_text(encoding="utf-8"))
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
