"""Declare options as fields of dataclasses, with public names and documentation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from millrace.options.secrets import is_secret

_KEY = "millrace"


class ShownValueError(ValueError):
    """A wrong value of an option, in a message that shows the value already, such as with a mark under the mistake."""


@dataclass(frozen=True)
class OptionInfo:
    """The public description of an option.

    Attributes:
        name: The public name, as in the reference.
        doc: Its meaning in one line.
        parse: Parses the option's text; raises ValueError with what was expected. None leaves it to the field's type.
        aliases: Other names of the option, the deprecated ones included.
        skips_malformed: Whether ``true`` makes a format skip malformed messages, so that errors of them recommend it.
        deprecated: Those of the aliases that are accepted with a warning.
        wins: Whether the option's own name wins over its aliases with a warning where both are given; else they must
            agree.
    """

    name: str
    doc: str
    parse: Callable[[str], Any] | None = None
    aliases: tuple[str, ...] = ()
    skips_malformed: bool = False
    deprecated: tuple[str, ...] = ()
    wins: bool = False

    @property
    def takes_all(self) -> bool:
        """True when its name ends in ``.*``, and it takes all options whose names begin so."""
        return self.name.endswith(".*")


def option(
    name: str,
    *,
    doc: str,
    default: Any = dataclasses.MISSING,
    parse: Callable[[str], Any] | None = None,
    aliases: tuple[str, ...] = (),
    is_hidden: bool = False,
    skips_malformed: bool = False,
    deprecated: tuple[str, ...] = (),
    wins: bool = False,
) -> Any:
    """Declare an option as a field of a frozen dataclass.

    The field's annotation is the option's type: ``bool``, ``int``, ``str``, ``Literal[...]`` or one of these with
    bounds from ``annotated_types``. A field without a default is an option that must be given. One whose name ends in
    ``.*`` takes all options that begin so, as ``tuple[tuple[str, str], ...]`` of the rests of their names and their
    values.

    Args:
        name: The option's name.
        doc: Its meaning in one line.
        default: Its value when it is not given.
        parse: Parses the option's text; raises ValueError with what was expected.
        aliases: Other names of the option.
        skips_malformed: Whether ``true`` makes a format skip malformed messages, so that errors of them recommend it.
        is_hidden: Never show its value, though its name does not mark it as a secret.
        deprecated: Other names of the option that are accepted with a warning.
        wins: Whether the option's own name wins over its aliases, with a warning, where both are given.
    """
    info = OptionInfo(name, doc, parse, (*aliases, *deprecated), skips_malformed, deprecated, wins)
    return dataclasses.field(default=default, repr=not (is_hidden or is_secret(name)), metadata={_KEY: info})


def options_of(cls: type) -> Mapping[str, OptionInfo]:
    """Return the options that a dataclass declares, by field name, in order."""
    return {field.name: field.metadata[_KEY] for field in dataclasses.fields(cls) if _KEY in field.metadata}
