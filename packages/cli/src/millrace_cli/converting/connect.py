"""Configurations of Kafka Connect's connectors, in JSON as its REST API takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from millrace.options.values import parse_topics
from millrace_cli.converting.client_properties import (
    GROUP,
    properties_from_millrace,
    properties_to_millrace,
    without_counterpart,
)
from millrace_cli.converting.declared_options import take
from millrace_cli.converting.dialect import (
    Omission,
    OptionDialect,
    OptionSet,
    Side,
    TranslationStep,
    attempt,
    implied,
    undecided,
)
from millrace_cli.converting.option_texts import format_json, is_json, parse_json, parse_options, text_values
from millrace_cli.converting.serializers import ClassOption, key_class_to_millrace

_OVERRIDES = {Side.READ: "consumer.override.", Side.WRITE: "producer.override."}
_GROUP_PREFIX = "connect-"
_VALUES = ClassOption("value.converter", "converter", "value.converter.")
_KEY_CONVERTER = "key.converter"
_COLLECTOR = "dirty-data.collector"
_LETTERS = "errors.deadletterqueue.topic.name"
_TOLERATED = {"all": "true", "none": "false"}

_DECISIONS = {
    "topic": "a source connector names its topics by settings of its own",
    "topic-partitions": "a sink connector reads all partitions of its topics",
    "key.format": "name the class by key.converter",
    "scan.bounded.mode": "a connector runs until it is stopped",
    "connector": "choose the connector by connector.class, and how it writes rows by their keys",
}


class ConnectConfig(OptionDialect):
    """The configuration of a connector: an object with ``name`` and ``config``, or the configuration alone."""

    title = "Kafka Connect"

    def recognizes(self, text: str) -> bool:
        """Return whether a text is the configuration of a connector."""
        if not is_json(text):
            return False
        document = parse_json(text)
        return isinstance(document.get("config"), dict) or any(map(_is_of_connect, document))

    def parse(self, text: str) -> OptionSet:
        """Return the settings, with the connector's name as ``name``: see `OptionDialect.parse`."""
        if not is_json(text):
            return OptionSet(parse_options(text))
        document = parse_json(text)
        config = document.get("config")
        if not isinstance(config, dict):
            return OptionSet(text_values(document))
        name = {"name": document["name"]} if "name" in document else {}
        return OptionSet(text_values({**name, **config}))

    def format(self, options: Mapping[str, str]) -> str:
        """Return the JSON that creates the connector where its name is known, and else its configuration."""
        if "name" not in options:
            return format_json(options)
        config = {name: value for name, value in options.items() if name != "name"}
        return format_json({"name": options["name"], "config": config})

    def side_of(self, options: Mapping[str, str]) -> Side | None:
        """Return the direction: a sink connector reads topics, a source connector writes them."""
        if not {"topics", "topics.regex"}.isdisjoint(options):
            return Side.READ
        for side, prefix in _OVERRIDES.items():
            if any(name.startswith(prefix) for name in options):
                return side
        return Side.READ if options.get("connector.class", "").endswith("SinkConnector") else None

    def to_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate settings into options."""
        rest = dict(options)
        prefix = _OVERRIDES[side]
        client = {name.removeprefix(prefix): rest.pop(name) for name in options if name.startswith(prefix)}
        steps = [*_group_to_millrace(rest, client)] if side is Side.READ else []
        # A sink connector is always in a group, so that there are committed offsets to continue from
        grouped = {"group.id": "", **client} if steps else client
        steps += [step for step in properties_to_millrace(grouped, prefix) if step.before.keys() <= options.keys()]
        steps += [*_topics_to_millrace(rest), *key_class_to_millrace(rest, _KEY_CONVERTER)]
        steps += [*_VALUES.to_millrace(rest), *_errors_to_millrace(rest)]
        return [*steps, *map(_own_setting, rest.items())]

    def from_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate options into settings."""
        rest = dict(options)
        steps = [*_topics_from_millrace(rest)] if side is Side.READ else []
        steps += [*_VALUES.from_millrace(rest), *_errors_from_millrace(rest)]
        for step in properties_from_millrace(rest, _OVERRIDES[side]):
            steps.append(_named(step) if side is Side.READ else step)
        return [*steps, *without_counterpart(rest, _DECISIONS, self.title)]


def _is_of_connect(name: str) -> bool:
    return name == "connector.class" or name.startswith((*_OVERRIDES.values(), "value.converter", _KEY_CONVERTER))


def _group_to_millrace(settings: dict[str, str], client: Mapping[str, str]) -> Iterator[TranslationStep]:
    if "name" not in settings:
        return
    name = settings.pop("name")
    if "group.id" in client:
        yield implied({"name": name}, "the group has a name of its own")
    else:
        yield TranslationStep(
            {"name": name}, {GROUP: _GROUP_PREFIX + name}, reason="the group of the connector, whose offsets go on"
        )


def _named(step: TranslationStep) -> TranslationStep:
    group = step.before.get(GROUP, "")
    return (
        TranslationStep(step.before, {"name": group.removeprefix(_GROUP_PREFIX)})
        if group.startswith(_GROUP_PREFIX)
        else step
    )


def _topics_to_millrace(settings: dict[str, str]) -> Iterator[TranslationStep]:
    if "topics" in settings:
        topics = settings.pop("topics")
        names = [name.strip() for name in topics.split(",") if name.strip()]
        yield TranslationStep({"topics": topics}, {"topic": ";".join(names)})
    if "topics.regex" in settings:
        pattern = settings.pop("topics.regex")
        yield TranslationStep({"topics.regex": pattern}, {"topic-pattern": pattern})


def _topics_from_millrace(options: dict[str, str]) -> Iterator[TranslationStep]:
    topics = take(options, "topic")
    if topics:
        yield attempt(topics, lambda: {"topics": ",".join(parse_topics(topics["topic"]))})
    for name, pattern in take(options, "topic-pattern").items():
        yield TranslationStep({name: pattern}, {"topics.regex": pattern})


def _errors_to_millrace(settings: dict[str, str]) -> Iterator[TranslationStep]:
    tolerance = settings.get("errors.tolerance", "").strip().lower()
    if tolerance in _TOLERATED:
        before = {"errors.tolerance": settings.pop("errors.tolerance")}
        yield TranslationStep(before, {"ingestion.ignore-errors": _TOLERATED[tolerance]})
    if _LETTERS in settings:
        topic = settings.pop(_LETTERS)
        yield TranslationStep({_LETTERS: topic}, {_COLLECTOR: "topic", f"{_COLLECTOR}.topic": topic})


def _errors_from_millrace(options: dict[str, str]) -> Iterator[TranslationStep]:
    words = {value: word for word, value in _TOLERATED.items()}
    for name, value in take(options, "ingestion.ignore-errors").items():
        word = words.get(value.strip().lower())
        if word is None:
            yield undecided(name, value, "expected true or false")
        else:
            yield TranslationStep({name: value}, {"errors.tolerance": word})
    collector = take(options, _COLLECTOR, f"{_COLLECTOR}.topic")
    if collector:
        topic = collector.get(f"{_COLLECTOR}.topic")
        if topic is None:
            reason = "errors.log.enable writes them to the log, errors.deadletterqueue.topic.name to a topic"
            yield TranslationStep(collector, loss=Omission.UNDECIDED, reason=reason)
        else:
            yield TranslationStep(collector, {_LETTERS: topic})


def _own_setting(setting: tuple[str, str]) -> TranslationStep:
    name, value = setting
    if name.startswith(_KEY_CONVERTER):
        return undecided(name, value, "choose key.format, and name the columns of the key by key.fields")
    if name == "tasks.max":
        return undecided(name, value, "a large partition has several tasks by itself; scan.parallelism asks for more")
    if name.startswith("transforms"):
        return undecided(name, value, "transform the rows in the query")
    if name == "connector.class":
        return undecided(name, value, "the query says what becomes of the rows, or where they are from")
    return undecided(name, value, "it is a setting of the connector or its worker, not of its Kafka client")
