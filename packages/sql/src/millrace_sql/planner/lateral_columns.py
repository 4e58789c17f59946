"""The columns that lateral views add to what a query selects from: the rows of arrays and maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from millrace_sql.planner.relations import Relation


def with_laterals(relation: Relation, node: exp.Select) -> Relation:
    """Return what a query selects from with the columns of its lateral views, and their types where they are known."""
    laterals = node.args.get("laterals") or []
    if not laterals:
        return relation
    made = columns_of_laterals(node)
    names = [name for columns in made.values() for name in columns]
    is_known = relation.columns is not None and all(made.values())
    types: dict[str, Any] = {}
    for lateral in laterals:
        types |= _types(lateral, {**relation.types, **types})
    hidden = {name.lower() for name in names}
    return replace(
        relation,
        columns=(*(relation.columns or ()), *names) if is_known else None,
        types={**{name: type_ for name, type_ in relation.types.items() if name not in hidden}, **types},
    )


def columns_of_laterals(node: exp.Select) -> dict[str, tuple[str, ...]]:
    """Return the columns of a query's lateral views by their names in lower case; none where they are not named."""
    laterals = node.args.get("laterals") or []
    return {view.alias.lower(): tuple(column.name for column in view.args["alias"].columns) for view in laterals}


def _types(lateral: Any, types: dict[str, Any]) -> dict[str, Any]:
    """Return the types in Spark of the columns that a lateral view makes of a column."""
    value = lateral.this.this
    type_ = types.get(value.name.lower()) if isinstance(value, exp.Column) else None
    names = [column.name.lower() for column in lateral.args["alias"].columns]
    if type_ is None:
        return {}
    if type_.typeName() == "map":
        return dict(zip(names, (type_.keyType, type_.valueType), strict=False))
    element = getattr(type_, "elementType", None)
    if isinstance(lateral.this, exp.Inline):
        fields = element.fields if element is not None and element.typeName() == "struct" else ()
        return {name: field.dataType for name, field in zip(names, fields, strict=False)}
    return {} if element is None else dict.fromkeys(names[:1], element)
