"""Small validations, and a rank file, for several tests."""

import json
from dataclasses import fields

from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.experiments.validate.settings import ValidationProtocol

MODE = "roulette:size=4,refill_at=2"
PUBLISHED = "rank_function:preset=johnson2003"


def validation_arguments(web, topics_file, trained=(), unseen=(), **changes):
    """The setup and the protocol of a small validation."""
    settings = {
        "strategies": (PUBLISHED,),
        "budgets": (8, 16, 20),
        "n_large": 6,
        "n_small": 2,
        "repeats": 2,
        "relevance": "cosine",
        # A small pool, so that there is something left to choose on a small web.
        "mode": MODE,
        "unseen_topics": unseen,
    } | changes
    own = {each.name: settings.pop(each.name) for each in fields(ValidationProtocol) if each.name in settings}
    setup = ExperimentSetup(web=web, topics=TopicChoice(topics_file, tuple(trained)), **settings)
    return setup, ValidationProtocol(**own)


def rank_file(folder, *topics):
    file = folder / "evolved.toml"
    rules = 'relevance_model = "cosine"\nformula = "0.6*COMM_OUT + 0.4*PARENT_1"\n'
    file.write_text(f"{rules}[training]\ntopics = {json.dumps(topics)}\n")
    return f"evolved:file={file}"
