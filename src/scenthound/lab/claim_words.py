"""The words in which verdicts on claims give their reasons, and whether there are crawls enough for a verdict."""

from scenthound.lab.statistics import LEAST_SEEDS, LEAST_TOPICS, Effect, Equivalence, fewest_differences
from scenthound.lab.statistics.equivalence import ALPHA


def too_few(effect: Effect) -> str:
    """Why there are not enough crawls for a verdict; empty if there are."""
    if effect.over == "topics" or (effect.n_topics and effect.n_seeds >= LEAST_SEEDS):
        return ""
    if not effect.n_topics or effect.n_seeds < 2:
        return few_topics(effect)
    seeds = f"{effect.n_seeds} random seeds of each" if effect.n_topics > 1 else f"its {effect.n_seeds} random seeds"
    return (
        f"{_topics(effect)} too few, and so are {seeds}; a verdict needs {LEAST_TOPICS} topics or {LEAST_SEEDS} seeds."
    )


def few_topics(effect: Effect) -> str:
    """That topics are too few, where seeds do not count."""
    if not effect.n_topics:
        return "No topic has this measure."
    return f"{_topics(effect)} too few; a verdict needs {LEAST_TOPICS}."


def _topics(effect: Effect) -> str:
    return "One topic is" if effect.n_topics == 1 else f"{effect.n_topics} topics are"


def few_to_test(effect: Effect, n_moved: int, n_claims: int, n_ways: int) -> str:
    """That sign flips of so few observations, of which `n_moved` are not 0, cannot have a p that is small enough where
    so many claims are tested, each in so many ways; empty if they can."""
    fewest = fewest_differences(ALPHA / (n_claims * n_ways))
    if n_moved >= fewest:
        return ""
    claims = f"{n_claims} claims at once" if n_claims > 1 else "a claim"
    return f"{_moved(effect, n_moved)} too few to test {claims}; {fewest} would do"


def _moved(effect: Effect, n_moved: int) -> str:
    is_over_topics = effect.over == "topics"
    kind = "topic" if is_over_topics else "pair of crawls"
    kinds = "topics" if is_over_topics else "pairs of crawls"
    n_all = effect.n_topics if is_over_topics else effect.n_topics * effect.n_seeds
    if n_moved == 1:
        return f"one {kind} with a difference is"
    return f"{n_moved} {kinds}{' with a difference' if n_moved < n_all else ''} are"


def interval_told(effect: Effect) -> str:
    return f"The 95 % interval {effect.low:+.4g} to {effect.high:+.4g}"


def within_told(shown: Equivalence) -> str:
    interval = f"The 90 % interval {shown.low:+.4g} to {shown.high:+.4g}"
    return f"{interval} lies within ±{shown.margin:g}, so no difference counts"


def p_told(test: str, p_corrected: float) -> str:
    return f"corrected p of {test.replace(',', '')} is {p_corrected:.3g}"
