"""Listen to Spark's queries at a cost that the queries do not notice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import (
    JStreamingQueryListener,
    QueryProgressEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject


class ProgressListener(StreamingQueryListener):
    """A listener that gets each progress from the JVM as one JSON text.

    PySpark asks the JVM for each entry of each of its maps, over a hundred requests for a micro-batch, which take the
    time of short ones; its own ``lastProgress`` reads the text, as does a Connect session, where this changes nothing.
    """

    @property
    def _jlistener(self) -> JavaObject:
        from pyspark import SparkContext

        if not hasattr(self, "_jlistenerobj"):
            wrapper = SparkContext._jvm.PythonStreamingQueryListenerWrapper
            self._jlistenerobj = wrapper(_JsonListener(self))
        return self._jlistenerobj


class _JsonListener(JStreamingQueryListener):
    def onQueryProgress(self, jevent: JavaObject) -> None:  # noqa: N802 - Spark's name
        progress = StreamingQueryProgress.fromJson(json.loads(jevent.progress().json()))
        self.pylistener.onQueryProgress(QueryProgressEvent(progress))
