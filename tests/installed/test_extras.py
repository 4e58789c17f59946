"""Extras beside those of formats: each works in an environment with it alone, and is named where it is missing."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from deltalake import DeltaTable

from support.certificates import authority, issue
from support.kafka import produce
from support.postgres import Postgres
from support.token_endpoint import CLIENT_ID, CLIENT_SECRET, token_endpoint

PROGRAMS = Path(__file__).parent / "programs"
INTO_DELTA = """
source:
  type: kafka
  properties.bootstrap.servers: {servers}
  topic: {topic}
  value.format: json
  scan.startup.mode: earliest-offset
sink: {{type: delta, path: {path}}}
transform:
  - {{source-table: {topic}, projection: \\*, primary-keys: id}}
route:
  - {{source-table: {topic}, sink-table: shop.orders}}
"""
OUT_OF_POSTGRESQL = """
source:
  type: jdbc
  url: {url}
  username: {user}
  password: {password}
  tables: public.orders
  scan.startup.mode: snapshot
sink: {{type: values}}
"""
NAMES = """
CREATE TABLE names (id BIGINT, name STRING) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json'
);
SET 'execution.runtime-mode' = 'batch';
SELECT * FROM names;
"""
MSK = "b-1.demo.abc123.c2.kafka.eu-west-1.amazonaws.com:9098"


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def refusal(environment, *arguments: object, cwd: Path) -> str:
    """Return the line about an extra with which a command fails."""
    done = environment.run("millrace", *arguments, cwd=cwd)
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = (each for each in (done.stdout + done.stderr).splitlines() if "pip install" in each)
    return line


def test_a_pipeline_writes_into_delta_lake(plain, with_extra, broker, make_topic, tmp_path):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps({"id": n, "name": f"n{n}"})} for n in (1, 2, 1)])
    text = INTO_DELTA.format(servers=broker.bootstrap_servers, topic=topic, path=tmp_path / "lake")
    file = written(tmp_path / "lake.yaml", text)

    assert "pip install 'millrace-cdc[delta]'" in refusal(plain, "plan", file, cwd=tmp_path)
    with_extra("delta").output("millrace", "run", file, "--once", cwd=tmp_path)

    rows = DeltaTable(tmp_path / "lake/shop/orders").to_pyarrow_table().to_pylist()
    assert sorted((row["id"], row["name"]) for row in rows) == [(1, "n1"), (2, "n2")]


def test_a_pipeline_reads_from_postgresql(plain, with_extra, tmp_path):
    with Postgres() as postgres:
        postgres.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, name TEXT); INSERT INTO orders VALUES (1, 'a');")
        file = written(tmp_path / "copy.yaml", OUT_OF_POSTGRESQL.format(url=postgres.url, **postgres.properties))

        assert "pip install 'millrace-cdc[postgresql]'" in refusal(plain, "plan", file, cwd=tmp_path)
        printed = with_extra("postgresql").output("millrace", "run", file, "--once", cwd=tmp_path)

    assert '+I public.orders {"id":1,"name":"a"}' in printed.splitlines()


def test_a_notebook_runs_a_cell_of_sql_and_shows_a_chart(plain, with_extra, broker, make_topic, tmp_path):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps({"id": n, "name": f"n{n}"})} for n in (1, 2)])
    cell = NAMES.format(topic=topic, servers=broker.bootstrap_servers)

    missing = plain.run("python", "-c", "import millrace_ui; millrace_ui.lag_chart", cwd=tmp_path)
    assert "pip install 'millrace-ui[notebook]'" in missing.stderr
    shown = with_extra("notebook").output(
        "python", PROGRAMS / "notebook.py", cell, cwd=tmp_path, variables={"IPYTHONDIR": str(tmp_path / "ipython")}
    )

    assert "IPython.core.display.HTML object" in shown
    assert "n=2, last='n2'" in shown
    assert "starting" in shown.splitlines()


def test_spark_keeps_the_state_of_an_upsert_table(with_extra, broker, make_topic, tmp_path):
    topic = make_topic()
    versions = [(1, "a"), (2, "b"), (1, "c")]
    records = [{"key": json.dumps({"id": n}), "value": json.dumps({"id": n, "name": name})} for n, name in versions]
    produce(broker.bootstrap_servers, topic, records)
    table = {
        "properties.bootstrap.servers": broker.bootstrap_servers,
        "connector": "upsert-kafka",
        "topic": topic,
        "key.format": "json",
        "key.fields": "id",
        "value.format": "json",
        "changelog.mode": "upsert",
    }

    shown = with_extra("spark-state").output("python", PROGRAMS / "keep_state.py", json.dumps(table), cwd=tmp_path)

    assert json.loads(shown.splitlines()[-1]) == [["+I", 1, "a"], ["+I", 2, "b"], ["+U", 1, "c"], ["-U", 1, "a"]]


def token(environment, provider: str, cwd: Path, broker: str = "kafka:9092", options=None, **variables: str) -> str:
    arguments = (provider, json.dumps(options or {}), broker)
    return environment.output("python", PROGRAMS / "take_token.py", *arguments, cwd=cwd, variables=variables).strip()


def test_a_token_for_aws_is_signed(with_extra, tmp_path):
    login = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "aws-5ecret"}
    files = {name: str(tmp_path / "none") for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")}

    signed = token(with_extra("aws"), "aws-msk-iam", tmp_path, MSK, AWS_EC2_METADATA_DISABLED="true", **login, **files)

    url = base64.urlsafe_b64decode(signed + "=" * (-len(signed) % 4)).decode()
    assert url.startswith("https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster%3AConnect")
    assert re.search("X-Amz-Signature=[0-9a-f]{64}", url)


def test_a_token_of_azure_is_taken(with_extra, tmp_path):
    root = authority("root")
    server = issue("entra", root, ["127.0.0.1"])
    trusted = written(tmp_path / "ca.pem", root.certificate_pem)
    tls = written(tmp_path / "chain.pem", server.chain_pem), written(tmp_path / "key.pem", server.key_pem())
    with token_endpoint(tls) as endpoint:
        options = {"tenant-id": "acme", "client-id": CLIENT_ID, "client-secret": CLIENT_SECRET}
        options |= {"authority": endpoint.url, "disable-instance-discovery": "true"}

        taken = token(
            with_extra("azure"),
            "azure",
            tmp_path,
            "acme.servicebus.windows.net:9093",
            options,
            REQUESTS_CA_BUNDLE=str(trusted),
        )

        assert taken == endpoint.issued[-1]


def test_a_token_of_google_is_taken(with_extra, tmp_path):
    key = rsa.generate_private_key(65537, 2048)
    with token_endpoint() as endpoint:
        endpoint.account_key = key.public_key()
        account = {
            "type": "service_account",
            "project_id": "acme",
            "private_key_id": "first",
            "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "client_email": "reader@acme.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": f"{endpoint.url}/token",
        }
        file = written(tmp_path / "account.json", json.dumps(account))

        taken = token(with_extra("google"), "google", tmp_path, options={"service-account-file": str(file)})

        part = taken.split(".")[2]
        assert base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode() == endpoint.issued[-1]


@pytest.mark.parametrize(("provider", "extra"), [("aws-msk-iam", "aws"), ("azure", "azure"), ("google", "google")])
def test_a_token_provider_without_its_library_names_the_extra(plain, broker, make_topic, provider, extra, tmp_path):
    login = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.provider": provider,
        **({"sasl.oauthbearer.provider.region": "eu-west-1"} if extra == "aws" else {}),
    }
    properties = [f"--property={name}={value}" for name, value in login.items()]

    sentence = refusal(
        plain, "peek", make_topic(), "--bootstrap-servers", broker.bootstrap_servers, *properties, cwd=tmp_path
    )

    assert f"pip install 'millrace-tokens[{extra}]'" in sentence
