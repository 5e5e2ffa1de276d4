"""How far a crawl is to go, as its last run was told: kept beside `crawl.json` as `run.json`, for the runs to come."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from scenthound.errors import BadInput, BadParameter, printable
from scenthound.files import regular_bytes, write_whole
from scenthound.lab.crawl_plan import check_count
from scenthound.store.crawl_folder import MOST_ABOUT_BYTES, RUN_FILE


@dataclass(frozen=True, slots=True)
class RunGoals:
    """None is what the plan says, and no floor. `guide` is a folder in that of the crawl with the pages that its guide
    was trained anew on, and `guide_digest` what they are."""

    page_budget: int | None = None
    harvest_floor: float | None = None
    guide: str | None = None
    guide_digest: str | None = None

    def __post_init__(self) -> None:
        if self.page_budget is not None:
            check_count("pages", self.page_budget, least=1)
        if self.harvest_floor is not None and not 0 <= self.harvest_floor < math.inf:
            raise BadParameter(f"min_harvest is {self.harvest_floor}; it has to be 0 or more, and finite.")

    @classmethod
    def read(cls, folder: Path) -> "RunGoals":
        """Those of the last run; a crawl that was never told any has none."""
        file = folder / RUN_FILE
        try:
            return cls(**orjson.loads(regular_bytes(file, MOST_ABOUT_BYTES)))
        except FileNotFoundError:
            return cls()
        except (OSError, TypeError, ValueError, BadParameter):
            raise BadInput(
                f"{printable(file)} is damaged: delete it, and tell --pages and --min-harvest anew."
            ) from None

    def write(self, folder: Path) -> None:
        told = {name: value for name, value in asdict(self).items() if value is not None}
        content = orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n"
        write_whole(folder / RUN_FILE, content, follow_link=False)

    def updated(
        self,
        *,
        page_budget: int | None = None,
        harvest_floor: float | None = None,
        guide: str | None = None,
        guide_digest: str | None = None,
    ) -> "RunGoals":
        """With what a run is told; what it is not told stays."""
        return RunGoals(
            self.page_budget if page_budget is None else page_budget,
            self.harvest_floor if harvest_floor is None else harvest_floor,
            self.guide if guide is None else guide,
            self.guide_digest if guide_digest is None else guide_digest,
        )
