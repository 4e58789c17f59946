"""Header filters: select records by their headers, before anything is decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from millrace.contracts.plugin import Plugin
from millrace.options import option

HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
"""The Arrow type of headers, in order and including repeats. A record without headers has an empty list."""


def is_headers(kind: pa.DataType) -> bool:
    """Return whether a type is `HEADERS`, regardless of nullability."""
    if not (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)):
        return False
    return [(field.name, field.type) for field in kind.value_type] == [("key", pa.string()), ("value", pa.binary())]


@dataclass(frozen=True, kw_only=True)
class HeaderFilterOptions:
    """The option that every header filter has.

    A plugin redeclares ``expression`` with its own ``parse`` function. The driver then parses the text once and reports
    errors, and executors receive the parsed expression. Further options are ``scan.filter.<option>``.
    """

    expression: Any = option(
        "scan.header-filter", doc="The expression, in the language of scan.filter.language, of the records to keep."
    )


class HeaderFilter(Plugin, ABC):
    """A filter with one expression. ``scan.filter.language`` names the plugin.

    Created on the driver, which parses the options, and once per task on executors.
    """

    Options: ClassVar[type] = HeaderFilterOptions

    @abstractmethod
    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        """Return for each record whether to keep it. The array must not contain nulls.

        Args:
            headers: The records' headers, of type `HEADERS`.
        """
