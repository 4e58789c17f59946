"""The sections of a file as options with places, and the problems of options at these places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from millrace.contracts import OptionProblem
from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace.options.references import ReferenceValues, UnresolvedReferenceError
from millrace.options.secrets import Properties
from millrace.options.suggestions import closest
from millrace_cdc.errors import DocumentPosition, Problem
from millrace_cdc.reader.document import Mapping, Node, Sequence, Text, describe

T = TypeVar("T")


class Section:
    """The keys of a section and their values, references replaced; nested keys are joined by dots.

    Args:
        title: Words for the section, such as ``source``.
        node: The section.
        references: Values of references.
        problems: The list that problems are added to.
        lists: Keys whose values may be lists of texts; these are joined by commas.
    """

    def __init__(
        self,
        title: str,
        node: Mapping,
        references: ReferenceValues,
        problems: list[Problem],
        lists: Iterable[str] = (),
    ) -> None:
        self.title = title
        self.position = node.position
        self._references = references
        self._problems = problems
        self._lists = frozenset(lists)
        self._keys: dict[str, Text] = {}
        self._values: dict[str, Text] = {}
        self._wrong: set[str] = set()
        self._add(node, "")

    def take(self, name: str) -> Text | None:
        """Remove a value, and return it; None when it is not given or wrong."""
        self._keys.pop(name, None)
        return self._values.pop(name, None)

    def require(self, name: str) -> Text | None:
        """Remove a value, and return it; without it, add a problem and return None."""
        if name not in self._keys:
            close = closest(name, self._keys)
            hint = f"; did you misspell it as {close!r}?" if close else ""
            self.report(None, f"{self.title} needs {name!r}{hint}")
        return self.take(name)

    def texts(self) -> Properties:
        """Return the values, by key."""
        return Properties({name: value.text for name, value in self._values.items()})

    def values(self) -> dict[str, Text]:
        """Return the values with their places, by key."""
        return dict(self._values)

    @property
    def secrets(self) -> set[str]:
        """The keys whose values hold secrets."""
        return {name for name, value in self._values.items() if value.is_secret}

    def parse(self, cls: type[T], hint: Callable[[str], str | None] = lambda _: None) -> T | None:
        """Parse the section's values as a dataclass of options; add the problems, each at its place."""
        parser = OptionParser(self.title, self.texts(), self.secrets)
        options = parser.take(cls)
        # A key whose value is wrong already is given: it may be unknown, but it is not missing
        missing = {f"option {name!r} is required" for name in self._wrong}
        for name, sentence in parser.named_problems(hint):
            if name is not None or sentence not in missing:
                self.report(name, sentence, at_key=sentence.startswith("unknown option"))
        for name in self._keys.keys() - self._values.keys():
            names_only = OptionParser(self.title, {name: ""})
            names_only.take(cls)
            for _, sentence in names_only.named_problems(hint):
                if sentence.startswith("unknown option"):
                    self.report(name, sentence, at_key=True)
        return options

    def take_options(self, cls: type[T]) -> T | None:
        """Remove the values of a dataclass of options, and return it; add a problem for each that is wrong."""
        values = {info.name: self.take(info.name) for info in options_of(cls).values()}
        present = {name: value for name, value in values.items() if value is not None}
        parser = OptionParser(self.title, {name: value.text for name, value in present.items()})
        options = parser.take(cls)
        for name, sentence in parser.named_problems():
            self._problems.append(Problem(self.position if name is None else present[name].position, sentence))
        return options

    def report(self, name: str | None, sentence: str, *, at_key: bool = False, offset: int = 0) -> None:
        """Add a problem at the value of a key; at the section's beginning without a key, or one that is not given.

        Args:
            name: The key.
            sentence: The problem.
            at_key: Whether the place is that of the key.
            offset: The character of the value that the problem is at.
        """
        if name is not None:
            self._wrong.add(name.lower())
        place = self._keys[name].position if at_key and name in self._keys else self.place(name, offset)
        self._problems.append(Problem(place, sentence))

    def report_combination(self, problem: OptionProblem) -> None:
        """Add a problem of options that do not go together, unless the one to change is wrong by itself."""
        if problem.option.lower() not in self._wrong:
            self._problems.append(Problem(self.place(problem.option), problem.sentence))

    def place(self, name: str | None, offset: int = 0) -> DocumentPosition:
        """Return the place of a character of the value of a key; that of the section where the key is not given."""
        by_lower_case = {key.lower(): key for key in self._keys}
        key = by_lower_case.get((name or "").lower())
        if key is None:
            return self.position
        return self._values[key].position_of(offset) if key in self._values else self._keys[key].position

    def _add(self, node: Mapping, prefix: str) -> None:
        for key, value in node.entries:
            name = prefix + key.text
            if isinstance(value, Mapping):
                self._add(value, f"{name}.")
            elif name in self._keys:
                self._fail(name, key, f"key {name!r} is there already, in {self._keys[name].position}")
            else:
                self._keys[name] = key
                self._add_value(name, key, value)

    def _add_value(self, name: str, key: Text, value: Node) -> None:
        if isinstance(value, Sequence):
            self._add_list(name, key, value)
        elif isinstance(value, Text) and value.is_null:
            self._fail(name, key, f"key {name!r} has no value: give one, write '' for an empty text, or remove the key")
        elif isinstance(value, Text):
            self._add_text(name, value)

    def _add_list(self, name: str, key: Text, value: Sequence) -> None:
        texts = [item for item in value.items if isinstance(item, Text) and not item.is_null]
        if name not in self._lists or len(texts) < len(value.items):
            expected = "a list of texts" if name in self._lists else "a text"
            self._fail(name, key, f"key {name!r}: expected {expected}, got {describe(value)}", value.position)
            return
        self._add_text(name, Text(",".join(item.text for item in texts), value.position))

    def _add_text(self, name: str, value: Text) -> None:
        try:
            resolved = self._references.resolve(value.text)
        except UnresolvedReferenceError as error:
            self._wrong.add(name.lower())
            self._problems.append(Problem(value.position_of(max(value.text.find("${"), 0)), f"key {name!r}: {error}"))
            return
        self._values[name] = value.with_value(resolved.text, is_secret=resolved.is_secret)

    def _fail(self, name: str, key: Text, sentence: str, position: DocumentPosition | None = None) -> None:
        self._wrong.add(name.lower())
        self._problems.append(Problem(position or key.position, sentence))


def as_mapping(title: str, node: Node, problems: list[Problem]) -> Mapping | None:
    """Return a node that must have keys; with other ones, add a problem and return None."""
    if isinstance(node, Mapping):
        return node
    problems.append(Problem(node.position, f"{title}: expected keys with values, got {describe(node)}"))
    return None


def as_list(title: str, node: Node, problems: list[Problem]) -> tuple[Any, ...]:
    """Return the items of a node that must be a list; with another one, add a problem and return none."""
    if isinstance(node, Sequence):
        return node.items
    hint = "; begin each rule with '- '" if isinstance(node, Mapping) else ""
    problems.append(Problem(node.position, f"{title}: expected a list of rules, got {describe(node)}{hint}"))
    return ()
