"""Where the tests find what is not in the repository."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of test data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is not beside the checkout (../shared)")
    return SHARED
