"""The catalog that a command looks a topic up in."""

from __future__ import annotations

from click.testing import CliRunner

from millrace_cli.root import root

CATALOG = ("--catalog", "support.catalogs:WordsCatalog")


def run(*arguments: str):
    return CliRunner().invoke(root, ["schema", *arguments])


def test_another_catalog_is_named_by_an_option_and_needs_no_brokers() -> None:
    done = run("letter", *CATALOG, "--option", "words=letter,number", "--spark")
    assert (done.exit_code, done.stdout) == (0, "`letter` STRING\n")


def test_the_properties_of_the_client_are_given_to_any_catalog() -> None:
    done = run("letter", *CATALOG, "--property", "client.id=c")
    assert done.exit_code == 1
    assert "properties.client.id" in done.stderr


def test_the_standard_catalog_needs_brokers() -> None:
    done = run("letter")
    assert done.exit_code == 1
    assert "give them by --bootstrap-servers HOST:PORT" in done.stderr


def test_a_catalog_that_is_not_installed_is_told_with_those_that_are() -> None:
    done = run("letter", "--catalog", "kafak")
    assert done.exit_code == 1
    assert "unknown catalog 'kafak'; installed: kafka. Did you mean 'kafka'?" in done.stderr
