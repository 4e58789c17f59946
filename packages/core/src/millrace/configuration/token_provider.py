"""Resolve the token provider that client properties name, with its options parsed."""

from __future__ import annotations

from millrace.errors import PluginError
from millrace.kafka.security.provider_login import PROVIDER, ProviderLogin
from millrace.options.parser import OptionParser
from millrace.plugins.kinds import TOKEN_PROVIDER
from millrace.plugins.manager import PluginRef, plugin_manager


def refer_to_provider(login: ProviderLogin) -> tuple[PluginRef | None, list[str]]:
    """Return a reference to a login's token provider, None if it cannot be used, and the problems found."""
    prefix = f"properties.{PROVIDER}."
    try:
        options_class = plugin_manager().load(TOKEN_PROVIDER, login.name).Options
    except PluginError as error:
        return None, [f"option 'properties.{PROVIDER}': {error}"]
    parser = OptionParser("millrace", {prefix + name: value for name, value in login.options.items()})
    options = parser.take(options_class, prefix)
    problems = list(parser.problems())
    return (None if problems else plugin_manager().refer(TOKEN_PROVIDER, login.name, options)), problems
