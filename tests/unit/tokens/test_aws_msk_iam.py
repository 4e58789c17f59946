from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from millrace.errors import ClientError, OptionsError
from millrace.testing import TokenProviderSuite
from millrace_tokens.aws_msk_iam import AwsMskIamOptions, AwsMskIamTokens
from support.post_server import post_server

BROKERS = ("b-1.demo.abc123.c2.kafka.eu-west-1.amazonaws.com:9098",)
ROLE_ARN = "arn:aws:iam::123456789012:role/reader"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine whose only credentials are these."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-5ecret")
    return tmp_path


def signed_url(value: str) -> str:
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).decode()


def query(provider: AwsMskIamTokens, brokers: tuple[str, ...] = BROKERS) -> dict[str, str]:
    url = signed_url(provider.token(brokers).value)
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


class TestAwsMskIam(TokenProviderSuite):
    def make_provider(self) -> AwsMskIamTokens:
        return AwsMskIamTokens()

    def bootstrap_servers(self) -> tuple[str, ...]:
        return BROKERS

    def secrets(self) -> list[str]:
        return ["aws-5ecret"]


def test_a_token_is_a_presigned_request_to_connect() -> None:
    began = int(time.time())
    token = AwsMskIamTokens().token(BROKERS)
    assert began + 900 <= token.expires_at <= time.time() + 900
    url = urlsplit(signed_url(token.value))
    assert (url.scheme, url.netloc, url.path) == ("https", "kafka.eu-west-1.amazonaws.com", "/")
    given = query(AwsMskIamTokens())
    assert given["Action"] == "kafka-cluster:Connect"
    assert given["X-Amz-Credential"].startswith("AKIAEXAMPLE/")
    assert given["X-Amz-Credential"].endswith("/eu-west-1/kafka-cluster/aws4_request")
    assert given["X-Amz-Expires"] == "900"
    assert len(given["X-Amz-Signature"]) == 64


@pytest.mark.parametrize(
    ("brokers", "region"),
    [
        (("boot-1.kafka-serverless.us-east-2.amazonaws.com:9098",), "us-east-2"),
        (("10.0.0.1:9098", "b-2.demo.c1.kafka.ap-south-1.amazonaws.com:9098"), "ap-south-1"),
    ],
)
def test_the_region_is_that_of_the_brokers(brokers: tuple[str, ...], region: str) -> None:
    assert f"/{region}/" in query(AwsMskIamTokens(), brokers)["X-Amz-Credential"]


def test_the_region_of_the_option_or_the_environment_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = ("kafka.example:9098",)
    with pytest.raises(OptionsError, match=r"provider\.region' is required, .* names, kafka\.example:9098, and"):
        AwsMskIamTokens().token(brokers)
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert "/eu-north-1/" in query(AwsMskIamTokens(), brokers)["X-Amz-Credential"]
    assert "/sa-east-1/" in query(AwsMskIamTokens(AwsMskIamOptions(region="sa-east-1")), brokers)["X-Amz-Credential"]


def test_credentials_of_a_profile_are_taken(machine: Path) -> None:
    (machine / "credentials").write_text(
        "[dev]\naws_access_key_id = AKIAPROFILE\naws_secret_access_key = profile-5ecret\n"
    )
    assert query(AwsMskIamTokens(AwsMskIamOptions(profile="dev")))["X-Amz-Credential"].startswith("AKIAPROFILE/")


def test_a_machine_without_credentials_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ClientError, match=r"no AWS credentials.*AWS_ACCESS_KEY_ID.*provider\.profile"):
        AwsMskIamTokens().token(BROKERS)


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, str]]]:
    """A security token service on loopback, and the requests that it has got."""
    asked: list[dict[str, str]] = []
    answer = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
        <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-5ecret</SecretAccessKey>
        <SessionToken>session-token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
        </Credentials></AssumeRoleResult></AssumeRoleResponse>"""

    def assume_role(_: str, body: str) -> tuple[int, bytes]:
        asked.append({name: values[0] for name, values in parse_qs(body).items()})
        return 200, answer.encode()

    with post_server(assume_role, "text/xml") as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        yield asked


def test_a_role_is_assumed(sts: list[dict[str, str]]) -> None:
    options = AwsMskIamOptions(role_arn=ROLE_ARN, role_session_name="nightly", role_external_id="x-1")
    given = query(AwsMskIamTokens(options))
    assert given["X-Amz-Credential"].startswith("ASIAROLE/")
    assert given["X-Amz-Security-Token"] == "session-token"
    (asked,) = sts
    assert asked["Action"] == "AssumeRole"
    assert (asked["RoleArn"], asked["RoleSessionName"], asked["ExternalId"]) == (ROLE_ARN, "nightly", "x-1")
