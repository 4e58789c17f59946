"""Updates that do not have their old row, or all values: whether the sink can write them."""

from __future__ import annotations

from typing import Protocol

from millrace.change_dialects import CHANGE_DIALECTS, DEBEZIUM
from millrace.errors import MalformedMessageError
from millrace.unavailable_values import missing_value
from millrace_catalog.inference.observation import TableChange


class UpdateSettings(Protocol):
    """Settings of a parser that say which updates the sink can write."""

    @property
    def format(self) -> str: ...  # noqa: D102

    @property
    def upserts(self) -> bool: ...  # noqa: D102

    @property
    def upsert_advice(self) -> str: ...  # noqa: D102

    @property
    def keeps_values(self) -> bool: ...  # noqa: D102


def check_update(change: TableChange, settings: UpdateSettings) -> None:
    """Check that the sink can write a change, if it is such an update.

    Raises:
        MalformedMessageError: It cannot.
    """
    if change.lacks_old_row and not settings.upserts:
        dialect = CHANGE_DIALECTS.get(settings.format, DEBEZIUM)
        error = dialect.missing_old_row(change.message)
        advice = f". {settings.upsert_advice}" if settings.upsert_advice else ""
        raise MalformedMessageError(f"{error.reason}{advice}", dialect.before)
    if change.kept_columns and not settings.keeps_values:
        raise missing_value(change.kept_columns[0])
