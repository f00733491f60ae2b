//! The names of our functions that rewritten queries call, and of the table of all files.

/// The table that consists of all FILE arguments.
pub(crate) const STREAM: &str = "stream";

/// The function around each key of `order by`.
pub(crate) const SORT_KEY: &str = "sort_key";

/// The function around each cast.
pub(crate) const CAST_AS: &str = "cast_as";

/// The function around the argument of `sum`.
pub(crate) const SUM_ARGUMENT: &str = "sum_argument";

/// The function that converts any column to JSON texts.
pub(crate) const JSON_TEXT: &str = "json_text";

/// The function that converts JSON texts to keys by which any values can be ordered.
pub(crate) const ORDER_KEY: &str = "order_key";

/// The same, but equal values have equal keys: they cannot be converted back.
pub(crate) const ORDER_VALUE: &str = "order_value";

/// The function that converts JSON texts to texts that are equal for equal values.
pub(crate) const JSON_KEY: &str = "json_key";

/// The function that compares two JSON texts.
pub(crate) const JSON_IN_TEXT: &str = "json_in_text";
pub(crate) const JSON_COMPARE: &str = "json_compare";

/// The function that converts such a key to the JSON text that it was made of, and the one that converts a list of them
/// to a JSON array.
pub(crate) const JSON_OF_KEY: &str = "json_of_key";
pub(crate) const JSON_OF_KEYS: &str = "json_of_keys";

/// The function that says whether a row is one of a list of rows.
pub(crate) const IN_ROWS: &str = "in_rows";

/// The function that leaves only the numbers of JSON texts.
pub(crate) const ONLY_NUMBERS: &str = "only_numbers";

/// The function that converts JSON texts to points in time.
pub(crate) const TIME_OF_JSON: &str = "time_of_json";

/// The functions behind `at time zone` and `to_char`.
pub(crate) const AT_TIME_ZONE: &str = "at_time_zone";
pub(crate) const TO_CHAR: &str = "to_char";

/// The function that computes with two JSON numbers.
pub(crate) const JSON_ARITHMETIC: &str = "json_arithmetic";

/// The functions behind `= any (…)` and `= all (…)` of the elements of an array.
pub(crate) const ANY: &str = "json_any";
pub(crate) const ALL: &str = "json_all";

/// Functions that make JSON arrays and objects.
pub(crate) const JSON_ARRAY: &str = "json_array";
pub(crate) const JSON_OBJECT: &str = "json_object";
pub(crate) const JSON_CONCAT: &str = "json_concat";
pub(crate) const JSON_REPEAT: &str = "json_repeat";

/// The function that leaves only the texts of JSON texts.
pub(crate) const ONLY_TEXTS: &str = "only_texts";

/// The function that leaves only the arrays of JSON texts.
pub(crate) const ONLY_ARRAYS: &str = "only_arrays";

/// Functions of JSON arrays and objects.
pub(crate) const JSON_LENGTH: &str = "json_length";
pub(crate) const JSON_LEN: &str = "json_len";
pub(crate) const JSON_CONTAINS: &str = "json_contains";
pub(crate) const JSON_JOIN: &str = "json_join";
pub(crate) const JSON_KEYS: &str = "json_keys";
pub(crate) const JSON_AT: &str = "json_at";
pub(crate) const JSON_PATH: &str = "json_path";
pub(crate) const JSON_ELEMENTS: &str = "json_elements";
pub(crate) const JSON_POSITION: &str = "json_position";
pub(crate) const JSON_SLICE: &str = "json_slice";
pub(crate) const JSON_SORT: &str = "json_sort";
pub(crate) const JSON_DISTINCT: &str = "json_distinct";
pub(crate) const JSON_REVERSE: &str = "json_reverse";
pub(crate) const JSON_LEAST: &str = "json_least";
pub(crate) const JSON_GREATEST: &str = "json_greatest";

/// Functions of lists, over JSON arrays.
pub(crate) const JSON_POSITIONS: &str = "json_positions";
pub(crate) const JSON_WITHOUT: &str = "json_without";
pub(crate) const JSON_HAS_ANY: &str = "json_has_any";
pub(crate) const JSON_HAS_ALL: &str = "json_has_all";
pub(crate) const JSON_UNION: &str = "json_union";
pub(crate) const JSON_INTERSECT: &str = "json_intersect";
pub(crate) const JSON_EXCEPT: &str = "json_except";
pub(crate) const JSON_FLATTEN: &str = "json_flatten";
pub(crate) const JSON_POP_FRONT: &str = "json_pop_front";
pub(crate) const JSON_POP_BACK: &str = "json_pop_back";
pub(crate) const JSON_TOTAL: &str = "json_total";
pub(crate) const JSON_MEAN: &str = "json_mean";

/// The function that makes a JSON array of a list of JSON texts.
pub(crate) const JSON_OF_LIST: &str = "json_of_list";

/// The functions behind `json_group_object`: a member as text, and the object of such members.
pub(crate) const JSON_MEMBER: &str = "json_member";
pub(crate) const JSON_BRACED: &str = "json_braced";

/// Functions that change JSON texts.
pub(crate) const JSON_SET: &str = "json_set";
pub(crate) const JSON_INSERT: &str = "json_insert";
pub(crate) const JSON_REPLACE: &str = "json_replace";
pub(crate) const JSON_REMOVE: &str = "json_remove";
pub(crate) const JSON_MERGE_PATCH: &str = "json_merge_patch";

/// The most frequent value of a column of JSON texts, and how often there is each.
pub(crate) const JSON_MODE: &str = "json_mode";
pub(crate) const JSON_HISTOGRAM: &str = "json_histogram";

/// Sums and means of the numbers of JSON texts: as doubles, and as a JSON number.
pub(crate) const NUMBER_SUM: &str = "number_sum";
pub(crate) const NUMBER_AVG: &str = "number_avg";
pub(crate) const JSON_SUM: &str = "json_sum";
