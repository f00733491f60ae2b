//! Who may do what: the `Host` of requests, the token, and where requests that change something come from.
//!
//! A page in a browser can send requests to this server. It cannot read what it gets, unless its own name leads to this
//! server (DNS rebinding), which is why a `Host` that is not this server's is refused. And it can send forms, whose
//! content types are not those of JSON, which is why others are refused wherever something changes.

use crate::choice::text;
use crate::problem::Problem;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};
use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};

/// What is asked of every request.
pub(crate) struct Guard {
    address: SocketAddr,
    names: Vec<String>,
    token: Option<String>,
    /// What a `Host` without a port has.
    default_port: u16,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, names: Vec<String>, token: Option<String>, has_tls: bool) -> Self {
        Self { address, names, token, default_port: if has_tls { 443 } else { 80 } }
    }

    /// Refuses a request that is not for this server.
    ///
    /// # Errors
    /// 400 if it names no host or two, 421 if the host is another one.
    pub(crate) fn host(&self, request: &Parts) -> Result<(), Problem> {
        let mut hosts = request.headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Problem::bad("a request needs one Host"));
        };
        let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        let Some(host) = host else { return Err(Problem::bad("the Host is none")) };
        let is_ours = |host: &Authority| !host.as_str().contains('@') && self.is_name(host);
        if !is_ours(&host) || request.uri.authority().is_some_and(|authority| !is_ours(authority)) {
            let detail = "this server does not have the name in Host; --host NAME gives it one";
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail));
        }
        Ok(())
    }

    fn is_name(&self, host: &Authority) -> bool {
        let name = host.host();
        if self.names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return true;
        }
        if host.port_u16().unwrap_or(self.default_port) != self.address.port() {
            return false;
        }
        let ip = self.address.ip();
        let is_near = ip.is_loopback() || ip.is_unspecified();
        match name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) => address == ip || ip.is_unspecified() || is_near && address.is_loopback(),
            Err(_) => is_near && name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Refuses a request without the token, if there is one.
    ///
    /// # Errors
    /// 401.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let is_bearer = given.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"Bearer "));
        if is_bearer && is_same(&given[7..], token.as_bytes()) {
            return Ok(());
        }
        Err(Problem::new(StatusCode::UNAUTHORIZED, "this server needs its token, as Authorization: Bearer TOKEN"))
    }

    /// Refuses a request that a page of another server sends.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn origin(headers: &HeaderMap) -> Result<(), Problem> {
        let host = text(headers, &HOST).unwrap_or_default();
        let is_ours = |origin: &str| {
            let authority = origin.parse::<Uri>().ok().and_then(|uri| uri.into_parts().authority);
            authority.is_some_and(|authority| authority.as_str().eq_ignore_ascii_case(&host))
        };
        let fetched = text(headers, &HeaderName::from_static("sec-fetch-site"));
        if text(headers, &ORIGIN).is_some_and(|origin| !is_ours(&origin))
            || fetched.is_some_and(|site| site != "same-origin" && site != "none")
        {
            return Err(Problem::new(StatusCode::FORBIDDEN, "pages of other servers may change nothing here"));
        }
        Ok(())
    }
}

/// Whether two secrets are the same, in a time that does not tell at which byte they differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len()
        && given.iter().zip(token).fold(0, |differences, (a, b)| black_box(differences | (a ^ b))) == 0
}
