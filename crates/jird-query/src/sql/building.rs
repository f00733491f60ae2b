//! Functions that make arrays and objects of values, or ask about the elements of an array.

use super::expr::{Context, Wants, arguments, call, function_name};
use super::forms::{Form, mixed, to_json};
use super::select::Rewriter;
use super::uses::{ALL, ANY, JSON_ARRAY, JSON_CONCAT, JSON_OBJECT, JSON_REPEAT};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Array, DictionaryField, Expr, Value};

/// Functions of lists that have no form for JSON text. What they would make of the text of an array is wrong.
const OF_LISTS: &[&str] = &[
    "array_any_value",
    "array_except",
    "array_has",
    "array_has_all",
    "array_has_any",
    "array_intersect",
    "array_pop_back",
    "array_pop_front",
    "array_positions",
    "array_remove",
    "array_remove_all",
    "array_remove_n",
    "array_replace",
    "array_replace_all",
    "array_replace_n",
    "array_resize",
    "array_union",
    "arrays_zip",
    "cardinality",
    "flatten",
    "map",
    "map_from_entries",
];

impl Rewriter<'_> {
    /// Rewrites such a function. `None` if it is another function.
    pub(super) fn building(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        let Expr::Function(function) = &*expr else { return Ok(None) };
        if function.over.is_some() {
            return Ok(None);
        }
        let name = function_name(function);
        let given: Vec<_> = arguments(function).into_iter().cloned().collect();
        let made = match name.as_str() {
            ANY | ALL => {
                let [array, value, op] =
                    <[Expr; 3]>::try_from(given).map_err(|_| Error::sql("`any` takes an array"))?;
                let [array, value] = self.jsons(&name, vec![array, value], context)?;
                *expr = call(&name, vec![array, value, op]);
                return Ok(Some(Form::Typed));
            }
            "make_array" | "list_value" => {
                let elem = given;
                *expr = Expr::Array(Array { elem, named: true });
                return self.any(expr, context).map(Some);
            }
            "json_array" | "json_build_array" => call(JSON_ARRAY, self.all_json(given, context)?),
            "json_object" | "json_build_object" | "named_struct" => {
                if given.len() % 2 == 1 {
                    return Err(Error::sql(format!("`{name}` takes a key and a value, then another key and value, …")));
                }
                call(JSON_OBJECT, self.all_json(given, context)?)
            }
            "row" | "struct" => {
                let key = |index: usize| Expr::value(Value::SingleQuotedString(format!("c{index}")));
                let members = given.into_iter().enumerate().flat_map(|(index, value)| [key(index), value]);
                call(JSON_OBJECT, self.all_json(members.collect(), context)?)
            }
            "to_json" | "to_jsonb" => {
                let [json] = self.jsons::<1>(&name, given, context)?;
                json
            }
            "array_append" | "array_concat" | "array_prepend" | "array_repeat"
                if self.some_json(&given, context)? =>
            {
                self.joined_arrays(&name, given, context)?
            }
            name if OF_LISTS.contains(&name) && self.some_json(&given, context)? => {
                return Err(mixed(&expr.to_string(), &format!("`{name}`")));
            }
            _ => return Ok(None),
        };
        *expr = made;
        Ok(Some(Form::Json))
    }

    fn joined_arrays(&mut self, name: &str, given: Vec<Expr>, context: Context) -> Result<Expr, Error> {
        let one = |value: Expr| call(JSON_ARRAY, vec![value]);
        Ok(match name {
            "array_append" => {
                let [array, value] = self.jsons(name, given, context)?;
                call(JSON_CONCAT, vec![array, one(value)])
            }
            "array_prepend" => {
                let [value, array] = self.jsons(name, given, context)?;
                call(JSON_CONCAT, vec![one(value), array])
            }
            "array_repeat" => {
                let [value, times] = self.jsons(name, given, context)?;
                call(JSON_REPEAT, vec![value, times])
            }
            _ => call(JSON_CONCAT, self.all_json(given, context)?),
        })
    }

    /// Whether one of the values is JSON text.
    fn some_json(&mut self, given: &[Expr], context: Context) -> Result<bool, Error> {
        for value in given {
            if self.any(&mut value.clone(), context)? == Form::Json {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn jsons<const COUNT: usize>(
        &mut self,
        name: &str,
        given: Vec<Expr>,
        context: Context,
    ) -> Result<[Expr; COUNT], Error> {
        let plural = if COUNT == 1 { "" } else { "s" };
        let wrong = |_| Error::sql(format!("`{name}` takes {COUNT} value{plural}"));
        self.all_json(given, context)?.try_into().map_err(wrong)
    }

    fn all_json(&mut self, given: Vec<Expr>, context: Context) -> Result<Vec<Expr>, Error> {
        let json = |mut value: Expr| {
            let form = self.any(&mut value, Context { wants: Wants::Texts, ..context })?;
            Ok(to_json(value, form))
        };
        given.into_iter().map(json).collect()
    }
}

/// `{'k': a}`
pub(super) fn object(fields: &[DictionaryField]) -> Expr {
    let members = fields.iter().flat_map(|field| {
        let key = Expr::value(Value::SingleQuotedString(field.key.value.clone()));
        [key, (*field.value).clone()]
    });
    call(JSON_OBJECT, members.collect())
}
