"""The published schemas of OpenLineage's events, from a checkout of https://github.com/OpenLineage/OpenLineage."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def check_by_schema(events: list[dict[str, Any]]) -> None:
    """Check events by the published schemas where MILLRACE_OPENLINEAGE names a checkout of OpenLineage."""
    folder = os.environ.get("MILLRACE_OPENLINEAGE")
    if not folder:
        return
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    paths = [path for path in Path(folder, "spec").rglob("*.json") if "tests" not in path.parts]
    documents = [json.loads(path.read_text()) for path in paths]
    known = {document["$id"]: document for document in documents if "$id" in document}
    registry = Registry().with_resources((name, Resource.from_contents(document)) for name, document in known.items())
    base = next(name for name in known if name.endswith("/OpenLineage.json"))
    whole = Draft202012Validator({"$ref": f"{base}#/$defs/RunEvent"}, registry=registry)
    for event in events:
        whole.validate(event)
        facets = [event["run"]["facets"], event["job"]["facets"]]
        facets += [dataset["facets"] for dataset in (*event["inputs"], *event["outputs"])]
        for facet in (facet for named in facets for facet in named.values()):
            assert facet["_schemaURL"].partition("#")[0] in known, facet["_schemaURL"]
            Draft202012Validator({"$ref": facet["_schemaURL"]}, registry=registry).validate(facet)
