//! Functions that make arrays and objects of values, or ask about the elements of an array.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, mixed, to_json};
use crate::sql::base::functions::{
    ALL, ANY, JSON_ARRAY, JSON_BRACED, JSON_CONCAT, JSON_ELEMENTS, JSON_INSERT, JSON_MEMBER, JSON_MERGE_PATCH,
    JSON_OBJECT, JSON_OF_LIST, JSON_REMOVE, JSON_REPEAT, JSON_REPLACE, JSON_SET,
};
use crate::sql::base::syntax::{arguments, call, function_name, quote, string};
use crate::sql::resolve::resolver::{Context, Wants};
use crate::sql::resolve::scope::Variable;
use sqlparser::ast::{Array, Expr, LambdaFunctionParameter, OneOrManyWithParens};

/// Functions of lists that have no form for JSON text. What they would make of the text of an array is wrong.
const OF_LISTS: &[&str] = &[
    "array_any_value",
    "array_remove_n",
    "array_replace",
    "array_replace_all",
    "array_replace_n",
    "array_resize",
    "arrays_zip",
    "map",
    "map_from_entries",
];

impl dyn Walk<'_> + '_ {
    /// Rewrites such a function. `None` if it is another function.
    pub(crate) fn building(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
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
                let key = |index: usize| string(&format!("c{index}"));
                let members = given.into_iter().enumerate().flat_map(|(index, value)| [key(index), value]);
                call(JSON_OBJECT, self.all_json(members.collect(), context)?)
            }
            JSON_SET | JSON_INSERT | JSON_REPLACE | JSON_REMOVE | JSON_MERGE_PATCH => {
                check_changes(&name, given.len())?;
                call(&name, self.all_json(given, context)?)
            }
            JSON_MEMBER => {
                *expr = call(JSON_MEMBER, self.all_json(given, context)?);
                return Ok(Some(Form::Typed));
            }
            JSON_BRACED => {
                let mut members = given;
                self.all(&mut members, context)?;
                call(JSON_BRACED, members)
            }
            "array_transform" | "array_filter" | "array_first" | "array_any_match" => {
                let (made, form) = self.with_lambda(&name, given, context)?;
                *expr = made;
                return Ok(Some(form));
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

    /// A function of an array and a lambda, whose parameter stands for each element.
    fn with_lambda(&mut self, name: &str, given: Vec<Expr>, context: Context) -> Result<(Expr, Form), Error> {
        let wrong = || Error::sql(format!("`{name}` takes an array and a lambda, such as `x -> x + 1`"));
        let [mut list, Expr::Lambda(mut lambda)] = <[Expr; 2]>::try_from(given).map_err(|_| wrong())? else {
            return Err(wrong());
        };
        let OneOrManyWithParens::One(LambdaFunctionParameter { name: parameter, .. }) = &mut lambda.params else {
            return Err(wrong());
        };
        let written = quote(parameter);
        let is_json = self.json_of(&mut list, context)?;
        if is_json {
            list = call(JSON_ELEMENTS, vec![list]);
        }
        let form = if is_json { Form::Json } else { Form::Typed };
        if let Some(scope) = self.resolver().scopes.last_mut() {
            let name = format!("{written} {}", scope.variables.len());
            parameter.value.clone_from(&name);
            scope.variables.push(Variable { written, name, form });
        }
        let result = if name == "array_transform" {
            self.any(&mut lambda.body, context)
        } else {
            self.condition(&mut lambda.body, context).map(|()| form)
        };
        if let Some(scope) = self.resolver().scopes.last_mut() {
            scope.variables.pop();
        }
        let result = result?;
        let made = call(name, vec![list, Expr::Lambda(lambda)]);
        Ok(match (name, result) {
            ("array_any_match", _) => (made, Form::Typed),
            ("array_first", form) => (made, form),
            (_, Form::Json) => (call(JSON_OF_LIST, vec![made]), Form::Json),
            (_, Form::Typed) => (made, Form::Typed),
        })
    }

    /// Whether one of the values is JSON text.
    pub(crate) fn some_json(&mut self, given: &[Expr], context: Context) -> Result<bool, Error> {
        for value in given {
            // A field that no record has may be an array in others.
            let field = self.resolver().field_at(value)?;
            let is_unknown = field.is_some_and(|field| self.resolver().types(&field).next().is_none());
            if is_unknown || self.any(&mut value.clone(), context)? == Form::Json {
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

    pub(crate) fn all_json(&mut self, given: Vec<Expr>, context: Context) -> Result<Vec<Expr>, Error> {
        let json = |mut value: Expr| {
            let form = self.any(&mut value, Context { wants: Wants::Texts, ..context })?;
            Ok(to_json(value, form))
        };
        given.into_iter().map(json).collect()
    }
}

/// How many arguments the functions take that change JSON texts.
fn check_changes(name: &str, given: usize) -> Result<(), Error> {
    let (is_right, takes) = match name {
        JSON_REMOVE => (given > 1, "a value, and paths such as '$.a[0].b'"),
        JSON_MERGE_PATCH => (given > 1, "a value, and what is laid over it"),
        _ => (given > 2 && given % 2 == 1, "a value, then a path such as '$.a[0].b' and what belongs there, …"),
    };
    if is_right { Ok(()) } else { Err(Error::sql(format!("`{name}` takes {takes}"))) }
}
