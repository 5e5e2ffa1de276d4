"""What the dashboard keeps between two questions: which folders there are, and what was counted and indexed in them."""

from dataclasses import dataclass, field

from scenthound.dashboard.folder_answers import FolderGlances
from scenthound.dashboard.folders import FolderBook
from scenthound.dashboard.host_counting import HostTallies
from scenthound.dashboard.indexing import SearchIndexes
from scenthound.dashboard.trainings import Trainings


@dataclass(frozen=True, slots=True)
class Rooms:
    book: FolderBook
    glances: FolderGlances
    tallies: HostTallies
    indexes: SearchIndexes
    trainings: Trainings = field(default_factory=Trainings)
