"""Compile the texts of proto files by protoc, which the package grpcio-tools brings along."""

from __future__ import annotations

import importlib.util
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from millrace.errors import MachineError
from millrace_formats.protobuf.registry.known_files import known_file

_TIMEOUT_S = 60
_IMPORT = re.compile(r'\bimport\s+(?:public\s+|weak\s+)?"([^"\n]+)"\s*;')


def compile_text(texts: Mapping[str, str], compiled: Sequence[FileDescriptorProto]) -> list[FileDescriptorProto]:
    """Compile files.

    Args:
        texts: The files, by name.
        compiled: Files that they may import, each after its own imports.

    Returns:
        The descriptors of the files and of all that they import.

    Raises:
        ValueError: A file is not valid; in the compiler's words.
        MachineError: There is no compiler.
    """
    check_compiler()
    with tempfile.TemporaryDirectory(prefix="millrace-protoc-") as folder:
        for name, text in texts.items():
            _file_in(Path(folder, "files"), name).write_text(text)
        imported = FileDescriptorSet(file=[*compiled, *_known_imports(texts, {file.name for file in compiled})])
        Path(folder, "imports.desc").write_bytes(imported.SerializeToString())
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}/files", "--include_imports"]
        command += [f"--descriptor_set_in={folder}/imports.desc", f"--descriptor_set_out={folder}/out.desc", *texts]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(f"protoc did not end within {_TIMEOUT_S} s") from None
        if done.returncode:
            raise ValueError(" ".join(done.stderr.split()) or f"protoc ended with {done.returncode}")
        return list(FileDescriptorSet.FromString(Path(folder, "out.desc").read_bytes()).file)


def check_compiler() -> None:
    """Refuse a machine without protoc.

    Raises:
        MachineError: Says how to install it.
    """
    if importlib.util.find_spec("grpc_tools") is None:
        raise MachineError(
            f"a schema that is the text of a proto file needs protoc, of the package grpcio-tools, for "
            f"{sys.executable} on host {socket.gethostname()}; run there: "
            f"pip install 'millrace-formats[protobuf-confluent]'"
        )


def _file_in(folder: Path, name: str) -> Path:
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or not pure.name or name.startswith("-"):
        raise ValueError(f"{name!r} is not a name of a proto file")
    path = folder.joinpath(*pure.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _known_imports(texts: Mapping[str, str], others: set[str]) -> list[FileDescriptorProto]:
    """Return the files that are not registered, but imported, each after its own imports."""
    files: dict[str, FileDescriptorProto] = {}

    def add(name: str) -> None:
        if name in texts or name in others or name in files:
            return
        file = known_file(name)
        if file is not None:
            for imported in file.dependency:
                add(imported)
            files[name] = file

    for text in texts.values():
        for name in _IMPORT.findall(text):
            add(name)
    return list(files.values())
