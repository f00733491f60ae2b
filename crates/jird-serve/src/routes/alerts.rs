//! Checks alerts: whether more events than an alert says came in its last minutes.

use crate::request::rows::Stop;
use crate::request::select::{Choice, Wish};
use crate::routes::events::{failed, newest};
use crate::tables::own::{Alert, Checked, Own};
use jird::hooks::ObjectWriter;
use jird_store::Store;
use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The most time for one alert. A store that is larger needs a condition that its indexes know, or fewer minutes.
const TIME: Duration = Duration::from_secs(2);

/// Checks all alerts, and gives those that begin or end. What fails is tried again next time.
pub(crate) fn check(own: &Own, store: &Store) -> Vec<(Alert, Checked)> {
    let Ok(alerts) = own.alerts() else { return Vec::new() };
    let checked = |alert: Alert| {
        let checked = checked(&alert, store);
        (alert, checked)
    };
    // If it cannot be written, the next check finds the same change again, and tells it then.
    own.checked(alerts.into_iter().map(checked).collect()).unwrap_or_default()
}

fn checked(alert: &Alert, store: &Store) -> Checked {
    match count(alert, store) {
        Ok((events, is_all)) if is_all || events > alert.more_than => {
            Checked { firing: events > alert.more_than, events: Some(events), problem: None }
        }
        // It stays as it was.
        Ok(_) => {
            let problem = Some("counting took longer than this server allows".to_owned());
            Checked { firing: alert.firing, events: None, problem }
        }
        Err(problem) => Checked { firing: alert.firing, events: None, problem: Some(problem) },
    }
}

/// The events of the last minutes, and whether these are all.
fn count(alert: &Alert, store: &Store) -> Result<(i64, bool), String> {
    let some = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let since = Some(format!("{}m", alert.minutes));
    let choice = Choice { condition: some(&alert.condition), search: some(&alert.search), since, until: None };
    let mut wish = Wish::new(&choice).map_err(|problem| problem.to_string())?;
    // What has a time to come is of a clock that is wrong.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    wish.window.until = i64::try_from(now).ok();
    let told = |stop| match stop {
        Stop::Problem(problem) => problem.to_string(),
        Stop::Later | Stop::Gone => "the events were not counted".to_owned(),
    };
    let snapshot = store.snapshot().map_err(|error| told(failed(&error)))?;
    let text = snapshot.text(wish.window).map_err(|error| told(failed(&error)))?;
    let (mut events, mut is_all, until) = (0, true, Instant::now() + TIME);
    let next = || {
        is_all = Instant::now() < until;
        Ok(is_all)
    };
    newest(&text, &wish, next, |block| {
        events += i64::try_from(block.numbers.len()).unwrap_or(i64::MAX);
        ControlFlow::Continue(())
    })
    .map_err(told)?;
    Ok((events, is_all))
}

/// What the log says of an alert that begins or ends.
pub(crate) fn tell(alert: &Alert, checked: &Checked, object: &mut ObjectWriter<'_>) {
    object.member("alert", &alert.name);
    object.member("firing", checked.firing);
    object.member("events", checked.events.unwrap_or_default());
    object.member("more_than", alert.more_than);
    object.member("minutes", alert.minutes);
}
