"""Whether the extension in C is used."""

import pytest

from scenthound import native

is_available = native.is_available.__wrapped__


@pytest.mark.parametrize("value", ["0", "no", "OFF", "false"])
def test_the_environment_disables_it(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "import_module", lambda _name: None)
    monkeypatch.setenv("SCENTHOUND_NATIVE", value)
    assert not is_available()
    monkeypatch.setenv("SCENTHOUND_NATIVE", "")
    assert is_available()


def test_one_that_cannot_be_loaded_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ImportError(f"{name}: file too short")

    monkeypatch.delenv("SCENTHOUND_NATIVE", raising=False)
    monkeypatch.setattr(native, "import_module", fail)
    assert not is_available()
