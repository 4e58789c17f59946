"""Read descriptors from a file that ``protoc --descriptor_set_out`` or ``buf build`` has written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from millrace.options.files import find_file
from millrace.options.suggestions import closest
from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet, make_descriptor_set
from millrace_formats.protobuf.descriptors.library import check_library

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

_MAX_NAMES = 20
_PROTOC = "protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE"


def descriptors_from_file(file: str, name: str) -> DescriptorSet:
    """Read the descriptors of one message type from a descriptor set file.

    Args:
        file: The file.
        name: The message type's full name.

    Raises:
        ValueError: The file cannot be read, is not a descriptor set, is incomplete, or lacks the message type.
        MachineError: Protobuf's library is missing.
    """
    check_library()
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    try:
        files = {proto.name: proto for proto in FileDescriptorSet.FromString(_read(file)).file}
    except DecodeError:
        raise ValueError(f"descriptor-set {file!r} is not a descriptor set: make one with {_PROTOC}") from None
    name = name.removeprefix(".")
    defining = next((proto for proto in files.values() if name in _message_names(proto)), None)
    if defining is None:
        names = [message for proto in files.values() for message in _message_names(proto)]
        raise ValueError(_no_such_message(file, name, names))
    return make_descriptor_set(file, _with_imports(defining, files, file), name)


def _read(file: str) -> bytes:
    try:
        return find_file(file).read_bytes()
    except OSError as error:
        raise ValueError(f"descriptor-set {file!r} cannot be read: {error}") from None
    except ValueError as error:
        raise ValueError(
            f"descriptor-set: {error}. The driver reads it: put it there, or let Spark distribute it, by "
            f"spark.addArtifact(path, file=True) or SparkContext.addFile(path), and give the option the file's name "
            f"alone"
        ) from None


def _message_names(file: FileDescriptorProto) -> list[str]:
    def nested(prefix: str, messages: Any) -> Iterable[str]:
        for message in messages:
            if not message.options.map_entry:
                yield (full := f"{prefix}{message.name}")
                yield from nested(f"{full}.", message.nested_type)

    return list(nested(f"{file.package}." if file.package else "", file.message_type))


def _with_imports(
    defining: FileDescriptorProto, files: dict[str, FileDescriptorProto], origin: str
) -> list[FileDescriptorProto]:
    """Return a file and all that it imports, each after its own imports."""
    seen: set[str] = set()
    ordered: list[FileDescriptorProto] = []

    def add(file: FileDescriptorProto) -> None:
        seen.add(file.name)
        for name in file.dependency:
            if name not in files:
                raise ValueError(
                    f"descriptor-set {origin!r} is not complete: {file.name} imports {name}, which it lacks; make it "
                    f"with {_PROTOC}"
                )
            if name not in seen:
                add(files[name])
        ordered.append(file)

    add(defining)
    return ordered


def _no_such_message(file: str, name: str, names: list[str]) -> str:
    close = closest(name, names)
    shown = ", ".join(sorted(names)[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
    hint = f"did you mean {close!r}?" if close else f"it has {shown or 'no messages'}"
    return f"descriptor-set {file!r} has no message {name!r}; {hint}"
