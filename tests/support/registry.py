"""Requests to the schema registry of the tests."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from typing import Any

from millrace_broker import ApicurioRegistry


class SchemaRegistry(ApicurioRegistry):
    """A registry that tests ask and tell."""

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Send a request, and return the answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        request = urllib.request.Request(f"{self.url}/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def register(self, subject: str, schema: object, **more: object) -> int:
        """Register a schema, and return its id."""
        return int(self.ask("POST", f"subjects/{subject}/versions", {"schema": json.dumps(schema), **more})["id"])

    def register_text(self, subject: str, text: str, kind: str, references: Sequence[tuple[str, str]] = ()) -> int:
        """Register a schema of a type, which refers to the first versions of others by name and subject."""
        referred = [{"name": name, "subject": other, "version": 1} for name, other in references]
        body = {"schema": text, "schemaType": kind, "references": referred}
        return int(self.ask("POST", f"subjects/{subject}/versions", body)["id"])

    def versions(self, subject: str) -> int:
        """Return the number of versions of a subject."""
        return len(self.ask("GET", f"subjects/{subject}/versions"))

    def keep_compatible(self, subject: str, level: str = "BACKWARD") -> None:
        """Let a subject accept compatible schemas only."""
        self.ask("PUT", f"config/{subject}", {"compatibility": level})

    def schemas(self, subject: str) -> list[Any]:
        """Return the schemas of a subject, oldest first."""
        versions = self.ask("GET", f"subjects/{subject}/versions")
        return [json.loads(self.ask("GET", f"subjects/{subject}/versions/{one}")["schema"]) for one in versions]
