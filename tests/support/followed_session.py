"""A session of Spark that has an id, listeners and settings alone."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from support.names import unique_name


class FollowedSession:
    """A session that pages, reporters and charts can follow.

    Attributes:
        spark: The session.
        listeners: Its listeners.
        settings: Its settings.
        left_by: The thread that has removed a listener.
    """

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.settings: dict[str, str] = {}
        self.left_by: threading.Thread | None = None
        streams = SimpleNamespace(addListener=self.listeners.append, removeListener=self._remove)
        conf = SimpleNamespace(get=self.settings.get, set=self.settings.__setitem__, unset=self.settings.pop)
        self.spark: Any = SimpleNamespace(
            session_id=unique_name("session"), is_stopped=False, streams=streams, conf=conf
        )

    @property
    def is_left(self) -> bool:
        """True if nobody listens."""
        return not self.listeners

    def _remove(self, listener: Any) -> None:
        self.left_by = threading.current_thread()
        self.listeners.remove(listener)
