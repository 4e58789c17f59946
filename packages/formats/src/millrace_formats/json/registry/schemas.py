"""The JSON Schemas of a schema registry, with what they refer to.

Only what determines the types of columns is read; messages are not validated against their schema.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from millrace_formats.registry.client import registry_client
from millrace_formats.registry.options import RegistryOptions
from millrace_formats.registry.schema_registry import SchemaRegistry, SchemaText


@dataclass(frozen=True, eq=False)
class JsonSchema:
    """A JSON Schema and the documents that it refers to.

    Attributes:
        root: The schema.
        documents: The documents by name, that is, by the URI that a ``$ref`` has; the schema's own name is empty.
    """

    root: Any
    documents: dict[str, Any] = field(default_factory=dict)

    def resolve(self, reference: str, base: str) -> tuple[Any, str]:
        """Return what a ``$ref`` points to, and the name of its document.

        Args:
            reference: The text of the ``$ref``.
            base: The name of the document that it stands in.

        Raises:
            ValueError: There is no such schema.
        """
        name, fragment = urldefrag(reference)
        document = (
            base
            if not name
            else next((candidate for candidate in (name, urljoin(base, name)) if candidate in self.documents), None)
        )
        if document is None:
            raise ValueError(f"it refers to {name!r}, which is not among its references")
        target = self.documents[document]
        for part in filter(None, unquote(fragment).split("/")):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and key.isdigit() and int(key) < len(target):
                target = target[int(key)]
            elif isinstance(target, dict) and key in target:
                target = target[key]
            else:
                raise ValueError(f"it refers to {reference!r}, which does not exist")
        return target, document


@functools.lru_cache(maxsize=16)
def json_registry(format_name: str, options: RegistryOptions) -> SchemaRegistry[JsonSchema]:
    """Return this process's registry for some options.

    Raises:
        OptionsError: The options cannot be used.
    """
    return SchemaRegistry(registry_client(format_name, options), "JSON", parse_schema)


def parse_schema(schema: SchemaText) -> JsonSchema:
    """Parse a schema and its references; ValueError when one is not JSON, or no schema."""
    documents = {reference.name: _parse(reference.text) for reference in schema.references}
    for document in list(documents.values()):
        if isinstance(document, dict) and isinstance(document.get("$id"), str):
            documents.setdefault(urldefrag(document["$id"]).url, document)
    root = _parse(schema.text)
    documents[""] = root
    name = root.get("$id") if isinstance(root, dict) else None
    if isinstance(name, str):
        documents.setdefault(urldefrag(name).url, root)
    return JsonSchema(root, documents)


def title_of(schema: JsonSchema) -> str | None:
    """Return the title of a schema, which is the name of its records; None without one."""
    title = schema.root.get("title") if isinstance(schema.root, dict) else None
    return title if isinstance(title, str) else None


def _parse(text: str) -> Any:
    try:
        parsed = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(parsed, dict | bool):
        raise ValueError("expected a JSON object")  # noqa: TRY004 - the schema is wrong, not the program
    return parsed
