"""Tokens of AWS MSK: a request to connect, presigned with IAM credentials, see aws-msk-iam-sasl-signer-python."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from millrace.contracts import Token, TokenProvider
from millrace.errors import ClientError, OptionsError
from millrace.options import option
from millrace_tokens.vendor_library import vendor_library

_NAME = "aws-msk-iam"
_BROKER = re.compile(r"\.kafka(?:-serverless)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::\d+)?$")
_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True)
class AwsMskIamOptions:
    """The options of the token provider ``aws-msk-iam``."""

    region: str | None = option(
        "region",
        default=None,
        doc="The cluster's region. By default the one in the brokers' names, or else that of AWS_REGION.",
    )
    profile: str | None = option(
        "profile",
        default=None,
        aliases=("awsProfileName",),
        doc="The profile of the AWS configuration to take credentials from. By default those that AWS's tools find.",
    )
    role_arn: str | None = option(
        "role-arn", default=None, aliases=("awsRoleArn",), doc="The role to assume with these credentials."
    )
    role_session_name: str = option(
        "role-session-name",
        default="millrace",
        aliases=("awsRoleSessionName",),
        doc="The name of the session of role-arn.",
    )
    role_external_id: str | None = option(
        "role-external-id",
        default=None,
        aliases=("awsRoleExternalId",),
        doc="The external id that role-arn requires.",
    )
    sts_region: str | None = option(
        "sts-region",
        default=None,
        aliases=("awsStsRegion",),
        doc="The region of the STS endpoint that gives the role. By default the cluster's.",
    )


class AwsMskIamTokens(TokenProvider):
    """Sign tokens with IAM credentials; AWS gives each a lifetime of 15 minutes."""

    Options = AwsMskIamOptions

    @classmethod
    def check_requirements(cls) -> None:
        """Check that aws-msk-iam-sasl-signer-python is installed: see `Plugin.check_requirements`."""
        with vendor_library(_NAME, "aws"):
            import aws_msk_iam_sasl_signer  # noqa: F401
            import botocore.credentials  # noqa: F401

    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        """Sign a new token: see `TokenProvider.token`."""
        region = self.options.region or _region(bootstrap_servers)
        with vendor_library(_NAME, "aws"):
            from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
            from botocore.credentials import CredentialProvider

        credentials = _credentials(self.options, region)

        class Given(CredentialProvider):
            def load(self) -> Any:
                return credentials

        value, expires_at_ms = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(region, Given())
        return Token(value, expires_at_ms / 1000)


def _region(bootstrap_servers: Sequence[str]) -> str:
    for server in bootstrap_servers:
        named = _BROKER.search(server)
        if named:
            return named["region"]
    for variable in _REGION_VARIABLES:
        if os.environ.get(variable):
            return os.environ[variable]
    raise OptionsError(
        "millrace",
        (
            f"option 'properties.sasl.oauthbearer.provider.region' is required, such as 'eu-central-1': it is not in "
            f"the brokers' names, {', '.join(bootstrap_servers)}, and AWS_REGION is not set",
        ),
    )


def _credentials(options: AwsMskIamOptions, region: str) -> Any:
    import botocore.session

    session = botocore.session.Session(profile=options.profile)
    credentials = session.get_credentials()
    if credentials is None:
        raise ClientError(
            f"token provider {_NAME!r}: this machine has no AWS credentials. Give it a role, set AWS_ACCESS_KEY_ID and "
            f"AWS_SECRET_ACCESS_KEY, or name a profile by 'properties.sasl.oauthbearer.provider.profile'; the driver "
            f"and all executors need them"
        )
    return credentials if options.role_arn is None else _assumed_role(session, options, region)


def _assumed_role(session: Any, options: AwsMskIamOptions, region: str) -> Any:
    from botocore.credentials import Credentials

    external_id = {} if options.role_external_id is None else {"ExternalId": options.role_external_id}
    sts = session.create_client("sts", region_name=options.sts_region or region)
    answer = sts.assume_role(RoleArn=options.role_arn, RoleSessionName=options.role_session_name, **external_id)
    credentials = answer["Credentials"]
    return Credentials(credentials["AccessKeyId"], credentials["SecretAccessKey"], credentials["SessionToken"])
