"""The executor's side: reports go to the driver over one connection for each worker process."""

from __future__ import annotations

import functools
import logging
from multiprocessing.connection import Client, Connection

from millrace.monitoring.report import Address, Report

logger = logging.getLogger("millrace.monitoring")


def send(address: Address, report: Report) -> None:
    """Tell the driver what was read; when it cannot be reached, that is told once and the report is lost."""
    sent = report.to_bytes()
    if _is_unreachable(address):
        return
    for _ in range(2):
        try:
            _connection(address).send_bytes(sent)
        except OSError as error:
            # The driver may have closed a connection that was kept for long
            _connection.cache_clear()
            failure: Exception = error
        except Exception as error:
            failure = error
            break
        else:
            return
    _give_up(address, failure)


@functools.lru_cache(maxsize=2)
def _connection(address: Address) -> Connection:
    return Client((address.host, address.port), authkey=address.secret)


_unreachable: set[Address] = set()


def _is_unreachable(address: Address) -> bool:
    return address in _unreachable


def _give_up(address: Address, failure: Exception) -> None:
    _unreachable.add(address)
    logger.warning(
        "the driver does not answer at %s:%d, so that its metrics lack what is read here: %s. Give an address of the "
        "driver that this machine can reach by option 'scan.metrics.address'",
        address.host,
        address.port,
        failure,
    )
