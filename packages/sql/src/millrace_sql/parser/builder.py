"""Build statements from the bottom up: lark calls the method of a rule with what the rule holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.parse import type_builder
from millrace_sql import statements as s
from millrace_sql.errors import SqlSyntaxError
from millrace_sql.script_texts import NOWHERE, Identifier, Options, ScriptPosition, SqlText

if TYPE_CHECKING:
    from lark import Token


class _Attribute(NamedTuple):
    """An attribute of a statement, and its value."""

    attribute: str
    value: Any
    position: ScriptPosition = NOWHERE


class _Name(NamedTuple):
    text: str
    position: ScriptPosition


def statement_builder() -> object:
    """Return lark's transformer for the rules of ``sql.lark``."""
    from lark.visitors import merge_transformers

    types = type_builder(lambda token, error: SqlSyntaxError(str(error), _position(token)))
    return merge_transformers(_StatementBuilder(), types=types)


class _StatementBuilder:
    """Build statements; each method has the name of its rule."""

    # Names, texts and options

    def name(self, children: list[Token]) -> _Name:
        (token,) = children
        text = token[1:-1].replace("``", "`") if token.type == "QUOTED" else str(token)
        if not text:
            raise SqlSyntaxError("a name must not be empty", _position(token))
        return _Name(text, _position(token))

    def identifier(self, names: list[_Name]) -> Identifier:
        return Identifier(tuple(name.text for name in names), names[0].position)

    database = identifier

    def names(self, names: list[_Name]) -> tuple[_Name, ...]:
        _check_once("column", names)
        return tuple(names)

    def text(self, children: list[Token]) -> str:
        return _unquoted(children[0])

    def comment(self, children: list[Token]) -> _Attribute:
        return _Attribute("comment", _unquoted(children[0]), _position(children[0]))

    def option(self, children: list[Token]) -> tuple[_Name, str]:
        key, value = children
        return _Name(_unquoted(key), _position(key)), _unquoted(value)

    def options(self, children: list[tuple[_Name, str]]) -> _Attribute:
        _check_once("option", (key for key, _ in children))
        positions = {key.text: key.position for key, _ in children}
        options = Options({key.text: value for key, value in children}, positions)
        return _Attribute("options", options, children[0][0].position)

    def hint(self, children: list[_Attribute]) -> _Attribute:
        return children[0]._replace(attribute="hint_options")

    def query(self, children: list[Token]) -> SqlText:
        return SqlText(str(children[0]), _position(children[0]))

    expression = query

    def or_replace(self, _: list[Any]) -> _Attribute:
        return _Attribute("or_replace", True)

    def temporary(self, _: list[Any]) -> _Attribute:
        return _Attribute("is_temporary", True)

    def if_not_exists(self, _: list[Any]) -> _Attribute:
        return _Attribute("if_not_exists", True)

    def if_exists(self, _: list[Any]) -> _Attribute:
        return _Attribute("if_exists", True)

    # CREATE TABLE

    def create_table(self, children: list[Any]) -> s.CreateTable:
        return s.CreateTable(**_attributes(children, {Identifier: "table", SqlText: "query"}))

    def columns(self, elements: list[Any]) -> _Attribute:
        """Sort the elements of the parentheses; a column with PRIMARY KEY is one with a key behind it."""
        flat = [part for group in elements for part in (group if isinstance(group, list) else [group])]
        columns = [part for part in flat if isinstance(part, s.PhysicalColumn | s.MetadataColumn | s.ComputedColumn)]
        _check_once("column", (_Name(column.name, column.position) for column in columns))
        parts = [_Attribute("columns", tuple(columns))]
        for type_, attribute in ((s.PrimaryKey, "primary_key"), (s.Watermark, "watermark")):
            parts += [_Attribute(attribute, part, part.position) for part in flat if isinstance(part, type_)]
        return _Attribute("parts", parts)

    def physical_column(self, children: list[Any]) -> list[s.PhysicalColumn | s.PrimaryKey]:
        name, type_, *parts = children
        attributes = _attributes(parts)
        keys = [
            s.PrimaryKey((name.text,), constraint, name.position) for constraint in attributes.pop("column_key", ())
        ]
        return [s.PhysicalColumn(name.text, type_, position=name.position, **attributes), *keys]

    def column_key(self, children: list[_Name]) -> _Attribute:
        return _Attribute("column_key", [children[0].text if children else None])

    def metadata_column(self, children: list[Any]) -> s.MetadataColumn:
        name, type_, *parts = children
        return s.MetadataColumn(name.text, type_, position=name.position, **_attributes(parts))

    def metadata_key(self, children: list[str]) -> _Attribute:
        return _Attribute("key", children[0])

    def virtual(self, _: list[Any]) -> _Attribute:
        return _Attribute("is_virtual", True)

    def computed_column(self, children: list[Any]) -> s.ComputedColumn:
        name, expression, *parts = children
        return s.ComputedColumn(name.text, expression, position=name.position, **_attributes(parts))

    def primary_key(self, children: list[Any]) -> s.PrimaryKey:
        *constraint, columns = children
        position = constraint[0].position if constraint else columns[0].position
        return s.PrimaryKey(_texts(columns), constraint[0].text if constraint else None, position)

    def watermark(self, children: list[Any]) -> s.Watermark:
        column, expression = children
        return s.Watermark(column.text, expression, column.position)

    def table_clause(self, children: list[_Attribute]) -> _Attribute:
        return children[0]

    def partition_keys(self, children: list[tuple[_Name, ...]]) -> _Attribute:
        return _Attribute("partition_keys", _texts(children[0]), children[0][0].position)

    def like(self, children: list[Any]) -> _Attribute:
        table, *features = children
        return _Attribute("like", s.Like(table, tuple(features)))

    def like_option(self, children: list[Token]) -> tuple[str, str]:
        strategy, feature = children
        return strategy.upper(), feature.upper()

    def as_table(self, children: list[Any]) -> _Attribute:
        table, *others = children
        added = [other for other in others if isinstance(other, s.AddedColumn)]
        _check_once("column", (_Name(added_column.column.name, added_column.column.position) for added_column in added))
        options = next((other.value for other in others if isinstance(other, _Attribute)), Options())
        return _Attribute("as_table", s.AsTable(table, tuple(added), options))

    def added_column(self, children: list[Any]) -> s.AddedColumn:
        return s.AddedColumn(*children)

    def first(self, _: list[Any]) -> str:
        return ""

    def after(self, children: list[_Name]) -> str:
        return children[0].text

    # Views, catalogs, databases

    def create_view(self, children: list[Any]) -> s.CreateView:
        return s.CreateView(**_attributes(children, {Identifier: "view", SqlText: "query"}))

    def view_columns(self, children: list[tuple[_Name, ...]]) -> _Attribute:
        return _Attribute("columns", _texts(children[0]))

    def create_catalog(self, children: list[Any]) -> s.CreateCatalog:
        return s.CreateCatalog(**{"options": Options(), **_attributes(children, {_Name: "name"})})

    def create_database(self, children: list[Any]) -> s.CreateDatabase:
        return s.CreateDatabase(**_attributes(children, {Identifier: "database"}))

    def create_function(self, children: list[Any]) -> s.CreateFunction:
        return s.CreateFunction(**_attributes(children, {Identifier: "function"}))

    def function_path(self, children: list[Token]) -> _Attribute:
        return _Attribute("path", _unquoted(children[0]), _position(children[0]))

    def language(self, children: list[_Name]) -> _Attribute:
        return _Attribute("language", children[0].text.upper(), children[0].position)

    def system(self, _: list[Any]) -> _Attribute:
        return _Attribute("is_system", True)

    def use_catalog(self, children: list[_Name]) -> s.Use:
        return s.Use("CATALOG", self.identifier(children))

    def use_database(self, children: list[Identifier]) -> s.Use:
        return s.Use("DATABASE", children[0])

    def show(self, children: list[Any]) -> s.Show:
        words, parts = _split_words(children)
        return s.Show(kind=words, **_attributes(parts, {Identifier: "subject"}))

    def pattern(self, children: list[Any]) -> _Attribute:
        return _Attribute("parts", [_Attribute("is_negated", len(children) > 1), _Attribute("pattern", children[-1])])

    def not_like(self, _: list[Any]) -> None:
        return None

    def describe_table(self, children: list[Any]) -> s.Describe:
        return s.Describe("TABLE", **_attributes(children, {Identifier: "name"}))

    def describe_catalog(self, children: list[Any]) -> s.Describe:
        return s.Describe("CATALOG", **_attributes(map(_as_identifier, children), {Identifier: "name"}))

    def extended(self, _: list[Any]) -> _Attribute:
        return _Attribute("is_extended", True)

    def drop(self, children: list[Any]) -> s.Drop:
        words, parts = _split_words(children)
        return s.Drop(kind=words, **_attributes(map(_as_identifier, parts), {Identifier: "name"}))

    def cascade(self, _: list[Any]) -> _Attribute:
        return _Attribute("is_cascade", True)

    def alter_table(self, children: list[Any]) -> s.AlterTable:
        renamed = [child._replace(attribute="set_options") if _is_options(child) else child for child in children]
        return s.AlterTable(**_attributes(renamed, {Identifier: "table"}))

    def reset_options(self, children: list[Token]) -> _Attribute:
        keys = [_Name(_unquoted(key), _position(key)) for key in children]
        _check_once("option", keys)
        return _Attribute("reset_options", _texts(keys))

    def add_elements(self, children: list[Any]) -> _Attribute:
        return _column_changes("ADD", children)

    def modify_elements(self, children: list[Any]) -> _Attribute:
        return _column_changes("MODIFY", children)

    def placed_column(self, children: list[Any]) -> list[Any]:
        """Return the column with its place, and the key that its declaration may have."""
        column, *place = children
        column, *keys = column if isinstance(column, list) else [column]
        return [s.AddedColumn(column, *place), *keys]

    def drop_columns(self, children: list[Any]) -> _Attribute:
        names = children[0] if isinstance(children[0], tuple) and not isinstance(children[0], _Name) else children
        return _Attribute("column_changes", s.ColumnChanges("DROP", names=_texts(names)))

    def drop_primary_key(self, _: list[Any]) -> _Attribute:
        return _Attribute("column_changes", s.ColumnChanges("DROP", drops_primary_key=True))

    def drop_watermark(self, _: list[Any]) -> _Attribute:
        return _Attribute("column_changes", s.ColumnChanges("DROP", drops_watermark=True))

    def rename_column(self, children: list[_Name]) -> _Attribute:
        return _Attribute("column_changes", s.ColumnChanges("RENAME", names=_texts(children)))

    def new_name(self, children: list[Identifier]) -> _Attribute:
        return _Attribute("new_name", children[0])

    # Queries, INSERT and settings

    def insert(self, children: list[Any]) -> s.Insert:
        insert, *parts = children
        attributes = _attributes(parts, {Identifier: "table", SqlText: "query"})
        return s.Insert(position=_position(insert), **attributes)

    def overwrite(self, _: list[Any]) -> _Attribute:
        return _Attribute("is_overwrite", True)

    def partition(self, children: list[tuple[_Name, SqlText]]) -> _Attribute:
        _check_once("column", (name for name, _ in children))
        return _Attribute("partition", {name.text: value.text for name, value in children})

    def partition_value(self, children: list[Any]) -> tuple[_Name, SqlText]:
        return children[0], children[1]

    def insert_columns(self, children: list[tuple[_Name, ...]]) -> _Attribute:
        return _Attribute("columns", _texts(children[0]))

    def statement_set(self, inserts: list[s.Insert]) -> s.ExecuteStatementSet:
        return s.ExecuteStatementSet(tuple(inserts))

    def explain(self, children: list[Any]) -> s.Explain:
        *details, statement = children
        if isinstance(statement, SqlText):
            statement = s.Query(statement, statement.position)
        return s.Explain(statement, details[0] if details else ())

    def details(self, children: list[Token]) -> tuple[str, ...]:
        return tuple(token.upper() for token in children)

    def set_option(self, children: list[Any]) -> s.SetOption:
        return s.SetOption(*children)

    def reset_option(self, children: list[Any]) -> s.ResetOption:
        return s.ResetOption(*children)

    def setting_key(self, children: list[Token]) -> str:
        return _unquoted(children[0]) if children[0].type == "TEXT" else str(children[0])

    setting_value = setting_key


def _position(token: Token) -> ScriptPosition:
    return ScriptPosition(token.line or 0, token.column or 0)


def _unquoted(token: Token) -> str:
    quote = token[0]
    return token[1:-1].replace(2 * quote, quote)


def _texts(names: Iterable[_Name]) -> tuple[str, ...]:
    return tuple(name.text for name in names)


def _is_options(child: Any) -> bool:
    return isinstance(child, _Attribute) and child.attribute == "options"


def _as_identifier(child: Any) -> Any:
    return Identifier((child.text,), child.position) if isinstance(child, _Name) else child


def _column_changes(kind: Any, children: list[Any]) -> _Attribute:
    flat = [part for child in children for part in (child if isinstance(child, list) else [child])]
    columns = tuple(part for part in flat if isinstance(part, s.AddedColumn))
    _check_once("column", (_Name(added_column.column.name, added_column.column.position) for added_column in columns))
    types = ((s.PrimaryKey, "primary_key"), (s.Watermark, "watermark"))
    parts = [_Attribute(name, part, part.position) for type_, name in types for part in flat if isinstance(part, type_)]
    return _Attribute("column_changes", s.ColumnChanges(kind, columns, **_attributes(parts)))


def _split_words(children: list[Any]) -> tuple[Any, list[Any]]:
    """Separate the words that name the kind of a statement from its parts."""
    from lark import Token

    words = [child for child in children if isinstance(child, Token)]
    return " ".join(words).upper(), [child for child in children if not isinstance(child, Token)]


def _attributes(children: Iterable[Any], by_type: dict[type, str] | None = None) -> dict[str, Any]:
    """Return the attributes of a statement: its parts, and other children by their types.

    Raises:
        SqlSyntaxError: A part is there twice.
    """
    attributes: dict[str, Any] = {}
    for child in children:
        if not isinstance(child, _Attribute):
            name = next(name for type_, name in (by_type or {}).items() if isinstance(child, type_))
            attributes[name] = child.text if isinstance(child, _Name) else child
            continue
        for part in child.value if child.attribute == "parts" else (child,):
            if part.attribute in attributes:
                raise SqlSyntaxError(f"expected only one {_CLAUSES[part.attribute]}", part.position)
            attributes[part.attribute] = part.value
    return attributes


_CLAUSES = {
    "comment": "COMMENT",
    "options": "WITH (...)",
    "partition_keys": "PARTITIONED BY (...)",
    "primary_key": "PRIMARY KEY",
    "watermark": "WATERMARK",
}
"""Parts that a person may write twice where the grammar allows several in any order."""


def _check_once(what: str, names: Iterable[_Name]) -> None:
    seen = set()
    for name in names:
        if name.text in seen:
            raise SqlSyntaxError(f"expected each {what} once, but {quote_name(name.text)} is repeated", name.position)
        seen.add(name.text)
