//! Ends the work of a task.

use super::alone::Alone;
use crate::base::interrupt::Interrupt;
use crate::plan::watched::watched;
use crate::scan::NdjsonSource;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::source::DataSourceExec;
use std::sync::Arc;

/// Ends the work of a plan: its scans, and what makes many rows of few.
#[derive(Clone, Debug)]
pub struct Stop(Vec<Interrupt>);

impl Stop {
    /// The same plan, and what ends its work. Dropping the rows of a plan does not end what it has begun elsewhere.
    ///
    /// # Errors
    /// If a step of the plan cannot be made again.
    pub fn of(plan: Arc<dyn ExecutionPlan>) -> Result<(Arc<dyn ExecutionPlan>, Self)> {
        let mut all = vec![Interrupt::default()];
        let plan = plan.transform_up(|node| {
            let Some(plan) = Alone::plan(&node) else { return Ok(Transformed::no(node)) };
            let (plan, Self(more)) = Self::of(Arc::clone(plan))?;
            all.extend(more);
            Alone::node(plan).map(Transformed::yes)
        });
        let plan = watched(plan.data()?, &all[0], None)?;
        plan.apply(|node| {
            let scan = node.downcast_ref::<DataSourceExec>();
            if let Some((_, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<NdjsonSource>) {
                all.push(source.shared.options.interrupt.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok((plan, Self(all)))
    }

    /// Ends the work.
    pub fn stop(&self) {
        self.0.iter().for_each(Interrupt::stop);
    }
}
