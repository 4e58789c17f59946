"""Collect the Kafka client's properties from the options of a source and a sink."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from millrace.errors import PluginError
from millrace.kafka.client_settings import CLIENT_ID_PREFIX
from millrace.kafka.property_translation import translate
from millrace.kafka.security.provider_login import PROVIDER, ProviderLogin, provider_login
from millrace.kafka.statistics import STATISTICS_INTERVAL, STATISTICS_INTERVAL_MS, STATISTICS_OFF
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.field import options_of
from millrace.options.parser import OptionParser
from millrace.options.secrets import Properties
from millrace.plugins.kinds import TOKEN_PROVIDER
from millrace.plugins.manager import PluginRef, plugin_manager

_CONNECTOR_PROPERTIES = {
    name.removeprefix("properties.")
    for options in (SourceOptions, SinkOptions)
    for info in options_of(options).values()
    for name in (info.name, *info.aliases)
    if name.startswith("properties.")
}
"""Options of source and sink that are named like properties of the client, but are not passed to it."""

logger = logging.getLogger("millrace.options")


def take_client_properties(parser: OptionParser, warn: Callable[[str], None] = logger.warning) -> Properties:
    """Take all options ``properties.*`` that are the Kafka client's, and report what is wrong with them.

    Args:
        parser: The parser of all options.
        warn: Takes one sentence for each property without effect.

    Returns:
        Properties under librdkafka's names.
    """
    parser.expect("properties.bootstrap.servers", f"properties.{PROVIDER}")
    properties = parser.take_prefixed("properties.")
    client, problems, warnings = client_properties(
        {name: value for name, value in properties.items() if name not in _CONNECTOR_PROPERTIES}
    )
    for problem in problems:
        parser.report(problem)
    for warning in warnings:
        warn(warning)
    return client


def client_properties(java: Mapping[str, str]) -> tuple[Properties, list[str], list[str]]:
    """Translate the user's ``properties.*`` into librdkafka's properties, and resolve the token provider among them.

    Args:
        java: Property values by name, without ``properties.``.

    Returns:
        Properties under librdkafka's names, the problems found, and one sentence for each property without effect.
    """
    login = provider_login(java)
    if login is None:
        client, problems, warnings = translate(java)
        return Properties(client), problems, warnings
    client, problems, warnings = translate(login.properties)
    provider, provider_problems = _refer_to_provider(login)
    added = {} if provider is None else {PROVIDER: provider}
    return Properties({**client, **added}), [*login.problems, *problems, *provider_problems], warnings


def source_properties(client: Properties, options: SourceOptions) -> Properties:
    """Add what the options of a source set to the client's properties."""
    added: dict[str, str] = {}
    if options.table_name is not None and "group.id" not in client:
        added["group.id"] = f"KafkaSource-{options.table_name}"
    if options.client_id_prefix is not None:
        added[CLIENT_ID_PREFIX] = options.client_id_prefix
    if not options.register_consumer_metrics:
        added |= STATISTICS_OFF
    return Properties({**client, **added})


def sink_properties(client: Properties, options: SinkOptions) -> Properties:
    """Add what the options of a sink set to the client's properties."""
    if options.metrics_address is None:
        return client
    statistics = {} if options.register_producer_metrics else STATISTICS_OFF
    return Properties({STATISTICS_INTERVAL: STATISTICS_INTERVAL_MS, **client, **statistics})


def _refer_to_provider(login: ProviderLogin) -> tuple[PluginRef | None, list[str]]:
    """Return a reference to a login's token provider, None if it cannot be used, and the problems found."""
    prefix = f"properties.{PROVIDER}."
    try:
        options_class = plugin_manager().load(TOKEN_PROVIDER, login.name).Options
    except PluginError as error:
        return None, [f"option 'properties.{PROVIDER}': {error}"]
    parser = OptionParser("millrace", {prefix + name: value for name, value in login.options.items()})
    options = parser.take(options_class, prefix)
    problems = list(parser.problems())
    return (None if problems else plugin_manager().refer(TOKEN_PROVIDER, login.name, options)), problems
