"""The parameters of requests to the API: query strings and JSON bodies."""

from pydantic import BaseModel, ConfigDict, Field

from scenthound.store.stored_crawl import ListOrder

#: Pages in one response.
MAX_PAGES = 200
MAX_VISITS = (1 << 31) - 1
MAX_COMPARED = 8
START_HELP = "0, or the value of `next` in the previous response."


class Parameters(BaseModel):
    """The parameters of a request; others are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ListParameters(Parameters):
    start: int = Field(0, ge=0, le=MAX_VISITS, alias="from", description=START_HELP)
    limit: int = Field(50, ge=1, le=MAX_PAGES, description="Maximum number of results.")


class PagesQuery(ListParameters):
    query: str = Field("", max_length=500, description='Search terms: words, "a phrase", -without, prefix*.')
    host: str = Field("", max_length=300, description="Pages of this host only.")
    order: ListOrder = Field("latest", description="By visit or by relevance. Search results are ordered by match.")


class SkippedQuery(ListParameters):
    reason: str = Field("", max_length=60, description="Code of a skip reason; empty for all.")


class UrlQuery(Parameters):
    url: str = Field(min_length=1, max_length=4_000, description="URL of a page, visited or not.")


class CompareQuery(Parameters):
    crawl: list[str] = Field([], description=f"Ids of 2 to {MAX_COMPARED} crawls, one parameter for each.")


class BudgetChange(Parameters):
    pages: int = Field(ge=1, le=MAX_VISITS, strict=True, description="The new page budget of the crawl.")


class LabelChange(Parameters):
    visit: int = Field(ge=0, le=MAX_VISITS, strict=True, description="Number of the visit, counted from 0.")
    relevant: bool | None = Field(strict=True, description="Whether the page is relevant; null removes the label.")
