"""What the tests of validations ask for."""

import json

from scenthound.experiments.validate.settings import ValidationSettings

MODE = "roulette:size=4,refill_at=2"
PUBLISHED = "rank_function:preset=johnson2003"


def wished(**settings):
    chosen = {
        "strategies": (PUBLISHED,),
        "budgets": (8, 16, 20),
        "n_large": 6,
        "n_small": 2,
        "n_seeds": 2,
        "relevance": "cosine",
        # A short list of pages under way, so that there is something left to choose on so small a web.
        "mode": MODE,
    }
    return ValidationSettings(**chosen | settings)


def rank_file(folder, *topics):
    file = folder / "evolved.toml"
    file.write_text(
        f'guide = "cosine"\nformula = "0.6*COMM_OUT + 0.4*PARENT_1"\n[training]\ntopics = {json.dumps(topics)}\n'
    )
    return f"evolved:file={file}"
