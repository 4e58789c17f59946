from __future__ import annotations

import subprocess
import sys

import pytest

from millrace_cli.quick_start import QUICK_COMMANDS, is_quick
from millrace_cli.root import root

_CONVERT = "import sys, pyarrow as pa; pa.array([1, None]); print('pandas' in sys.modules)"
_LEAVE_OUT = "from millrace_cli.quick_start import leave_out_pandas; leave_out_pandas(); "


def output_of(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("before", "imported"), [("", "True"), (_LEAVE_OUT, "False")])
def test_pyarrow_converts_without_pandas(before, imported):
    assert output_of(before + _CONVERT) == imported


def test_only_the_commands_that_show_rows_at_once_are_quick():
    assert set(root.list_commands(None)) >= QUICK_COMMANDS
    assert [is_quick(line) for line in (["cat", "orders"], ["run", "cat"], [])] == [True, False, False]
