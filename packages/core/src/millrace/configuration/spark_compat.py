"""Spark's own Kafka connector's options whose value is written otherwise here, turned into millrace's.

Those that only have another name are aliases in `millrace.options.connector`. What Spark's connector refuses is refused
here too, with what to write instead; what has no meaning here is accepted and has no effect.
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
class Rewritten:
    """Options with millrace's names alone.

    Attributes:
        options: Their values by name.
        problems: What is wrong with those of Spark's connector.
        without_effect: One sentence for each that is accepted but has no effect.
        written: By the names of millrace's options the ones of Spark's connector that they were made from.
    """

    options: Mapping[str, str] = field(repr=False)
    problems: tuple[str, ...]
    without_effect: tuple[str, ...]
    written: Mapping[str, str]

    def as_written(self, problem: str) -> str:
        """A problem with the names of options that the user wrote."""
        for name, written in self.written.items():
            problem = problem.replace(repr(name), repr(written))
        return problem


@dataclass(frozen=True)
class _Bound:
    """The options for one end of what is read; of those that are given the first decides, as in Spark's connector.

    Attributes:
        prefix: What stands before millrace's options for it.
        time: One time for all partitions.
        times: A time for each partition.
        offsets: A word, or an offset for each partition.
        words: The words that may be given.
    """

    prefix: str
    time: str
    times: str
    offsets: str
    words: tuple[str, ...]


_STARTING = _Bound(
    "scan.startup.",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsets",
    ("earliest", "latest"),
)
_ENDING = _Bound("scan.bounded.", "endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets", ("latest",))
_STRATEGY = "startingOffsetsByTimestampStrategy"

_SELECTIONS: dict[str, tuple[str, Callable[[str], str]]] = {
    "subscribe": ("topic", spark_values.topics),
    "subscribePattern": ("topic-pattern", spark_values.pattern),
    "assign": ("topic-partitions", spark_values.partitions),
}

_GROUP_PREFIX = "groupIdPrefix"

_REFUSED = {
    "kafka.auto.offset.reset": "say with 'startingOffsets' where to start: earliest, latest or offsets as JSON",
    "kafka.key.deserializer": "keys come as bytes; convert the column, as CAST(key AS STRING)",
    "kafka.value.deserializer": "values come as bytes; convert the column, as CAST(value AS STRING), or give a format",
    "kafka.key.serializer": "keys are written as bytes; make the column key a STRING or BINARY",
    "kafka.value.serializer": "values are written as bytes; make the column value a STRING or BINARY, or give a format",
    "kafka.enable.auto.commit": "Spark's checkpoint keeps the offsets; for a group that follows the stream give "
    "'properties.group.id'",
    "kafka.interceptor.classes": "Java classes cannot be used; transform the rows instead",
}

_WITHOUT_EFFECT = {
    "kafkaConsumer.pollTimeoutMs": "brokers that do not answer are waited for two minutes",
    "fetchOffset.numRetries": "looking up offsets is tried again for up to a minute",
    "fetchOffset.retryIntervalMs": "looking up offsets is tried again for up to a minute",
    "kafka.max.poll.records": "'scan.max-records-per-batch' bounds a micro-batch, and records are fetched in batches "
    "by size",
    "kafka.max.poll.interval.ms": "consumers are in no group that could expel them",
    "kafka.partition.assignment.strategy": "partitions are assigned to Spark's tasks",
    "kafka.client.dns.lookup": "the client always tries all addresses of a name",
}

NAMES = (
    *_SELECTIONS,
    *(name for bound in (_STARTING, _ENDING) for name in (bound.time, bound.times, bound.offsets)),
    _STRATEGY,
    _GROUP_PREFIX,
    *_REFUSED,
    *_WITHOUT_EFFECT,
)
"""The options that this module knows by name; all others that start with ``kafka.`` are the Kafka client's."""


def rewrite(raw: Mapping[str, str]) -> Rewritten:
    """Give options millrace's names.

    Args:
        raw: The options as the user gave them; names in any case.
    """
    rewriting = _Rewriting(raw)
    rewriting.select()
    rewriting.compare(rewriting.bound(_STARTING), rewriting.bound(_ENDING))
    rewriting.leave_out()
    rewriting.name_group()
    rewriting.pass_on_client()
    return rewriting.result()


@dataclass(frozen=True)
class _Place:
    """One end of what is read, if numbers say it.

    Attributes:
        option: What was given.
        numbers: The offset or time of each partition; one for topic '' when all share it.
    """

    option: str
    numbers: Numbers


class _Rewriting:
    """Takes Spark's options out of those that are given, one group after the other, and puts millrace's in."""

    def __init__(self, raw: Mapping[str, str]) -> None:
        self._given: dict[str, tuple[str, str]] = {}
        self._made: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._problems: list[str] = []
        self._without_effect: list[str] = []
        for name, text in raw.items():
            first, known = self._given.setdefault(name.lower(), (name, text))
            if known != text:
                self._report(f"{first!r} and {name!r} mean the same option but differ; give one of them")

    def select(self) -> None:
        """What is read."""
        own = [name for name, _ in _SELECTIONS.values() if self._has(name)]
        given = {name: self._take(name) for name in _SELECTIONS if self._has(name)}
        if given and len(given) + len(own) > 1:
            names = " and ".join(map(repr, [*given, *own]))
            shared = " ('topic' is also where to write: give each to its own query)" if "topic" in own else ""
            self._report(f"options {names} exclude each other: give one of them{shared}")
            return
        for spark, text in given.items():
            name, convert = _SELECTIONS[spark]
            selected = self._convert(spark, text, convert)
            if selected is not None:
                self._make(spark, {name: selected})

    def bound(self, bound: _Bound) -> _Place | None:
        """Where reading starts or stops."""
        no_match = self._no_match() if bound is _STARTING else {}
        given = {name: self._take(name) for name in (bound.time, bound.times, bound.offsets) if self._has(name)}
        if not given:
            return None
        spark, text = next(iter(given.items()))
        own = [name for key, (name, _) in self._given.items() if key.startswith(bound.prefix)]
        if own:
            self._report(f"options {spark!r} and {own[0]!r} exclude each other: give one of them")
            return None
        if spark == bound.offsets:
            return self._at_offsets(bound, text.strip())
        return self._at_time(bound, text, no_match) if spark == bound.time else self._at_times(bound, text, no_match)

    def compare(self, start: _Place | None, end: _Place | None) -> None:
        """Refuse to stop before the start, where both are written alike."""
        if start is None or end is None or start.option.removeprefix("starting") != end.option.removeprefix("ending"):
            return
        for at in start.numbers.keys() & end.numbers.keys():
            first, last = start.numbers[at], end.numbers[at]
            if first > last >= 0:
                where = f" for {at[0]}-{at[1]}" if at[0] else ""
                self._report(f"{start.option!r} is behind {end.option!r}{where}: expected at most {last}; got {first}")

    def leave_out(self) -> None:
        """What Spark's connector does not take either, and what has no meaning here."""
        for name, why in _REFUSED.items():
            if self._has(name):
                self._take(name)
                self._report(f"option {name!r} cannot be set, as with Spark's own connector: {why}")
        for name, instead in _WITHOUT_EFFECT.items():
            if self._has(name):
                self._take(name)
                self._without_effect.append(f"option {name!r} has no effect in millrace: {instead}")

    def name_group(self) -> None:
        """The group that the prefix names, unless the whole name is given; as in Spark's connector."""
        prefix = self._take(_GROUP_PREFIX) if self._has(_GROUP_PREFIX) else None
        if prefix is not None and not self._has("kafka.group.id") and not self._has("properties.group.id"):
            self._make(_GROUP_PREFIX, {"properties.group.id": prefix})

    def pass_on_client(self) -> None:
        """Properties of the Kafka client."""
        for key in [key for key in self._given if key.startswith("kafka.")]:
            own, text = f"properties.{key.removeprefix('kafka.')}", self._take(key)
            if not self._has(own):
                self._make(key, {own: text})
            elif self._given[own][1] != text:
                self._report(f"{own!r} and {key!r} mean the same option but differ; give one of them")

    def result(self) -> Rewritten:
        """All that was found."""
        options = {**dict(self._given.values()), **self._made}
        return Rewritten(options, tuple(self._problems), tuple(self._without_effect), self._written)

    def _no_match(self) -> dict[str, str]:
        strategy = self._take(_STRATEGY) if self._has(_STRATEGY) else "error"
        if strategy.lower() not in ("error", "latest"):
            self._report(f"option {_STRATEGY!r}: expected one of error, latest; got {strategy!r}")
            return {}
        return {f"{_STARTING.prefix}timestamp-no-match": strategy.lower()}

    def _at_offsets(self, bound: _Bound, text: str) -> _Place | None:
        if text.lower() in bound.words:
            self._make(bound.offsets, {f"{bound.prefix}mode": f"{text.lower()}-offset"})
            return None
        numbers = self._convert(bound.offsets, text, lambda given: spark_values.offsets(given, bound.words))
        if numbers is None:
            return None
        listed = spark_values.offsets_text(numbers)
        self._make(bound.offsets, _list(bound, StandardOffsets.SPECIFIC, "specific-offsets", listed))
        return _Place(bound.offsets, numbers)

    def _at_times(self, bound: _Bound, text: str, no_match: Mapping[str, str]) -> _Place | None:
        numbers = self._convert(bound.times, text, spark_values.times)
        if numbers is None:
            return None
        listed = spark_values.times_text(numbers)
        self._make(bound.times, {**_list(bound, StandardOffsets.TIMESTAMP, "partition-timestamps", listed), **no_match})
        return _Place(bound.times, numbers)

    def _at_time(self, bound: _Bound, text: str, no_match: Mapping[str, str]) -> _Place | None:
        millis = self._convert(bound.time, text, spark_values.time)
        if millis is None:
            return None
        made = {f"{bound.prefix}mode": StandardOffsets.TIMESTAMP, f"{bound.prefix}timestamp-millis": str(millis)}
        self._make(bound.time, {**made, **no_match})
        return _Place(bound.time, {("", 0): millis})

    def _has(self, name: str) -> bool:
        return name.lower() in self._given

    def _take(self, name: str) -> str:
        return self._given.pop(name.lower())[1]

    def _make(self, spark: str, options: Mapping[str, str]) -> None:
        self._made.update(options)
        self._written.update(dict.fromkeys(options, spark))

    def _convert(self, name: str, text: str, convert: Callable[[str], T]) -> T | None:
        try:
            return convert(text)
        except ValueError as error:
            self._report(f"option {name!r}: {error}; got {text!r}")
            return None

    def _report(self, problem: str) -> None:
        self._problems.append(problem)


def _list(bound: _Bound, mode: str, name: str, text: str) -> dict[str, str]:
    # Spark's connector wants to hear of every partition, and of no other
    prefix = bound.prefix
    return {f"{prefix}mode": mode, f"{prefix}{name}": text, f"{prefix}all-partitions-named": "true"}
