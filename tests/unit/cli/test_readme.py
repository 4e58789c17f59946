"""The example command in the package's README works."""

import os
import re
import subprocess
import sys
import tomllib

from support.distributions import ROOT, install_metadata

README = ROOT / "packages" / "cli" / "README.md"


def test_a_command_of_another_package(tmp_path):
    (declaration,) = re.findall(r"```toml\n(.*?)```", README.read_text(), re.DOTALL)
    (source,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    install_metadata(tmp_path, "acme-kafka", tomllib.loads(declaration)["project"]["entry-points"])
    (tmp_path / "acme_kafka").mkdir()
    (tmp_path / "acme_kafka" / "lag.py").write_text(source)

    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "millrace_cli", "--help"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search("^  lag +Show the lag of a consumer group.$", done.stdout, re.MULTILINE)
