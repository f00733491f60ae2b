//! A scalar function without state, as a row of a table: its name, what it takes, what it makes, and how.
//!
//! In come columns, out comes a column of as many rows. What must hold: a name stands for one function, so rows are equal if
//! their names are.

use super::predicate::json_field;
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Computes a column.
pub(super) type Compute = fn(&ScalarFunctionArgs) -> Result<ArrayRef>;

/// How many arguments a function takes, of whatever types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    Exactly(usize),
    Some,
    Any,
}

/// The type of what a function makes.
#[derive(Clone, Debug)]
pub(super) enum Makes {
    /// JSON texts, marked as such.
    Json,
    Always(DataType),
    /// By the types of the arguments.
    ByTypes(fn(&[DataType]) -> DataType),
    /// By the arguments that are constants.
    ByConstants(fn(&ReturnFieldArgs<'_>) -> Result<DataType>),
}

/// The function of this row.
pub(super) fn function(name: &'static str, takes: Takes, makes: Makes, compute: Compute) -> ScalarUDF {
    let signature = match takes {
        Takes::Exactly(count) => Signature::any(count, Volatility::Immutable),
        Takes::Some => Signature::variadic_any(Volatility::Immutable),
        Takes::Any => {
            Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Immutable)
        }
    };
    Stateless { name, signature, makes, compute }.into()
}

/// The same, of one argument.
pub(super) fn of_one(name: &'static str, makes: Makes, compute: Compute) -> ScalarUDF {
    function(name, Takes::Exactly(1), makes, compute)
}

#[derive(Debug)]
struct Stateless {
    name: &'static str,
    signature: Signature,
    makes: Makes,
    compute: Compute,
}

impl PartialEq for Stateless {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Stateless {}

impl Hash for Stateless {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Stateless {
    fn name(&self) -> &'static str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match &self.makes {
            Makes::Json => DataType::Utf8,
            Makes::Always(made) => made.clone(),
            Makes::ByTypes(made) => made(types),
            Makes::ByConstants(_) => return datafusion::common::internal_err!("{} needs its constants", self.name),
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let made = match &self.makes {
            Makes::Json => return Ok(json_field(self.name)),
            Makes::ByConstants(made) => made(&args)?,
            _ => {
                let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
                self.return_type(&types)?
            }
        };
        Ok(Arc::new(arrow::datatypes::Field::new(self.name, made, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.compute)(&args).map(ColumnarValue::Array)
    }
}

/// The values of an argument, one for each row.
pub(super) fn column(args: &ScalarFunctionArgs, index: usize) -> Result<ArrayRef> {
    args.args[index].to_array(args.number_rows)
}
