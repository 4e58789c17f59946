import os
import subprocess
import sys

from support.distributions import install_own_metadata

UNUSED = """
import sys

def test_nothing_heavy_is_imported():
    assert {"millrace_broker.pytest_plugin", "millrace_cli.pytest_plugin"} <= set(sys.modules)
    heavy = {"click", "confluent_kafka", "pyarrow", "pydantic", "pyspark", "filelock"}
    assert not heavy & set(sys.modules)
"""


def test_a_test_run_that_needs_no_broker_imports_nothing_heavy(tmp_path):
    for package in ("broker", "cli"):
        install_own_metadata(tmp_path / "installed", package)
    (tmp_path / "test_unused.py").write_text(UNUSED)
    path = os.pathsep.join(filter(None, (str(tmp_path / "installed"), os.environ.get("PYTHONPATH"))))
    # Other plugins of this environment import what they like
    plugins = ["-p", "millrace-broker", "-p", "millrace-cli"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, "test_unused.py"],
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
