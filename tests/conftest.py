"""Where the tests find what is not in the repository."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# Machines are busy at times, so no example has a deadline; in CI the examples are the same every time.
settings.register_profile("scenthound", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("scenthound")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of test data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is not beside the checkout (../shared)")
    return SHARED
