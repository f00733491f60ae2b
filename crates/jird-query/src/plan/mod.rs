//! Changes to plans of DataFusion, and questions about them: order, groups, checkpoints, and two rules of its that were wrong.

pub(crate) mod arrival;
pub(crate) mod coded;
pub(crate) mod filters;
pub(crate) mod groups;
pub(crate) mod lambdas;
pub(crate) mod node;
pub(crate) mod ordered;
pub(crate) mod ordering;
pub(crate) mod repeated;
pub(crate) mod rounded;
pub(crate) mod sorted;
pub(crate) mod sparing;
pub(crate) mod steady;
pub(crate) mod ties;
pub(crate) mod watched;
