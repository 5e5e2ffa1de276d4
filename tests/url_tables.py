"""The URL tables that tests run on: the plain one, and the one in C if the extension is there."""

import pytest

from scenthound import native
from scenthound.frontier.url_table import PlainUrlTable, UrlTable

needs_native = pytest.mark.skipif(not native.is_available(), reason="needs the extension in C")


def native_table(end_bits: int = 32) -> UrlTable:
    from scenthound.frontier.native_url_table import NativeUrlTable

    return NativeUrlTable(end_bits=end_bits)


#: A test that gets the function `new_table`, for each kind of table.
every_table = pytest.mark.parametrize(
    "new_table", [pytest.param(PlainUrlTable, id="plain"), pytest.param(native_table, marks=needs_native, id="native")]
)
