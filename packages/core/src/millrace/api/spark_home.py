"""A home of Spark whose Python processes import the installed PySpark, with its bytecode."""

from __future__ import annotations

import os
import shutil
import site
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from millrace.pyspark_internals import delete_at_end_of_jvm, has_jvm


@contextmanager
def spark_home_without_archive(config: Mapping[str, str]) -> Iterator[None]:
    """Let Spark start without ``pyspark.zip``, where that changes nothing else.

    Spark puts this archive first on the path of its Python processes, each of which compiles PySpark's source for
    itself: about half a second in each of the seven that a streaming query starts. Without it they import the
    installed PySpark. It does nothing where there is a ``SPARK_HOME``, a master other than a local one, another Python
    for the workers, or a PySpark that another process of this Python would not find.

    Args:
        config: Settings of the session that starts in the ``with`` block.
    """
    home = _make_home() if _finds_installed_pyspark(config) else None
    if home is None:
        yield
        return
    os.environ["SPARK_HOME"] = str(home)
    try:
        yield
    finally:
        del os.environ["SPARK_HOME"]
        # Java opens archives late, so the folder stays as long as Java does
        if not delete_at_end_of_jvm([home, *home.iterdir()]):
            shutil.rmtree(home)


def link_spark_home(home: Path) -> None:
    """Make a folder of links to all that the installed PySpark has for Spark but the archive.

    Raises:
        OSError: It cannot be made.
    """
    home.mkdir(exist_ok=True)
    for part in _installed().iterdir():
        if part.name != "python":
            (home / part.name).symlink_to(part)


def _finds_installed_pyspark(config: Mapping[str, str]) -> bool:
    master = config.get("spark.master", "local")
    is_other = "SPARK_HOME" in os.environ or "spark.pyspark.python" in config
    if has_jvm() or is_other or not (master == "local" or master.startswith("local[")):
        return False
    installed = _installed()
    folders = [*site.getsitepackages(), site.getusersitepackages(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    search_path = {Path(folder).resolve() for folder in folders if folder}
    return (installed / "jars").is_dir() and installed.parent.resolve() in search_path


def _make_home() -> Path | None:
    home = Path(tempfile.mkdtemp(prefix="millrace-spark-"))
    try:
        link_spark_home(home)
    except OSError:
        # Not every file system has links
        shutil.rmtree(home)
        return None
    return home


def _installed() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent
