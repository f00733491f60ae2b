//! Connections that are encrypted.

use crate::common::{Answer, Service, TASKS};
use crate::streams::big;
use jird_serve::{Server, Settings, Tls};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Certificates for `localhost`, good for a hundred years, and keys that protect nothing else.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve/tls").join(name)
}

fn tls() -> Tls {
    Tls { certificate: file("certificate.pem"), key: file("key.pem") }
}

fn get(service: &Service, target: &str) -> Answer {
    get_trusting(service, target, "certificate.pem")
}

/// As a client that trusts this certificate alone.
fn get_trusting(service: &Service, target: &str, certificate: &str) -> Answer {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file(certificate)).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    let mut stream = StreamOwned::new(client, service.connect());
    let host = service.address;
    // A client that does not trust the server sends nothing.
    let _ = write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    Answer::new(&all)
}

#[test]
fn a_server_with_a_certificate_speaks_tls_and_nothing_else() {
    let service = Service::with(&format!("{TASKS} {}", big(20_000)), |settings| settings.tls = Some(tls()));
    assert_eq!(get(&service, "/tasks?select=id&limit=1").is(200).text(), "[{\"id\":1}]\n");
    let long = get(&service, "/big").is(200);
    assert!(long.is_whole && long.tree().as_array().unwrap().len() == 20_000);
    // A client that speaks without it, or sends anything else, learns nothing and harms no one.
    assert_eq!(service.get("/tasks").status, 0);
    assert_eq!(service.raw(&[0x16; 5000]).status, 0);
    get(&service, "/tasks").is(200);
}

#[test]
fn a_certificate_is_read_again_while_the_server_runs() {
    let service = Service::with(TASKS, |settings| settings.tls = Some(tls()));
    let statuses =
        || ["certificate.pem", "other-certificate.pem"].map(|trusted| get_trusting(&service, "/tasks", trusted).status);
    assert_eq!(statuses(), [200, 0]);
    let other = Tls { certificate: file("other-certificate.pem"), key: file("other-key.pem") };
    service.reloader.reload(Vec::new(), Some(&other)).unwrap();
    assert_eq!(statuses(), [0, 200]);
    // What does not fit together changes nothing.
    let mixed = Tls { key: file("key.pem"), ..other };
    service.reloader.reload(vec!["s3cret".into()], Some(&mixed)).unwrap_err();
    assert_eq!(statuses(), [0, 200]);
    service.reloader.reload(Vec::new(), Some(&tls())).unwrap();
    assert_eq!(statuses(), [200, 0]);
}

#[test]
fn a_handshake_that_does_not_end_is_given_up() {
    let service = Service::with(TASKS, |settings| {
        settings.tls = Some(tls());
        settings.limits.stall = std::time::Duration::from_millis(300);
    });
    let mut silent = service.connect();
    silent.write_all(&[0x16, 3, 1]).unwrap();
    let begun = std::time::Instant::now();
    let _ = silent.read_to_end(&mut Vec::new());
    assert!(begun.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn files_that_are_no_certificate_or_no_key_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    jird_formats::sqlite::rusqlite::Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let none = folder.path().join("none.pem");
    for (certificate, key, told) in [
        (none.clone(), file("key.pem"), "none.pem"),
        (file("certificate.pem"), none, "none.pem"),
        (empty.clone(), file("key.pem"), "no certificate"),
        (file("certificate.pem"), empty, "empty.pem"),
        (file("key.pem"), file("key.pem"), "no certificate"),
    ] {
        let mut settings = Settings::new(&path);
        settings.tls = Some(Tls { certificate, key });
        let error = Server::bind(settings).map(drop).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
