"""Why a crawl came to its end, simulated or live."""

from enum import StrEnum


class Ended(StrEnum):
    """Said to people as it stands."""

    BUDGET = "page budget reached"
    FRONTIER = "frontier empty"
    TIME = "time is up"
    HARVEST = "harvest below the floor"
    STOPPED = "stopped by the user"
