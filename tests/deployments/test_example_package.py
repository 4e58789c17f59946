"""A stranger's package, built as a wheel and installed beside millrace's wheels, is found without touching our code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
import zlib
from pathlib import Path

import pytest

from support.environments import PACKAGES, ROOT, build_wheels
from support.kafka import consume

EXAMPLE = ROOT / "examples/millrace-partitioner-example"

# Without paths to the source tree: the wheels are to be tried
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

WRITE = """
    import sys

    import millrace

    servers, topics = sys.argv[1], sys.argv[2:]
    spark = millrace.local_session(cores=2)
    rows = spark.range(300).selectExpr(
        "concat(element_at(array('de', 'fr', 'pl'), CAST(id % 3 AS INT) + 1), ':', id) AS key", "'v' AS value"
    )
    region = "millrace_partitioner_example.region"
    names = ["by-region", f"{region}:RegionPartitioner", f"{region}.RegionPartitioner"]
    for topic, name in zip(topics, names, strict=True):
        rows.write.format("millrace").option("properties.bootstrap.servers", servers).option("topic", topic).option(
            "sink.partitioner", name
        ).mode("append").save()
    spark.stop()
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    """The wheels of millrace and of the example."""
    folder = tmp_path_factory.mktemp("wheels")
    build_wheels(folder, [*PACKAGES, EXAMPLE])
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory, wheels) -> Path:
    """The Python of a fresh environment with the wheels of millrace and of the example in it."""
    folder = tmp_path_factory.mktemp("example")
    run(sys.executable, "-m", "venv", folder / "venv")
    interpreter = folder / "venv/bin/python"
    run(interpreter, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", *wheels.glob("*.whl"))
    # What is no package of ours comes from the environment of the tests: PySpark alone would take a minute
    own = Path(run(interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (own / "third-parties.pth").write_text(sysconfig.get_path("purelib"))
    return interpreter


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.smoke
def test_the_plugin_is_listed_with_its_package(python):
    listed = run(python, "-m", "millrace_cli", "plugins", "--json")

    assert '"by-region"' in listed
    assert "millrace-partitioner-example" in listed
    assert str(ROOT) not in run(python, "-c", "import millrace; print(millrace.__file__)")


def test_the_examples_own_tests_pass_on_our_suite(python):
    assert " passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE / "tests")


@pytest.mark.smoke
def test_records_are_written_through_it_by_name_and_by_class(python, broker, make_topic, tmp_path):
    topics = [make_topic(4) for _ in range(3)]
    script = tmp_path / "write.py"
    script.write_text(textwrap.dedent(WRITE))

    run(python, script, broker.bootstrap_servers, *topics)

    for topic in topics:
        messages = consume(broker.bootstrap_servers, topic)
        assert len(messages) == 300
        for message in messages:
            assert message.partition() == zlib.crc32(message.key().split(b":")[0]) % 4


@pytest.mark.smoke
def test_core_needs_neither_the_broker_nor_the_command_line(wheels):
    (core,) = wheels.glob("millrace_core-*.whl")
    with zipfile.ZipFile(core) as wheel:
        packages = {name.partition("/")[0] for name in wheel.namelist() if not name.startswith("millrace_core-")}
        (metadata,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    assert packages == {"millrace", "pyspark_millrace"}
    assert not re.search(r"^Requires-Dist: (millrace|click|rich)", metadata, re.MULTILINE)


def test_the_command_comes_with_its_wheel(python, tmp_path):
    listed = run(python.with_name("millrace"), "--help")

    for command in ("broker", "demo", "peek", "plugins", "schema"):
        assert re.search(rf"^  {command} ", listed, re.MULTILINE)
    status = subprocess.run(
        [python.with_name("millrace"), "broker", "status"],
        env={**ENVIRONMENT, "MILLRACE_STATE": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (status.returncode, status.stdout, status.stderr) == (3, "not running\n", "")
