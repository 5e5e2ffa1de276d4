"""Which topics of a file a study is on: those that have what it needs, or one clear line where they are too few.

Topics that lack something are left out, and a note says how many and why. Where fewer are wanted than there are, they
are drawn by lot, the same ones every time.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from scenthound.errors import BadTopic, printable
from scenthound.lab.starts import Starts
from scenthound.lab.studies.settings import Needs, StudySettings
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.words import stems_of
from scenthound.topics.files import read_topics

#: A topic with fewer examples has too few to start from and to find.
FEWEST_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class StudyTopics:
    """The topics in the order in which they were drawn: arms on fewer topics take the first. `listed` are all of the
    file, by id."""

    drawn: tuple[Topic, ...]
    listed: Mapping[str, Topic]
    notes: tuple[str, ...]


def study_topics(settings: StudySettings, web: RecordedWeb, file: Path) -> StudyTopics:
    """Read the file and choose."""
    listed = {topic.id: topic for topic in read_topics(file)}
    starts = Starts(web)
    lacks = {topic.id: _lacks(topic, settings.needs, starts) for topic in listed.values()}
    usable = [topic for topic in listed.values() if not lacks[topic.id]]
    if len(usable) < settings.needs.topics:
        raise BadTopic(_too_few(settings, lacks, listed, starts, printable(file)))
    drawn = Random("study").sample(usable, min(settings.topics_max or len(usable), len(usable)))
    counted = Counter(filter(None, lacks.values()))
    notes = [f"{n} topic{'s are' if n > 1 else ' is'} left out: {reason}." for reason, n in counted.items()]
    if len(drawn) < len(usable):
        notes.append(f"{len(drawn)} of {len(usable)} topics were drawn by lot.")
    if len(drawn) < settings.needs.topics:
        notes.append(f"{len(drawn)} topics are too few for verdicts; those need at least {settings.needs.topics}.")
    return StudyTopics(tuple(drawn), listed, tuple(notes))


def _lacks(topic: Topic, needs: Needs, starts: Starts) -> str:
    if len(starts.example_pages(topic)) < needs.examples:
        return f"fewer than {needs.examples} examples in the web"
    if needs.description and not stems_of(topic.description):
        return "no words in its description"
    if needs.keywords and not stems_of(" ".join(topic.keywords)):
        return "no words in its keywords"
    return "" if can_start(starts, topic) else "no page to start from"


def can_start(starts: Starts, topic: Topic) -> bool:
    """Whether a crawl has pages to begin with."""
    try:
        starts.draw(topic, 0)
    except BadTopic:
        return False
    return True


def _too_few(
    settings: StudySettings, lacks: Mapping[str, str], listed: Mapping[str, Topic], starts: Starts, where: str
) -> str:
    """What is missing, and what would be possible instead."""
    needs = settings.needs
    sizes = sorted((len(starts.example_pages(topic)) for topic in listed.values()), reverse=True)
    reasons = Counter(filter(None, lacks.values()))
    told = "; ".join(f"{n} ha{'ve' if n > 1 else 's'} {reason}" for reason, n in reasons.items())
    possible = sizes[needs.topics - 1] if len(sizes) >= needs.topics else 0
    if FEWEST_EXAMPLES <= possible < needs.examples:
        n_topics = sum(size >= possible for size in sizes)
        instead = f"possible is `examples = {possible}` under [needs] in a settings file, which {n_topics} topics have"
    elif len(reasons) == 1 and len(listed) >= needs.topics and possible >= needs.examples:
        instead = "give the topics what they lack, or ask `scenthound compare`"
    else:
        instead = "give more topics whose examples are in this web, or ask `scenthound compare` for one topic"
    n_usable = len(listed) - reasons.total()
    return (
        f"{settings.study} needs at least {needs.topics} topics with {needs.examples} examples in the web"
        f"{_words_needed(needs)}; of the {len(listed)} in {where}, {n_usable} have that"
        f"{f' ({told}; the most examples are {sizes[0]:,})' if told else ''}: {instead}."
    )


def _words_needed(needs: Needs) -> str:
    words = [name for name, wanted in (("description", needs.description), ("keywords", needs.keywords)) if wanted]
    return f" and words in {' and '.join(words)}" if words else ""
