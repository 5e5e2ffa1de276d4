"""Import this by `pytest.importorskip` to skip tests where no code is compiled: plain code runs in its place."""

from scenthound import jit

if not jit.is_available():
    raise ModuleNotFoundError("needs numba (the extra `fast`), and NUMBA_DISABLE_JIT not set")
