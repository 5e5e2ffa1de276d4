"""What a crawl was told to do, as names and values for people."""

from scenthound.errors import printable
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.run_goals import RunGoals

MOST_SEEDS = 50
MOST_DESCRIPTION_LETTERS = 2_000


def settings_facts(plan: CrawlPlan, goals: RunGoals, guide: str) -> list[tuple[str, str]]:
    """`guide` is the model that scored pages when the crawl began."""
    return _topic_facts(plan) + _choice_facts(plan, goals, guide) + _manner_facts(plan)


def _topic_facts(plan: CrawlPlan) -> list[tuple[str, str]]:
    topic, seeds = plan.topic, plan.seeds
    more = f" and {len(seeds) - MOST_SEEDS:,} more" if len(seeds) > MOST_SEEDS else ""
    facts = [
        ("topic", printable(topic.id)),
        ("keywords", ", ".join(map(printable, topic.keywords))),
        ("description", printable(topic.description, MOST_DESCRIPTION_LETTERS)),
        ("start pages", ", ".join(map(printable, seeds[:MOST_SEEDS])) + more),
    ]
    return [(name, value) for name, value in facts if value]


def _choice_facts(plan: CrawlPlan, goals: RunGoals, guide: str) -> list[tuple[str, str]]:
    floor = goals.harvest_floor
    return [
        ("strategy", printable(plan.strategy)),
        ("guide", printable(guide) + (f", trained on {printable(plan.train_from)}" if plan.train_from else "")),
        ("page budget", f"{goals.page_budget or plan.page_budget:,}"),
        *([("ends below a harvest of", f"{floor:g}")] if floor else []),
        (
            "order",
            "strict: waits for the best page" if plan.strict_order else "the best page of the hosts that are ready",
        ),
        ("random seed", printable(plan.random_seed, 100)),
        *(
            [("pages read from", printable(plan.web) + (", nothing fetched" if plan.offline else ""))]
            if plan.web
            else []
        ),
    ]


def _manner_facts(plan: CrawlPlan) -> list[tuple[str, str]]:
    politeness, limits = plan.politeness, plan.limits
    bounds = {"a host": politeness.pages_per_host, "a domain": politeness.pages_per_domain}
    told = [f"{count:,} of {whose}" for whose, count in bounds.items() if count is not None]
    guards = {
        "traps": plan.traps,
        "near-duplicates": plan.near_duplicates,
        "soft 404s": plan.soft_404s,
        "private addresses": not plan.allow_private,
        "nofollow": plan.obey_nofollow,
    }
    off = [name for name, is_on in guards.items() if not is_on]
    return [
        ("rest of a host", f"{politeness.delay_s:g} s or more, longer if it is slow or asks for it"),
        *([("most pages", ", ".join(told))] if told else []),
        ("requests in flight", f"{plan.connections:,} at most"),
        ("fetching", f"{limits.total_s:g} s and {limits.body_bytes:,} bytes a page, {plan.redirects} redirects"),
        ("sitemaps", "read" if plan.sitemaps else "not read"),
        ("guards", f"all but {', '.join(off)}" if off else "all"),
        ("contact", printable(plan.contact) or "none given"),
    ]
