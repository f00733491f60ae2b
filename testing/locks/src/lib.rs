//! The locks that this process has on a file. A process loses all its POSIX locks on a file when it closes any
//! descriptor of that file, so tests compare the locks before and after what they try.

use std::fs;
use std::path::Path;

/// This process's locks on the file at `path`, as Linux shows them for each descriptor; none on other systems, and none
/// without a file. (`/proc/locks` has the same lines, but may repeat or omit some while other processes change
/// their locks.)
#[must_use]
pub fn of(path: impl AsRef<Path>) -> Vec<String> {
    let Some(file) = inode(path.as_ref()) else { return Vec::new() };
    let mut locks: Vec<String> = Vec::new();
    for descriptor in fs::read_dir("/proc/self/fdinfo").into_iter().flatten().flatten() {
        // Other threads may close it meanwhile.
        let text = fs::read_to_string(descriptor.path()).unwrap_or_default();
        // lock:	1: POSIX  ADVISORY  WRITE 9203 fe:00:9977862 1073741825 1073741825
        let lines = text.lines().filter_map(|line| line.strip_prefix("lock:")?.split_once(": "));
        locks.extend(lines.map(|(_, lock)| lock.to_owned()).filter(|lock| lock.contains(&file)));
    }
    locks.sort();
    locks
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    Some(format!(":{} ", path.metadata().ok()?.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn only_locks_on_this_file_are_listed() {
        let path = std::env::temp_dir().join(format!("process-locks-{}", std::process::id()));
        let (file, other) = (std::fs::File::create(&path).unwrap(), std::env::current_exe().unwrap());
        assert!(super::of(&path).is_empty());
        file.lock().unwrap();
        let locks = super::of(&path);
        assert!(locks.len() == 1 && locks[0].contains("WRITE"), "{locks:?}");
        assert!(super::of(other).is_empty() && super::of("/none").is_empty());
        file.unlock().unwrap();
        assert!(super::of(&path).is_empty());
        std::fs::remove_file(path).unwrap();
    }
}
