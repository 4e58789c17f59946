"""The pytest plugin of millrace_broker: its README's examples run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from support.distributions import ROOT, install_own_metadata

README = ROOT / "packages" / "broker" / "README.md"

SAME_BROKER = """
def test_the_session_has_one_broker(millrace_kafka_broker):
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": millrace_kafka_broker.bootstrap_servers})
    assert "orders" in admin.list_topics(timeout=10).topics
"""


def blocks() -> tuple[str, str]:
    script, test = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    return script, test


def test_the_readmes_test_passes_with_the_installed_plugin(tmp_path: Path) -> None:
    install_own_metadata(tmp_path / "installed", "broker")
    (tmp_path / "test_a_readme.py").write_text(blocks()[1])
    (tmp_path / "test_b_session.py").write_text(SAME_BROKER)
    path = os.pathsep.join(filter(None, (str(tmp_path / "installed"), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a_readme.py", "test_b_session.py"],
        env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_readmes_script_runs(capsys) -> None:
    exec(compile(blocks()[0], README.name, "exec"), {})
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", capsys.readouterr().out)
