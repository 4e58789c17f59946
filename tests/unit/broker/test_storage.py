from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker.storage import format_data, new_id


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "bootstrap.checkpoint"
    path.write_bytes(b"record")
    return path


def test_a_new_folder_gets_its_ids_and_the_record(tmp_path: Path, template: Path) -> None:
    format_data(tmp_path / "data", template, "the-cluster", 2)
    meta = (tmp_path / "data" / "meta.properties").read_text()
    assert "version=1\ncluster.id=the-cluster\nnode.id=2\ndirectory.id=" in meta
    assert (tmp_path / "data" / "bootstrap.checkpoint").read_bytes() == b"record"


def test_a_formatted_folder_keeps_its_ids(tmp_path: Path, template: Path) -> None:
    format_data(tmp_path / "data", template, "one", 1)
    before = (tmp_path / "data" / "meta.properties").read_text()
    format_data(tmp_path / "data", template, "two", 1)
    assert (tmp_path / "data" / "meta.properties").read_text() == before


def test_the_folder_of_another_node_is_refused(tmp_path: Path, template: Path) -> None:
    format_data(tmp_path / "data", template, "one", 1)
    with pytest.raises(MachineError, match="holds the data of Kafka node 1, not of node 2; give another data_dir"):
        format_data(tmp_path / "data", template, "one", 2)


def test_ids_have_kafkas_form() -> None:
    assert len(new_id()) == 22
    assert new_id() != new_id()
