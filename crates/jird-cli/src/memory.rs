//! How much memory a command may count on.

use crate::system;
use std::fs::read_to_string;
use std::path::Path;

/// The memory of this machine, or what its control groups allow this process of it, in bytes.
pub(crate) fn at_hand() -> u64 {
    let group = group(Path::new("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    [machine(), group].into_iter().flatten().min().unwrap_or(u64::MAX)
}

fn machine() -> Option<u64> {
    let known = read_to_string("/proc/meminfo").ok()?;
    kilobytes(&known, "MemTotal:")
}

/// The bytes that a file of the system tells behind a name.
fn kilobytes(known: &str, name: &str) -> Option<u64> {
    let value = known.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups that the file `own` names, and those above them, allow: of the first version and of the
/// second. In a container, the names may be those of its host; the mounted folder itself is its group then.
fn group(own: &Path, mounted: &Path) -> Option<u64> {
    let own = read_to_string(own).ok()?;
    let limits = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (controllers, path) = (parts.nth(1)?, parts.next()?);
        let (root, limit) = match controllers {
            "" => (mounted.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (mounted.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let groups = Path::new(path.trim_start_matches('/')).ancestors();
        let allowed = |group: &Path| read_to_string(root.join(group).join(limit)).ok()?.trim().parse::<u64>().ok();
        groups.filter_map(allowed).min()
    });
    limits.min()
}

/// What `ulimit -v` and `ulimit -d` leave, if they are set. Memory that was asked for and not used counts.
pub(crate) fn address_space() -> Option<u64> {
    let limit = system::address_space_limit()?;
    let taken = kilobytes(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_narrowest_group_counts() {
        let folder = std::env::temp_dir().join(format!("jird-groups-{}", std::process::id()));
        let limited = |own: &str, files: &[(&str, &str)]| {
            let _ = fs::remove_dir_all(&folder);
            for (file, text) in files {
                let file = folder.join("groups").join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("own"), own).unwrap();
            group(&folder.join("own"), &folder.join("groups"))
        };
        let two = [("memory.max", "max\n"), ("a/memory.max", "9000\n"), ("a/b/memory.max", "max\n")];
        assert_eq!(limited("0::/a/b\n", &two), Some(9000));
        assert_eq!(limited("0::/elsewhere\n", &[("memory.max", "7000\n")]), Some(7000));
        assert_eq!(limited("0::/a\n", &[]), None);
        let one =
            [("memory/memory.limit_in_bytes", "9223372036854771712\n"), ("memory/a/memory.limit_in_bytes", "5\n")];
        assert_eq!(limited("4:cpu,memory:/a\n3:cpuset:/\n", &one), Some(5));
        assert!(at_hand() > 1 << 20);
        fs::remove_dir_all(folder).unwrap();
    }
}
