"""Write ``dist/millrace-kafka.cdx.json``: all packages of ``dist/`` and what an installer adds, in CycloneDX."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build_packages import DIST, ROOT
from uv import find_uv_bin

BILL = DIST / "millrace-kafka.cdx.json"


def main() -> None:
    """Install the name that brings all packages, and write down what the environment holds."""
    wheels = [str(wheel) for wheel in sorted(DIST.glob("*/*.whl"))]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        _run(find_uv_bin(), "venv", "--quiet", "--python", sys.executable, folder)
        _run(find_uv_bin(), "pip", "install", "--quiet", "--python", str(python), *wheels)
        project = ("--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library")
        command = ("-m", "cyclonedx_py", "environment", "--output-reproducible", *project, "-o", str(BILL), str(python))
        _run(sys.executable, *command)


def _run(*command: str) -> None:
    variables = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    subprocess.run(command, check=True, env=variables)


if __name__ == "__main__":
    main()
