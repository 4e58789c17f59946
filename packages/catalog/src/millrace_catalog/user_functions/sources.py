"""Code of user-defined functions, which executors load by themselves."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.abc import ExecutionLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

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
        module: The module to import; None where there is only its code.
        code: The code, for processes that cannot import the module; None where all can.
        file: The file of the code, for errors.
    """

    function: str
    module: str | None = None
    code: str | None = None
    file: str = ""

    @classmethod
    def of_code(cls, name: str, code: str) -> FunctionSource:
        """Return the source of a function whose code defines the function eval.

        Args:
            name: The name of the function, for errors.
            code: The code.
        """
        return cls(_FUNCTION_OF_CODE, code=code, file=f"<python-code of {name}>")

    @classmethod
    def named(cls, path: str, folder: Path = Path()) -> FunctionSource:
        """Find the source that a text names.

        Args:
            path: ``module.function``, or ``file.py:function``.
            folder: The folder of files.

        Raises:
            FunctionError: The text names none, or the file cannot be read.
        """
        in_file = _IN_FILE.fullmatch(path)
        if in_file is not None:
            file = folder / in_file["file"]
            return cls(in_file["function"], code=_read(file), file=str(file))
        in_module = _IN_MODULE.fullmatch(path)
        if in_module is None:
            raise FunctionError(f"expected module.function or file.py:function, found {path!r}")
        return cls(in_module["function"], module=in_module["module"])

    def with_code(self) -> FunctionSource:
        """Return the source with the code of its module, by which executors run it that cannot import the module.

        Raises:
            FunctionError: The module cannot be imported here.
        """
        if self.module is None or self.code is not None:
            return self
        file = _import(self.module).get("__file__")
        if file is None or not file.endswith(".py") or "site-packages" in file or _is_standard(self.module):
            return self
        return replace(self, code=_read(Path(file)), file=file)

    def load(self) -> Callable[..., Any]:
        """Return the function.

        Raises:
            FunctionError: There is none, or its code fails.
        """
        return _load(self)


@functools.lru_cache(maxsize=1024)
def _load(source: FunctionSource) -> Callable[..., Any]:
    function = _names(source).get(source.function)
    if isinstance(function, type) and callable(getattr(function, "eval", None)):
        function = function().eval  # a class of functions, as PyFlink has them
    place = f"module {source.module!r}" if source.module is not None else source.file
    if not callable(function):
        raise FunctionError(f"there is no function {source.function!r} in {place}", _key(source))
    return function


def _names(source: FunctionSource) -> dict[str, Any]:
    if source.module is None:
        return _run(source)
    try:
        return _import(source.module)
    except FunctionError:
        if source.code is None:
            raise
        return _run(source)


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


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
