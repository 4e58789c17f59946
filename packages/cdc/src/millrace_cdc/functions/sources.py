"""Code of user-defined functions, which executors load by themselves."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.abc import ExecutionLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

from millrace_cdc.definitions.functions import FunctionDefinition

_IN_FILE = re.compile(r"(?P<file>.+\.py):(?P<function>\w+)")
_IN_MODULE = re.compile(r"(?P<module>\w+(?:\.\w+)*)\.(?P<function>\w+)")
_FUNCTION_OF_CODE = "eval"


class FunctionError(ValueError):
    """A user-defined function is wrong.

    Args:
        message: The problem, and what is expected.
        key: The key of its definition that it is at.
    """

    def __init__(self, message: str, key: str = "classpath") -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class FunctionSource:
    """The place of a function's code; plain data that travels to executors.

    Attributes:
        function: The name of the function there.
        module: The module to import; None where the code is given.
        code: The code; None where it is imported.
        file: The file of the code, for errors.
    """

    function: str
    module: str | None = None
    code: str | None = None
    file: str = ""

    @classmethod
    def of(cls, definition: FunctionDefinition) -> FunctionSource:
        """Find the code of a definition.

        Args:
            definition: The definition.

        Raises:
            FunctionError: It says not where, or the file cannot be read.
        """
        if (definition.classpath is None) == (definition.code is None):
            raise FunctionError("expected one of 'classpath' and 'python-code'", "name")
        if definition.classpath is None:
            return cls(_FUNCTION_OF_CODE, code=definition.code, file=f"<python-code of {definition.name}>")
        in_file = _IN_FILE.fullmatch(definition.classpath)
        if in_file is not None:
            path = definition.folder / in_file["file"]
            return cls(in_file["function"], code=_read(path), file=str(path))
        in_module = _IN_MODULE.fullmatch(definition.classpath)
        if in_module is None:
            raise FunctionError(f"expected module.function or file.py:function, found {definition.classpath!r}")
        return cls(in_module["function"], module=in_module["module"])

    def load(self) -> Callable[..., Any]:
        """Return the function.

        Raises:
            FunctionError: There is none, or its code fails.
        """
        return _load(self)


@functools.lru_cache(maxsize=1024)
def _load(source: FunctionSource) -> Callable[..., Any]:
    names = _run(source) if source.code is not None else _import(source.module or "")
    found = names.get(source.function)
    place = f"module {source.module!r}" if source.code is None else source.file
    if not callable(found):
        raise FunctionError(f"there is no function {source.function!r} in {place}", _key(source))
    return found


class _Code(ExecutionLoader):
    """Loads a module from code."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source

    def get_filename(self, fullname: str) -> str:
        return self._source.file

    def get_source(self, fullname: str) -> str:
        return self._source.code or ""

    def is_package(self, fullname: str) -> bool:
        return False


def _run(source: FunctionSource) -> dict[str, Any]:
    loader = _Code(source)
    module = module_from_spec(ModuleSpec(f"millrace_function_{source.function}", loader, origin=source.file))
    try:
        loader.exec_module(module)
    except Exception as error:
        raise FunctionError(f"{source.file} fails: {type(error).__name__}: {error}", _key(source)) from error
    return vars(module)


def _import(module: str) -> dict[str, Any]:
    try:
        return vars(importlib.import_module(module))
    except ModuleNotFoundError as error:
        # A class of Java looks the same
        hint = "; classes of Java are not supported" if module.count(".") > 1 else ""
        missing = f"no module {error.name!r} can be imported"
        raise FunctionError(
            f"{missing}: install it for the driver and all executors, or name a file.py{hint}"
        ) from error
    except Exception as error:
        raise FunctionError(f"module {module!r} fails: {type(error).__name__}: {error}") from error


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not in UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise FunctionError(f"the file {path} cannot be read: {reason}") from error


def _key(source: FunctionSource) -> str:
    return "python-code" if source.file.startswith("<") else "classpath"
