"""Check the addresses that brokers advertise to clients."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from millrace.diagnosis.address import Address, check_address
from millrace.diagnosis.findings import Finding, Level, error, ok


def check_advertised(
    advertised: Mapping[Address, int], known: Collection[Address], servers: str, client: Mapping[str, str]
) -> list[Finding]:
    """Check every address of ``advertised.listeners``.

    Args:
        advertised: The brokers' ids by address.
        known: Addresses that have been checked.
        servers: The bootstrap servers, as the user gave them.
        client: The client's properties, under librdkafka's names, with its files read.
    """
    new = [address for address in advertised if address not in known]
    with ThreadPoolExecutor(max_workers=8) as pool:
        results = list(pool.map(lambda address: check_address(address, client), new))
    findings = [
        ok("advertised", str(address), f"broker {broker}") for address, broker in advertised.items() if address in known
    ]
    for address, steps in zip(new, results, strict=True):
        failed = next((step for step in steps if step.level == Level.ERROR), None)
        if failed is None:
            findings.append(ok("advertised", str(address), f"broker {advertised[address]} is reached"))
        else:
            findings.append(_unreachable(address, advertised[address], failed, servers))
    return findings


def _unreachable(address: Address, broker: int, failed: Finding, servers: str) -> Finding:
    bootstrap = servers.partition(",")[0]
    return error(
        "advertised",
        str(address),
        f"broker {broker} advertises {address}, where this host cannot connect: {failed.message}",
        f"let the administrator write an address into 'advertised.listeners' of broker {broker} that the driver and "
        f"all executors can reach, such as LISTENER://{bootstrap} if that is broker {broker} and LISTENER the name "
        f"of its listener there. Until then an entry for {address.host} in /etc/hosts of all hosts may do",
    )
