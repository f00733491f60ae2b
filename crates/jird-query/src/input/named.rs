//! Inputs of queries that may read nothing but what was named.

use super::elements::Layout;
use super::{Input, InputFile, Progress, Reading, Refusal};
use crate::base::error::Error;
use crate::base::named::Named;
use jird_formats::files::FileFormat;
use std::sync::Arc;

impl Input {
    /// Opens exactly what has this name.
    pub(crate) fn named(named: &Named, reading: &Reading, progress: &Arc<Progress>) -> Result<Self, Error> {
        let Named { name, path, table } = named;
        let failed = |words: &str| Err(Error::unread(format!("{name}: {words}")));
        let file = if jird_store::is_store(path) {
            InputFile::store(path, reading, progress)?
        } else if path.metadata().is_ok_and(|data| !data.is_file()) {
            return failed("is not a file any more");
        } else {
            match InputFile::open(path, table.as_deref(), reading, progress) {
                Ok(file) => file,
                Err(Refusal::Unreadable(message)) => return failed(&message),
                Err(Refusal::Encoding(encoding)) => return failed(&encoding.to_string()),
            }
        };
        if table.is_none() && file.layout == Layout::Table(FileFormat::Sqlite) {
            return failed("is a database, and was not one when it was given its name");
        }
        let file = InputFile { name: Some(name.clone()), ..file };
        Ok(Self { files: vec![Arc::new(file)], ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use std::net::TcpListener;

    #[test]
    fn what_is_named_is_no_url() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let url = format!("http://{}/a.ndjson", elsewhere.local_addr().unwrap());
        for path in [url.as_str(), "s3://bucket/a.ndjson", "file:///etc/passwd"] {
            let error = Input::named(&Named::new("a", path), &Reading::default(), &Arc::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Input, "{error}");
        }
        assert!(elsewhere.accept().is_err());
    }
}
