"""Parse options into frozen dataclasses, and report every problem at once with the expected value or nearest name.

Only the driver imports this module, since it needs pydantic; the dataclasses that it makes do not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from millrace.errors import OptionsError
from millrace.options.field import OptionInfo, ShownValueError, options_of
from millrace.options.secrets import is_secret
from millrace.options.suggestions import closest

T = TypeVar("T")


class OptionParser:
    """Take the options of one dataclass after the other from those that the user gave.

    An option may be taken more than once, since source and sink share some. Options that none takes are unknown.

    Args:
        side: The thing to configure, for messages, such as ``"source"``.
        raw: The options as given. Names are compared without case, since Spark lower-cases them.
        hidden: Names of options whose values are never shown, beside those whose names mark them as secrets.
    """

    def __init__(self, side: str, raw: Mapping[str, str], hidden: Collection[str] = ()) -> None:
        self._side = side
        self._hidden = {name.lower() for name in hidden}
        self._given: dict[str, tuple[str, str]] = {}
        self._taken: set[str] = set()
        self._names: dict[str, str] = {}
        self._problems: dict[str, str | None] = {}
        self._warnings: dict[str, None] = {}
        for name, value in raw.items():
            first, text = self._given.setdefault(name.lower(), (name, str(value)))
            if text != str(value):
                self.report(f"{first!r} and {name!r} mean the same option but differ; give one of them", name)

    def take(self, cls: type[T], *prefixes: str) -> T | None:
        """Parse the options that a dataclass declares.

        Wrong options are reported and left out, so that the rest can be checked too.

        Args:
            cls: A frozen dataclass with fields declared by `option`.
            prefixes: Prefixes of the options' names; all mean the same.

        Returns:
            The dataclass, with defaults for wrong options; None when those are required.
        """
        prefixes = prefixes or ("",)
        values: dict[str, Any] = {}
        shown: dict[str, tuple[str, str]] = {}
        for field, info in options_of(cls).items():
            if info.takes_all:
                values[field] = self._take_all(info, prefixes)
                continue
            taken = self._take_one(info, prefixes)
            if taken is not None:
                shown[field] = taken
                name, text = taken
                choices = _choices(cast(Any, cls))[field]
                self._add_value(values, field, info, name, choices.get(text.lower(), text))
        return self._build(cls, values, shown, prefixes[-1])

    def take_prefixed(self, prefix: str) -> dict[str, str]:
        """Take all options whose names start with ``prefix``, and return them without it."""
        prefix = prefix.lower()
        names = [name for name in self._given if name.startswith(prefix)]
        self._taken.update(names)
        return {name.removeprefix(prefix): self._given[name][1] for name in names}

    def take_rest(self, prefix: str) -> dict[str, str]:
        """Take the options that nothing else has taken, as `take_prefixed` does."""
        taken = set(self._taken)
        return {
            rest: value for rest, value in self.take_prefixed(prefix).items() if (prefix + rest).lower() not in taken
        }

    def has_prefixed(self, prefix: str) -> bool:
        """Return whether an option is given whose name starts with ``prefix``."""
        return any(name.startswith(prefix.lower()) for name in self._given)

    def report(self, problem: str, option: str | None = None) -> None:
        """Add a problem, to be raised with all others by `finish`.

        Args:
            problem: A sentence.
            option: The name of the option that it is about; None where it is about several, or about one that lacks.
        """
        self._problems[problem] = option

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about options that have been taken and should be written otherwise."""
        return tuple(self._warnings)

    def warn(self, sentence: str) -> None:
        """Add a sentence to `warnings`."""
        self._warnings[sentence] = None

    def expect(self, *names: str) -> None:
        """Add ``names`` to those that an unknown option is compared with."""
        self._names.update({name.lower(): name for name in names})

    def problems(self, hint: Callable[[str], str | None] = lambda _: None) -> tuple[str, ...]:
        """Return all problems, among them the unknown options.

        Args:
            hint: Hints for unknown options whose names are not close to a known one.
        """
        return tuple(sentence for _, sentence in self.named_problems(hint))

    def named_problems(self, hint: Callable[[str], str | None] = lambda _: None) -> tuple[tuple[str | None, str], ...]:
        """Return all problems as `problems` does, each with the name of the option that it is about, as given."""
        for key, (name, _) in self._given.items():
            if key not in self._taken:
                self.report(self._unknown_option(name, hint), name)
        return tuple((option, sentence) for sentence, option in self._problems.items())

    def finish(self, hint: Callable[[str], str | None] = lambda _: None) -> None:
        """Raise all problems, among them the unknown options.

        Args:
            hint: Hints for unknown options whose names are not close to a known one.

        Raises:
            OptionsError: Some option is wrong or unknown.
        """
        problems = self.problems(hint)
        if problems:
            raise OptionsError(self._side, problems)

    def _take_one(self, info: OptionInfo, prefixes: tuple[str, ...]) -> tuple[str, str] | None:
        names = [prefix + name for prefix in prefixes for name in (info.name, *info.aliases)]
        self.expect(*names)
        spellings = [self._given[name.lower()] for name in names if name.lower() in self._given]
        self._taken.update(name.lower() for name in names)
        for name in info.deprecated:
            if name.lower() in self._given:
                self.warn(f"option {name!r} is deprecated: write {info.name!r}")
        if len({value for _, value in spellings}) > 1:
            names_given = " and ".join(repr(name) for name, _ in spellings)
            if info.wins and spellings[0][0].lower() == info.name.lower():
                self.warn(f"options {names_given} mean the same but differ: {info.name!r} is used, {spellings[0][1]!r}")
                return spellings[0]
            self.report(f"{names_given} mean the same option but differ; give one of them", spellings[-1][0])
        return spellings[0] if spellings else None

    def _take_all(self, info: OptionInfo, prefixes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        values: dict[str, str] = {}
        for prefix in prefixes:
            start = prefix + info.name.removesuffix("*")
            for rest, value in self.take_prefixed(start).items():
                if values.setdefault(rest, value) != value:
                    self.report(f"{start + rest!r} is given in two ways that differ; give one of them")
        return tuple(sorted(values.items()))

    def _add_value(self, values: dict[str, Any], field: str, info: OptionInfo, name: str, text: str) -> None:
        try:
            values[field] = text if info.parse is None else info.parse(text)
        except ValueError as error:
            got = "" if isinstance(error, ShownValueError) else f"; got {self._show(name, text)}"
            sentence = f"{error}{got}"
            if name.lower() in self._hidden and text in sentence:
                sentence = "a value that is not shown is wrong"
            self.report(f"option {self._spelled(name)!r}: {sentence}", name)

    def _build(self, cls: type[T], values: dict[str, Any], shown: dict[str, tuple[str, str]], prefix: str) -> T | None:
        try:
            return cast(T, _adapter(cast(Any, cls)).validate_python(values))
        except ValidationError as failure:
            wrong = {str(error["loc"][0]) for error in failure.errors() if error["loc"]} & values.keys()
            for error in failure.errors(include_url=False):
                field = str(error["loc"][0]) if error["loc"] else ""
                if error["type"] != "missing" or field not in shown:
                    self.report(self._problem(cls, dict(error), shown, prefix), shown.get(field, (None,))[0])
        if not wrong:
            return None
        return self._build(cls, {field: values[field] for field in values.keys() - wrong}, shown, prefix)

    def _problem(self, cls: type, error: dict[str, Any], shown: dict[str, tuple[str, str]], prefix: str) -> str:
        if not error["loc"]:
            text = str(error.get("ctx", {}).get("error", error["msg"]))
            return f"options '{prefix}*': {text}" if prefix else text
        field = str(error["loc"][0])
        if error["type"] == "missing":
            return f"option {prefix + options_of(cls)[field].name!r} is required"
        name, text = shown[field]
        return f"option {self._spelled(name)!r}: {_expected(error, text)}; got {self._show(name, text)}"

    def _show(self, name: str, text: str) -> str:
        return show("password" if name.lower() in self._hidden else name, text)

    def _spelled(self, name: str) -> str:
        return self._names.get(name.lower(), name)

    def _unknown_option(self, name: str, hint: Callable[[str], str | None]) -> str:
        very_close, close = (closest(name, self._names.values(), cutoff) for cutoff in (0.85, 0.7))
        advice = None if very_close else hint(name)
        if advice is None and close is not None:
            advice = f"did you mean {close!r}?"
        return f"unknown option {name!r}; {advice}" if advice else f"unknown option {name!r}"


def show(name: str, text: str) -> str:
    """Return the value of an option for an error message, with secrets hidden."""
    return "a value that is not shown" if is_secret(name) else repr(text)


@functools.cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


@functools.cache
def _choices(cls: type) -> Mapping[str, Mapping[str, str]]:
    """Return the values of options that have a choice of them, by field and, as case does not matter, in lower case."""
    hints = get_type_hints(cls)
    return {field: {choice.lower(): choice for choice in _literals(hints[field])} for field in options_of(cls)}


def _literals(hint: Any) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from (choice for choice in get_args(hint) if isinstance(choice, str))
    elif get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _literals(part)


def _expected(error: dict[str, Any], text: str) -> str:
    kind = str(error["type"])
    if kind == "literal_error":
        choices = [choice.strip("'") for choice in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        close = closest(text, choices, cutoff=0.8)
        hint = f" (did you mean {close!r}?)" if close else ""
        return f"expected one of {', '.join(choices)}{hint}"
    if kind.startswith("bool"):
        return "expected true or false"
    if kind.startswith("int"):
        return "expected a whole number"
    message = str(error["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")
    return f"expected {message}" if message != error["msg"] and "Value error" not in error["msg"] else message
