"""Translate the properties of Java's clients, as files of properties and Kafka Connect's overrides have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from millrace.contracts import StandardOffsets
from millrace_cli.converting.client_names import java_name_problem, unknown_property
from millrace_cli.converting.declared_options import canonical_name, take
from millrace_cli.converting.dialect import Omission, TranslationStep, dropped, implied, undecided

PROPERTIES = "properties."
GROUP, RESET, MODE = f"{PROPERTIES}group.id", f"{PROPERTIES}auto.offset.reset", "scan.startup.mode"
_GUARANTEE, _ID_PREFIX, _PARTITIONER = "sink.delivery-guarantee", "sink.transactional-id-prefix", "sink.partitioner"
_TRANSACTIONAL_ID = "transactional.id"

_STARTS = {"earliest": StandardOffsets.EARLIEST, "latest": StandardOffsets.LATEST}
_RESETS = {mode: word for word, mode in _STARTS.items()}

_PARTITIONERS = {"org.apache.kafka.clients.producer.RoundRobinPartitioner": "round-robin"}
_PARTITIONER_CLASSES = {name: class_name for class_name, name in _PARTITIONERS.items()}


def properties_to_millrace(properties: Mapping[str, str], prefix: str) -> Iterator[TranslationStep]:
    """Yield the translation of Java's properties.

    Args:
        properties: Their values by name.
        prefix: The prefix that the names have in their dialect.
    """
    for name, value in properties.items():
        before = {prefix + name: value}
        problem = unknown_property(name)
        if problem is not None:
            yield TranslationStep(before, loss=Omission.UNDECIDED, reason=problem)
        elif name == "auto.offset.reset":
            yield _start_to_millrace(before, value, has_group="group.id" in properties)
        elif name == _TRANSACTIONAL_ID:
            reason = "each task has a transactional id of its own, which begins so"
            yield TranslationStep(before, {_GUARANTEE: "exactly-once", _ID_PREFIX: value}, reason=reason)
        elif name == "partitioner.class" and value in _PARTITIONERS:
            yield TranslationStep(before, {_PARTITIONER: _PARTITIONERS[value]})
        else:
            yield TranslationStep(before, {PROPERTIES + name: value})


def properties_from_millrace(options: dict[str, str], prefix: str) -> Iterator[TranslationStep]:
    """Yield the translation into Java's properties of the options that have one, which are removed from the options.

    Args:
        options: millrace's options.
        prefix: The prefix that names get in the other dialect.
    """
    yield from _start_from_millrace(options, prefix)
    yield from _transactions_from_millrace(options, prefix)
    for name, value in take(options, _PARTITIONER).items():
        if value in _PARTITIONER_CLASSES:
            yield TranslationStep({name: value}, {f"{prefix}partitioner.class": _PARTITIONER_CLASSES[value]})
        elif value == "default":
            yield implied({name: value}, "it is the default partitioner of Java's client, too")
        else:
            yield undecided(name, value, "Java's client needs a partitioner of its own language")
    for name in [name for name in options if name.startswith(PROPERTIES)]:
        own, value = name.removeprefix(PROPERTIES), options.pop(name)
        problem = java_name_problem(own)
        if problem is None:
            yield TranslationStep({name: value}, {prefix + own: value})
        else:
            yield undecided(name, value, problem)


def _start_to_millrace(before: Mapping[str, str], reset: str, *, has_group: bool) -> TranslationStep:
    word = reset.strip().lower()
    if has_group or word == "none":
        return TranslationStep(before, {RESET: word})
    if word not in _STARTS:
        reason = "start by scan.startup.mode = timestamp with scan.startup.timestamp, or by earliest or latest"
        return TranslationStep(before, loss=Omission.UNDECIDED, reason=reason)
    # Without a group there is nothing to continue from, so that the property says where every read starts
    return TranslationStep(before, {MODE: _STARTS[word]})


def _start_from_millrace(options: dict[str, str], prefix: str) -> Iterator[TranslationStep]:
    modes = take(options, MODE)
    for name, mode in modes.items():
        settings = {other: options.pop(other) for other in list(options) if other.startswith("scan.startup.")}
        before = {name: mode, **settings}
        if mode == StandardOffsets.GROUP and GROUP in options:
            yield implied(before, "a consumer in a group starts at its committed offsets")
        elif mode in _RESETS and GROUP not in options and RESET not in options:
            yield TranslationStep(before, {f"{prefix}auto.offset.reset": _RESETS[mode]})
        elif mode in _RESETS:
            reason = (
                "a consumer in a group starts at its committed offsets, and auto.offset.reset decides only where there "
                "are none: reset the group's offsets with kafka-consumer-groups, or take a new group"
            )
            yield TranslationStep(before, loss=Omission.UNDECIDED, reason=reason)
        else:
            reason = "set the offsets of the group with kafka-consumer-groups --reset-offsets"
            yield TranslationStep(before, loss=Omission.UNDECIDED, reason=reason)


def _transactions_from_millrace(options: dict[str, str], prefix: str) -> Iterator[TranslationStep]:
    before = take(options, _GUARANTEE, _ID_PREFIX)
    guarantee = next((value for name, value in before.items() if name != _ID_PREFIX), "at-least-once")
    if guarantee == "exactly-once" and _ID_PREFIX in before:
        yield TranslationStep(before, {prefix + _TRANSACTIONAL_ID: before[_ID_PREFIX]})
    elif before and guarantee == "at-least-once":
        yield implied(before, "Java's producer waits for all replicas by default")
    elif before:
        reason = "choose acks, and whether the program writes in transactions"
        yield TranslationStep(before, loss=Omission.UNDECIDED, reason=reason)


def without_counterpart(
    options: Mapping[str, str], decisions: Mapping[str, str], title: str
) -> Iterator[TranslationStep]:
    """Yield the steps of options that a dialect does not have.

    Args:
        options: millrace's options.
        decisions: Sentences on what to do, by name.
        title: The dialect, for the sentence on all others.
    """
    for name, value in options.items():
        canonical = canonical_name(name)
        if canonical in decisions:
            yield undecided(name, value, decisions[canonical])
        elif (canonical, value) == ("connector", "kafka"):
            yield implied({name: value}, "it needs no name here")
        else:
            yield dropped(name, value, f"{title} has no such option")
