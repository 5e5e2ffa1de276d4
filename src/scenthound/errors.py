"""All errors that Scenthound raises deliberately.

ScenthoundError
├── UsageError            the caller can fix it: the command line exits with 2
│   ├── UnknownName       no strategy, metric, parameter or topic of that name
│   ├── InvalidParameter  a parameter's value has the wrong type or is out of range
│   ├── InvalidTopic      a topic or topic file that cannot be used
│   │   └── NoStartPage   a topic with no page that a crawl could start from
│   ├── InvalidInput      a file or folder that cannot be read as what it should be
│   │   └── CorruptData   values in a result folder that no version of Scenthound writes
│   ├── MissingExtra      the feature needs an optional dependency
│   └── BrokenInstallation  the extension in C is missing, or made for another platform
└── Failure               the work itself failed: the command line exits with 1
    ├── LeakageError      a strategy used information that it cannot have
    ├── Fenced            another process has taken over the crawl
    ├── RunFailure        something that a live crawl needs stopped working; the crawl can be resumed
    │   ├── ProxyFailure  its proxy
    │   └── FilesFailure  the system, which lets it open no more files or connections
    └── PluginError       a plug-in does not keep its contract

Each message says in one line what was wrong, where, and what to do next. Messages name options as flags (`--pages`);
the Python API renders them as arguments (`pages=`). Text from outside goes through `printable`, so that control
characters never reach a terminal.
"""

import difflib
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

#: Errors that values of the wrong type or range cause.
_VALUE_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, StopIteration, RuntimeError)

#: As many known names as fit one line.
MAX_NAMES = 20

#: An option in a message, with the placeholder of its value (`--train-from DIR`) or the space before its value
#: (`--small 50`). Commands, which are in backticks, stay as they are.
_FLAG = re.compile(r"`[^`]*`|--([a-z][a-z0-9-]*)(?: (?:(?:[A-Z]{2,}|N)\b|(?=-?\d|-?inf\b|nan\b|b?['\"])))?")


def with_arguments(message: str, arguments: Mapping[str, str]) -> str:
    """A message that names options as Python arguments, `pages=`; `arguments` has those that are not named alike."""
    return _FLAG.sub(
        lambda flag: arguments.get(flag[1], f"{flag[1].replace('-', '_')}=") if flag[1] else flag[0], message
    )


class ScenthoundError(Exception):
    """The base class. `exit_code` is the exit code of the command line."""

    exit_code = 1
    #: How the Python API writes options, by their flags without dashes; set when an error leaves the API.
    arguments: Mapping[str, str] | None = None

    @property
    def message(self) -> str:
        """The message with options as flags."""
        return super().__str__()

    def __str__(self) -> str:
        return self.message if self.arguments is None else with_arguments(self.message, self.arguments)


class UsageError(ScenthoundError):
    exit_code = 2


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The most similar of the known names, whatever their case; None if none is similar."""
    spelled = {each.lower(): each for each in known}
    nearest = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.5)
    return spelled[nearest[0]] if nearest else None


class UnknownName(UsageError):
    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str], where: str = "", owner: str = "") -> "UnknownName":
        """An error with the unknown name, the nearest known one and all known names. `owner` is what has such names."""
        names = sorted(map(str, known))
        nearest = nearest_name(str(name), names)
        guess = f" Did you mean {nearest!r}?" if nearest else ""
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        location = f" in {where}" if where else ""
        what = f"{owner} has no" if owner else "No"
        return cls(f"{what} {kind} {name!r}{location}.{guess} Known: {', '.join(names[:MAX_NAMES]) or 'none'}{more}.")


class InvalidParameter(UsageError):
    pass


class InvalidTopic(UsageError):
    pass


class NoStartPage(InvalidTopic):
    pass


class InvalidInput(UsageError):
    pass


class CorruptData(InvalidInput):
    @classmethod
    @contextmanager
    def wrapping(cls, folder: object, kind: str = "crawl") -> Iterator[None]:
        """Report errors within the block that are caused by values of the wrong type or range. A crawl folder has
        thousands of values, and most are used far from where they are read."""
        try:
            yield
        except _VALUE_ERRORS as error:
            cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise cls(
                f"{printable(folder)} is not a valid {kind} ({printable(cause, 200)}): restore it from a backup."
            ) from error


class MissingExtra(UsageError):
    @classmethod
    def named(cls, extra: str, feature: str) -> "MissingExtra":
        return cls(f"{feature} needs an extra that is not installed: pip install 'scenthound[{extra}]'.")


class BrokenInstallation(UsageError, ImportError):
    pass


class Failure(ScenthoundError):
    pass


class LeakageError(Failure):
    pass


class Fenced(Failure):
    pass


class RunFailure(Failure):
    pass


class ProxyFailure(RunFailure):
    pass


class FilesFailure(RunFailure):
    pass


class PluginError(Failure):
    """`rule` is the code of the broken rule, if a check of the contract found it."""

    def __init__(self, message: str, *, rule: str = "") -> None:
        super().__init__(message)
        self.rule = rule

    @classmethod
    def by(cls, error: BaseException, what: str) -> "PluginError":
        """Describe an error of a plug-in in one line, with file and line."""
        frames = traceback.extract_tb(error.__traceback__)
        where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        return cls(f"{what}: {type(error).__name__}{where}: {' '.join(str(error).split())}")

    @classmethod
    def wrapping(cls, what: str) -> "_PluginErrors":
        """Report errors of a plug-in within the block, any number of times; our own errors pass."""
        return _PluginErrors(what)


class _PluginErrors:
    """A context without a generator, because a crawl enters several for each page."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, ScenthoundError):
            raise PluginError.by(error, self._what) from error


def printable(text: object, longest: int | None = None) -> str:
    """Escape the control characters of a text from outside, and cut it if it is too long."""
    original = str(text)
    cut = original[:longest]
    if not cut.isprintable():
        cut = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut)
    return cut if longest is None or len(original) <= longest else f"{cut}..."
