//! A step of a plan, written as what it does with rows.
//!
//! In go the plans whose rows a step takes; out comes a plan of DataFusion. A [`RowStep`] says what is its own, and
//! [`RowNode`] is the rest of an [`ExecutionPlan`], which all steps share. A step must give the rows of each partition
//! in the order of its input, unless its properties say otherwise.

use arrow::datatypes::Schema;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, PlanProperties};
use std::fmt;
use std::sync::Arc;

/// Batches of rows, as they come.
pub(crate) type Batches = SendableRecordBatchStream;

/// What a step does with the rows of its inputs.
pub(crate) trait RowStep: fmt::Debug + Clone + Send + Sync + 'static {
    /// The name that DataFusion knows it by.
    const NAME: &'static str;

    /// What `explain` says of it.
    fn text(&self) -> String {
        Self::NAME.to_owned()
    }

    /// What is known of its rows: by default, all that is known of those of its first input.
    ///
    /// # Errors
    ///
    /// The inputs do not fit each other.
    fn properties(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<PlanProperties>> {
        Ok(Arc::clone(inputs[0].properties()))
    }

    /// How the rows of an input have to be spread over its partitions.
    fn distribution(&self, _input: &Arc<dyn ExecutionPlan>) -> Distribution {
        Distribution::UnspecifiedDistribution
    }

    /// The expressions that it evaluates.
    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        Vec::new()
    }

    /// The rows of one partition.
    ///
    /// # Errors
    ///
    /// Those of its inputs, and its own.
    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches>;
}

/// A step with its inputs.
#[derive(Debug)]
pub(crate) struct RowNode<S> {
    step: S,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    properties: Arc<PlanProperties>,
}

impl<S: RowStep> RowNode<S> {
    pub(crate) fn try_new(step: S, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<Self> {
        let properties = step.properties(&inputs)?;
        Ok(Self { step, inputs, properties })
    }

    /// A step with one input, as a plan.
    pub(crate) fn over(step: S, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::try_new(step, vec![input])?))
    }

    pub(crate) fn step(&self) -> &S {
        &self.step
    }

    pub(crate) fn inputs(&self) -> &[Arc<dyn ExecutionPlan>] {
        &self.inputs
    }

    /// The rows of one partition of the first input.
    pub(crate) fn input(&self, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        self.inputs[0].execute(partition, context)
    }

    /// The columns of its rows.
    pub(crate) fn columns(&self) -> &Arc<Schema> {
        self.properties.eq_properties.schema()
    }
}

impl<S: RowStep> DisplayAs for RowNode<S> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.step.text())
    }
}

impl<S: RowStep> ExecutionPlan for RowNode<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.inputs.len() == 1; self.inputs.len()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.inputs.len()]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        self.inputs.iter().map(|input| self.step.distribution(input)).collect()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for expression in &self.step.expressions() {
            if visit(expression)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::try_new(self.step.clone(), children)?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        self.step.rows(self, partition, context)
    }
}
