"""Translate the options of Spark's own Kafka connector into millrace's.

Options that only have another name are aliases in `millrace.options.connector`. Options that Spark's connector refuses
are refused with a hint; options without a meaning for millrace are accepted and have no effect. See Spark's
"Structured Streaming + Kafka Integration Guide".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from millrace.configuration import spark_values
from millrace.configuration.spark_values import Numbers
from millrace.contracts import StandardOffsets

T = TypeVar("T")


@dataclass(frozen=True)
class TranslatedOptions:
    """Options with the names of millrace alone.

    Attributes:
        options: Their values by name.
        problems: Problems with options of Spark's connector.
        without_effect: One sentence for each that is accepted but has no effect.
        spark_names: For millrace's options the names of Spark's that they were translated from.
    """

    options: Mapping[str, str] = field(repr=False)
    problems: tuple[str, ...]
    without_effect: tuple[str, ...]
    spark_names: Mapping[str, str]

    def with_given_names(self, problem: str) -> str:
        """Return a problem with the names of options that the user gave."""
        for name, spark_name in self.spark_names.items():
            problem = problem.replace(repr(name), repr(spark_name))
        return problem


@dataclass(frozen=True)
class ReadEnd:
    """The options for one end of a read; the first one that is given wins, as in Spark's connector.

    Attributes:
        prefix: The prefix of millrace's options for it.
        time: One time for all partitions.
        times: A time for each partition.
        offsets: A word, or an offset for each partition.
        words: The words that it accepts.
    """

    prefix: str
    time: str
    times: str
    offsets: str
    words: tuple[str, ...]


_STARTING = ReadEnd(
    "scan.startup.",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsets",
    ("earliest", "latest"),
)
_ENDING = ReadEnd("scan.bounded.", "endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets", ("latest",))
_MODES = {"earliest": StandardOffsets.EARLIEST, "latest": StandardOffsets.LATEST}
STARTING_STRATEGY = "startingOffsetsByTimestampStrategy"

_SELECTIONS: dict[str, tuple[str, Callable[[str], str]]] = {
    "subscribe": ("topic", spark_values.translate_topics),
    "subscribePattern": ("topic-pattern", spark_values.strip_pattern),
    "assign": ("topic-partitions", spark_values.translate_partitions),
}

SPARK_SELECTIONS = {name: spark for spark, (name, _) in _SELECTIONS.items()}
"""Spark's names of the options that select topics or partitions, by millrace's."""

_GROUP_PREFIX = "groupIdPrefix"

REFUSED_OPTIONS = {
    "kafka.auto.offset.reset": "say with 'startingOffsets' where to start: earliest, latest or offsets as JSON",
    "kafka.key.deserializer": "keys come as bytes; convert the column, as CAST(key AS STRING)",
    "kafka.value.deserializer": "values come as bytes; convert the column, as CAST(value AS STRING), or give a format",
    "kafka.key.serializer": "keys are written as bytes; make the column key a STRING or BINARY",
    "kafka.value.serializer": "values are written as bytes; make the column value a STRING or BINARY, or give a format",
    "kafka.enable.auto.commit": "Spark's checkpoint keeps the offsets; for a group that follows the stream give "
    "'properties.group.id'",
    "kafka.interceptor.classes": "Java classes cannot be used; transform the rows instead",
}
"""The options that Spark's connector refuses, too, and what to do instead."""

_WITHOUT_EFFECT = {
    "kafkaConsumer.pollTimeoutMs": "brokers that do not answer are waited for two minutes",
    "fetchOffset.numRetries": "looking up offsets is tried again for up to a minute",
    "fetchOffset.retryIntervalMs": "looking up offsets is tried again for up to a minute",
}

READ_ENDS = (_STARTING, _ENDING)
"""The options for both ends of a read."""

SPARK_OPTIONS = (
    *_SELECTIONS,
    *(name for end in (_STARTING, _ENDING) for name in (end.time, end.times, end.offsets)),
    STARTING_STRATEGY,
    _GROUP_PREFIX,
    *REFUSED_OPTIONS,
    *_WITHOUT_EFFECT,
)
"""The names of all options of Spark's; others that start with ``kafka.`` are properties of the Kafka client."""


def translate_spark_options(raw: Mapping[str, str]) -> TranslatedOptions:
    """Translate options of Spark's connector, and keep all others.

    Args:
        raw: The options as the user gave them; names in any case.
    """
    translation = _Translation(raw)
    translation.translate_selection()
    translation.check_order(translation.translate_end(_STARTING), translation.translate_end(_ENDING))
    translation.drop_unsupported()
    translation.translate_group_prefix()
    translation.translate_client_properties()
    return translation.result()


@dataclass(frozen=True)
class _NumericEnd:
    """One end of a read, given in numbers.

    Attributes:
        option: The option that was given.
        numbers: The offset or time of each partition; one for topic '' when all share it.
    """

    option: str
    numbers: Numbers


class _Translation:
    """Replace one group of Spark's options after the other by millrace's."""

    def __init__(self, raw: Mapping[str, str]) -> None:
        self._given: dict[str, tuple[str, str]] = {}
        self._translated: dict[str, str] = {}
        self._spark_names: dict[str, str] = {}
        self._problems: list[str] = []
        self._without_effect: list[str] = []
        for name, text in raw.items():
            first, other = self._given.setdefault(name.lower(), (name, text))
            if other != text:
                self._report(f"{first!r} and {name!r} mean the same option but differ; give one of them")

    def translate_selection(self) -> None:
        """Translate the options that select topics or partitions."""
        own = [name for name, _ in _SELECTIONS.values() if self._has(name)]
        selections = {name: self._take(name) for name in _SELECTIONS if self._has(name)}
        if selections and len(selections) + len(own) > 1:
            names = " and ".join(map(repr, [*selections, *own]))
            shared = " ('topic' is also where to write: give each to its own query)" if "topic" in own else ""
            self._report(f"options {names} exclude each other: give one of them{shared}")
            return
        for spark, text in selections.items():
            name, convert = _SELECTIONS[spark]
            selected = self._convert(spark, text, convert)
            if selected is not None:
                self._set(spark, {name: selected})

    def translate_end(self, end: ReadEnd) -> _NumericEnd | None:
        """Translate the options for one end of the read."""
        no_match = self._no_match() if end is _STARTING else {}
        texts = {name: self._take(name) for name in (end.time, end.times, end.offsets) if self._has(name)}
        if not texts:
            return None
        spark, text = next(iter(texts.items()))
        own = [name for key, (name, _) in self._given.items() if key.startswith(end.prefix)]
        if own:
            self._report(f"options {spark!r} and {own[0]!r} exclude each other: give one of them")
            return None
        if spark == end.offsets:
            return self._from_offsets(end, text.strip())
        return (
            self._from_timestamp(end, text, no_match)
            if spark == end.time
            else self._from_timestamps(end, text, no_match)
        )

    def check_order(self, start: _NumericEnd | None, end: _NumericEnd | None) -> None:
        """Refuse an end before the start, where both are given by the same kind of option."""
        if start is None or end is None or start.option.removeprefix("starting") != end.option.removeprefix("ending"):
            return
        for at in start.numbers.keys() & end.numbers.keys():
            first, last = start.numbers[at], end.numbers[at]
            if first > last >= 0:
                where = f" for {at[0]}-{at[1]}" if at[0] else ""
                self._report(f"{start.option!r} is behind {end.option!r}{where}: expected at most {last}; got {first}")

    def drop_unsupported(self) -> None:
        """Refuse the options that Spark's connector refuses, and drop those without a meaning here."""
        for name, why in REFUSED_OPTIONS.items():
            if self._has(name):
                self._take(name)
                self._report(f"option {name!r} cannot be set, as with Spark's own connector: {why}")
        for name, instead in _WITHOUT_EFFECT.items():
            if self._has(name):
                self._take(name)
                self._without_effect.append(f"option {name!r} has no effect in millrace: {instead}")

    def translate_group_prefix(self) -> None:
        """Name the group by its prefix, unless its whole name is given; as in Spark's connector."""
        prefix = self._take(_GROUP_PREFIX) if self._has(_GROUP_PREFIX) else None
        if prefix is not None and not self._has("kafka.group.id") and not self._has("properties.group.id"):
            self._set(_GROUP_PREFIX, {"properties.group.id": prefix})

    def translate_client_properties(self) -> None:
        """Translate the properties of the Kafka client."""
        for key in [key for key in self._given if key.startswith("kafka.")]:
            own, text = f"properties.{key.removeprefix('kafka.')}", self._take(key)
            if not self._has(own):
                self._set(key, {own: text})
            elif self._given[own][1] != text:
                self._report(f"{own!r} and {key!r} mean the same option but differ; give one of them")

    def result(self) -> TranslatedOptions:
        """Return the outcome."""
        options = {**dict(self._given.values()), **self._translated}
        return TranslatedOptions(options, tuple(self._problems), tuple(self._without_effect), self._spark_names)

    def _no_match(self) -> dict[str, str]:
        strategy = self._take(STARTING_STRATEGY) if self._has(STARTING_STRATEGY) else "error"
        if strategy.lower() not in ("error", "latest"):
            self._report(f"option {STARTING_STRATEGY!r}: expected one of error, latest; got {strategy!r}")
            return {}
        return {f"{_STARTING.prefix}timestamp-no-match": strategy.lower()}

    def _from_offsets(self, end: ReadEnd, text: str) -> _NumericEnd | None:
        if text.lower() in end.words:
            self._set(end.offsets, {f"{end.prefix}mode": _MODES[text.lower()]})
            return None
        numbers = self._convert(end.offsets, text, lambda offsets: spark_values.parse_offsets(offsets, end.words))
        if numbers is None:
            return None
        listed = spark_values.format_offsets(numbers)
        self._set(end.offsets, _listed_partitions(end, StandardOffsets.SPECIFIC, "specific-offsets", listed))
        return _NumericEnd(end.offsets, numbers)

    def _from_timestamps(self, end: ReadEnd, text: str, no_match: Mapping[str, str]) -> _NumericEnd | None:
        numbers = self._convert(end.times, text, spark_values.parse_timestamps)
        if numbers is None:
            return None
        listed = spark_values.format_timestamps(numbers)
        self._set(
            end.times,
            {**_listed_partitions(end, StandardOffsets.TIMESTAMP, "partition-timestamps", listed), **no_match},
        )
        return _NumericEnd(end.times, numbers)

    def _from_timestamp(self, end: ReadEnd, text: str, no_match: Mapping[str, str]) -> _NumericEnd | None:
        millis = self._convert(end.time, text, spark_values.parse_timestamp)
        if millis is None:
            return None
        translated = {f"{end.prefix}mode": StandardOffsets.TIMESTAMP, f"{end.prefix}timestamp-millis": str(millis)}
        self._set(end.time, {**translated, **no_match})
        return _NumericEnd(end.time, {("", 0): millis})

    def _has(self, name: str) -> bool:
        return name.lower() in self._given

    def _take(self, name: str) -> str:
        return self._given.pop(name.lower())[1]

    def _set(self, spark: str, options: Mapping[str, str]) -> None:
        self._translated.update(options)
        self._spark_names.update(dict.fromkeys(options, spark))

    def _convert(self, name: str, text: str, convert: Callable[[str], T]) -> T | None:
        try:
            return convert(text)
        except ValueError as error:
            self._report(f"option {name!r}: {error}; got {text!r}")
            return None

    def _report(self, problem: str) -> None:
        self._problems.append(problem)


def _listed_partitions(end: ReadEnd, mode: str, name: str, text: str) -> dict[str, str]:
    # Spark's connector requires the list to name every partition that is read, and no other
    prefix = end.prefix
    return {f"{prefix}mode": mode, f"{prefix}{name}": text, f"{prefix}all-partitions-named": "true"}
