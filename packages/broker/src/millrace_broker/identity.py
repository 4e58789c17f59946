"""Tells whether a process is still the one that was started, since systems use process ids again."""

from __future__ import annotations

import subprocess
from pathlib import Path


def identity(pid: int) -> str | None:
    """What tells a running process from every other one that had or will have its id; none when it does not run.

    Args:
        pid: The process id.
    """
    stat = Path(f"/proc/{pid}/stat")
    return _from_proc(stat) if Path("/proc/self/stat").exists() else _from_ps(pid)


def _from_proc(stat: Path) -> str | None:
    try:
        # The program's name, in brackets, may hold spaces
        fields = stat.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state, started = fields[0], fields[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state in "ZX" else f"{boot} {started}"


def _from_ps(pid: int) -> str | None:
    answer = subprocess.run(["ps", "-o", "state=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = answer.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else " ".join(started.split())
