"""Imported with `pytest.importorskip`, skips tests where there is no extension in C."""

from scenthound import native

if not native.is_available():
    raise ModuleNotFoundError("needs the extension in C, and SCENTHOUND_NATIVE not 0")
