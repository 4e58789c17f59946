"""The options by which commands connect to brokers and open the catalog of their topics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from millrace.errors import OptionsError
from millrace_cli.parameters import NameValue

if TYPE_CHECKING:
    from millrace.contracts import Catalog
    from millrace.options.secrets import Properties

logger = logging.getLogger("millrace.options")

DEFAULT_CATALOG = "kafka"
"""The catalog of the reference, which millrace-catalog offers."""

_QUERY_PREFIX = "properties."
"""The prefix of Kafka's properties among the options of a query."""


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name the brokers and Kafka's client properties to a command."""
    options = (
        click.option("--bootstrap-servers", metavar="HOST:PORT,..", help="Brokers for the first connection."),
        click.option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
            help="File of Kafka client properties, in the format of Kafka's own tools. Put passwords here.",
        ),
        click.option(
            "--property",
            "properties",
            type=NameValue(),
            multiple=True,
            callback=_as_dict,
            help="Kafka client property; repeatable, overrides the file.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def catalog_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add a topic, the options of `connection_options`, the catalog and its options to a command."""
    catalog = click.option(
        "--catalog",
        metavar="NAME",
        default=DEFAULT_CATALOG,
        show_default=True,
        help="Catalog to look the topic up in: the name of an installed plugin, or module:Class.",
    )
    option = name_values("Option of the catalog, such as json.infer-schema.nested=struct; repeatable.")
    return click.argument("topic")(connection_options(catalog(option(command))))


def name_values(help_: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option ``--option NAME=VALUE`` to a command, which gets them all as ``options``.

    Args:
        help_: Its help.
    """
    return click.option("--option", "options", type=NameValue(), multiple=True, callback=_as_dict, help=help_)


def registry_options(help_: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a schema registry, and the options of its client as ``registry_options``, to a command.

    Args:
        help_: The help of ``--registry``.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        option = click.option(
            "--registry-option",
            "registry_options",
            type=NameValue(),
            multiple=True,
            callback=_of_registry,
            help="With --registry: option of its client as of avro-confluent, such as bearer-auth.token=...",
        )
        return click.option("--registry", metavar="URL", is_eager=True, help=help_)(option(command))

    return add


def _of_registry(
    context: click.Context, _option: click.Parameter, pairs: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    if pairs and context.params.get("registry") is None:
        raise click.UsageError("--registry-option requires --registry")
    return dict(pairs)


def decoding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how messages become rows, and which of these to show, to a command."""
    options = (
        click.option("--format", "format_", metavar="NAME", help="Format of the messages; by default it is guessed."),
        click.option(
            "--schema",
            "columns",
            metavar="COLUMNS",
            help="Columns, for formats that cannot infer them: 'id BIGINT, name STRING'.",
        ),
        registry_options("Schema registry, for messages that name a schema."),
        click.option("--metadata", is_flag=True, help="Show key, headers, partition, offset and timestamp, too."),
        click.option("--where", metavar="CONDITION", help="Only rows for which this is true, such as amount > 100."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def client_properties(bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str]) -> Properties:
    """Return the properties for the Kafka client; names may have the prefix ``properties.`` as in a query.

    Raises:
        OptionsError: A property or the file is wrong.
    """
    from millrace.configuration.client_properties import client_properties as translate

    client, problems, warnings = translate(require_brokers(java_properties(bootstrap_servers, config, properties)))
    if problems:
        raise OptionsError("connection", tuple(problems))
    for warning in warnings:
        logger.warning(warning)
    return client


def open_catalog(
    catalog: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    options: Mapping[str, str],
) -> Catalog:
    """Open a catalog, which gets the properties of the Kafka client, as ``properties.*``, and its own options.

    Raises:
        OptionsError: An option or a property is wrong.
        PluginError: No installed package offers the catalog, or it cannot be used.
    """
    from millrace.plugins import CATALOG, plugin_manager

    client = java_properties(bootstrap_servers, config, properties)
    if catalog == DEFAULT_CATALOG:
        # Another one knows itself whether it needs brokers
        require_brokers(client)
    return plugin_manager().load(CATALOG, catalog).from_options(job_options(client, None, options.items()))


def job_options(client: Mapping[str, str], topic: str | None, options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the options of a read, a write or a catalog that a command line describes.

    Args:
        client: The client's properties, under Kafka's names.
        topic: The option ``topic``; None where it is not given.
        options: More options, which win.
    """
    properties = {f"{_QUERY_PREFIX}{name}": value for name, value in client.items()}
    return {**properties, **({} if topic is None else {"topic": topic}), **dict(options)}


def _as_dict(_context: click.Context, _option: click.Parameter, pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return dict(pairs)


def java_properties(
    bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str]
) -> dict[str, str]:
    """Return the client's properties under Kafka's names.

    Raises:
        OptionsError: The file is wrong.
    """
    merged = {**(_read_properties(config) if config else {}), **properties}
    java = {name.removeprefix(_QUERY_PREFIX): value for name, value in merged.items()}
    if bootstrap_servers:
        java["bootstrap.servers"] = bootstrap_servers
    return java


def require_brokers(java: dict[str, str]) -> dict[str, str]:
    """Return the properties if they name brokers.

    Raises:
        OptionsError: They do not.
    """
    if not java.get("bootstrap.servers"):
        raise OptionsError("connection", ("no brokers are given; give them by --bootstrap-servers HOST:PORT",))
    return java


def _read_properties(config: Path) -> dict[str, str]:
    import javaproperties

    try:
        with config.open("rb") as file:
            return javaproperties.load(file)
    except OSError as error:
        raise OptionsError("connection", (f"--config: {config} cannot be read: {error.strerror}",)) from error
    except ValueError:
        # Without its cause, which quotes the file
        problem = f"--config: {config} has a \\u without four hexadecimal digits; write a literal backslash twice"
        raise OptionsError("connection", (problem,)) from None
