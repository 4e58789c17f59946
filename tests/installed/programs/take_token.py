"""Print a token of a token provider; the arguments are its name, its options as JSON, and a broker."""

from __future__ import annotations

import json
import sys

from millrace.options.parser import OptionParser
from millrace.plugins.kinds import TOKEN_PROVIDER
from millrace.plugins.manager import plugin_manager

name, given, broker = sys.argv[1:]
plugin = plugin_manager().load(TOKEN_PROVIDER, name)
parser = OptionParser("provider", json.loads(given))
options = parser.take(plugin.Options)
parser.finish()
print(plugin(options).token((broker,)).value)
