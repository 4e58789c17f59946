from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points

import pytest

from millrace.contracts import TokenProvider
from millrace.errors import MachineError
from millrace_tokens import plugin


def test_every_name_leads_to_a_class_of_its_kind() -> None:
    offered = plugin.millrace_token_providers()
    assert set(offered) == {"aws-msk-iam", "azure", "google"}
    for name, where in offered.items():
        assert issubclass(EntryPoint(name, where, "").load(), TokenProvider)


def test_the_package_is_found_by_its_entry_point() -> None:
    assert plugin in [entry_point.load() for entry_point in entry_points(group="millrace", name="tokens")]


def test_listing_imports_no_implementation() -> None:
    modules = [where.partition(":")[0] for where in plugin.millrace_token_providers().values()]
    program = f"import sys, millrace_tokens.plugin; print([m for m in {modules!r} if m in sys.modules])"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [
        ("aws-msk-iam", "aws_msk_iam_sasl_signer", "aws"),
        ("azure", "azure.identity", "azure"),
        ("google", "google.auth", "google"),
    ],
)
def test_a_missing_library_is_told_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str, extra: str
) -> None:
    for module in [module for module in sys.modules if module == library or module.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    provider = EntryPoint(name, plugin.millrace_token_providers()[name], "").load()()
    with pytest.raises(MachineError, match=rf"pip install 'millrace-tokens\[{extra}\]'"):
        provider.token(("b-1.x.kafka.eu-west-1.amazonaws.com:9098",))
