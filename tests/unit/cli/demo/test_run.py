import pytest

from millrace.errors import MachineError
from millrace.plugins.discovery import Discovery
from millrace.plugins.manager import PluginManager, plugin_manager
from millrace_cli.demo.run import check_plugins


def test_missing_plugins_are_named_with_what_to_install():
    with pytest.raises(MachineError) as error:
        check_plugins(PluginManager(Discovery((), ())))
    assert str(error.value) == (
        "missing for the demo: format 'json', offset initializer 'earliest-offset', partitioner 'default'; "
        "run: pip install millrace-kafka"
    )


def test_the_standard_plugins_are_enough():
    check_plugins(plugin_manager())
