//! The folders for the temporary files of queries.

use crate::common::{Service, TASKS, is_alone};
use std::fs;

#[test]
fn temporary_files_of_queries_are_in_a_folder_of_their_own_which_goes_with_the_server() {
    if !is_alone("temporary::temporary_files_of_queries_are_in_a_folder_of_their_own_which_goes_with_the_server") {
        return;
    }
    let folders = || {
        let all = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let start = format!("jird-queries-{}-", std::process::id());
        all.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start)).count()
    };
    let sorted =
        "create view sorted as with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
        select i, hex(i) || hex(zeroblob(300)) as text from n order by text desc;";
    let mut service = Service::with(sorted, |_| ());
    assert_eq!(folders(), 1);
    // What SQLite sorts is more than it keeps in memory.
    check(&service, "select max(i) as most from sorted", "300000");
    service.stop();
    assert_eq!(folders(), 0);
}

#[cfg(unix)]
#[test]
fn folders_of_servers_that_were_killed_are_removed_and_no_others() {
    if !is_alone("temporary::folders_of_servers_that_were_killed_are_removed_and_no_others") {
        return;
    }
    let start = std::env::temp_dir().join(format!("jird-queries-test-{}", std::process::id()));
    let at = |end: &str| std::path::PathBuf::from(format!("{}-{end}", start.display()));
    let (left, kept, link, file) = (at("left"), at("kept"), at("link"), at("file"));
    for folder in [&left, &kept, &at("other")] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("sorted"), "text").unwrap();
    }
    let lock = fs::File::open(&kept).unwrap();
    lock.try_lock().unwrap();
    let elsewhere = std::env::temp_dir().join(format!("jird-test-elsewhere-{}", std::process::id()));
    fs::rename(at("other"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    fs::write(&file, "text").unwrap();
    let service = Service::with(TASKS, |_| ());
    assert!(!left.exists());
    for path in [&kept, &link] {
        assert_eq!(fs::read_to_string(path.join("sorted")).unwrap(), "text");
    }
    check(&service, "select count(*) as n from tasks", "3");
    drop((service, lock));
    fs::remove_file(link).unwrap();
    fs::remove_file(file).unwrap();
    fs::remove_dir_all(elsewhere).unwrap();
    fs::remove_dir_all(kept).unwrap();
}

fn check(service: &Service, sql: &str, number: &str) {
    let text = service.sql(sql).is(200).text().to_owned();
    assert!(text.contains(&format!(":{number}}}")), "{text}");
}
