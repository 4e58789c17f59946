"""Let the JVM of the driver log a failure to the console in one line: Spark repeats it, with Java's frames.

Spark logs a failed task as an error of the executor, of the task set, of the write and of the query, each with 20 to 40
frames, before the exception reaches the program, which shows it once more.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from millrace.pyspark_internals import driver_jvm

_APPENDER = "millrace-short"

_PATTERN = r"%d{yy/MM/dd HH:mm:ss} %p %c{1}: %replace{%m%notEmpty{: %ex{1}}}{\s*\n[\s\S]*}{}%n"
"""Spark's own pattern, with the first line of the message and of the exception."""

_REPEATED = (
    "Aborting task|Abort(ing|ed) commit for partition|Exception in task |Data source write support .* abort(ing|ed)|"
    "(\\[.*\\] )?Lost task |(\\[.*\\] )?Task \\d+ in stage .* aborting job"
)
"""Messages about one failed task of a query; the exception of the query says the same."""


def shorten_console_log(session: SparkSession) -> None:
    """Let the console log of a session's driver have a line for each event, and none that the exception repeats.

    A log that is not made of text patterns, and one that goes elsewhere than to the console, stays as it is.
    """
    jvm = driver_jvm(session)
    if jvm is None:
        return
    log4j = jvm.org.apache.logging.log4j
    context = log4j.LogManager.getContext(False)
    if not hasattr(context, "getConfiguration"):
        return
    configuration = context.getConfiguration()
    root = configuration.getRootLogger()
    changed = False
    for name, appender in dict(root.getAppenders()).items():
        if name != _APPENDER and _writes_patterns(appender):
            root.removeAppender(name)
            root.addAppender(_short_appender(log4j, configuration, appender), None, None)
            changed = True
    if changed:
        context.updateLoggers()


def _writes_patterns(appender: Any) -> bool:
    kinds = (appender.getClass().getSimpleName(), appender.getLayout().getClass().getSimpleName())
    return kinds == ("ConsoleAppender", "PatternLayout")


def _short_appender(log4j: Any, configuration: Any, former: Any) -> Any:
    """Make the console appender that stands in for another one, and filters what that filters."""
    core = log4j.core
    result = core.Filter.Result
    repeated = core.filter.RegexFilter.createFilter(
        f"(?s)({_REPEATED}).*", None, False, result.valueOf("DENY"), result.valueOf("NEUTRAL")
    )
    layout = core.layout.PatternLayout.newBuilder().withConfiguration(configuration).withPattern(_PATTERN).build()
    builder = core.appender.ConsoleAppender.newBuilder()
    builder.setName(_APPENDER).setLayout(layout).setConfiguration(configuration)
    builder.setTarget(former.getTarget())
    appender = builder.setFilter(repeated).build()
    if former.getFilter() is not None:
        appender.addFilter(former.getFilter())
    appender.start()
    return appender
