"""Get the descriptors of a Python class that protoc has generated."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet, make_descriptor_set
from millrace_formats.protobuf.descriptors.library import check_library

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto


def descriptors_of_class(name: str) -> DescriptorSet:
    """Get the descriptors of a generated message class.

    Args:
        name: The class, as ``module:Message`` or ``module.Message``; a nested one as ``module:Outer.Inner``.

    Raises:
        ValueError: There is no such class, or it is not a message's.
        MachineError: Protobuf's library is missing.
    """
    check_library()
    from google.protobuf.message import Message

    class_ = _import(name)
    if not (isinstance(class_, type) and issubclass(class_, Message)):
        raise ValueError(f"{name!r} is not a class of protobuf messages")  # noqa: TRY004 - an option's value is wrong
    descriptor: Any = vars(class_)["DESCRIPTOR"]  # the class's own, which a field of that name cannot hide
    files: dict[str, FileDescriptorProto] = {}
    _add_file(descriptor.file, files)
    return make_descriptor_set(name, files.values(), descriptor.full_name)


def _add_file(file: Any, files: dict[str, FileDescriptorProto]) -> None:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    for imported in file.dependencies:
        if imported.name not in files:
            _add_file(imported, files)
    files[file.name] = FileDescriptorProto.FromString(file.serialized_pb)


def _import(name: str) -> Any:
    module_name, colon, path = name.partition(":")
    if colon:
        return _attribute(_module(module_name, name), path, name)
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module_name = ".".join(parts[:length])
        if _exists(module_name):
            return _attribute(_module(module_name, name), ".".join(parts[length:]), name)
    raise ValueError(_not_importable(name, f"there is no module {'.'.join(parts[:-1]) or name!r}"))


def _exists(module_name: str) -> bool:
    try:
        return importlib.util.find_spec(module_name) is not None
    except Exception:
        return False


def _module(module_name: str, name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except Exception as error:
        raise ValueError(_not_importable(name, f"{type(error).__name__}: {error}")) from error


def _attribute(module: Any, path: str, name: str) -> Any:
    value = module
    for part in path.split("."):
        value = getattr(value, part, None)
        if value is None:
            raise ValueError(f"{name!r}: module {module.__name__} has no {path}")
    return value


def _not_importable(name: str, cause: str) -> str:
    return (
        f"{name!r} cannot be imported by the driver's Python workers: {cause}. Give a class as module:Message whose "
        f"module is installed or on the PYTHONPATH of the driver (executors do not need it), or the message's full "
        f"name together with the option descriptor-set"
    )
