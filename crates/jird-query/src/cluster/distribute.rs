//! How a query is cut into tasks.

use crate::scan::NdjsonSource;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{FetchType, Limit, LogicalPlan, SkipType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::source::DataSourceExec;
use datafusion_datasource::{FileRange, PartitionedFile};
use std::sync::Arc;

/// A part has at least this many bytes: a task has costs of its own.
const PART_BYTES_MIN: u64 = 1 << 20;

/// How a query is cut into tasks.
#[derive(Debug)]
pub(crate) enum Distributed {
    /// As DataFusion cuts it: its rows do not depend on the order in which they arrive.
    Freely,
    /// Each part of the input by itself: its rows stand in the order of the input, one part after the other. The limit
    /// of the query is applied to the rows of all parts.
    InParts(Box<InParts>),
    /// One task, as on one machine: the rows depend on their order in other ways.
    Whole,
}

/// A query that is done part by part.
#[derive(Debug)]
pub(crate) struct InParts {
    /// The plan without the limit.
    pub(crate) plan: LogicalPlan,
    pub(crate) skip: usize,
    pub(crate) fetch: Option<usize>,
}

impl Distributed {
    /// How this plan is cut. `depends` says whether its rows depend on the order in which they arrive, `notes_bad` whether
    /// bad records are noted, and `tells_lines` whether the numbers of lines are wanted.
    pub(crate) fn of(plan: &LogicalPlan, depends: bool, notes_bad: bool, tells_lines: bool) -> Self {
        // Lines are numbered from the start of a file. Bad records are numbered when all parts have told how many lines
        // they have, which a part that ends early does not know.
        if tells_lines || notes_bad && ends_early(plan) {
            return Self::Whole;
        }
        match in_parts(plan) {
            _ if !depends => Self::Freely,
            Some(parts) => Self::InParts(Box::new(parts)),
            None => Self::Whole,
        }
    }
}

/// Whether a scan may end before the end of its input.
fn ends_early(plan: &LogicalPlan) -> bool {
    let ends = |node: &LogicalPlan| match node {
        LogicalPlan::Limit(_) | LogicalPlan::Join(_) => true,
        LogicalPlan::TableScan(scan) => scan.fetch.is_some(),
        LogicalPlan::Sort(sort) => sort.fetch.is_some(),
        _ => false,
    };
    plan.exists(|node| Ok(ends(node))).unwrap_or(true)
}

/// The plan as one that is done part by part, if it only filters and projects one table.
fn in_parts(plan: &LogicalPlan) -> Option<InParts> {
    match plan {
        LogicalPlan::Limit(limit) => limited(limit),
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) if has_no_subquery(plan) => {
            let inputs = plan.inputs();
            let [input] = &inputs[..] else { return None };
            let below = in_parts(input)?;
            let plan = plan.with_new_exprs(plan.expressions(), vec![below.plan]).ok()?;
            Some(InParts { plan, ..below })
        }
        other if is_row_by_row(other) => Some(InParts { plan: other.clone(), skip: 0, fetch: None }),
        _ => None,
    }
}

fn limited(limit: &Limit) -> Option<InParts> {
    let (Ok(SkipType::Literal(skip)), Ok(FetchType::Literal(fetch))) = (limit.get_skip_type(), limit.get_fetch_type())
    else {
        return None;
    };
    is_row_by_row(&limit.input).then(|| InParts { plan: (*limit.input).clone(), skip, fetch })
}

/// Whether each row of a plan comes from one record by itself.
fn is_row_by_row(plan: &LogicalPlan) -> bool {
    let passes_on = match plan {
        LogicalPlan::TableScan(_) => return true,
        LogicalPlan::Filter(_)
        | LogicalPlan::Projection(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Unnest(_) => has_no_subquery(plan),
        _ => false,
    };
    let inputs = plan.inputs();
    passes_on && inputs.len() == 1 && is_row_by_row(inputs[0])
}

fn has_no_subquery(plan: &LogicalPlan) -> bool {
    let mut has_none = true;
    let walked = plan.apply_subqueries(|_| {
        has_none = false;
        Ok(TreeNodeRecursion::Stop)
    });
    walked.is_ok() && has_none
}

/// The same plan, with its scan cut into `parts` parts, in order.
pub(crate) fn cut(plan: Arc<dyn ExecutionPlan>, parts: usize, fetch: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
    let cut = plan.transform_up(|node| {
        let scan = node.downcast_ref::<DataSourceExec>();
        let Some((config, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<NdjsonSource>) else {
            return Ok(Transformed::no(node));
        };
        let files: Vec<_> = config.file_groups.iter().flat_map(FileGroup::iter).cloned().collect();
        let part_bytes_min = source.shared.options.chunk_bytes.min(PART_BYTES_MIN);
        let groups =
            if source.shared.is_anywhere { ranges(&files, parts, part_bytes_min) } else { wholes(files, parts) };
        let groups = groups.into_iter().map(FileGroup::new).collect();
        let config = FileScanConfigBuilder::from(config.clone()).with_file_groups(groups).build();
        Ok(Transformed::yes(DataSourceExec::from_data_source(config) as Arc<dyn ExecutionPlan>))
    });
    let cut = cut.data()?;
    Ok(match fetch {
        Some(rows) => Arc::new(LocalLimitExec::new(cut, rows)),
        None => cut,
    })
}

/// Cuts files at any offset, into parts of about as many bytes each.
fn ranges(files: &[PartitionedFile], parts: usize, part_bytes_min: u64) -> Vec<Vec<PartitionedFile>> {
    let all: u64 = files.iter().map(|file| file.object_meta.size).sum();
    let part_bytes = all.div_ceil(parts.max(1) as u64).max(part_bytes_min).max(1);
    let (mut groups, mut left) = (vec![Vec::new()], part_bytes);
    for file in files {
        let (mut start, size) = (0, file.object_meta.size);
        while start < size {
            let end = size.min(start + left);
            let mut part = file.clone();
            part.range = Some(FileRange { start: start as i64, end: end as i64 });
            groups.last_mut().expect("there is one from the start").push(part);
            left -= end - start;
            start = end;
            if left == 0 {
                groups.push(Vec::new());
                left = part_bytes;
            }
        }
    }
    if groups.len() > 1 && groups.last().is_some_and(Vec::is_empty) {
        groups.pop();
    }
    groups
}

/// Puts files that cannot be cut into groups, in order.
fn wholes(files: Vec<PartitionedFile>, parts: usize) -> Vec<Vec<PartitionedFile>> {
    let each = files.len().div_ceil(parts.max(1)).max(1);
    let mut groups: Vec<Vec<PartitionedFile>> = Vec::new();
    for file in files {
        match groups.last_mut().filter(|group| group.len() < each) {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    if groups.is_empty() { vec![Vec::new()] } else { groups }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_the_files_in_order() {
        for sizes in [&[][..], &[0], &[1], &[10, 0, 7], &[100], &[3, 3, 3, 3], &[0, 0, 5]] {
            let name = |number| format!("{number}.ndjson");
            let files = sizes.iter().enumerate().map(|(number, size)| PartitionedFile::new(name(number), *size));
            let files: Vec<_> = files.collect();
            for parts in 1..9 {
                for least in [1, 4, 1000] {
                    let groups = ranges(&files, parts, least);
                    assert!(groups.len() <= parts.max(1), "{sizes:?} in {parts}");
                    let mut bytes = Vec::new();
                    for part in groups.iter().flatten() {
                        let range = part.range.as_ref().expect("it is a range");
                        bytes.extend((range.start..range.end).map(|at| (part.object_meta.location.to_string(), at)));
                    }
                    let all = sizes.iter().enumerate();
                    let all = all.flat_map(|(number, size)| (0..*size as i64).map(move |at| (name(number), at)));
                    assert!(bytes.into_iter().eq(all), "{sizes:?} in {parts} of {least}");
                }
            }
            let count = files.len();
            for parts in 1..9 {
                let groups = wholes(files.clone(), parts);
                assert!(groups.len() <= parts && groups.iter().map(Vec::len).sum::<usize>() == count);
            }
        }
    }
}
