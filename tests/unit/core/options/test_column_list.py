from __future__ import annotations

import pytest

from millrace.options.column_list import parse_column_list


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id BIGINT", ["id"]),
        (" id: BIGINT NOT NULL ,\n name STRING", ["id", "name"]),
        ("s STRUCT<a: INT, b: MAP<STRING, INT>>, d DECIMAL(10, 2), *", ["s", "d", "*"]),
        ("`a``b, c` INT COMMENT 'it\\'s, a', d INT", ["a`b, c", "d"]),
    ],
)
def test_the_names_of_columns_are_found(text: str, names: list[str]) -> None:
    columns = parse_column_list(text)
    assert [column.name for column in columns] == names
    assert "".join(",".join(column.ddl for column in columns).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["", "id", "id BIGINT,", "BIGINT<", "id BIGINT,, name STRING", "`` INT"])
def test_an_entry_without_a_name_or_a_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected columns with their types"):
        parse_column_list(text)


def test_a_repeated_column_is_refused() -> None:
    with pytest.raises(ValueError, match="expected each column once, but id is repeated"):
        parse_column_list("id INT, `id` BIGINT")
