"""Results of experiments made by version 0.6 can still be read."""

import shutil
import tarfile
from pathlib import Path

import pytest

from scenthound.experiments.compare.results import read_comparison
from scenthound.experiments.evolve.folder import read_about
from scenthound.experiments.evolve.settings import EvolutionSettings
from scenthound.store.folder import folder_kind
from scenthound.topics.files import read_topics
from scenthound.ui.reports import report_html

ARCHIVE = Path(__file__).parent / "data" / "results-0.6.tar.xz"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("kind", ["comparison", "search", "validation"])
def test_a_result_of_0_6_still_has_a_report(results, kind):
    assert folder_kind(results / kind) == kind
    assert "<!DOCTYPE html>" in report_html(results / kind)


def test_a_comparison_of_0_6_is_read_with_all_its_rows(results):
    compared = read_comparison(results / "comparison")
    assert compared.ranking[0].strategy == compared.winner
    assert compared.curves is not None
    assert len(compared.curves.mean) == len(compared.ranking)


def test_the_settings_of_a_search_of_0_6_are_read_under_their_new_names(results, tmp_path):
    folder = shutil.copytree(results / "search", tmp_path / "search")
    settings = EvolutionSettings.from_json(
        read_about(folder)["settings"], read_topics(folder / "topics.jsonl"), Path("web")
    )
    assert settings.experiment.respect_nofollow
    assert settings.experiment.page_budget == 200
