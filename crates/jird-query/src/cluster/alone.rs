//! Plans that one process runs, as one step.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, displayable,
};
use std::fmt;
use std::sync::Arc;

/// A whole plan with one partition. The planner that cuts plans into tasks sees no step within it, and changes none.
#[derive(Debug)]
pub(super) struct Alone {
    plan: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Alone {
    pub(super) fn new(plan: Arc<dyn ExecutionPlan>) -> Self {
        debug_assert_eq!(plan.properties().partitioning.partition_count(), 1, "one partition");
        let before = plan.properties();
        let rows = EquivalenceProperties::new(plan.schema());
        let (emission, bounds) = (before.emission_type, before.boundedness);
        let properties = PlanProperties::new(rows, Partitioning::UnknownPartitioning(1), emission, bounds);
        Self { plan, properties: Arc::new(properties) }
    }

    /// The plan that is run.
    pub(super) fn plan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.plan
    }
}

impl DisplayAs for Alone {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Alone: {}", displayable(self.plan.as_ref()).one_line())
    }
}

impl ExecutionPlan for Alone {
    fn name(&self) -> &'static str {
        "Alone"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.plan.execute(partition, context)
    }
}
