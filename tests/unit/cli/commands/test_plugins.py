import json
import os
import subprocess
import sys

import pytest

from support.distributions import install_metadata
from support.tiers import nightly_but


def install(folder, name, hooks, modules=None, entry_point=None):
    """Install a distribution of one module with hooks, as pip would, and further modules beside it."""
    module = name.replace("-", "_")
    install_metadata(folder, name, {"millrace": {name: entry_point or module}})
    (folder / f"{module}.py").write_text(hooks)
    for file, text in (modules or {}).items():
        (folder / file).write_text(text)


def hooks(answer):
    return f"from millrace.plugins import hookimpl\n\n@hookimpl\ndef millrace_partitioners():\n    return {answer!r}\n"


PARTITIONER = """
import pyarrow as pa
from millrace.contracts import Partitioner

class Zero(Partitioner):
    def partition(self, topic, keys, values, partition_count):
        return pa.array([0] * len(values), pa.int32())
"""


@pytest.fixture
def run(tmp_path):
    def call(*arguments):
        path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
        return subprocess.run(
            [sys.executable, "-m", "millrace_cli", "plugins", *arguments],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )

    return call


def entry(report, name):
    return next(plugin for plugin in report["plugins"] if plugin["name"] == name)


def test_a_strangers_plugin_is_listed_with_all_there_is_to_know(run, tmp_path):
    install(tmp_path, "acme-zero", hooks({"zero": "acme_zero_part:Zero"}), {"acme_zero_part.py": PARTITIONER})
    assert entry(json.loads(run("--json").stdout), "zero") == {
        "kind": "partitioner",
        "name": "zero",
        "class": "acme_zero_part:Zero",
        "distribution": "acme-zero",
        "version": "1.2.3",
        "error": None,
        "missing": None,
    }


def test_the_standard_plugins_are_listed_beside_it(run):
    report = json.loads(run("--json").stdout)
    kinds = {plugin["kind"] for plugin in report["plugins"]}
    assert {"format", "partitioner", "offset initializer", "header filter"} <= kinds
    assert entry(report, "json")["distribution"] == "millrace-formats"


def test_a_table_in_a_pipe_has_one_plain_line_for_each_plugin(run, tmp_path):
    install(tmp_path, "acme-zero", hooks({"zero": "acme_zero_part:Zero"}), {"acme_zero_part.py": PARTITIONER})
    lines = [line.split() for line in run().stdout.splitlines()]
    assert lines[0] == ["kind", "name", "class", "distribution", "version", "state"]
    assert ["partitioner", "zero", "acme_zero_part:Zero", "acme-zero", "1.2.3", "ok"] in lines


def test_a_package_that_cannot_be_imported_is_told_with_its_cause(run, tmp_path):
    install(tmp_path, "acme-broken", "import a_library_that_is_not_there\n")
    done = run("--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["failures"] == [
        {
            "entry_point": "acme_broken",
            "distribution": "acme-broken",
            "version": "1.2.3",
            "error": "ModuleNotFoundError: No module named 'a_library_that_is_not_there'",
        }
    ]
    assert entry(report, "json")  # the others are listed all the same


def test_a_broken_package_is_told_below_the_table(run, tmp_path):
    install(tmp_path, "acme-broken", "import a_library_that_is_not_there\n")
    done = run()
    assert done.returncode == 1
    assert (
        "millrace: plugin package acme-broken 1.2.3 (acme_broken) cannot be loaded: "
        "ModuleNotFoundError: No module named 'a_library_that_is_not_there'\n"
    ) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_hook_that_millrace_does_not_know_is_told(run, tmp_path):
    install(tmp_path, "acme-typo", hooks({}).replace("millrace_partitioners", "millrace_partitionerz"))
    (failure,) = json.loads(run("--json").stdout)["failures"]
    assert "millrace_partitionerz" in failure["error"]


def test_a_class_that_cannot_be_imported_is_told_beside_its_plugin(run, tmp_path):
    install(tmp_path, "acme-zero", hooks({"zero": "acme_zero_part:Nought"}), {"acme_zero_part.py": PARTITIONER})
    done = run("--json")
    assert done.returncode == 1
    error = entry(json.loads(done.stdout), "zero")["error"]
    assert error.startswith("partitioner 'zero' of acme-zero 1.2.3 cannot be loaded from 'acme_zero_part:Nought'")
    assert "has no attribute 'Nought'" in error
    plain = run()
    assert error in plain.stderr
    assert "cannot be used" in plain.stdout


def test_a_name_given_twice_is_told_with_both_packages(run, tmp_path):
    for name in ("acme-one", "acme-two"):
        install(tmp_path, name, hooks({"zero": "acme_zero_part:Zero"}), {"acme_zero_part.py": PARTITIONER})
    done = run("--json")
    assert done.returncode == 1
    errors = [plugin["error"] for plugin in json.loads(done.stdout)["plugins"] if plugin["name"] == "zero"]
    assert len(errors) == 2
    assert "acme-one 1.2.3" in errors[0]
    assert "acme-two 1.2.3" in errors[0]


EXTRAS = {
    # The module that is not there: the plugins that need it, and what installs it
    "pyruhvro": {
        "avro": "millrace-formats[avro]",
        "avro-confluent": "millrace-formats[avro-confluent]",
        "debezium-avro-confluent": "millrace-formats[avro-confluent]",
    },
    "google.protobuf": {
        "protobuf": "millrace-formats[protobuf]",
        "protobuf-confluent": "millrace-formats[protobuf]",
    },
    "confluent_kafka.schema_registry": {
        "avro-confluent": "millrace-formats[avro-confluent]",
        "debezium-avro-confluent": "millrace-formats[avro-confluent]",
        "json-confluent": "millrace-formats[json-confluent]",
        "protobuf-confluent": "millrace-formats[protobuf-confluent]",
    },
    "grpc_tools": {"protobuf-confluent": "millrace-formats[protobuf-confluent]"},
    "aws_msk_iam_sasl_signer": {"aws-msk-iam": "millrace-tokens[aws]"},
    "azure.identity": {"azure": "millrace-tokens[azure]"},
    "google.auth": {"google": "millrace-tokens[google]"},
}


@pytest.mark.parametrize("module", nightly_but(EXTRAS, "pyruhvro"))
def test_an_extra_that_is_not_installed_is_told_with_the_command(run, tmp_path, module):
    # As Python does where it is not installed: the import fails
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    done = run("--json")
    assert done.returncode == 0
    plugins = json.loads(done.stdout)["plugins"]
    missing = {plugin["name"]: plugin["missing"] for plugin in plugins if plugin["missing"]}
    assert missing.keys() == EXTRAS[module].keys()
    for name, extra in EXTRAS[module].items():
        assert missing[name].endswith(f"pip install '{extra}'")
    assert not any(plugin["error"] for plugin in plugins)
    plain = run()
    states = {fields[-5]: fields[-2:] for fields in map(str.split, plain.stdout.splitlines()) if "more" in fields}
    assert all(state == ["needs", "more"] for state in states.values())
    assert len(states) == len(missing)
    assert {f"millrace: {text}" for text in missing.values()} == set(plain.stderr.splitlines())


def test_a_plugin_that_cannot_be_checked_is_told(run, tmp_path):
    check = """
    @classmethod
    def check_requirements(cls):
        raise RuntimeError("no GPU here")
"""
    install(tmp_path, "acme-zero", hooks({"zero": "acme_zero_part:Zero"}), {"acme_zero_part.py": PARTITIONER + check})
    done = run("--json")
    assert done.returncode == 1
    assert entry(json.loads(done.stdout), "zero")["error"] == (
        "partitioner 'zero' of acme-zero 1.2.3 cannot be checked: RuntimeError: no GPU here"
    )


def test_the_help_documents_the_shape_and_the_exit_code(run):
    text = run("--help").stdout
    assert "{kind, name, class, distribution, version, error, missing}" in text
    assert "The exit code is 0 if all plugins can be loaded, 1 otherwise." in " ".join(text.split())
