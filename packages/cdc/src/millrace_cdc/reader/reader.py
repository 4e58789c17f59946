"""Read a pipeline's definition from its YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Values
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from millrace.errors import PluginError
from millrace.options.parser import OptionParser
from millrace.options.references import ReferenceValues
from millrace.options.suggestions import closest
from millrace.plugins import PIPELINE_SINK, PIPELINE_SOURCE, plugin_manager
from millrace.plugins.kinds import Kind
from millrace_catalog.user_functions.sources import FunctionError
from millrace_cdc.definitions.dirty_data import COLLECTOR, collector_options
from millrace_cdc.definitions.functions import FUNCTIONS, FunctionDefinition
from millrace_cdc.definitions.model import PipelineDefinition, SinkDefinition, SourceDefinition
from millrace_cdc.definitions.pipeline_options import UNSUPPORTED, PipelineOptions
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.definitions.schema_changes import schema_changes_of
from millrace_cdc.definitions.sink_retries import SinkRetryOptions
from millrace_cdc.errors import DocumentPosition, PipelineError, Problem
from millrace_cdc.functions.user_function import UserFunction
from millrace_cdc.reader.document import Mapping, Node, Text, parse_document
from millrace_cdc.reader.sections import Section, as_list, as_mapping
from millrace_cdc.routing.router import Route
from millrace_cdc.transforms.transform import rule_problems

SECTIONS = ("source", "sink", "route", "transform", "pipeline")
"""The keys of a file."""

_FUNCTION_HINTS = {
    "python-executable": "executors run their own Python",
    "python-files": "give Spark the files: spark.submit.pyFiles",
}

INCLUDE, EXCLUDE = "include.schema.changes", "exclude.schema.changes"


def read_pipeline(
    text: str,
    *,
    variables: Values[str, str] | None = None,
    secret_values: Values[str, str] | None = None,
    name: str = "pipeline",
    folder: Path = Path(),
) -> PipelineDefinition:
    """Read a pipeline's definition.

    Args:
        text: The YAML.
        variables: Values of ``${name}``, by name.
        secret_values: Values of ``${secret_values.name}``, by name.
        name: The file, for errors.
        folder: The folder of the file, beside which files of user-defined functions are.

    Raises:
        PipelineError: Something is wrong; every problem of the file is in it, with line and column.
    """
    references = ReferenceValues(secret_values or {}, variables or {}, _advice)
    return _DefinitionReader(name, references, folder).read(text)


def read_pipeline_file(
    path: Path, *, variables: Values[str, str] | None = None, secret_values: Values[str, str] | None = None
) -> PipelineDefinition:
    """Read a pipeline's definition from a file, as `read_pipeline` does.

    Raises:
        PipelineError: Something is wrong, or the file cannot be read.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not in UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise PipelineError(str(path), [Problem(None, f"the file cannot be read: {reason}")]) from error
    return read_pipeline(
        text, variables=variables, secret_values=secret_values, name=str(path), folder=path.absolute().parent
    )


def _advice(name: str, is_secret: bool) -> str:
    if is_secret:
        return f"write {name} into the file of --secrets"
    return f"give it by --set {name}=VALUE, or as an environment variable"


class _DefinitionReader:
    def __init__(self, name: str, references: ReferenceValues, folder: Path) -> None:
        self._name = name
        self._folder = folder
        self._references = references
        self._problems: list[Problem] = []

    def read(self, text: str) -> PipelineDefinition:
        sections = self._sections(parse_document(text, self._name, self._problems))
        pipeline = sections.get("pipeline")
        definitions = tuple(self._functions(pipeline))
        functions = self._load(definitions)
        options = self._options(pipeline)
        source = self._source(sections.get("source"))
        sink = self._sink(sections.get("sink"))
        routes = tuple(self._routes(sections.get("route")))
        transforms = tuple(self._transforms(sections.get("transform"), functions))
        if self._problems or source is None or sink is None:
            raise PipelineError(self._name, self._problems)
        return PipelineDefinition(source, sink, routes, transforms, options, definitions)

    def _sections(self, root: Node | None) -> dict[str, Node]:
        mapping = None if root is None else as_mapping("a pipeline", root, self._problems)
        entries = () if mapping is None else mapping.entries
        sections = {}
        for key, value in entries:
            if key.text in SECTIONS:
                sections[key.text] = value
                continue
            close = closest(key.text, SECTIONS)
            hint = f"; did you mean {close!r}?" if close else f"; expected one of {', '.join(SECTIONS)}"
            self._problems.append(Problem(key.position, f"unknown key {key.text!r}{hint}"))
        if root is None or mapping is not None:
            for missing in [name for name in ("source", "sink") if name not in sections]:
                self._problems.append(Problem(DocumentPosition(1, 1), f"a pipeline needs {missing!r}"))
        return sections

    def _section(self, title: str, node: Node | None, lists: tuple[str, ...] = ()) -> Section | None:
        mapping = None if node is None else as_mapping(title, node, self._problems)
        return None if mapping is None else Section(title, mapping, self._references, self._problems, lists)

    def _source(self, node: Node | None) -> SourceDefinition | None:
        section = self._section("source", node)
        if section is None:
            return None
        name = _text(section.take("name"))
        type_ = self._check_end(PIPELINE_SOURCE, section)
        return SourceDefinition(type_, section.texts(), name)

    def _sink(self, node: Node | None) -> SinkDefinition | None:
        section = self._section("sink", node, (INCLUDE, EXCLUDE))
        if section is None:
            return None
        name = _text(section.take("name"))
        include, exclude = (self._schema_changes(key, section.take(key)) for key in (INCLUDE, EXCLUDE))
        retries = section.take_options(SinkRetryOptions)
        type_ = self._check_end(PIPELINE_SINK, section)
        return SinkDefinition(type_, section.texts(), name, include or (), exclude, retries or SinkRetryOptions())

    def _schema_changes(self, key: str, value: Text | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        tags = tuple(tag.strip() for tag in value.text.split(",") if tag.strip())
        for tag in tags:
            try:
                schema_changes_of(tag)
            except ValueError as error:
                self._problems.append(Problem(value.position, f"key {key!r}: {error}"))
        return tags

    def _check_end(self, kind: Kind[Any], section: Section) -> str:
        """Check a source or sink by its plugin, and return its type."""
        type_ = section.require("type")
        if type_ is None:
            return ""
        try:
            plugin_class = plugin_manager().load(kind, type_.text)
        except PluginError as error:
            self._problems.append(Problem(type_.position, str(error)))
            return type_.text
        options = section.parse(plugin_class.Options)
        if options is not None:
            for problem in plugin_class(options).problems():
                section.report_combination(problem)
        return type_.text

    def _routes(self, node: Node | None) -> Iterator[RouteRule]:
        for section in self._rules("route", node):
            rule = section.parse(RouteRule)
            if rule is None:
                continue
            try:
                Route.of(rule)
            except ValueError as error:
                field: Literal["sink-table", "source-table"] = "sink-table" if "$" in str(error) else "source-table"
                section.report(field, f"option {field!r}: {error}")
            yield replace(rule, places=section.place)

    def _transforms(self, node: Node | None, functions: Values[str, UserFunction]) -> Iterator[TransformRule]:
        for section in self._rules("transform", node):
            rule = section.parse(TransformRule)
            if rule is None:
                continue
            for problem in rule_problems(rule, functions):
                sentence = f"option {problem.field!r}: {problem.sentence}"
                section.report(problem.field, sentence, offset=problem.offset)
            yield replace(rule, places=section.place)

    def _rules(self, title: str, node: Node | None) -> Iterator[Section]:
        items = () if node is None or _is_empty(node) else as_list(title, node, self._problems)
        for number, item in enumerate(items, start=1):
            section = self._section(f"{title} {number}", item)
            if section is not None:
                yield section

    def _options(self, node: Node | None) -> PipelineOptions:
        if node is None or _is_empty(node):
            return PipelineOptions()
        section = self._section("pipeline", self._without_unsupported(node))
        options = None if section is None else section.parse(PipelineOptions)
        if section is None or options is None:
            return PipelineOptions()
        pairs = tuple(pair for pair in options.dirty_collector_options if pair[0] != "type")
        self._check_collector(section, options.dirty_collector, pairs)
        return replace(options, dirty_collector_options=pairs)

    def _functions(self, pipeline: Node | None) -> Iterator[FunctionDefinition]:
        """Read the functions, which are the only list of the section."""
        entries = pipeline.entries if isinstance(pipeline, Mapping) else ()
        for key, node in entries:
            if key.text != FUNCTIONS:
                continue
            for section in self._rules(FUNCTIONS, node):
                before = len(self._problems)
                definition = section.parse(FunctionDefinition, _FUNCTION_HINTS.get)
                if definition is not None and len(self._problems) == before:
                    yield replace(definition, folder=self._folder, places=section.place)

    def _load(self, definitions: Iterable[FunctionDefinition]) -> dict[str, UserFunction]:
        """Load functions, which runs their modules, and return them by their names in upper case."""
        functions: dict[str, UserFunction] = {}
        for definition in definitions:
            name = definition.name.upper()
            sentence = f"function {definition.name!r} is there already: give it another name"
            try:
                if name not in functions:
                    functions[name] = UserFunction.of(definition)
                    continue
                key = "name"
            except FunctionError as error:
                key, sentence = error.key, f"function {definition.name!r}: {error}"
            self._problems.append(Problem(definition.position(key), sentence))
        return functions

    def _without_unsupported(self, node: Node) -> Node:
        """Take out keys of the reference's that cannot work here, whatever they hold, with a problem for each."""
        if not isinstance(node, Mapping):
            return node
        for key, _ in node.entries:
            if key.text in UNSUPPORTED:
                self._problems.append(Problem(key.position, f"{key.text!r} is not supported: {UNSUPPORTED[key.text]}"))
        others = {*UNSUPPORTED, FUNCTIONS}
        return Mapping(tuple(entry for entry in node.entries if entry[0].text not in others), node.position)

    def _check_collector(self, section: Section, name: str | None, pairs: tuple[tuple[str, str], ...]) -> None:
        if name is None:
            for option, _ in pairs:
                section.report(f"{COLLECTOR}.{option}", f"'{COLLECTOR}.{option}' needs '{COLLECTOR}.type'")
            return
        type_ = next(key for key in (f"{COLLECTOR}.type", COLLECTOR) if key in section.values())
        try:
            options = collector_options(name)
        except PluginError as error:
            section.report(type_, str(error))
            return
        prefix = f"{COLLECTOR}."
        parser = OptionParser("pipeline", {prefix + option: text for option, text in pairs}, section.secrets)
        parser.take(options, prefix)
        for wrong, sentence in parser.named_problems():
            section.report(wrong or type_, sentence)


def _text(value: Text | None) -> str | None:
    return None if value is None else value.text


def _is_empty(node: Node) -> bool:
    return isinstance(node, Text) and node.is_null
