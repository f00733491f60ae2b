//! What a proxy says of the requests that it passes on: for whom, for which host, and below which path.
//!
//! `X-Forwarded-For`, `-Host` and `-Prefix` are taken only from [trusted proxies](crate::Settings::proxies), because every client
//! can send them. `X-Forwarded-Proto` makes no difference, because no answer has a whole address.

use crate::base::error::Error;
use crate::base::place::{Peer, Proxy};
use crate::base::problem::Problem;
use crate::base::settings::Settings;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, LINK, LOCATION};
use hyper::http::uri::PathAndQuery;
use hyper::{StatusCode, Uri};
use std::net::{IpAddr, SocketAddr};

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const ASKED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// Which proxies are trusted, and what is before each path.
pub(crate) struct Forwarded {
    proxies: Vec<Proxy>,
    /// As `/jird`; empty: nothing.
    prefix: String,
}

/// A request as its sender meant it.
pub(crate) struct Meant {
    pub(crate) peer: Peer,
    /// What is before each path for its client.
    pub(crate) prefix: Prefix,
}

/// As `/jird`, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefix(pub(crate) String);

impl Forwarded {
    /// # Errors
    /// If the prefix is not a path.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        let prefix = settings.path_prefix.trim_end_matches('/');
        if !is_prefix(prefix) {
            let message = format!("{prefix:?} is not a prefix of paths, such as /jird");
            return Err(Error::new(message));
        }
        Ok(Self { proxies: settings.proxies.clone(), prefix: prefix.to_owned() })
    }

    fn trusts(&self, peer: Peer) -> bool {
        self.proxies.iter().any(|proxy| proxy.is(peer))
    }

    /// The client, and the prefix of the paths that it knows. The `Host` that it asked for becomes that of the request.
    pub(crate) fn meant(&self, peer: Peer, headers: &mut HeaderMap) -> Meant {
        if !self.trusts(peer) {
            return Meant { peer, prefix: Prefix(self.prefix.clone()) };
        }
        let host = last(headers, &ASKED_HOST).and_then(|host| HeaderValue::from_str(host).ok());
        let prefix =
            last(headers, &PREFIX).map(|prefix| prefix.trim_end_matches('/')).filter(|prefix| is_prefix(prefix));
        let prefix = Prefix(format!("{}{}", prefix.unwrap_or_default(), self.prefix));
        let peer = self.client(peer, headers);
        if let Some(host) = host {
            headers.insert(HOST, host);
        }
        Meant { peer, prefix }
    }

    /// The client: each proxy adds the address that it was asked from, so it is the last one that is not a trusted proxy.
    fn client(&self, peer: Peer, headers: &HeaderMap) -> Peer {
        let mut client = peer;
        let lines = headers.get_all(FOR).iter().rev();
        for name in lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(',')) {
            // What is not an address hides the client. Its proxy is known.
            let Some(address) = address(name.trim()) else { break };
            client = Peer::Address(address);
            if !self.trusts(client) {
                break;
            }
        }
        client
    }

    /// Takes the prefix away from the path of a request.
    ///
    /// # Errors
    /// 404 if the path is another one.
    pub(crate) fn strip(&self, uri: Uri) -> Result<Uri, Problem> {
        if self.prefix.is_empty() {
            return Ok(uri);
        }
        let wrong =
            || Problem::new(StatusCode::NOT_FOUND, format!("all paths of this server begin with {}/", self.prefix));
        let target = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let rest = target.strip_prefix(&self.prefix).filter(|rest| rest.starts_with('/')).ok_or_else(wrong)?;
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(rest.parse().map_err(|_| wrong())?);
        Uri::from_parts(parts).map_err(|_| wrong())
    }

    /// Whether a path is the prefix alone, without the slash that relative links need behind it.
    pub(crate) fn lacks_slash(&self, path: &str) -> bool {
        !self.prefix.is_empty() && path == self.prefix
    }
}

impl Meant {
    /// Puts the prefix before the paths in an answer's headers.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        let Prefix(prefix) = &self.prefix;
        if prefix.is_empty() {
            return;
        }
        for (name, start) in [(LOCATION, ""), (LINK, "<")] {
            let told = headers.get(&name).and_then(|value| value.to_str().ok());
            let path = told.and_then(|told| told.strip_prefix(start)).filter(|path| path.starts_with('/'));
            let path = path.and_then(|path| HeaderValue::from_str(&format!("{start}{prefix}{path}")).ok());
            if let Some(path) = path {
                headers.insert(name, path);
            }
        }
    }
}

/// The last of the values of a header, which the nearest proxy wrote.
fn last<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let line = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    line.rsplit(',').next().map(str::trim)
}

/// An address, maybe with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

/// Whether a text is nothing, or segments of a path with slashes before them.
fn is_prefix(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte);
    text.is_empty() || text.starts_with('/') && !text.contains("//") && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(proxies: &[&str], prefix: &str) -> Forwarded {
        let mut settings = Settings::new("");
        settings.proxies = proxies.iter().map(|proxy| proxy.parse().unwrap()).collect();
        settings.path_prefix = prefix.to_owned();
        Forwarded::new(&settings).unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_client_is_the_last_that_no_trusted_proxy_is() {
        let forwarded = forwarded(&["127.0.0.1", "10.0.0.0/8", "unix"], "");
        let near = || Peer::Address([127, 0, 0, 1].into());
        for (peer, chain, wanted) in [
            (near(), "192.0.2.7", "192.0.2.7"),
            (near(), "6.6.6.6, 192.0.2.7, 10.1.2.3", "192.0.2.7"),
            (near(), "192.0.2.7:4711", "192.0.2.7"),
            (near(), "[2001:db8::1]:443, 10.0.0.1", "2001:db8::1"),
            (near(), "_hidden, 10.0.0.1", "10.0.0.1"),
            (near(), "nonsense", "127.0.0.1"),
            (near(), "", "127.0.0.1"),
            (Peer::Unix, "2001:db8::1", "2001:db8::1"),
            (Peer::Unix, "", "unix"),
            (Peer::Address([192, 0, 2, 9].into()), "6.6.6.6", "192.0.2.9"),
            (Peer::Address("::ffff:127.0.0.1".parse().unwrap()), "192.0.2.7", "192.0.2.7"),
        ] {
            let mut headers = headers(&[("x-forwarded-for", chain)]);
            assert_eq!(forwarded.meant(peer, &mut headers).peer.to_string(), wanted, "{chain:?}");
        }
        let mut two = headers(&[("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "192.0.2.7, 10.0.0.1")]);
        assert_eq!(forwarded.meant(near(), &mut two).peer.to_string(), "192.0.2.7");
    }

    #[test]
    fn host_and_prefix_are_those_of_a_trusted_proxy_and_of_nobody_else() {
        let forwarded = forwarded(&["127.0.0.1"], "/own/");
        let said = [("host", "inside"), ("x-forwarded-host", "evil, data.example"), ("x-forwarded-prefix", "/jird/")];
        let mut trusted = headers(&said);
        let meant = forwarded.meant(Peer::Address([127, 0, 0, 1].into()), &mut trusted);
        assert_eq!(
            (meant.prefix.0.as_str(), trusted.get(HOST).unwrap().to_str().unwrap()),
            ("/jird/own", "data.example")
        );
        let mut other = headers(&said);
        let meant = forwarded.meant(Peer::Unix, &mut other);
        assert_eq!((meant.prefix.0.as_str(), other.get(HOST).unwrap().to_str().unwrap()), ("/own", "inside"));
        let mut evil = headers(&[("x-forwarded-prefix", "//evil.example")]);
        assert_eq!(forwarded.meant(Peer::Address([127, 0, 0, 1].into()), &mut evil).prefix.0, "/own");
    }

    #[test]
    fn paths_lose_the_prefix_and_headers_get_it() {
        let forwarded = forwarded(&[], "/jird");
        let strip = |target: &str| forwarded.strip(target.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(strip("/jird/tasks?id=eq.1").unwrap(), "/tasks?id=eq.1");
        assert_eq!(strip("/jird/").unwrap(), "/");
        assert!(["/jird", "/jirdtasks", "/tasks", "/"].iter().all(|target| strip(target).is_err()));
        let meant = Meant { peer: Peer::Unix, prefix: Prefix("/jird".into()) };
        let mut told = headers(&[("location", "/tasks/1"), ("link", "</events?before=1.2>; rel=\"next\"")]);
        meant.tell(&mut told);
        assert_eq!(told.get(LOCATION).unwrap(), "/jird/tasks/1");
        assert_eq!(told.get(LINK).unwrap(), "</jird/events?before=1.2>; rel=\"next\"");
        let mut wrong = Settings::new("");
        for prefix in ["jird", "/a b", "//a", "/a?b", "http://a"] {
            wrong.path_prefix = prefix.to_owned();
            assert!(Forwarded::new(&wrong).is_err(), "{prefix}");
        }
    }
}
