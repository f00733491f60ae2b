//! How operators bind.
//!
//! In comes what the parser asks of a dialect; out comes what DataFusion's generic dialect says, but for the operators that
//! it binds unlike `PostgreSQL` and `DuckDB`. What must hold: every answer of the generic dialect is passed on.

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::any::TypeId;

/// SQL as DataFusion reads it, but `2 * i ^ 2`, `'n' || i + 1` and `o ->> 'k' = 'v'` are what they are in `PostgreSQL`.
#[derive(Debug)]
pub(crate) struct Ours;

/// Below `::`, and above signs: as in `SQLite`, and where `PostgreSQL` knows an answer, as there.
const ARROW: u8 = 48;
/// A sign binds more tightly than a power: `-2 ^ 2` is 4.
const SIGN: u8 = 46;
const POWER: u8 = 45;
const PRODUCT: u8 = 40;
/// Below sums, and above comparisons.
const CONCAT: u8 = 25;

/// Methods that the generic dialect overrides, and that answer yes or no.
macro_rules! as_generic {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            GenericDialect.$name()
        })*
    };
}

impl Dialect for Ours {
    /// The parser asks for some dialects by their type.
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, char: char) -> bool {
        GenericDialect.is_delimited_identifier_start(char)
    }

    fn is_identifier_start(&self, char: char) -> bool {
        GenericDialect.is_identifier_start(char)
    }

    fn is_identifier_part(&self, char: char) -> bool {
        GenericDialect.is_identifier_part(char)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        match parser.peek_token_ref().token {
            Token::Arrow | Token::LongArrow | Token::HashArrow | Token::HashLongArrow => Some(Ok(ARROW)),
            Token::Caret => Some(Ok(POWER)),
            Token::Mul | Token::Div | Token::DuckIntDiv | Token::Mod => Some(Ok(PRODUCT)),
            Token::StringConcat => Some(Ok(CONCAT)),
            _ => GenericDialect.get_next_precedence(parser),
        }
    }

    /// The parser takes the precedence of products for that of a sign; products themselves stand above.
    fn prec_value(&self, precedence: Precedence) -> u8 {
        match precedence {
            Precedence::MulDivModOp => SIGN,
            other => GenericDialect.prec_value(other),
        }
    }

    /// What stands behind `is distinct from` ends where `and` begins: the parser takes all of it.
    fn parse_infix(&self, parser: &mut Parser<'_>, left: &Expr, _: u8) -> Option<Result<Expr, ParserError>> {
        let negated = parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]);
        if !negated && !parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
            return None;
        }
        let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
        let left = Box::new(left.clone());
        Some(right.map(|right| {
            let distinct = if negated { Expr::IsNotDistinctFrom } else { Expr::IsDistinctFrom };
            distinct(left, right.into())
        }))
    }

    as_generic! {
        supports_unicode_string_literal, supports_partition_by_after_order_by, supports_array_join_syntax,
        supports_group_by_expr, supports_group_by_with_modifier, supports_left_associative_joins_without_parens,
        supports_connect_by, supports_match_recognize, supports_pipe_operator, supports_start_transaction_modifier,
        supports_window_function_null_treatment_arg, supports_dictionary_syntax,
        supports_window_clause_named_window_reference, supports_parenthesized_set_variables,
        supports_select_wildcard_except, support_map_literal_syntax, allow_extract_custom,
        allow_extract_single_quotes, supports_extract_comma_syntax, supports_create_view_comment_syntax,
        supports_parens_around_table_factor, supports_values_as_table_factor, supports_create_index_with_clause,
        supports_explain_with_utility_options, supports_limit_comma, supports_update_order_by,
        supports_from_first_select, supports_projection_trailing_commas, supports_asc_desc_in_column_definition,
        supports_try_convert, supports_bitwise_shift_operators, supports_comment_on, supports_load_extension,
        supports_named_fn_args_with_assignment_operator, supports_struct_literal, supports_empty_projections,
        supports_nested_comments, supports_multiline_comment_hints, supports_user_host_grantee,
        supports_string_escape_constant, supports_array_typedef_with_brackets, supports_match_against,
        supports_set_names, supports_comma_separated_set_assignments, supports_filter_during_aggregation,
        supports_select_wildcard_exclude, supports_data_type_signed_suffix, supports_interval_options,
        supports_quote_delimited_string, supports_select_wildcard_replace, supports_select_wildcard_ilike,
        supports_select_wildcard_rename, supports_optimize_table, supports_install, supports_detach,
        supports_prewhere, supports_with_fill, supports_limit_by, supports_interpolate, supports_settings,
        supports_select_format, supports_comment_optimizer_hint, supports_constraint_keyword_without_name,
        supports_key_column_option, supports_comma_separated_trim, supports_cte_without_as,
        supports_select_item_multi_column_alias, supports_xml_expressions,
    }
}

#[cfg(test)]
mod tests {
    use crate::sql::base::visit;
    use crate::sql::parse;
    use sqlparser::ast::Expr;
    use std::ops::ControlFlow;

    #[test]
    fn operators_bind_as_in_postgresql() {
        for (written, meant) in [
            ("a is not distinct from b and c < 5", "(a IS NOT DISTINCT FROM b) AND (c < 5)"),
            ("a is distinct from b or c and d", "(a IS DISTINCT FROM b) OR (c AND d)"),
            ("x and a is distinct from b or c", "(x AND (a IS DISTINCT FROM b)) OR c"),
            (
                "a is distinct from b and c is distinct from d or e",
                "((a IS DISTINCT FROM b) AND (c IS DISTINCT FROM d)) OR e",
            ),
            ("not a is distinct from b and c", "(NOT (a IS DISTINCT FROM b)) AND c"),
            (
                "a is distinct from b and not c is distinct from d and e",
                "((a IS DISTINCT FROM b) AND (NOT (c IS DISTINCT FROM d))) AND e",
            ),
            ("a is distinct from b = c or d", "(a IS DISTINCT FROM (b = c)) OR d"),
            ("2 * i ^ 2 + 1", "(2 * (i ^ 2)) + 1"),
            ("10 - 2 ^ 3 ^ 2", "10 - ((2 ^ 3) ^ 2)"),
            ("-2 ^ 2", "(-2) ^ 2"),
            ("- a * b + c", "((- a) * b) + c"),
            ("-a::bigint", "-(a::bigint)"),
            ("a % 3 * b / c", "((a % 3) * b) / c"),
            ("'n' || i + 1 || 'x' = 'n2x'", "(('n' || (i + 1)) || 'x') = 'n2x'"),
            ("'n' || i like 'n%' and b", "(('n' || i) like 'n%') and b"),
            ("o ->> 'k' = 'v' and o -> 'n' + 1 > 2", "((o ->> 'k') = 'v') and (((o -> 'n') + 1) > 2)"),
            ("o ->> 'k' || 'z' is null", "((o ->> 'k') || 'z') is null"),
            ("o -> 'a' -> 'b' in (1, 2)", "(o -> 'a' -> 'b') in (1, 2)"),
            ("list_transform(l, x -> 2 * x ^ 2 + 1)", "list_transform(l, x -> ((2 * (x ^ 2)) + 1))"),
            (
                "list_filter(l, x -> x is not distinct from 1 or x > 2)",
                "list_filter(l, x -> ((x is not distinct from 1) or (x > 2)))",
            ),
            ("a is distinct from (b and c)", "a IS DISTINCT FROM (b AND c)"),
            (
                "case when a is distinct from b and c then 1 end = 1",
                "CASE WHEN (a IS DISTINCT FROM b) AND c THEN 1 END = 1",
            ),
        ] {
            assert_eq!(bracketed(written), bracketed(meant), "{written}");
        }
    }

    /// A condition with brackets around each of its parts.
    fn bracketed(condition: &str) -> String {
        let mut query = parse(&format!("select x from s where {condition}")).unwrap().query;
        let _ = visit::exprs_mut(&mut query, |expr| {
            while let Expr::Nested(inner) = expr {
                *expr = (**inner).clone();
            }
            if !matches!(expr, Expr::Identifier(_) | Expr::Value(_)) {
                *expr = Expr::Nested(expr.clone().into());
            }
            ControlFlow::<()>::Continue(())
        });
        query.to_string()
    }
}
