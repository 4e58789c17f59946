"""Functions of Spark that expressions of pipelines may call by their names: those of one row."""

from __future__ import annotations

from importlib.metadata import version

# Without operators, aggregates, generators, windows, and functions that tell of the task or run code
_NAMES = """
abs acos acosh add_months aes_decrypt aes_encrypt array array_append array_compact array_contains array_distinct
array_except array_insert array_intersect array_join array_max array_min array_position array_prepend array_remove
array_repeat array_size array_union arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh base64 bin bit_count
bit_get bit_length bitmap_bit_position bitmap_bucket_number bitmap_count bround btrim cardinality cbrt ceil ceiling char
char_length character_length chr coalesce collate collation concat concat_ws contains conv convert_timezone cos cosh cot
crc32 csc curdate current_catalog current_database current_date current_path current_schema current_time
current_timestamp current_timezone current_user date_add date_diff date_format date_from_unix_date date_part date_sub
date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decode degrees e element_at elt encode
endswith equal_null exp expm1 factorial find_in_set flatten floor format_number format_string from_base32 from_json
from_unixtime from_utc_timestamp get get_json_object getbit greatest hash hex hmac hour hypot if ifnull initcap instr
is_valid_utf8 is_valid_variant is_variant_null isnan isnotnull isnull jaro_winkler_similarity json_array_length
json_object_keys last_day lcase least left len length levenshtein ln localtime localtimestamp locate log log10 log1p
log2 lower lpad ltrim luhn_check make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz
make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries map_from_arrays
map_from_entries map_keys map_values mask md5 minute mod month monthname months_between named_struct nanvl negative
next_day now nullif nullifzero nvl nvl2 octet_length overlay parse_json parse_url pi pmod position positive pow power
printf quarter quote radians raise_error rand randn random randstr regexp_count regexp_extract regexp_extract_all
regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint round rpad rtrim schema_of_json
schema_of_variant sec second sentences sequence session_user sha sha1 sha2 shiftleft shiftright shiftrightunsigned
shuffle sign signum sin sinh size slice sort_array soundex space split split_part sqrt startswith str_to_map struct
substr substring substring_index tan tanh time_diff time_from_micros time_from_millis time_from_seconds time_to_micros
time_to_millis time_to_seconds time_trunc timestamp_micros timestamp_millis timestamp_nanos timestamp_seconds to_base32
to_binary to_char to_date to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
to_utc_timestamp to_varchar to_variant_object translate trim trunc try_add try_aes_decrypt try_divide try_element_at
try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json
try_parse_url try_subtract try_to_binary try_to_date try_to_number try_to_time try_to_timestamp try_url_decode
try_validate_utf8 try_variant_array_append try_variant_get try_variant_insert try_variant_set typeof ucase unbase64
unhex uniform unix_date unix_micros unix_millis unix_nanos unix_seconds unix_timestamp upper url_decode url_encode user
uuid validate_utf8 variant_array_append variant_delete variant_get variant_insert variant_set variant_strip_nulls
version weekday weekofyear width_bucket xxhash64 year zeroifnull
"""

_SINCE_SPARK_4_3 = """
from_base32 hmac jaro_winkler_similarity localtime timestamp_nanos to_base32 try_variant_array_append try_variant_insert
try_variant_set unix_nanos variant_array_append variant_delete variant_insert variant_set variant_strip_nulls
"""

_has_spark_4_3 = tuple(map(int, version("pyspark").split(".")[:2])) >= (4, 3)

SPARK_FUNCTIONS = frozenset(_NAMES.split()) - frozenset(() if _has_spark_4_3 else _SINCE_SPARK_4_3.split())
"""Their names, in lower case."""

VOLATILE_FUNCTIONS = frozenset(("rand", "randn", "random", "randstr", "shuffle", "uniform", "uuid"))
"""Functions that return different values in two calls for the same row."""
