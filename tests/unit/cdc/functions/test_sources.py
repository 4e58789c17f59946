"""Code of user-defined functions is found and run."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from millrace_catalog.user_functions.sources import FunctionError, FunctionSource
from millrace_cdc.definitions.functions import FunctionDefinition
from millrace_cdc.functions.user_function import source_of


def source(folder: Path = Path(), **keys: str) -> FunctionSource:
    return source_of(FunctionDefinition(name="f", folder=folder, **keys))


def test_a_function_is_in_a_module() -> None:
    assert source(classpath="os.path.basename").load()("a/b") == "b"


def test_a_function_is_in_a_file_beside_the_pipeline_and_travels_as_text(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text("RATE = 2\n\ndef double(n: int) -> int:\n    return RATE * n\n")
    found = source(tmp_path, classpath="shop.py:double")
    file.unlink()
    assert pickle.loads(pickle.dumps(found)).load()(4) == 8


def test_a_function_is_in_the_pipelines_file() -> None:
    assert source(code="def eval(text: str) -> str:\n    return text * 2\n").load()("ab") == "abab"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "expected one of 'classpath' and 'python-code'"),
        ({"classpath": "os.getcwd", "code": "x"}, "expected one of 'classpath' and 'python-code'"),
        ({"classpath": "eval"}, "expected module.function or file.py:function, found 'eval'"),
        ({"classpath": "os.no_such"}, "there is no function 'no_such' in module 'os'"),
        (
            {"classpath": "no_such.f"},
            "no module 'no_such' can be imported: install it for the driver and all executors",
        ),
        ({"classpath": "org.apache.flink.AddOne"}, "classes of Java are not supported"),
        ({"classpath": "no_such.py:f"}, "no_such.py cannot be read: No such file or directory"),
        ({"code": "def f(): pass"}, "there is no function 'eval' in <python-code of f>"),
        ({"code": "1 / 0"}, "<python-code of f> fails: ZeroDivisionError: division by zero"),
        ({"code": "def eval(:"}, "<python-code of f> fails: SyntaxError: "),
    ],
)
def test_code_that_is_not_there_is_told(keys: dict[str, str], message: str) -> None:
    with pytest.raises(FunctionError) as told:
        source(**keys).load()
    assert message in str(told.value)
