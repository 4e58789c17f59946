"""Translate between the options of Spark's own connector and millrace's, by the table that the data source has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from millrace.configuration.spark_compat import (
    READ_ENDS,
    REFUSED_OPTIONS,
    SPARK_OPTIONS,
    SPARK_SELECTIONS,
    STARTING_STRATEGY,
    ReadEnd,
    translate_spark_options,
)
from millrace.contracts import StandardOffsets
from millrace.options.values import parse_duration_ms, parse_partitions, parse_time_ms, parse_topics
from millrace.spark.options import connector_options
from millrace_cli.converting.client_properties import GROUP, PROPERTIES
from millrace_cli.converting.declared_options import canonical_name, declared, spark_name, take
from millrace_cli.converting.dialect import Side, TranslationStep, attempt, dropped, implied, undecided

GROUP_NAMES = ("kafka.group.id", "groupIdPrefix")
"""Options that only name the client's group; millrace has them as Spark does, and no other dialect can say it."""

_WORDS = {StandardOffsets.EARLIEST: "earliest", StandardOffsets.LATEST: "latest"}
_SPECIAL = {"earliest": -2, "latest": -1}
_ENTRY = re.compile(r"(?:topic:(?P<topic>[\w.-]+),)?partition:(?P<partition>\d+),(?:offset|timestamp):(?P<value>\w+)")
_DURATION = re.compile(r"\d+(ms|s|m|min|h|d)?")
_NONE = "Spark's connector has no such option"
_NO_MATCH = "scan.startup.timestamp-no-match"
_SPARK_NAMES = {name.lower() for name in SPARK_OPTIONS} | {"topic", "includeheaders"}
_ANYWAY = {
    "connector": ("kafka", "it is the only one"),
    "sink.delivery-guarantee": ("at-least-once", "Spark's connector waits for the brokers, too"),
    "sink.partitioner": ("default", "it is the partitioner of Spark's connector, too"),
}
_DECISIONS = {
    "value.format": "values are bytes: decode them in the query, as with from_json(CAST(value AS STRING), ...)",
    "key.format": "keys are bytes: decode them in the query",
    "connector": "keep the latest row of each key in the query",
    "sink.delivery-guarantee": "Spark's connector writes at least once",
}


def engine_options(options: Mapping[str, str]) -> AbstractSet[str]:
    """Return the names of options that Spark uses itself, such as ``checkpointLocation``."""
    return options.keys() - connector_options(options).keys() if options else frozenset()


def is_spark_name(name: str) -> bool:
    """Return whether Spark's own connector has an option."""
    lower = name.lower()
    info = declared(name)
    is_alias = info is not None and lower == (spark_name(info) or "").lower()
    return is_alias or lower.startswith("kafka.") or lower in _SPARK_NAMES


def from_spark(options: Mapping[str, str]) -> list[TranslationStep]:
    """Translate Spark's names into millrace's; millrace's own names stay as they are."""
    unchanged = engine_options(options) | {name for name in options if name in GROUP_NAMES}
    translated = translate_spark_options({name: value for name, value in options.items() if name not in unchanged})
    sentences = (*translated.problems, *translated.without_effect)
    steps = []
    for name, value in options.items():
        after = {own: translated.options[own] for own, spark in translated.spark_names.items() if _is_same(spark, name)}
        if name in unchanged:
            steps.append(TranslationStep({name: value}, {name: value}))
        elif after:
            steps.append(TranslationStep({name: value}, after))
        elif name in translated.options:
            steps.append(TranslationStep({name: value}, {_millrace_name(name): value}))
        elif _is_same(name, STARTING_STRATEGY) and _NO_MATCH in translated.options:
            steps.append(TranslationStep({name: value}, {_NO_MATCH: translated.options[_NO_MATCH]}))
        else:
            steps.append(_without_translation(name, value, sentences, len(translated.problems)))
    return steps


def to_spark(options: Mapping[str, str], side: Side) -> Iterator[TranslationStep]:
    """Yield the translation of millrace's options into those of Spark's own connector."""
    rest = dict(options)
    engine = engine_options(options) | {name for name in options if name in GROUP_NAMES}
    yield from (TranslationStep({name: rest.pop(name)}, {name: options[name]}) for name in options if name in engine)
    topics = take(rest, "topic").get("topic", "")
    yield from _selection(rest, topics, side)
    for end in READ_ENDS:
        yield from _end(rest, end, topics)
    yield from (_single(name, value) for name, value in rest.items())


def _is_same(name: str, other: str) -> bool:
    return name.lower() == other.lower()


def _millrace_name(name: str) -> str:
    info = declared(name)
    return info.name if info is not None and _is_same(name, spark_name(info) or "") else name


def _without_translation(name: str, value: str, sentences: Sequence[str], problem_count: int) -> TranslationStep:
    for number, sentence in enumerate(sentences):
        if repr(name.lower()) in sentence.lower():
            return (undecided if number < problem_count else dropped)(name, value, sentence)
    return dropped(name, value, "another option takes precedence")


def _selection(options: dict[str, str], topics: str, side: Side) -> Iterator[TranslationStep]:
    if topics and side is Side.WRITE:
        yield TranslationStep({"topic": topics}, {"topic": topics})
    elif topics:
        yield attempt({"topic": topics}, lambda: {SPARK_SELECTIONS["topic"]: ",".join(parse_topics(topics))})
    for name, pattern in take(options, "topic-pattern").items():
        yield TranslationStep({name: pattern}, {SPARK_SELECTIONS["topic-pattern"]: pattern})
    for name, text in take(options, "topic-partitions").items():
        yield attempt({name: text}, partial(_partitions, text))


def _partitions(text: str) -> Mapping[str, str]:
    numbers: dict[str, list[int]] = {}
    for topic, partition in parse_partitions(text):
        numbers.setdefault(topic, []).append(partition)
    return {SPARK_SELECTIONS["topic-partitions"]: _json(numbers)}


def _end(options: dict[str, str], end: ReadEnd, topics: str) -> Iterator[TranslationStep]:
    before = {name: options.pop(name) for name in list(options) if name.startswith(end.prefix)}
    mode = before.get(f"{end.prefix}mode")
    if not before:
        return
    word = _WORDS.get(mode or "")
    if word in end.words:
        yield TranslationStep(before, {end.offsets: word})
        return
    yield attempt(before, partial(_places, before, end, mode, topics))


def _places(options: Mapping[str, str], end: ReadEnd, mode: str | None, topics: str) -> dict[str, str]:
    """Return Spark's option for offsets or timestamps.

    Raises:
        ValueError: Spark's connector has none for them.
    """
    values = {name.removeprefix(end.prefix): value for name, value in options.items()}
    if mode == StandardOffsets.SPECIFIC and "specific-offsets.others" not in values:
        return {end.offsets: _by_partition(values.get("specific-offsets", ""), topics)}
    if mode == StandardOffsets.TIMESTAMP:
        # By default Spark's connector fails where there is no such record, and millrace takes the end
        is_lenient = end is READ_ENDS[0] and values.get("timestamp-no-match") != "error"
        return {**_times(values, end, topics), **({STARTING_STRATEGY: "latest"} if is_lenient else {})}
    if mode == StandardOffsets.GROUP:
        raise ValueError("Spark's connector does not know the offsets of a group: choose others")
    raise ValueError(f"Spark's connector has no option for this: choose {end.offsets} or {end.time}")


def _times(values: Mapping[str, str], end: ReadEnd, topics: str) -> dict[str, str]:
    if "timestamp-millis" in values:
        return {end.time: values["timestamp-millis"]}
    if "timestamp" in values:
        return {end.time: str(parse_time_ms(values["timestamp"]))}
    return {end.times: _by_partition(values.get("partition-timestamps", ""), topics)}


def _by_partition(text: str, topics: str) -> str:
    numbers: dict[str, dict[str, int]] = {}
    for entry in text.split(";"):
        match = _ENTRY.fullmatch(entry.strip())
        if match is None or not (match["topic"] or topics):
            raise ValueError("expected a topic, a partition and a number in each entry")
        if match["topic"] is None and ";" in topics:
            raise ValueError("each entry must name its topic, since several are read")
        value = _SPECIAL.get(match["value"])
        numbers.setdefault(match["topic"] or topics, {})[match["partition"]] = (
            int(match["value"]) if value is None else value
        )
    return _json(numbers)


def _single(name: str, value: str) -> TranslationStep:
    info = declared(name)
    spark = None if info is None else spark_name(info)
    canonical = canonical_name(name)
    if info is not None and spark is not None:
        is_duration = info.parse is parse_duration_ms
        return attempt({name: value}, lambda: {spark: _spark_duration(value) if is_duration else value})
    if name == "includeHeaders":
        return TranslationStep({name: value}, {name: value})
    if name.startswith(PROPERTIES):
        return _client_property(name, value)
    anyway, reason = _ANYWAY.get(canonical, (None, ""))
    if value == anyway:
        return implied({name: value}, reason)
    if canonical in _DECISIONS:
        return undecided(name, value, _DECISIONS[canonical])
    return dropped(name, value, _NONE)


def _client_property(name: str, value: str) -> TranslationStep:
    kafka = f"kafka.{name.removeprefix(PROPERTIES)}"
    if kafka in REFUSED_OPTIONS:
        return undecided(name, value, f"Spark's connector refuses it: {REFUSED_OPTIONS[kafka]}")
    if name == GROUP:
        reason = (
            "Spark's connector neither starts at the offsets of a group nor commits them: leave the group out, or give "
            "kafka.group.id to name it for the brokers alone"
        )
        return undecided(name, value, reason)
    return dropped(name, value, _NONE) if declared(name) is not None else TranslationStep({name: value}, {kafka: value})


def _spark_duration(text: str) -> str:
    compact = text.replace(" ", "")
    return compact if _DURATION.fullmatch(compact) else f"{parse_duration_ms(text)}ms"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
