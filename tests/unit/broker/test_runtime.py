from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker.installation import KafkaInstallation, sha256
from millrace_broker.java import Java
from millrace_broker.runtime import class_archive_path, ensure_class_archive

JAVA = Java(Path("/usr/bin/java"), 17, "17.0.1")


@pytest.fixture
def installation(tmp_path: Path) -> KafkaInstallation:
    """An installation with a class archive for one Java."""
    installed = KafkaInstallation("4.1.0", tmp_path)
    archive = class_archive_path(JAVA, installed)
    archive.write_bytes(b"classes")
    archive.with_suffix(".sha256").write_text(sha256(archive))
    return installed


def test_an_intact_archive_is_used(installation: KafkaInstallation) -> None:
    assert ensure_class_archive(JAVA, installation, pytest.fail) == class_archive_path(JAVA, installation)


def test_a_damaged_archive_is_not_used_and_made_anew(installation: KafkaInstallation) -> None:
    created: list[Path] = []
    damaged = class_archive_path(JAVA, installation)
    damaged.write_bytes(b"class")
    ensure_class_archive(JAVA, installation, lambda _: None, lambda path, *_: created.append(path))
    assert created == [damaged]


def test_another_java_has_another_archive(installation: KafkaInstallation) -> None:
    def fail(*_: object) -> None:
        raise MachineError("no such Java here")

    messages: list[str] = []
    other = Java(JAVA.path, 21, "21.0.1")
    assert ensure_class_archive(other, installation, messages.append, fail) is None
    assert messages[-1] == "Apache Kafka 4.1.0 will start slowly: no such Java here"
