//! The clients of stores, made when they are first needed.

use super::address::{Address, Kind};
use super::watch::{Connector, Limits};
use super::words;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{ClientOptions, HttpClient, HttpConnector};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ObjectStore, RetryConfig};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The clients of all stores that were named.
#[derive(Debug)]
pub(super) struct Clients {
    pub(super) limits: Arc<Limits>,
    stores: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
    /// The connections to web servers, which all of their files share.
    web: Mutex<HashMap<String, HttpClient>>,
}

/// Gives all files of a web server the same connections.
#[derive(Clone, Debug)]
struct OneClient(HttpClient);

impl HttpConnector for OneClient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.0.clone())
    }
}

impl Clients {
    pub(super) fn new(limits: Arc<Limits>) -> Self {
        Self { limits, stores: Mutex::default(), web: Mutex::default() }
    }

    /// The store of an address, and the path of its key in it.
    pub(super) fn store(&self, address: &Address) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
        if address.kind == Kind::Web {
            // The whole URL is the base, so that its query and its escapes stay as they are.
            return Ok((self.web(address).map_err(|error| words::of(address, &error))?, Path::ROOT));
        }
        let path = Path::parse(&address.key).map_err(|error| words::of_key(&error))?;
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(&address.store) {
            return Ok((Arc::clone(store), path));
        }
        let store = self.cloud(address).map_err(|error| words::of(address, &error))?;
        stores.insert(address.store.clone(), Arc::clone(&store));
        Ok((store, path))
    }

    fn cloud(&self, address: &Address) -> object_store::Result<Arc<dyn ObjectStore>> {
        let (connector, retry) = (Connector::new(&self.limits), self.retry());
        let url = format!("{}/", address.store);
        Ok(match address.kind {
            Kind::S3 => {
                let builder = AmazonS3Builder::from_env().with_url(url);
                Arc::new(builder.with_http_connector(connector).with_retry(retry).build()?)
            }
            Kind::Google => {
                let builder = GoogleCloudStorageBuilder::from_env().with_url(url);
                Arc::new(builder.with_http_connector(connector).with_retry(retry).build()?)
            }
            Kind::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url);
                Arc::new(builder.with_http_connector(connector).with_retry(retry).build()?)
            }
            Kind::Web => self.web(address)?,
        })
    }

    fn web(&self, address: &Address) -> object_store::Result<Arc<dyn ObjectStore>> {
        let options = ClientOptions::new().with_allow_http(true);
        let mut web = self.web.lock().unwrap_or_else(PoisonError::into_inner);
        let client = match web.get(&address.store) {
            Some(client) => client.clone(),
            None => Connector::new(&self.limits).connect(&options)?,
        };
        web.insert(address.store.clone(), client.clone());
        let url = address.url();
        let url = url.split('#').next().unwrap_or_default();
        let builder = HttpBuilder::new().with_url(url).with_client_options(options).with_retry(self.retry());
        Ok(Arc::new(builder.with_http_connector(OneClient(client)).build()?))
    }

    /// What failed for a moment is tried again, for a time.
    fn retry(&self) -> RetryConfig {
        RetryConfig { retry_timeout: self.limits.patience, ..RetryConfig::default() }
    }
}
