"""Properties of a producer that exclude idempotence, which Java's client then turns off by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

ENABLE_IDEMPOTENCE = "enable.idempotence"

MAX_IN_FLIGHT = 5
"""The most requests in flight with which brokers can keep records in order."""

_JAVA_NAMES = {
    "acks": "acks",
    "request.required.acks": "acks",
    "retries": "retries",
    "message.send.max.retries": "retries",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "max.in.flight.requests.per.connection": "max.in.flight.requests.per.connection",
}
"""Java's names for librdkafka's, which has two for each."""

_CONSEQUENCES = {
    "acks": "a record can be lost when a broker fails, and a request that is sent again can repeat records",
    "retries": "a record whose request fails is not sent again, and fails its task",
    "max.in.flight.requests.per.connection": "a request that is sent again can repeat and reorder records",
}

_ALLOWED = {
    "acks": "all",
    "retries": "at least 1",
    "max.in.flight.requests.per.connection": f"at most {MAX_IN_FLIGHT}",
}


def exclusions(client: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that exclude idempotence, by Java's names.

    Args:
        client: Properties by librdkafka's names.
    """
    properties = {java: client[name].strip() for name, java in _JAVA_NAMES.items() if name in client}
    return {name: value for name, value in properties.items() if _excludes(name, value)}


def is_turned_off(client: Mapping[str, str]) -> bool:
    """Return whether properties exclude idempotence where the user says nothing of it."""
    return ENABLE_IDEMPOTENCE not in client and bool(exclusions(client))


def is_idempotent(settings: Mapping[str, object]) -> bool:
    """Return whether a producer with these settings is idempotent."""
    return str(settings.get(ENABLE_IDEMPOTENCE, "")).strip().lower() == "true"


def exclusion_warnings(client: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence for each property that turns idempotence off."""
    if is_turned_off(client):
        for name, value in exclusions(client).items():
            yield (
                f"option 'properties.{name}' = {value!r} turns the producer's idempotence off: {_CONSEQUENCES[name]}"
            )


def exclusion_problems(client: Mapping[str, str], *, is_exactly_once: bool) -> Iterator[str]:
    """Yield one sentence for each property that cannot be what it is, since idempotence is required.

    Args:
        client: Properties by librdkafka's names.
        is_exactly_once: Whether records are written in transactions.
    """
    required_by = {
        "'sink.delivery-guarantee' = 'exactly-once'": is_exactly_once,
        "'properties.enable.idempotence' = 'true'": client.get(ENABLE_IDEMPOTENCE, "").strip().lower() == "true",
    }
    reason = next((option for option, requires in required_by.items() if requires), None)
    if reason is not None:
        for name, value in exclusions(client).items():
            yield f"option 'properties.{name}': expected {_ALLOWED[name]}, which {reason} requires; got {value!r}"


def _excludes(name: str, value: str) -> bool:
    if name == "acks":
        return value.lower() not in ("all", "-1")
    if not value.isdigit():
        return False
    return int(value) == 0 if name == "retries" else int(value) > MAX_IN_FLIGHT
