"""Queries that Flink and millrace both run: a name, which tells a failure, and the text of each.

A query that Flink answers in another way has a line in `DIFFERENT`, with words of the page that tells users so.
"""

from __future__ import annotations

_TUMBLE = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(moment), INTERVAL '10' MINUTES))"
_HOP = "TABLE(HOP(TABLE events, DESCRIPTOR(moment), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))"
_CUMULATE = "TABLE(CUMULATE(TABLE events, DESCRIPTOR(moment), INTERVAL '5' MINUTES, INTERVAL '20' MINUTES))"
_SESSION = "TABLE(SESSION(TABLE events PARTITION BY customer, DESCRIPTOR(moment), INTERVAL '8' MINUTES))"
_FIRST = "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS rn FROM {}) WHERE {}"
_JSON = "JSON_VALUE(doc, '$.{}')"

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")

EXPRESSIONS = {
    # Numbers
    "integer division": "qty / 2",
    "division of decimals": "amount / 3",
    "division by a decimal": "qty / 1.5",
    "division of doubles": "price / 3",
    "remainder": "id % 7",
    "mod": "MOD(id, 7)",
    "remainder of a negative": "MOD(CAST(amount AS INT), 7)",
    "product of decimals": "amount * 1.19",
    "sum of decimals": "amount + 0.001",
    "difference": "amount - qty",
    "negation": "-qty",
    "abs": "ABS(amount)",
    "round": "ROUND(amount, 1)",
    "round of doubles": "ROUND(price, 1)",
    "floor": "FLOOR(price)",
    "ceil": "CEIL(amount)",
    "ceiling": "CEILING(price)",
    "power": "POWER(qty, 2)",
    "sqrt": "SQRT(qty)",
    "sign": "SIGN(amount)",
    "exp": "EXP(qty)",
    "ln": "LN(price)",
    "log10": "LOG10(price)",
    "truncate": "TRUNCATE(amount, 1)",
    "truncate of doubles": "TRUNCATE(price, 1)",
    "truncate of integers": "TRUNCATE(id, -1)",
    "truncate to whole numbers": "TRUNCATE(amount)",
    "greatest": "GREATEST(qty, 3)",
    "least": "LEAST(qty, id)",
    "decimal into int": "CAST(amount AS INT)",
    "double into int": "CAST(price AS INT)",
    "double into decimal": "CAST(price AS DECIMAL(10, 1))",
    "decimal into double": "CAST(amount AS DOUBLE)",
    "decimal into text": "CAST(amount AS STRING)",
    "double into text": "CAST(price AS STRING)",
    "int into boolean": "CAST(qty AS BOOLEAN)",
    "boolean into text": "CAST(qty > 3 AS STRING)",
    "text into int": "CAST('12' AS INT) + id",
    "text that is no number": "TRY_CAST(product AS INT)",
    # Texts
    "upper": "UPPER(product)",
    "lower": "LOWER(product)",
    "concat": "CONCAT(product, '-', CAST(id AS STRING))",
    "concatenation": "product || '!'",
    "concat_ws": "CONCAT_WS(',', product, 'x', CAST(NULL AS STRING))",
    "char_length": "CHAR_LENGTH(product)",
    "character_length": "CHARACTER_LENGTH(product)",
    "substring": "SUBSTRING(product, 2)",
    "substring with length": "SUBSTRING(product FROM 2 FOR 2)",
    "substr": "SUBSTR(product, 2, 2)",
    "substring from the end": "SUBSTRING(product, -2)",
    "position": "POSITION('p' IN product)",
    "locate": "LOCATE('p', product)",
    "instr": "INSTR(product, 'p')",
    "trim": "TRIM(product)",
    "trim of a letter": "TRIM(BOTH 'a' FROM product)",
    "ltrim": "LTRIM('  x')",
    "lpad": "LPAD(product, 7, '*')",
    "rpad": "RPAD(product, 2, '*')",
    "repeat": "REPEAT(product, 2)",
    "replace": "REPLACE(product, 'p', 'q')",
    "reverse": "REVERSE(product)",
    "initcap": "INITCAP(product)",
    "left": "LEFT(product, 2)",
    "right": "RIGHT(product, 2)",
    "regexp_replace": "REGEXP_REPLACE(product, '[aeiou]', '.')",
    "regexp_extract": "REGEXP_EXTRACT(product, '([a-z])p', 1)",
    "regexp_extract of the whole": "REGEXP_EXTRACT(product, '[a-z]+')",
    "regexp": "REGEXP(product, '^a')",
    "like": "product LIKE 'a%'",
    "like with an escape": "product LIKE '%!_%' ESCAPE '!'",
    "similar to": "product SIMILAR TO '(apple|fig)'",
    "split_index": "SPLIT_INDEX(day_text, '-', 1)",
    "ascii": "ASCII(product)",
    "chr": "CHR(65 + qty)",
    "md5": "MD5(product)",
    "sha256": "SHA256(product)",
    "to_base64": "TO_BASE64(product)",
    "from_base64": "FROM_BASE64('aGVsbG8=')",
    "overlay": "OVERLAY(product PLACING 'xx' FROM 2 FOR 1)",
    "str_to_map": "STR_TO_MAP('a=1,b=2')",
    "a quote": "'it''s' || product",
    # Conditions
    "case": "CASE WHEN qty > 5 THEN 'many' WHEN qty IS NULL THEN 'none' ELSE 'few' END",
    "simple case": "CASE product WHEN 'fig' THEN 1 ELSE 0 END",
    "coalesce": "COALESCE(qty, -1)",
    "ifnull": "IFNULL(qty, -1)",
    "nullif": "NULLIF(qty, 3)",
    "if": "IF(qty > 3, 'a', 'b')",
    "is distinct from": "qty IS DISTINCT FROM 3",
    "between": "qty BETWEEN 2 AND 4",
    "in": "product IN ('fig', 'Pear')",
    "not in": "qty NOT IN (1, 2)",
    "is true": "(qty > 3) IS TRUE",
    "is not false": "(qty > 3) IS NOT FALSE",
    "and, or, not": "NOT (qty > 3 AND price < 100) OR amount > 0",
    # Times
    "extract year": "EXTRACT(YEAR FROM ts)",
    "hour": "HOUR(ts)",
    "dayofweek": "DAYOFWEEK(CAST(ts AS DATE))",
    "week": "WEEK(TO_DATE(day_text))",
    "quarter": "QUARTER(TO_DATE(day_text))",
    "dayofyear": "DAYOFYEAR(TO_DATE(day_text))",
    "date_format": "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm')",
    "to_date": "TO_DATE(day_text)",
    "to_timestamp": "TO_TIMESTAMP(day_text || ' 10:00:00')",
    "to_timestamp of no time": "TO_TIMESTAMP(product)",
    "to_timestamp with a pattern": "TO_TIMESTAMP(day_text, 'yyyy-MM-dd')",
    "timestampdiff of days": "TIMESTAMPDIFF(DAY, TO_TIMESTAMP('2024-01-31 12:00:00'), ts)",
    "timestampdiff of months": (
        "TIMESTAMPDIFF(MONTH, TO_TIMESTAMP('2024-01-31 00:00:00'), TO_TIMESTAMP(day_text || ' 00:00:00'))"
    ),
    "timestampadd": "TIMESTAMPADD(MINUTE, qty, ts)",
    "an interval added": "ts + INTERVAL '90' MINUTE",
    "an interval of months": "ts + INTERVAL '1' MONTH",
    **{f"floor to the {unit.lower()}": f"FLOOR(ts TO {unit})" for unit in _UNITS},
    **{f"ceil to the {unit.lower()}": f"CEIL(ts TO {unit})" for unit in _UNITS},
    "floor of a date": "FLOOR(TO_DATE(day_text) TO MONTH)",
    "ceil of a date": "CEIL(TO_DATE(day_text) TO WEEK)",
    "floor of a time with a zone": "FLOOR(CAST(ts AS TIMESTAMP_LTZ(3)) TO DAY)",
    "a time of day": "CAST(ts AS TIME)",
    "a time of day in milliseconds": "CAST(ts AS TIME(3))",
    "a time of day into text": "CAST(CAST(ts AS TIME) AS STRING)",
    "hours of a time of day": "HOUR(CAST(ts AS TIME))",
    "a timestamp into text": "CAST(ts AS STRING)",
    "a date into text": "CAST(TO_DATE(day_text) AS STRING)",
    "text into a date": "CAST(day_text AS DATE)",
    "text into a timestamp": "CAST('2024-02-29 01:02:03.5' AS TIMESTAMP(3))",
    "from_unixtime": "FROM_UNIXTIME(id)",
    "unix_timestamp": "UNIX_TIMESTAMP('2024-03-09 10:00:00')",
    "to_timestamp_ltz": "TO_TIMESTAMP_LTZ(id, 0)",
    "to_timestamp_ltz in milliseconds": "TO_TIMESTAMP_LTZ(id * 1001, 3)",
    "date_format of a text": "DATE_FORMAT(day_text || ' 10:00:00', 'MM/dd')",
    # Collections
    "element": "tags[1]",
    "element beyond the end": "tags[9]",
    "cardinality": "CARDINALITY(tags)",
    "array_contains": "ARRAY_CONTAINS(tags, 'a')",
    "array": "ARRAY[id, qty]",
    "map": "MAP['q', qty, 'i', id]",
    "row": "ROW(id, product)",
    "value of a map": "props['x']",
    "value of an absent key": "props['nope']",
    "field of a row": "ship.city",
    "map_keys": "MAP_KEYS(MAP['a', 1])",
    "array_distinct": "ARRAY_DISTINCT(ARRAY[qty, qty, 1])",
    "array_join": "ARRAY_JOIN(tags, '+')",
    # JSON
    "json_value": _JSON.format("a.b"),
    "json_value of a number": _JSON.format("n"),
    "json_value of an object": _JSON.format("a"),
    "json_value of null": _JSON.format("e"),
    "json_value in an array": _JSON.format("l[1].k"),
    "json_value with a type": "JSON_VALUE(doc, '$.a.b' RETURNING INT)",
    "json_value with a default": "JSON_VALUE(doc, '$.zz' DEFAULT 'none' ON EMPTY)",
    "json_value of a name that comes twice": "JSON_VALUE('{\"a\": 1, \"a\": 2}', '$.a')",
    "json_value with a default for a lax path": "JSON_VALUE(doc, 'lax $.zz' DEFAULT 'none' ON EMPTY)",
    "json_value with a default for errors": "JSON_VALUE(doc, '$.a' DEFAULT 'none' ON ERROR)",
    "json_value of null with a default": "JSON_VALUE(doc, '$.e' DEFAULT 'none' ON ERROR)",
    "json_value of no json": "JSON_VALUE(product, '$.a' DEFAULT 'none' ON ERROR)",
    "json_query": "JSON_QUERY(doc, '$.a')",
    "json_query of an array": "JSON_QUERY(doc, '$.l')",
    "json_query of a number": "JSON_QUERY(doc, '$.n')",
    "json_query of all": "JSON_QUERY(doc, '$')",
    "json_query with a wrapper": "JSON_QUERY(doc, '$.s' WITH WRAPPER)",
    "json_query with a conditional wrapper": "JSON_QUERY(doc, '$.l' WITH CONDITIONAL WRAPPER)",
    "json_query on error": "JSON_QUERY(doc, '$.zz' EMPTY ARRAY ON ERROR)",
    "json_query on empty": "JSON_QUERY(doc, 'lax $.zz' EMPTY OBJECT ON EMPTY)",
    "json_exists": "JSON_EXISTS(doc, '$.a.b')",
    "json_exists of null": "JSON_EXISTS(doc, '$.e')",
    "json_exists of nothing": "JSON_EXISTS(doc, '$.zz')",
    "json_exists of no json": "JSON_EXISTS(product, '$.a' UNKNOWN ON ERROR)",
    "json_exists with a lax path": "JSON_EXISTS(doc, 'lax $.zz' TRUE ON ERROR)",
    "is json": "doc IS JSON",
    "is not json": "product IS NOT JSON",
    "is json object": "doc IS JSON OBJECT",
    "is json array": "JSON_QUERY(doc, '$.l') IS JSON ARRAY",
    "is json scalar": "CAST(qty AS STRING) IS JSON SCALAR",
    "json_object": "JSON_OBJECT('k' VALUE qty)",
    "json_object without null": "JSON_OBJECT('k' VALUE product, 'a' VALUE JSON_ARRAY(qty, id) ABSENT ON NULL)",
    "json_object of many types": (
        "JSON_OBJECT('z' VALUE amount, KEY 'y' VALUE price, 'x' VALUE qty > 3, 'w' VALUE tags)"
    ),
    "json_array": "JSON_ARRAY(qty, product, JSON_OBJECT('k' VALUE id))",
    "json_array with null": "JSON_ARRAY(qty, product NULL ON NULL)",
    "json_string": "JSON_STRING(product)",
    "json_string of a number": "JSON_STRING(amount)",
}
"""Expressions over the columns of ``orders``."""

QUERIES = {
    # Rows
    "all columns": "SELECT * FROM orders",
    "a filter": "SELECT id, amount FROM orders WHERE amount > 50",
    "a filter with null": "SELECT id FROM orders WHERE NOT (qty > 3)",
    "not equal": "SELECT id, product FROM orders WHERE product <> 'fig'",
    "an alias": "SELECT o.id AS number, o.qty * 2 AS `double qty` FROM orders AS o",
    "a subquery": "SELECT n FROM (SELECT qty + 1 AS n FROM orders) AS t WHERE n > 2",
    "with": "WITH big AS (SELECT id, qty FROM orders WHERE qty > 5) SELECT id FROM big",
    "distinct": "SELECT DISTINCT product, qty FROM orders",
    "union all": "SELECT id FROM orders UNION ALL SELECT qty FROM orders",
    "union": "SELECT product FROM orders UNION SELECT 'new'",
    "values": "SELECT a, b FROM (VALUES (1, 'x'), (2, 'y')) AS t (a, b)",
    "unnest": "SELECT id, tag FROM orders CROSS JOIN UNNEST(tags) AS t (tag)",
    "unnest of a map": "SELECT id, k, v FROM orders CROSS JOIN UNNEST(props) AS t (k, v)",
    "unnest of rows": (
        "SELECT id, a, b FROM orders CROSS JOIN UNNEST(ARRAY[ROW(id, product), ROW(qty, 'x')]) AS t (a, b)"
    ),
    "unnest that keeps rows": "SELECT id, tag FROM orders LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE",
    "unnest with ordinality": "SELECT id, tag, n FROM orders CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, n)",
    "unnest after a comma": "SELECT id, UPPER(tag) AS tag FROM orders, UNNEST(tags) AS t (tag) WHERE tag <> 'a'",
    "unnest of changes": (
        "SELECT c.id, x FROM customers AS c CROSS JOIN UNNEST(ARRAY[c.name, c.city]) AS t (x) WHERE x IS NOT NULL"
    ),
    "groups of unnested changes": (
        "SELECT x, COUNT(*) AS n FROM customers CROSS JOIN UNNEST(ARRAY[name, city]) AS t (x) GROUP BY x"
    ),
    "union of streams": "SELECT product FROM orders UNION SELECT day_text FROM orders",
    "union of many": "SELECT qty FROM orders UNION SELECT customer FROM orders UNION SELECT 99 - qty FROM orders",
    "union of changing tables": "SELECT city FROM customers UNION SELECT kind FROM accounts",
    "in a subquery": "SELECT id FROM orders WHERE customer IN (SELECT id FROM customers WHERE city = 'Oslo')",
    "exists": "SELECT id FROM accounts AS a WHERE EXISTS (SELECT 1 FROM customers AS c WHERE c.id = a.owner)",
    # Aggregates
    "count": "SELECT COUNT(*) AS n FROM orders",
    "counts of a group": "SELECT product, COUNT(*) AS n, COUNT(qty) AS q FROM orders GROUP BY product",
    "sums": "SELECT product, SUM(qty) AS s, SUM(amount) AS a FROM orders GROUP BY product",
    "average of integers": "SELECT product, AVG(qty) AS a FROM orders GROUP BY product",
    "average of decimals": "SELECT product, AVG(amount) AS a FROM orders GROUP BY product",
    "average of doubles": "SELECT customer, AVG(price) AS a FROM orders GROUP BY customer",
    "min and max": "SELECT customer, MIN(amount) AS l, MAX(product) AS h FROM orders GROUP BY customer",
    "count of distinct values": "SELECT product, COUNT(DISTINCT customer) AS n FROM orders GROUP BY product",
    "sum of distinct values": "SELECT product, SUM(DISTINCT qty) AS n FROM orders GROUP BY product",
    "filter of an aggregate": "SELECT product, COUNT(*) FILTER (WHERE qty > 3) AS n FROM orders GROUP BY product",
    "having": "SELECT product, COUNT(*) AS n FROM orders GROUP BY product HAVING COUNT(*) > 20",
    "a group by an expression": "SELECT qty / 2 AS half, COUNT(*) AS n FROM orders GROUP BY qty / 2",
    "a group of two columns": "SELECT product, customer, SUM(qty) AS s FROM orders GROUP BY product, customer",
    "grouping sets": "SELECT product, qty, COUNT(*) AS n FROM orders GROUP BY GROUPING SETS ((product), (qty))",
    "rollup": "SELECT product, COUNT(*) AS n FROM orders GROUP BY ROLLUP (product)",
    "listagg": "SELECT qty, LISTAGG(CAST(id AS STRING)) AS l FROM orders WHERE qty = 8 GROUP BY qty",
    "listagg with null": "SELECT customer, LISTAGG(product, '+') AS l FROM orders GROUP BY customer",
    "listagg of distinct values": "SELECT customer, LISTAGG(DISTINCT product) AS l FROM orders GROUP BY customer",
    "listagg of all": "SELECT LISTAGG(CAST(id AS STRING), ';') FILTER (WHERE qty > 6) AS l FROM orders",
    "array_agg": "SELECT customer, ARRAY_AGG(qty) AS l FROM orders GROUP BY customer",
    "array_agg without null": "SELECT customer, ARRAY_AGG(qty IGNORE NULLS) AS l FROM orders GROUP BY customer",
    "array_agg with a filter": (
        "SELECT product, ARRAY_AGG(ts) FILTER (WHERE qty > 7) AS l, COUNT(*) AS n FROM orders GROUP BY product"
    ),
    "array_agg of distinct values": "SELECT product, ARRAY_AGG(DISTINCT customer) AS l FROM orders GROUP BY product",
    "last_value": "SELECT customer, LAST_VALUE(qty) AS q FROM orders GROUP BY customer",
    "first_value": "SELECT customer, FIRST_VALUE(qty) AS q FROM orders GROUP BY customer",
    "stddev_pop": "SELECT product, ROUND(STDDEV_POP(qty), 6) AS s FROM orders GROUP BY product",
    "var_samp": "SELECT product, ROUND(VAR_SAMP(price), 3) AS s FROM orders GROUP BY product",
    "an aggregate of an aggregate": (
        "SELECT n, COUNT(*) AS c FROM (SELECT product, COUNT(*) AS n FROM orders GROUP BY product) GROUP BY n"
    ),
    # Windows
    "tumble": f"SELECT window_start, window_end, COUNT(*) AS n FROM {_TUMBLE} GROUP BY window_start, window_end",
    "tumble by a key": (
        f"SELECT window_start, product, SUM(qty) AS s FROM {_TUMBLE} GROUP BY window_start, window_end, product"
    ),
    "tumble with distinct values": (
        f"SELECT window_start, COUNT(DISTINCT customer) AS n FROM {_TUMBLE} GROUP BY window_start, window_end"
    ),
    "window_time": f"SELECT window_time, COUNT(*) AS n FROM {_TUMBLE} GROUP BY window_start, window_end, window_time",
    "hop": f"SELECT window_start, COUNT(*) AS n FROM {_HOP} GROUP BY window_start, window_end",
    "cumulate": f"SELECT window_start, window_end, COUNT(*) AS n FROM {_CUMULATE} GROUP BY window_start, window_end",
    "cumulate by a key": (
        f"SELECT product, window_end, COUNT(DISTINCT customer) AS n FROM {_CUMULATE} "
        "GROUP BY window_start, window_end, product"
    ),
    "windows of window_time": (
        "SELECT window_start, window_end, SUM(n) AS n FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(ended), "
        "INTERVAL '30' MINUTES)) GROUP BY window_start, window_end"
    ),
    "session": (
        f"SELECT customer, window_start, window_end, COUNT(*) AS n FROM {_SESSION} "
        "GROUP BY customer, window_start, window_end"
    ),
    "rows of windows": f"SELECT id, window_start FROM {_TUMBLE}",
    "the older tumble": (
        "SELECT TUMBLE_START(moment, INTERVAL '10' MINUTE) AS s, COUNT(*) AS n FROM events "
        "GROUP BY TUMBLE(moment, INTERVAL '10' MINUTE)"
    ),
    "the older hop": (
        "SELECT HOP_END(moment, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS e, COUNT(*) AS n FROM events "
        "GROUP BY HOP(moment, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)"
    ),
    "the older session": (
        "SELECT customer, SESSION_START(moment, INTERVAL '8' MINUTE) AS s, COUNT(*) AS n FROM events "
        "GROUP BY customer, SESSION(moment, INTERVAL '8' MINUTE)"
    ),
    "the older tumble of a query": (
        "SELECT product, TUMBLE_ROWTIME(moment, INTERVAL '10' MINUTE) IS NOT NULL AS r, "
        "TUMBLE_END(moment, INTERVAL '10' MINUTE) AS e, SUM(qty) AS s FROM (SELECT * FROM events WHERE qty > 2) "
        "GROUP BY product, TUMBLE(moment, INTERVAL '10' MINUTE) HAVING COUNT(*) > 1"
    ),
    "the older tumble of local times": (
        "SELECT TUMBLE_START(t.ts, INTERVAL '10' MINUTE) AS s, COUNT(*) AS n FROM local_events AS t "
        "GROUP BY TUMBLE(t.ts, INTERVAL '10' MINUTE)"
    ),
    "windows of local times": (
        "SELECT window_start, COUNT(*) AS n "
        "FROM TABLE(TUMBLE(TABLE local_events, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) "
        "GROUP BY window_start, window_end"
    ),
    "rows with local times": "SELECT id, ts FROM local_events",
    # Changes
    "a changing table": "SELECT * FROM customers",
    "a filter of changes": "SELECT id, name FROM customers WHERE credit > 50",
    "a projection of changes": "SELECT city, credit * 2 AS twice FROM customers",
    "groups of changes": "SELECT city, COUNT(*) AS n, SUM(credit) AS s FROM customers GROUP BY city",
    "min and max of changes": "SELECT city, MIN(credit) AS l, MAX(name) AS h FROM customers GROUP BY city",
    "distinct values of changes": "SELECT DISTINCT city FROM customers",
    "distinct counts of changes": "SELECT city, COUNT(DISTINCT name) AS n FROM customers GROUP BY city",
    "a database's changes": "SELECT * FROM accounts",
    "a filter of a database's changes": "SELECT id, kind FROM accounts WHERE kind = 'a' AND balance > 0",
    "groups of a database's changes": "SELECT owner, SUM(balance) AS s, AVG(balance) AS a FROM accounts GROUP BY owner",
    "having over changes": "SELECT kind, COUNT(*) AS n FROM accounts GROUP BY kind HAVING SUM(balance) > 50",
    "all changes at once": "SELECT COUNT(*) AS n, SUM(balance) AS s FROM accounts",
    "array_agg of changes": "SELECT city, CARDINALITY(ARRAY_AGG(name)) AS n FROM customers GROUP BY city",
    "listagg of a database's changes": "SELECT kind, LISTAGG(CAST(id AS STRING)) AS l FROM accounts GROUP BY kind",
    "last_value of a database's changes": (
        "SELECT kind, FIRST_VALUE(id) AS f, LAST_VALUE(balance) AS l FROM accounts GROUP BY kind"
    ),
    "union of changes": "SELECT id, city FROM customers UNION ALL SELECT id, kind FROM accounts",
    # Joins and the first row of each key
    "a join of changing tables": (
        "SELECT a.id, c.name, a.balance FROM accounts AS a JOIN customers AS c ON a.owner = c.id"
    ),
    "a left join of changing tables": (
        "SELECT a.id, c.name FROM accounts AS a LEFT JOIN customers AS c ON a.owner = c.id"
    ),
    "a join of rows with changes": "SELECT o.id, c.name FROM orders AS o JOIN customers AS c ON o.customer = c.id",
    "a join of rows": "SELECT a.id, b.qty FROM orders AS a JOIN orders AS b ON a.id = b.id + 1",
    "a join in the old way": "SELECT a.id, c.city FROM accounts AS a, customers AS c WHERE a.owner = c.id",
    "the first row of each key": (
        "SELECT customer, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts) AS rn FROM orders) "
        "WHERE rn = 1"
    ),
    "the last row of each key": (
        "SELECT customer, id FROM "
        "(SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts DESC) AS rn FROM orders) WHERE rn = 1"
    ),
    "the top two": (
        "SELECT city, id FROM "
        "(SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY credit DESC) AS rn FROM customers) WHERE rn <= 2"
    ),
    "the first event of each key": _FIRST.format("id, customer", "customer", "moment", "events", "rn = 1"),
    "the last event of each key": _FIRST.format("id, customer", "customer", "moment DESC", "events", "rn = 1"),
    "the first that arrived": _FIRST.format("id, product", "product", "proc", "arriving", "rn = 1"),
    "the last that arrived": _FIRST.format("id, product", "product", "proc DESC", "arriving", "rn = 1"),
    "the first of equal rows": _FIRST.format("product, qty, id", "product", "qty DESC", "orders", "rn = 1"),
    # Flink answers these as batches, where the first of equal rows is any of them
    "the first without the key": _FIRST.format("id", "product", "qty, id", "orders", "rn = 1"),
    "the first with NULL at the end": _FIRST.format("product, id", "product", "qty NULLS LAST, id", "orders", "rn = 1"),
    "the top three with their numbers": _FIRST.format(
        "customer, rn, id", "customer", "amount DESC, id", "orders", "rn <= 3"
    ),
    "the second and third": _FIRST.format("product, id", "product", "price", "orders", "rn BETWEEN 2 AND 3"),
    "the first row of all": (
        "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY amount DESC) AS rn FROM orders) WHERE rn = 1"
    ),
    "the first row of changes": _FIRST.format("city, id, credit", "city", "credit DESC", "customers", "rn = 1"),
    "the first rows of a database's changes": _FIRST.format(
        "kind, rn, id, balance", "kind", "balance DESC", "accounts", "rn <= 2"
    ),
    "the first row with a filter": _FIRST.format("customer, id", "customer", "ts DESC", "orders", "rn = 1 AND qty > 2"),
    "the greatest groups": (
        "SELECT product, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, product) AS rn FROM "
        "(SELECT product, COUNT(*) AS n FROM orders GROUP BY product)) WHERE rn <= 3"
    ),
    "groups of first rows": (
        "WITH latest AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id DESC) AS rn FROM orders) "
        "SELECT product, COUNT(*) AS n FROM latest WHERE rn = 1 GROUP BY product"
    ),
    "the top rows of windows": (
        "SELECT window_start, id, rn FROM (SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY window_start, window_end ORDER BY amount DESC, id) AS rn FROM {_TUMBLE}) WHERE rn <= 2"
    ),
    "the greatest of the counts": (
        "SELECT MAX(n) AS m, SUM(n) AS s FROM (SELECT product, COUNT(*) AS n FROM orders GROUP BY product)"
    ),
    "counts of counts of changes": (
        "SELECT n, COUNT(*) AS c FROM (SELECT city, COUNT(*) AS n FROM customers GROUP BY city) GROUP BY n"
    ),
    "a count without its group": "SELECT COUNT(*) AS n FROM customers GROUP BY city",
    "groups and rows": (
        "SELECT product, COUNT(*) AS n FROM orders GROUP BY product UNION ALL SELECT name, 0 FROM customers"
    ),
    "the top rows by rank": (
        "SELECT id FROM (SELECT id, RANK() OVER (PARTITION BY customer ORDER BY qty) AS rn FROM orders) WHERE rn = 1"
    ),
    "an order with a limit": "SELECT id, amount FROM orders ORDER BY id LIMIT 5",
} | {name: f"SELECT id, {text} AS v FROM orders" for name, text in EXPRESSIONS.items()}

DIFFERENT = {
    "stddev_pop": "`STDDEV_POP(x)`, `VAR_POP(x)` and the like of integers",
    "window_time": "a microsecond before it",
    "division of decimals": "`d / 3` of a DECIMAL",
    "sign": "`SIGN(x)` of a DECIMAL",
    "exp": "`EXP(x)`, `LN(x)`, `LOG10(x)`",
    "ln": "`EXP(x)`, `LN(x)`, `LOG10(x)`",
    "log10": "`EXP(x)`, `LN(x)`, `LOG10(x)`",
    "initcap": "`INITCAP(x)`",
    "ascii": "`ASCII(x)` of a letter beyond ASCII",
    "json_value of a name that comes twice": "JSON in which an object has a name twice",
    "a timestamp into text": "a TIMESTAMP cast to STRING",
}
"""Queries whose results differ from Flink's, with the words by which docs/sql-dialect.md says so."""

_UNORDERED = "Batches have no order"
UNORDERED_BATCHES = {
    "listagg of distinct values": _UNORDERED,
    "array_agg of distinct values": _UNORDERED,
    "listagg of a database's changes": _UNORDERED,
    "last_value of a database's changes": _UNORDERED,
}
"""Queries whose results depend on an order that batches do not have, with the words of the page."""

REFUSED_STREAMS = {
    "union": "a UNION of a stream with rows that are no stream",
    "in a subquery": "a query within an expression cannot read the changes",
    "exists": "a query within an expression cannot read the changes",
    "sum of distinct values": r"SUM\(DISTINCT qty\) is not one of Spark's for streams",
    "grouping sets": "GROUPING SETS, ROLLUP and CUBE of a stream",
    "rollup": "GROUPING SETS, ROLLUP and CUBE of a stream",
    "the top rows by rank": r"RANK\(\) of a stream is not known to the reference either",
    "an order with a limit": "a stream cannot be sorted",
}
"""Queries that streams refuse, with the reason; no batch does."""
