"""The settings of a table environment: what SET and RESET change."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from millrace.errors import OptionsError
from millrace.failures import reason_of
from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace_sql.configuration.options import SessionOptions, StartOptions
from millrace_sql.configuration.session_settings import TIME_ZONE, session_settings
from millrace_sql.configuration.without_effect import has_no_effect, report
from millrace_sql.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_SPARK = "spark."
_NOT_HERE = {
    "table.exec.state.ttl": "Spark keeps the state of a group until the watermark passes it: group by a window of a "
    "column with a WATERMARK",
    "table.exec.legacy-cast-behaviour": "casts mean what they mean in Flink without it: write TRY_CAST for NULL",
    "table.exec.sink.type-length-enforcer": "lengths are not enforced: write SUBSTRING(x, 1, 10) for a VARCHAR(10)",
    "table.column-expansion-strategy": "a * stands for all columns: name those that the query needs",
}


def _by_name(cls: type) -> dict[str, str]:
    return {name: info.name for info in options_of(cls).values() for name in (info.name, *info.aliases)}


_START_KEYS = _by_name(StartOptions)
_SESSION_KEYS = _by_name(SessionOptions)


def _with_effect(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings without those of Flink that change no result, which are reported."""
    known = {**_START_KEYS, **_SESSION_KEYS}
    for key in settings:
        if key.lower() not in known and has_no_effect(key):
            report(key)
    return {key: value for key, value in settings.items() if key.lower() in known or not has_no_effect(key)}


class SessionConfiguration:
    """Settings by key, as text, and what they mean.

    Keys that begin with ``spark.`` are those of Spark's session.

    Args:
        spark: The session.
        settings: Settings at the start, those that only the start takes included.

    Raises:
        OptionsError: A setting is wrong or unknown; the message lists all problems.
    """

    def __init__(self, spark: SparkSession, settings: Mapping[str, str] | None = None) -> None:
        self._spark = spark
        self._spark_defaults: dict[str, str | None] = {}
        settings = _with_effect(settings or {})
        for_spark = {key: settings.pop(key) for key in list(settings) if key.startswith(_SPARK)}
        parser = OptionParser("table environment", settings)
        self.start: StartOptions = parser.take(StartOptions) or StartOptions()
        parser.take(SessionOptions)
        parser.finish(_NOT_HERE.get)
        self._settings = {key: value for key, value in settings.items() if key.lower() not in _START_KEYS}
        self.options = self._parse(self._settings)
        self._check_time_zone()
        for key, value in for_spark.items():
            self.set(key, value)
        self._start_settings = {**self._settings, **for_spark}

    @property
    def is_streaming(self) -> bool:
        """True when queries run as streams."""
        return self.options.runtime_mode == "streaming"

    @property
    def is_spark(self) -> bool:
        """True when an expression means what it means in Spark."""
        return self.options.dialect == "spark"

    def set(self, key: str, value: str) -> None:
        """Change a setting.

        Raises:
            SqlError: The key is unknown, or the value wrong.
        """
        if key.startswith(_SPARK):
            self._set_spark(key, value)
            return
        if not _with_effect({key: value}):
            return
        if key.lower() in _START_KEYS:
            raise SqlError(f"{key!r} cannot change any more: give it to TableEnvironment(spark, config={{...}})")
        name = _SESSION_KEYS.get(key.lower(), key)
        settings = {other: text for other, text in self._settings.items() if _SESSION_KEYS.get(other.lower()) != name}
        settings[key] = value
        before, self.options = self.options, self._parse(settings)
        try:
            self._check_time_zone()
        except SqlError:
            self.options = before
            raise
        self._settings = settings

    def reset(self, key: str | None = None) -> None:
        """Give a setting, or all, the value of the start again: that of the constructor, or its default.

        Raises:
            SqlError: The key is unknown.
        """
        for reset_key in list(self._spark_defaults) if key is None else [key]:
            if reset_key in self._start_settings:
                self._set_spark(reset_key, self._start_settings[reset_key])
            elif reset_key.startswith(_SPARK):
                self._reset_spark(reset_key)
        if key is None:
            self._settings = {name: text for name, text in self._start_settings.items() if not name.startswith(_SPARK)}
        elif not key.startswith(_SPARK):
            name = _SESSION_KEYS.get(key.lower())
            if name is None and has_no_effect(key):
                return
            if name is None:
                self._parse({key: ""})
            changed = {other: v for other, v in self._settings.items() if _SESSION_KEYS.get(other.lower()) != name}
            start = {other: v for other, v in self._start_settings.items() if _SESSION_KEYS.get(other.lower()) == name}
            self._settings = {**changed, **start}
        self.options = self._parse(self._settings)

    @property
    def time_zone(self) -> str:
        """The time zone of these settings, or else that of Spark's session."""
        return self.options.time_zone or self._spark.conf.get(TIME_ZONE, None) or "UTC"

    def applied(self) -> AbstractContextManager[None]:
        """Return a context in which Spark's session has the time zone of these settings, and the type TIME.

        Other environments of the session have zones of their own.
        """
        return session_settings(self._spark, self.options.time_zone)

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return a setting as it was given; the default when it was not."""
        if key.startswith(_SPARK):
            return self._spark.conf.get(key, default)
        name = _SESSION_KEYS.get(key.lower(), key)
        return next((v for other, v in self._settings.items() if _SESSION_KEYS.get(other.lower()) == name), default)

    def items(self) -> list[tuple[str, str]]:
        """Return the settings that were given, sorted."""
        for_spark = {key: str(self._spark.conf.get(key)) for key in self._spark_defaults}
        return sorted({**self._settings, **for_spark}.items())

    def _parse(self, settings: Mapping[str, str]) -> SessionOptions:
        parser = OptionParser("SET", settings)
        options = parser.take(SessionOptions) or SessionOptions()
        try:
            parser.finish(_NOT_HERE.get)
        except OptionsError as error:
            raise SqlError("; ".join(error.problems)) from None
        return options

    def _set_spark(self, key: str, value: str) -> None:
        before = self._spark.conf.get(key, None)
        try:
            self._spark.conf.set(key, value)
        except Exception as error:
            raise SqlError(f"Spark does not let {key!r} be set to {value!r} now: {reason_of(error)}") from error
        self._spark_defaults.setdefault(key, before)

    def _reset_spark(self, key: str) -> None:
        before = self._spark_defaults.pop(key, None)
        if before is None:
            self._spark.conf.unset(key)
        else:
            self._spark.conf.set(key, before)

    def _check_time_zone(self) -> None:
        with self.applied():
            pass


class TableConfig:
    """The settings of a table environment, for PyFlink users.

    Args:
        configuration: The settings.
    """

    def __init__(self, configuration: SessionConfiguration) -> None:
        self._configuration = configuration

    def set(self, key: str, value: str) -> TableConfig:
        """Change a setting, as SET does.

        Raises:
            SqlError: The key is unknown, or the value wrong.
        """
        self._configuration.set(key, value)
        return self

    def get(self, key: str, default_value: str | None = None) -> str | None:
        """Return a setting as it was given; the default value when it was not."""
        return self._configuration.get(key, default_value)

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set ``table.local-time-zone``."""
        self.set("table.local-time-zone", timezone_id)

    def get_local_timezone(self) -> str:
        """Return ``table.local-time-zone``; the time zone of Spark's session without it."""
        return self._configuration.time_zone
