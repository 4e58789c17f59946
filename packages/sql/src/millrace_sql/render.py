"""Write statements as SQL; `millrace_sql.parser.parse` makes the same statements of it.

All names are between backticks, so that none can be a word of the language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch

from millrace_catalog.types.identifiers import backquote
from millrace_sql import statements as s
from millrace_sql.script_texts import Identifier


def render_options(options: Mapping[str, str]) -> str:
    """Return options as a WITH clause has them, in parentheses; secrets are written as they are."""
    return _block(_assignments(options))


@singledispatch
def render(statement: s.Statement) -> str:
    """Return the SQL text of a statement, without ``;`` at its end.

    Options are written as they are, secrets included.
    """
    raise TypeError(f"expected a statement, not {type(statement).__name__}")


@render.register
def _create_table(table: s.CreateTable) -> str:
    elements = [*map(_column, table.columns)]
    if table.primary_key is not None:
        elements.append(_primary_key(table.primary_key))
    if table.watermark is not None:
        elements.append(_watermark(table.watermark))
    lines = [
        _words(_creation("TABLE", table, table.table), elements and _block(elements)),
        *_comment(table.comment),
        table.partition_keys and f"PARTITIONED BY ({_names(table.partition_keys)})",
        table.options and f"WITH {_block(_assignments(table.options))}",
        table.like and _like(table.like),
        table.query and f"AS {table.query.text}",
        table.as_table and _as_table(table.as_table),
    ]
    return "\n".join(str(line) for line in lines if line)


@render.register
def _create_view(view: s.CreateView) -> str:
    head = _creation("VIEW", view, view.view)
    columns = [f"({_names(view.columns)})"] if view.columns else []
    return " ".join([head, *columns, *_comment(view.comment)]) + f"\nAS {view.query.text}"


@render.register
def _create_catalog(catalog: s.CreateCatalog) -> str:
    name = backquote(catalog.name)
    options = [f"WITH ({', '.join(_assignments(catalog.options))})"] if catalog.options else []
    return _words(
        "CREATE CATALOG", catalog.if_not_exists and "IF NOT EXISTS", name, *_comment(catalog.comment), *options
    )


@render.register
def _create_database(database: s.CreateDatabase) -> str:
    name = _name(database.database)
    return _words("CREATE DATABASE", database.if_not_exists and "IF NOT EXISTS", name, *_comment(database.comment))


@render.register
def _create_function(function: s.CreateFunction) -> str:
    kind = _words("CREATE", function.is_temporary and "TEMPORARY", function.is_system and "SYSTEM", "FUNCTION")
    language = function.language and f"LANGUAGE {function.language}"
    name = _words(function.if_not_exists and "IF NOT EXISTS", _name(function.function))
    return _words(kind, name, "AS", _text(function.path), language)


@render.register
def _use(use: s.Use) -> str:
    return _words("USE", use.kind == "CATALOG" and "CATALOG", _name(use.name))


@render.register
def _show(show: s.Show) -> str:
    between = show.kind if show.kind.startswith("CREATE") else f"{show.kind} FROM"
    subject = show.kind if show.subject is None else f"{between} {_name(show.subject)}"
    pattern = "" if show.pattern is None else f"LIKE {_text(show.pattern)}"
    return _words("SHOW", subject, show.is_negated and "NOT", pattern)


@render.register
def _describe(describe: s.Describe) -> str:
    kind = describe.kind == "CATALOG" and "CATALOG"
    return _words("DESCRIBE", kind, describe.is_extended and "EXTENDED", _name(describe.name))


@render.register
def _drop(drop: s.Drop) -> str:
    modifiers = _words(drop.is_temporary and "TEMPORARY", drop.is_system and "SYSTEM")
    kind = _words("DROP", modifiers, drop.kind, drop.if_exists and "IF EXISTS")
    return _words(kind, _name(drop.name), drop.is_cascade and "CASCADE")


@render.register
def _alter_table(table: s.AlterTable) -> str:
    if table.new_name is not None:
        change = f"RENAME TO {_name(table.new_name)}"
    elif table.reset_options:
        change = f"RESET ({', '.join(map(_text, table.reset_options))})"
    elif table.column_changes is not None:
        change = _column_changes(table.column_changes)
    else:
        change = f"SET ({', '.join(_assignments(table.set_options))})"
    return _words("ALTER TABLE", table.if_exists and "IF EXISTS", _name(table.table), change)


@render.register
def _query(query: s.Query) -> str:
    return query.query.text


@render.register
def _insert(insert: s.Insert) -> str:
    values = ", ".join(f"{backquote(column)} = {value}" for column, value in insert.partition.items())
    head = _words(
        "INSERT",
        "OVERWRITE" if insert.is_overwrite else "INTO",
        _name(insert.table) + _hint(insert.hint_options),
        insert.partition and f"PARTITION ({values})",
        insert.columns and f"({_names(insert.columns)})",
    )
    return f"{head}\n{insert.query.text}"


@render.register
def _statement_set(statements: s.ExecuteStatementSet) -> str:
    inserts = "".join(f"{render(insert)};\n" for insert in statements.inserts)
    return f"EXECUTE STATEMENT SET BEGIN\n{inserts}END"


@render.register
def _explain(explain: s.Explain) -> str:
    return _words("EXPLAIN", ", ".join(explain.details), render(explain.statement))


@render.register
def _set_option(option: s.SetOption) -> str:
    return "SET" if option.key is None else f"SET {_text(option.key)} = {_text(option.value or '')}"


@render.register
def _reset_option(option: s.ResetOption) -> str:
    return _words("RESET", "" if option.key is None else _text(option.key))


def _creation(kind: str, created: s.CreateTable | s.CreateView, name: Identifier) -> str:
    modifiers = _words(created.or_replace and "OR REPLACE", created.is_temporary and "TEMPORARY")
    return _words("CREATE", modifiers, kind, created.if_not_exists and "IF NOT EXISTS", _name(name))


def _column(column: s.Column) -> str:
    name = backquote(column.name)
    if isinstance(column, s.ComputedColumn):
        return _words(name, "AS", column.expression.text, *_comment(column.comment))
    if isinstance(column, s.PhysicalColumn):
        return _words(name, str(column.type), *_comment(column.comment))
    key = "" if column.key is None else f"FROM {_text(column.key)}"
    is_virtual = column.is_virtual and "VIRTUAL"
    return _words(name, str(column.type), "METADATA", key, is_virtual, *_comment(column.comment))


def _primary_key(key: s.PrimaryKey) -> str:
    constraint = "" if key.constraint is None else f"CONSTRAINT {backquote(key.constraint)}"
    return _words(constraint, f"PRIMARY KEY ({_names(key.columns)}) NOT ENFORCED")


def _watermark(watermark: s.Watermark) -> str:
    return f"WATERMARK FOR {backquote(watermark.column)} AS {watermark.expression.text}"


def _column_changes(changes: s.ColumnChanges) -> str:
    if changes.kind == "RENAME":
        return "RENAME " + " TO ".join(map(backquote, changes.names))
    if changes.kind == "DROP":
        what = "PRIMARY KEY" if changes.drops_primary_key else "WATERMARK" if changes.drops_watermark else ""
        return f"DROP {what or f'({_names(changes.names)})'}"
    elements = [*map(_added_column, changes.columns)]
    elements += [_primary_key(changes.primary_key)] if changes.primary_key else []
    elements += [_watermark(changes.watermark)] if changes.watermark else []
    return f"{changes.kind} ({', '.join(elements)})"


def _like(like: s.Like) -> str:
    features = "\n  ".join(" ".join(feature) for feature in like.features)
    return f"LIKE {_name(like.table)}" + (f" (\n  {features}\n)" if features else "")


def _as_table(copied: s.AsTable) -> str:
    text = f"AS TABLE {_name(copied.table)}{_hint(copied.options)}"
    added = ",\n  ".join(map(_added_column, copied.added_columns))
    return f"{text}\nADD COLUMN\n  {added}" if added else text


def _added_column(added: s.AddedColumn) -> str:
    place = {None: "", "": "FIRST"}.get(added.after, f"AFTER {backquote(added.after or '')}")
    return _words(_column(added.column), place)


def _block(lines: Iterable[str]) -> str:
    return "(\n  " + ",\n  ".join(lines) + "\n)"


def _words(*words: object) -> str:
    """Join words by blanks, without those that are empty or False."""
    return " ".join(str(word) for word in words if word)


def _name(identifier: Identifier) -> str:
    return ".".join(map(backquote, identifier.parts))


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(backquote, names))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _comment(comment: str | None) -> list[str]:
    return [] if comment is None else [f"COMMENT {_text(comment)}"]


def _assignments(options: Mapping[str, str]) -> list[str]:
    return [f"{_text(key)} = {_text(value)}" for key, value in options.items()]


def _hint(options: Mapping[str, str]) -> str:
    return f" /*+ OPTIONS({', '.join(_assignments(options))}) */" if options else ""
