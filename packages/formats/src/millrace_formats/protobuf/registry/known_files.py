"""Files that protobuf schemas import without a reference, since every client has them."""

from __future__ import annotations

import functools
import importlib

from google.protobuf.descriptor_pb2 import FileDescriptorProto

_PACKAGES = {
    "google/protobuf/": "google.protobuf.",
    "google/type/": "google.type.",
    "confluent/": "confluent_kafka.schema_registry.confluent.",
}


@functools.cache
def known_file(name: str) -> FileDescriptorProto | None:
    """Return the descriptor of a file that is not registered; None when there is no such file."""
    for prefix, package in _PACKAGES.items():
        if name.startswith(prefix) and name.endswith(".proto"):
            path = name.removeprefix(prefix).removesuffix(".proto")
            if not path.replace("/", "").isidentifier():
                return None
            try:
                module = importlib.import_module(f"{package}{path.replace('/', '.')}_pb2")
            except ImportError:
                return None
            return FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    return None
