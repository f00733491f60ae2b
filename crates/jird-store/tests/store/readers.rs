//! Readers that know nothing of this crate.
#![expect(clippy::print_stderr, reason = "what was skipped is told")]

use crate::common::{Scratch, all, append, event, options};
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampNanosecondType, UInt32Type};
use jird_store::{Compression, Extent, Settings, Store};
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

fn sealed(compression: Compression) -> (Scratch, Store, Vec<PathBuf>) {
    let scratch = Scratch::new();
    let settings = Settings { compression, ..Settings::default() };
    let store = Store::create(scratch.path(), &settings).unwrap();
    let writer = store.writer(&options(2_000_000)).unwrap();
    for number in 0..200 {
        append(&writer, &(0..60).map(|at| event(number + at % 7, number * 60 + at)).collect::<String>());
    }
    // So that everything is sealed.
    let writer = {
        writer.finish().unwrap();
        store.writer(&options(1)).unwrap()
    };
    writer.finish().unwrap();
    store.compact(Extent::Full).unwrap();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "arrow"));
    (scratch, store, files)
}

#[test]
fn a_reader_of_arrow_files_reads_a_span_alone() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let (_scratch, store, files) = sealed(compression);
        assert_eq!(files.len(), 1);
        let reader = arrow_ipc::reader::FileReader::try_new(File::open(&files[0]).unwrap(), None).unwrap();
        let base: u64 = reader.schema().metadata()["jird.arrival"].parse().unwrap();
        let (mut lines, mut keys) = (String::new(), Vec::new());
        for batch in reader {
            let batch = batch.unwrap();
            let times = batch["time"].as_primitive::<TimestampNanosecondType>().values();
            let arrivals = batch["arrival"].as_primitive::<UInt32Type>().values();
            keys.extend(times.iter().copied().zip(arrivals.iter().map(|arrival| base + u64::from(*arrival))));
            let documents = batch["document"].as_string::<i32>();
            // The values, one after the other, are NDJSON.
            lines.push_str(std::str::from_utf8(documents.values()).unwrap());
            assert!(documents.iter().all(|document| document.unwrap().ends_with('\n')));
        }
        assert!(lines == all(&store));
        assert!(keys.is_sorted_by(|one, two| one < two));
        assert_eq!(keys.len(), lines.lines().count());
    }
}

#[test]
fn pyarrow_reads_a_span() {
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !Command::new(&python).args(["-c", "import pyarrow"]).output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("JIRD_REQUIRE_ALL").is_none_or(|all| all != "1"), "no pyarrow");
        eprintln!("skipped: pyarrow");
        return;
    }
    let script = "
import sys, json, pyarrow, pyarrow.ipc
table = pyarrow.ipc.open_file(sys.argv[1]).read_all()
assert table.column('time').null_count == 0
print(''.join(table.column('document').to_pylist()), end='')
documents = [json.loads(document) for document in table.column('document').to_pylist()]
assert pyarrow.types.is_decimal32(table.schema.field('/n').type), table.schema
assert table.column('/n').to_pylist() == [document['n'] for document in documents]
";
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let (_scratch, store, files) = sealed(compression);
        let output = Command::new(&python).args(["-c", script]).arg(&files[0]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8(output.stdout).unwrap() == all(&store), "{compression:?}");
    }
}
