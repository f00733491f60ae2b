//! Where an event that is made here has its time: in the field in which the store looks for it.

use jird::hooks::write_string;
use jird::record::Step;
use jird_store::Settings;

/// The member that holds the time.
pub(super) struct TimeKey {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl TimeKey {
    pub(super) fn new(settings: &Settings) -> Self {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (depth, step) in settings.time_field.steps().iter().enumerate() {
            let Step::Key(key) = step else { continue };
            if depth > 0 {
                before.push(b'{');
                after.push(b'}');
            }
            write_string(key, &mut before);
            before.push(b':');
        }
        Self { before, after }
    }

    /// Appends the member; the time is JSON.
    pub(super) fn write(&self, time: &[u8], text: &mut Vec<u8>) {
        text.extend_from_slice(&self.before);
        text.extend_from_slice(time);
        text.extend_from_slice(&self.after);
    }
}
