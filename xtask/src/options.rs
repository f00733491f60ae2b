//! The arguments of `cargo xtask deep`.
use std::num::NonZero;

use crate::deep;
use crate::fuzz::Amount;

/// The options and the steps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Deep<'a> {
    pub(crate) fuzzing: Amount,
    /// Prefixes of the names of steps to run; empty means all steps.
    pub(crate) steps: Vec<&'a str>,
}

impl<'a> Deep<'a> {
    /// `None` if an option is unknown, lacks its number, or contradicts another.
    pub(crate) fn parse(arguments: &[&'a str]) -> Option<Self> {
        let (mut minutes, mut executions, mut jobs) = (None, None, None);
        let mut steps = Vec::new();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let option = match *argument {
                "--minutes" => &mut minutes,
                "--executions" => &mut executions,
                "--jobs" => &mut jobs,
                option if option.starts_with('-') => return None,
                step => {
                    steps.push(step);
                    continue;
                }
            };
            let number: u64 = arguments.next()?.parse().ok()?;
            if number == 0 || option.replace(number).is_some() {
                return None;
            }
        }
        let fuzzing = match (minutes, executions, jobs) {
            (None, None, None) => deep::FUZZING,
            (Some(minutes), None, None) => Amount::Each(60 * minutes),
            (None, Some(wanted), jobs) => {
                // A number of executions implies the fuzz targets.
                if steps.is_empty() {
                    steps.push("fuzz");
                }
                Amount::Executions { wanted, jobs: jobs.map_or_else(cores, |jobs| jobs as usize) }
            }
            _ => return None,
        };
        Some(Self { fuzzing, steps })
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_for_each_target_and_go_with_all_steps() {
        let parsed = Deep::parse(&["--minutes", "10"]);
        assert_eq!(parsed, Some(Deep { fuzzing: Amount::Each(600), steps: vec![] }));
        let parsed = Deep::parse(&["fuzz", "--minutes", "1", "bars"]);
        assert_eq!(parsed, Some(Deep { fuzzing: Amount::Each(60), steps: vec!["fuzz", "bars"] }));
    }

    #[test]
    fn a_number_of_executions_is_for_the_fuzz_targets_unless_steps_are_named() {
        let fuzzing = Amount::Executions { wanted: 100, jobs: 3 };
        let parsed = Deep::parse(&["--executions", "100", "--jobs", "3"]);
        assert_eq!(parsed, Some(Deep { fuzzing, steps: vec!["fuzz"] }));
        let parsed = Deep::parse(&["--jobs", "3", "fuzz", "miri", "--executions", "100"]);
        assert_eq!(parsed, Some(Deep { fuzzing, steps: vec!["fuzz", "miri"] }));
        let jobs = Deep::parse(&["--executions", "100"]).map(|deep| deep.fuzzing);
        assert_eq!(jobs, Some(Amount::Executions { wanted: 100, jobs: cores() }));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            &["--minutes"][..],
            &["--minutes", "ten"],
            &["--minutes", "0"],
            &["--minutes", "1", "--minutes", "2"],
            &["--minutes", "1", "--executions", "2"],
            &["--jobs", "2"],
            &["--minutes", "1", "--jobs", "2"],
            &["--jobs", "0", "--executions", "2"],
            &["--hours", "1"],
        ] {
            assert_eq!(Deep::parse(wrong), None, "{wrong:?}");
        }
    }
}
