"""The genetic searches of the study, one for each topic, in folders that are named for what decides them.

The name of a search has a digest of its settings, the web, the topic file and the code that crawls and searches. So a
search that was finished is found again, one that was broken off goes on, and with anything changed a new one begins
beside it.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from scenthound.lab.evolving.evolution import Evolution, evolve, go_on
from scenthound.lab.evolving.run import EvolutionStatus, Watch
from scenthound.lab.evolving.search_folder import is_search_folder
from scenthound.lab.studies.code_digests import code_digest
from scenthound.lab.studies.johnson2003.protocol import Protocol
from scenthound.lab.topic_choice import TopicChoice
from scenthound.model import Progress, Topic
from scenthound.strategies.evolved import choice_of
from scenthound.topics.files import read_topics

#: The room whose code decides what a search asks for, beside those that decide its crawls.
SEARCHING_ROOMS = ("evolve",)
#: So many letters of a topic's id, and of a digest, name a folder.
NAME_LETTERS = 60
DIGEST_LETTERS = 12


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that came to its end. `strategy` is its best individual, as crawls name it."""

    topic: str
    strategy: str
    evolution: Evolution


class Searches:
    """Runs the searches of a protocol, or takes them up, in a folder that has one folder for each."""

    def __init__(self, protocol: Protocol, folder: Path, workers: int | None = None) -> None:
        self._protocol = protocol
        self._folder = folder
        self._workers = workers

    def searched(self, topic: Topic, progress: Progress) -> Searched:
        """The search for a topic, from the beginning or from wherever it is."""

        def watch(status: EvolutionStatus) -> None:
            at = f"generation {status.summary.generation} of {status.summary.n_generations}"
            progress(status.share, f"search for {topic.id}, {at}")

        place = self._folder / self.name(topic)
        if is_search_folder(place):
            evolution = go_on(place, web=self._protocol.web.path, workers=self._workers, watch=watch)
        else:
            evolution = self._begun(topic, place, watch)
        return Searched(topic.id, choice_of(evolution.result.resolve()), evolution)

    def name(self, topic: Topic) -> str:
        """The name of a search's folder: its topic, for people, and a digest of all that decides it."""
        decides = {
            "code": code_digest(SEARCHING_ROOMS),
            "web": self._protocol.web.fingerprint,
            "crawls": asdict(self._protocol.crawls),
            "topic": topic.id,
            # Guides learn from the examples of other topics what is not of this one.
            "topics": [asdict(each) for each in read_topics(self._protocol.topics_file)],
        }
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        letters = re.sub(r"[^A-Za-z0-9._-]+", "_", topic.id).strip("._")[:NAME_LETTERS]
        return f"{letters or 'topic'}-{digest[:DIGEST_LETTERS]}"

    def _begun(self, topic: Topic, place: Path, watch: Watch) -> Evolution:
        protocol, crawls = self._protocol, self._protocol.crawls
        return evolve(
            protocol.web.path or Path(),
            TopicChoice(protocol.topics_file, (topic.id,)),
            place,
            search=crawls.search,
            n_crawls=crawls.n_crawls,
            page_budget=crawls.page_budget,
            n_start=crawls.n_start,
            mode=crawls.mode,
            relevance=crawls.relevance,
            workers=self._workers,
            watch=watch,
        )
