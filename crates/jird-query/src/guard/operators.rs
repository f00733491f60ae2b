//! Operators as functions, so that their calls can be guarded.

use super::call::Guarded;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl,
    Signature, Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr as PhysicalBinary, Column, LikeExpr, Literal, similar_to};
use std::sync::Arc;

/// An operator of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sign {
    Binary(Operator),
    Like {
        negated: bool,
        ignores_case: bool,
    },
    Similar {
        negated: bool,
        ignores_case: bool,
    },
    /// The value of a subquery, which becomes one for each row.
    Value,
}

/// An operator as a function; DataFusion's own operator does the work.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OfSign {
    sign: Sign,
    /// The type of the result.
    result: DataType,
    signature: Signature,
}

impl OfSign {
    /// The operator at the top of an expression and its operands, if it is one that can make much or take long.
    pub(super) fn of(expr: &Expr, schema: &DFSchema) -> Result<Option<(Self, Vec<Expr>)>> {
        let is_constant = |pattern: &Expr| matches!(pattern, Expr::Literal(..));
        let like = |like: &Like| vec![(*like.expr).clone(), (*like.pattern).clone()];
        let (sign, operands) = match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right })
                if *op == Operator::StringConcat || is_match(*op) && !is_constant(right) =>
            {
                if let (Operator::StringConcat, Some((result, mut operands))) = (*op, joined(left)) {
                    operands.push((**right).clone());
                    return Ok(Some((Self::new(Sign::Binary(*op), result, operands.len()), operands)));
                }
                (Sign::Binary(*op), vec![(**left).clone(), (**right).clone()])
            }
            Expr::Like(pair) if !is_constant(&pair.pattern) && pair.escape_char.is_none() => {
                (Sign::Like { negated: pair.negated, ignores_case: pair.case_insensitive }, like(pair))
            }
            Expr::SimilarTo(pair) if !is_constant(&pair.pattern) && pair.escape_char.is_none() => {
                (Sign::Similar { negated: pair.negated, ignores_case: pair.case_insensitive }, like(pair))
            }
            Expr::ScalarSubquery(_) => (Sign::Value, vec![expr.clone()]),
            _ => return Ok(None),
        };
        let result = expr.get_type(schema)?;
        Ok(Some((Self::new(sign, result, operands.len()), operands)))
    }

    fn new(sign: Sign, result: DataType, operands: usize) -> Self {
        Self { sign, result, signature: Signature::any(operands, Volatility::Immutable) }
    }

    /// Whether it takes long for some operands.
    pub(super) fn is_slow(&self) -> bool {
        !matches!(self.sign, Sign::Binary(Operator::StringConcat) | Sign::Value)
    }

    /// The operator, over operands that are columns of a batch or constants.
    fn physical(&self, values: &[ColumnarValue]) -> Result<Arc<dyn PhysicalExpr>> {
        let mut column = 0;
        let mut operands = values.iter().map(|value| match value {
            ColumnarValue::Array(_) => {
                column += 1;
                Arc::new(Column::new("operand", column - 1)) as Arc<dyn PhysicalExpr>
            }
            ColumnarValue::Scalar(value) => Arc::new(Literal::new(value.clone())),
        });
        let mut operand = || operands.next().unwrap_or_else(|| Arc::new(Literal::new(false.into())));
        let left = operand();
        Ok(match self.sign {
            Sign::Binary(op) => Arc::new(PhysicalBinary::new(left, op, operand())),
            Sign::Like { negated, ignores_case } => Arc::new(LikeExpr::new(negated, ignores_case, left, operand())),
            Sign::Similar { negated, ignores_case } => similar_to(negated, ignores_case, left, operand())?,
            Sign::Value => left,
        })
    }
}

fn is_match(op: Operator) -> bool {
    matches!(
        op,
        Operator::RegexMatch
            | Operator::RegexIMatch
            | Operator::RegexNotMatch
            | Operator::RegexNotIMatch
            | Operator::LikeMatch
            | Operator::ILikeMatch
            | Operator::NotLikeMatch
            | Operator::NotILikeMatch
    )
}

/// The type and the operands of a chain of `||`: one call has all of them, because plans are walked recursively, in more
/// than linear time.
fn joined(expr: &Expr) -> Option<(DataType, Vec<Expr>)> {
    let Expr::ScalarFunction(call) = expr else { return None };
    let chain = call.func.inner().downcast_ref::<Guarded>()?.inner().downcast_ref::<OfSign>()?;
    let is_chain = chain.sign == Sign::Binary(Operator::StringConcat);
    is_chain.then(|| (chain.result.clone(), call.args.clone()))
}

impl ScalarUDFImpl for OfSign {
    fn name(&self) -> &'static str {
        match self.sign {
            Sign::Binary(Operator::StringConcat) => "||",
            Sign::Binary(_) => "~",
            Sign::Like { .. } => "like",
            Sign::Similar { .. } => "similar to",
            Sign::Value => "a subquery",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(self.name(), self.result.clone(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        if self.sign != Sign::Binary(Operator::StringConcat) {
            return self.evaluated(&args.args, rows);
        }
        let mut operands = args.args.into_iter();
        let first = operands.next().unwrap_or_else(|| ColumnarValue::Scalar(false.into()));
        operands.try_fold(first, |joined, operand| self.evaluated(&[joined, operand], rows))
    }
}

impl OfSign {
    fn evaluated(&self, values: &[ColumnarValue], rows: usize) -> Result<ColumnarValue> {
        let arrays = values.iter().filter_map(|value| match value {
            ColumnarValue::Array(array) => Some(Arc::clone(array)),
            ColumnarValue::Scalar(_) => None,
        });
        let arrays: Vec<_> = arrays.collect();
        let fields: Vec<_> =
            arrays.iter().map(|array| Field::new("operand", array.data_type().clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let rows = RecordBatchOptions::new().with_row_count(Some(rows));
        self.physical(values)?.evaluate(&RecordBatch::try_new_with_options(schema, arrays, &rows)?)
    }
}
