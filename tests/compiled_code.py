"""Imported with `pytest.importorskip`, skips tests where plain code runs instead of compiled code."""

from scenthound import jit

if not jit.is_available():
    raise ModuleNotFoundError("needs numba (the extra `fast`), and NUMBA_DISABLE_JIT not set")
