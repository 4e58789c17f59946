"""Message types from classes and descriptor set files, and the errors of wrong ones."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from millrace.contracts import Payloads
from millrace.errors import MachineError, OptionsError
from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace_formats.protobuf import ProtobufFormat, ProtobufOptions
from unit.formats.protobuf.message_files import add_field, file_of, format_of

PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Order {
  message Item { string name = 1; }
  int64 id = 1;
  repeated Item items = 2;
  google.protobuf.Timestamp at = 3;
}
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with shop_pb2.py and shop.desc, made by protoc."""
    folder = tmp_path_factory.mktemp("protos")
    (folder / "shop.proto").write_text(PROTO)
    protoc = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"--python_out={folder}"]
    for name, flags in (("shop.desc", ["--include_imports", "--include_source_info"]), ("alone.desc", [])):
        command = [*protoc, *flags, f"--descriptor_set_out={folder / name}", "shop.proto"]
        subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def importable(generated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(generated))
    yield
    sys.modules.pop("shop_pb2", None)


def options(**given: str) -> ProtobufOptions:
    """Options as the driver parses them."""
    parser = OptionParser("millrace", {f"protobuf.{name.replace('_', '-')}": value for name, value in given.items()})
    found = parser.take(ProtobufOptions, "value.protobuf.", "protobuf.")
    parser.finish()
    assert found is not None
    return found


def problem(**given: str) -> str:
    with pytest.raises(OptionsError) as caught:
        options(**given)
    (text,) = caught.value.problems
    return text


@pytest.mark.parametrize("name", ["shop_pb2.Order", "shop_pb2:Order"])
def test_a_class(importable: None, name: str) -> None:
    format_ = ProtobufFormat(options(message_class_name=name))
    schema = format_.default_schema()
    assert schema is not None
    assert schema.names == ["id", "items", "at"]
    assert schema.field("items").type.value_type == pa.struct([("name", pa.string())])
    assert schema.field("at").type == pa.timestamp("us", "UTC")


def test_a_nested_class(importable: None) -> None:
    for name in ("shop_pb2:Order.Item", "shop_pb2.Order.Item"):
        assert ProtobufFormat(options(message_class_name=name)).default_schema() == pa.schema([("name", pa.string())])


def test_a_descriptor_set(generated: Path) -> None:
    found = options(message_class_name="shop.Order.Item", descriptor_set=str(generated / "shop.desc"))
    assert ProtobufFormat(found).default_schema() == pa.schema([("name", pa.string())])


def test_executors_need_neither_file_nor_class(generated: Path) -> None:
    for given in (
        {"message_class_name": "shop.Order", "descriptor_set": str(generated / "shop.desc")},
        {"message_class_name": "shop_pb2.Order"},
    ):
        made = subprocess.run(
            [sys.executable, "-c", _PICKLE.format(path=str(generated), given=given)], check=True, capture_output=True
        )
        format_ = ProtobufFormat(pickle.loads(made.stdout))
        decoded = format_.decoder(pa.schema([("id", pa.int64())])).decode(Payloads([b"\x08\x05"]))
        assert decoded.rows.to_pylist() == [{"id": 5}]
        assert "shop_pb2" not in sys.modules


_PICKLE = """
import pickle, sys
sys.path.insert(0, {path!r})
from millrace_formats.protobuf import ProtobufOptions
from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet
given = {given!r}
if "descriptor_set" in given:
    given["descriptor_set"] = DescriptorSet(given["descriptor_set"])
sys.stdout.buffer.write(pickle.dumps(ProtobufOptions(**given)))
"""


def test_only_what_a_message_needs_travels(generated: Path) -> None:
    file = FileDescriptorSet.FromString((generated / "shop.desc").read_bytes())
    other = FileDescriptorProto(name="other.proto", package="other")
    other.message_type.add(name="Large").field.add(name="x" * 10_000, number=1, type=5, label=1)
    (generated / "both.desc").write_bytes(FileDescriptorSet(file=[other, *file.file]).SerializeToString())
    found = options(message_class_name="shop.Order", descriptor_set=str(generated / "both.desc"))
    assert len(pickle.dumps(found)) < 1_500
    assert "timestamp" not in repr(found)


def test_files_of_a_set_may_stand_in_any_order(generated: Path) -> None:
    file = FileDescriptorSet.FromString((generated / "shop.desc").read_bytes())
    (generated / "reversed.desc").write_bytes(FileDescriptorSet(file=reversed(file.file)).SerializeToString())
    found = options(message_class_name="shop.Order", descriptor_set=str(generated / "reversed.desc"))
    assert ProtobufFormat(found).default_schema() is not None


def test_a_message_that_a_set_does_not_have(generated: Path) -> None:
    path = str(generated / "shop.desc")
    assert problem(message_class_name="shop.Ordre", descriptor_set=path) == (
        f"options 'protobuf.*': descriptor-set {path!r} has no message 'shop.Ordre'; did you mean 'shop.Order'?"
    )
    assert problem(message_class_name="xxx", descriptor_set=path).endswith(
        "has no message 'xxx'; it has google.protobuf.Timestamp, shop.Order, shop.Order.Item"
    )


def test_a_set_without_what_it_imports(generated: Path) -> None:
    assert problem(message_class_name="shop.Order", descriptor_set=str(generated / "alone.desc")).endswith(
        "is not complete: shop.proto imports google/protobuf/timestamp.proto, which it lacks; make it with "
        "protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE"
    )


def test_a_file_that_is_no_set(generated: Path) -> None:
    assert "is not a descriptor set: make one with protoc --include_imports" in problem(
        message_class_name="shop.Order", descriptor_set=str(generated / "shop.proto")
    )


def test_a_file_that_is_not_there() -> None:
    text = problem(message_class_name="shop.Order", descriptor_set="nowhere.desc")
    assert text.startswith("options 'protobuf.*': descriptor-set: there is no file 'nowhere.desc' on host ")
    assert "The driver reads it: put it there, or let Spark distribute it" in text


def test_descriptors_that_are_not_valid(tmp_path: Path) -> None:
    file = file_of()
    add_field(file.message_type.add(name="M"), "a", 1, ".t.Missing")
    del file.dependency[:]
    (tmp_path / "bad.desc").write_bytes(FileDescriptorSet(file=[file]).SerializeToString())
    assert "are not valid: Couldn't build proto file" in problem(
        message_class_name="t.M", descriptor_set=str(tmp_path / "bad.desc")
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shop.Order", "'shop.Order' cannot be imported by the driver's Python workers: there is no module 'shop'."),
        ("Order", "'Order' cannot be imported by the driver's Python workers: there is no module 'Order'. Give a"),
        ("shop_pb2:Missing", "'shop_pb2:Missing': module shop_pb2 has no Missing"),
        ("shop_pb2.Order.id", "'shop_pb2.Order.id'"),
        ("pathlib.Path", "'pathlib.Path' is not a class of protobuf messages"),
        ("json:nothing.at.all", "'json:nothing.at.all': module json has no nothing.at.all"),
    ],
)  # fmt: skip
def test_classes_that_are_none(importable: None, name: str, message: str) -> None:
    assert problem(message_class_name=name).startswith(f"options 'protobuf.*': {message}")


def test_a_module_that_fails_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_pb2.py").write_text("raise RuntimeError('made for another protobuf')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "RuntimeError: made for another protobuf. Give a class" in problem(message_class_name="broken_pb2.Order")


def test_the_message_is_required() -> None:
    assert problem() == "option 'protobuf.message-class-name' is required"


def test_a_message_that_holds_itself_has_no_columns_of_its_own() -> None:
    file = file_of()
    add_field(file.message_type.add(name="M"), "a", 1, ".t.M")
    assert format_of(file).default_schema() is None


def test_without_the_library_it_is_said_how_to_install_it(importable: None, monkeypatch: pytest.MonkeyPatch) -> None:
    format_ = ProtobufFormat(options(message_class_name="shop_pb2.Order"))
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    for make in (
        lambda: options(message_class_name="shop_pb2.Order"),
        lambda: format_.decoder(pa.schema([("id", pa.int64())])),
        lambda: format_.encoder(pa.schema([("id", pa.int64())])),
    ):
        with pytest.raises(MachineError, match=r"run there: pip install 'millrace-formats\[protobuf\]'$"):
            make()


def test_without_ptars_all_messages_take_the_exact_path(importable: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ptars", None)
    format_ = ProtobufFormat(options(message_class_name="shop_pb2.Order"))
    schema = format_.default_schema()
    rows = pa.RecordBatch.from_pylist([{"id": 1, "items": [{"name": "a"}], "at": None}], schema=schema)
    decoded = format_.decoder(schema).decode(format_.encoder(schema).encode(rows))
    assert decoded.rows.to_pylist() == rows.to_pylist()


def test_names_and_defaults_are_those_of_the_reference() -> None:
    defaults = {field.name: field.default for field in dataclasses.fields(ProtobufOptions)}
    assert {info.name: defaults[name] for name, info in options_of(ProtobufOptions).items()} == {
        "message-class-name": dataclasses.MISSING,
        "descriptor-set": None,
        "ignore-parse-errors": False,
        "read-default-values": False,
        "write-null-string-literal": "",
    }


def test_the_format_is_known_without_the_library() -> None:
    check = (
        "import sys, millrace_formats.protobuf\n"
        "heavy = ('google.protobuf', 'ptars', 'pydantic', 'pyspark', 'pandas')\n"
        "print(*(name for name in heavy if name in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
