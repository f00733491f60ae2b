//! Plans that one process runs, as one step.

use crate::plan::node::{Batches, RowNode, RowStep};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, PlanProperties, displayable};
use std::sync::Arc;

/// A whole plan with one partition. The planner that cuts plans into tasks sees no step within it, and changes none.
#[derive(Clone, Debug)]
pub(super) struct Alone(Arc<dyn ExecutionPlan>);

impl Alone {
    /// The plan as one step, which has no inputs.
    pub(super) fn node(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        debug_assert_eq!(plan.properties().partitioning.partition_count(), 1, "one partition");
        Ok(Arc::new(RowNode::try_new(Self(plan), Vec::new())?))
    }

    /// The plan that a step runs; `None` if it is another step.
    pub(super) fn plan(node: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
        node.downcast_ref::<RowNode<Self>>().map(|node| &node.step().0)
    }
}

impl RowStep for Alone {
    const NAME: &'static str = "Alone";

    fn text(&self) -> String {
        format!("Alone: {}", displayable(self.0.as_ref()).one_line())
    }

    fn properties(&self, _: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<PlanProperties>> {
        let before = self.0.properties();
        let rows = EquivalenceProperties::new(self.0.schema());
        let (emission, bounds) = (before.emission_type, before.boundedness);
        Ok(Arc::new(PlanProperties::new(rows, Partitioning::UnknownPartitioning(1), emission, bounds)))
    }

    fn rows(&self, _: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        self.0.execute(partition, context)
    }
}
