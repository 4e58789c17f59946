from pathlib import Path

from millrace_broker.config import server_properties, write_files
from millrace_broker.listener import Listener
from millrace_broker.plan import NodePlan, Seat, make_plan


def plan_of(folder: Path, *listeners: Listener, **properties: str) -> NodePlan:
    return make_plan(folder, listeners or (Listener("PLAINTEXT"),), properties)


def test_one_broker_has_one_copy_of_everything(tmp_path: Path) -> None:
    entries = server_properties(plan_of(tmp_path))
    assert {value for key, value in entries.items() if key.endswith("replication.factor")} == {"1"}


def test_three_brokers_have_three_copies_and_name_all_voters(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, [Listener("PLAINTEXT")], {}, Seat(2, "id", {1: 11, 2: 12, 3: 13}))
    entries = server_properties(plan)
    assert entries["default.replication.factor"] == "3"
    assert entries["controller.quorum.voters"] == "1@127.0.0.1:11,2@127.0.0.1:12,3@127.0.0.1:13"
    assert entries["listeners"].endswith(",CONTROLLER://127.0.0.1:12")


def test_a_listeners_properties_hold_for_it_alone(tmp_path: Path) -> None:
    secure = Listener("Secure", "SASL_SSL", "localhost", config={"sasl.enabled.mechanisms": "PLAIN"})
    plan = plan_of(tmp_path, secure)
    entries = server_properties(plan)
    assert entries["listener.name.secure.sasl.enabled.mechanisms"] == "PLAIN"
    assert entries["listeners"].startswith(
        f"Secure://localhost:{plan.listeners[0].port},MILLRACE_INTERNAL://127.0.0.1:"
    )
    assert "Secure:SASL_SSL,MILLRACE_INTERNAL:PLAINTEXT," in entries["listener.security.protocol.map"]


def test_given_properties_win(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, **{"auto.create.topics.enable": "true"})
    assert server_properties(plan)["auto.create.topics.enable"] == "true"


def test_values_are_written_with_javas_escapes(tmp_path: Path) -> None:
    write_files(plan_of(tmp_path, secret="a\\b\né"))
    assert "secret=a\\\\b\\n\\u00e9\n" in (tmp_path / "server.properties").read_text()
    assert (tmp_path / "server.properties").stat().st_mode & 0o777 == 0o600
