"""How commands connect: one option for the brokers, Kafka's own properties for all else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from millrace.errors import MachineError, OptionsError

if TYPE_CHECKING:
    from millrace.options.secrets import Properties

_AS_IN_A_QUERY = "properties."


def pair(text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        # What was written may be a password
        raise click.BadParameter("expected NAME=VALUE, such as security.protocol=SASL_SSL")
    return name.strip(), value


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say which brokers, and how to connect to them."""
    options = (
        click.option("--bootstrap-servers", metavar="HOST:PORT,..", help="Brokers to connect to at first."),
        click.option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
            help="A file of Kafka client properties, as Java's tools take it. The place for passwords.",
        ),
        click.option(
            "--property",
            "properties",
            multiple=True,
            metavar="NAME=VALUE",
            callback=lambda _context, _option, given: dict(map(pair, given)),
            help="A Kafka client property; can be given more than once, and wins over the file.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def connection(bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str]) -> Properties:
    """The properties for the Kafka client; names may have the prefix ``properties.`` that they have in a query.

    Raises:
        MachineError: The library that reads files of properties is not installed.
        OptionsError: A property is wrong, or the file is.
    """
    from millrace.kafka.properties import translate
    from millrace.options.secrets import Properties

    client, problems = translate(_java(bootstrap_servers, config, properties))
    if problems:
        raise OptionsError("connection", tuple(problems))
    return Properties(client)


def connection_as_options(
    bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str]
) -> dict[str, str]:
    """The same as a query has it: options that begin with ``properties.``.

    Raises:
        MachineError, OptionsError: As `connection`; properties are not checked.
    """
    return {f"{_AS_IN_A_QUERY}{name}": value for name, value in _java(bootstrap_servers, config, properties).items()}


def _java(bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str]) -> dict[str, str]:
    given = {**(_read(config) if config else {}), **properties}
    java = {name.removeprefix(_AS_IN_A_QUERY): value for name, value in given.items()}
    if bootstrap_servers:
        java["bootstrap.servers"] = bootstrap_servers
    if not java.get("bootstrap.servers"):
        raise OptionsError("connection", ("give the brokers: --bootstrap-servers HOST:PORT",))
    return java


def _read(config: Path) -> dict[str, str]:
    try:
        import javaproperties
    except ImportError as error:
        raise MachineError(
            "files of properties are read by javaproperties, which is not installed; run: "
            "pip install 'millrace-cli[transactions]'"
        ) from error
    try:
        with config.open("rb") as file:
            return javaproperties.load(file)
    except OSError as error:
        raise OptionsError("connection", (f"--config: {config} cannot be read: {error.strerror}",)) from error
    except ValueError:
        # Without its cause, which quotes the file
        problem = f"--config: {config} has a \\u without four hexadecimal digits; a backslash itself is written twice"
        raise OptionsError("connection", (problem,)) from None
