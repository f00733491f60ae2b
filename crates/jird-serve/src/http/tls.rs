//! TLS, when the server is given a certificate.

use crate::base::error::Error;
use crate::base::settings::Tls;
use jird_formats::files::{Local, open};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The name of HTTP/2 among protocols.
pub(crate) const HTTP_2: &[u8] = b"h2";

/// What makes connections secret: TLS 1.2 and 1.3, for HTTP/2 and HTTP/1.1.
///
/// # Errors
/// If a file cannot be read, has no certificate or no key, or if they do not belong together.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Error> {
    let certificates = CertificateDer::pem_slice_iter(&read(&tls.certificate)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Error::because(tls.certificate.display(), error))?;
    if certificates.is_empty() {
        return Err(Error::new(format!("{}: there is no certificate in it", tls.certificate.display())));
    }
    let key = PrivateKeyDer::from_pem_slice(&read(&tls.key)?);
    let key = key.map_err(|error| Error::because(tls.key.display(), error))?;
    let failed = |error| Error::because("the certificate and its key", error);
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(failed)?;
    config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let all = open(path).and_then(Local::file).and_then(|mut file| file.read_to_end(&mut text));
    all.map(|_| text).map_err(|error| Error::because(path.display(), error))
}
