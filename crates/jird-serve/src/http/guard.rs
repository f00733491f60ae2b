//! Access: the `Host` of requests, the token, and the origin of requests that change something.
//!
//! A page in a browser can send requests to this server. It cannot read what it gets, unless its own name leads to this
//! server (DNS rebinding), which is why a `Host` that is not this server's is refused. And it can send forms, whose
//! content types are not those of JSON, which is why others are refused wherever something changes.

use crate::base::error::Error;
use crate::base::problem::Problem;
use crate::base::settings::Settings;
use crate::base::token::{Right, Rights, Token, rights_of};
use crate::request::negotiation::text;
use crate::request::uri;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Method, StatusCode, Uri};
use std::net::{IpAddr, SocketAddr};
use std::sync::{PoisonError, RwLock};

/// What is asked of every request.
pub(crate) struct Guard {
    /// `None`: a Unix socket.
    address: Option<SocketAddr>,
    names: Vec<String>,
    tokens: RwLock<Vec<Token>>,
    /// Origins whose pages may ask as this server's own may.
    origins: Vec<String>,
    /// What a `Host` without a port has.
    default_port: u16,
    /// What most clients send as `Host`; it is that of this server.
    usual: Vec<String>,
}

impl Guard {
    pub(crate) fn new(address: Option<SocketAddr>, settings: &Settings) -> Self {
        let Settings { hosts, tokens, cors, tls, .. } = settings;
        let default_port = if tls.is_some() { 443 } else { 80 };
        let tokens = RwLock::new(tokens.clone());
        let (names, origins, usual) = (hosts.clone(), cors.clone(), Vec::new());
        let mut guard = Self { address, names, tokens, origins, default_port, usual };
        let likely = address.iter().flat_map(|at| [at.to_string(), format!("localhost:{}", at.port())]);
        guard.usual = likely.filter(|host| host.parse().is_ok_and(|host| guard.is_ours(&host))).collect();
        guard
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
        let target = request.uri.authority();
        if target.is_none() && self.usual.iter().any(|usual| host == usual.as_str()) {
            return Ok(());
        }
        let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        let Some(host) = host else { return Err(Problem::bad("the Host is none")) };
        if !self.is_ours(&host) || target.is_some_and(|authority| !self.is_ours(authority)) {
            let detail = "this server does not have the name in Host; --host NAME gives it one";
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail));
        }
        Ok(())
    }

    fn is_ours(&self, host: &Authority) -> bool {
        let name = host.host();
        if host.as_str().contains('@') {
            return false;
        }
        if self.names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return true;
        }
        let ip = self.address.map(|address| address.ip());
        let is_near = ip.is_none_or(|ip| ip.is_loopback() || ip.is_unspecified());
        let port = host.port_u16().unwrap_or(self.default_port);
        let is_port = self.address.is_some_and(|address| address.port() == port);
        // No name of others leads to these, whatever the port: `docker -p 9000:8082` and `ssh -L` change it.
        match name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => is_near,
            Ok(address) => is_port && ip.is_some_and(|ip| address == ip || ip.is_unspecified()),
            Err(_) => is_near && name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// From now on there are these tokens.
    pub(crate) fn set_tokens(&self, tokens: Vec<Token>) {
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
    }

    /// What a request may do. One without a token is refused, if there are any.
    ///
    /// # Errors
    /// 401.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Result<Rights, Problem> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        if tokens.is_empty() {
            return Ok(Rights::ALL);
        }
        let given = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let is_bearer = given.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"Bearer "));
        let rights = if is_bearer { rights_of(&tokens, &given[7..]) } else { None };
        let detail = "this server needs its token, as Authorization: Bearer TOKEN";
        rights.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, detail))
    }

    /// As [`token`](Self::token), for programs that send events: they have it in `X-Seq-ApiKey` or `?apiKey=`, in `Authorization` as
    /// `Bearer` or `ApiKey`, or as the password of `Basic`; also behind the identifier of a key of Elasticsearch.
    ///
    /// # Errors
    /// 401; 403 if it is one that sends no events.
    pub(crate) fn shipper(&self, request: &Parts) -> Result<(), Problem> {
        needs(self.of_shipper(request)?, Right::Ingest)
    }

    fn of_shipper(&self, request: &Parts) -> Result<Rights, Problem> {
        let headers = &request.headers;
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
        let rights_of = |given: &[u8]| rights_of(&tokens, given);
        let in_query = || {
            let parameters = uri::parameters(request.uri.query()).ok()?;
            parameters.into_iter().find(|(name, _)| name == uri::API_KEY).map(|(_, key)| key)
        };
        let key = headers.get("x-seq-apikey").map(|key| key.as_bytes().to_vec());
        let key = key.or_else(|| in_query().map(String::into_bytes));
        if let Some(rights) = key.and_then(|key| rights_of(&key)) {
            return Ok(rights);
        }
        let given = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let after = |word: &[u8]| {
            let (start, rest) = given.split_at_checked(word.len())?;
            start.eq_ignore_ascii_case(word).then_some(rest)
        };
        // The user, or the key's identifier, may be any.
        let of_second = |given: &[u8]| {
            let pair = base64_simd::STANDARD.decode_to_vec(given).unwrap_or_default();
            pair.iter().position(|byte| *byte == b':').and_then(|end| rights_of(&pair[end + 1..]))
        };
        let known = if let Some(key) = after(b"ApiKey ") {
            rights_of(key).or_else(|| of_second(key))
        } else {
            after(b"Basic ").and_then(of_second)
        };
        known.map_or_else(|| self.token(headers), Ok)
    }

    /// Refuses a request that a page of another server sends, unless its origin is allowed.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if self.allowed(headers).is_some() {
            return Ok(());
        }
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

    /// The request's `Origin`, if its pages may ask.
    fn allowed<'r>(&self, headers: &'r HeaderMap) -> Option<&'r HeaderValue> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
        self.origins.iter().any(|known| known.as_bytes() == origin.as_bytes()).then_some(origin)
    }

    /// Whether a browser asks what a page of an allowed origin may send. It asks without the token.
    pub(crate) fn is_preflight(&self, request: &Parts) -> bool {
        request.method == Method::OPTIONS
            && request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
            && self.allowed(&request.headers).is_some()
    }

    /// What the answer tells a browser of pages of other origins.
    pub(crate) fn sharing(&self, headers: &HeaderMap) -> Sharing {
        Sharing { differs: !self.origins.is_empty(), origin: self.allowed(headers).cloned() }
    }
}

/// Whether a browser may show an answer to the page of another origin ("Fetch Standard", section 3.3).
pub(crate) struct Sharing {
    /// Answers differ by `Origin`.
    differs: bool,
    /// The one that may see the answer.
    origin: Option<HeaderValue>,
}

impl Sharing {
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        if self.differs {
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
        if let Some(origin) = self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            let shown = HeaderValue::from_static("content-range, etag, last-event-id, link, location, retry-after");
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, shown);
        }
    }
}

/// Checks that a text is an origin as browsers send it: a scheme, a host, and a port if it is not the scheme's.
///
/// # Errors
/// If it is none: a browser would never send it.
pub(crate) fn check_origin(origin: &str) -> Result<(), Error> {
    let parts = origin.parse::<Uri>().ok().map(Uri::into_parts);
    let again = parts.and_then(|parts| Some(format!("{}://{}", parts.scheme?, parts.authority?)));
    let is_plain = !origin.contains(['@', '*']) && !origin.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_default = (origin.starts_with("http://") && origin.ends_with(":80"))
        || (origin.starts_with("https://") && origin.ends_with(":443"));
    if again.as_deref() == Some(origin) && is_plain && !is_default {
        return Ok(());
    }
    Err(Error::new(format!("{origin:?} is no origin of pages, such as http://localhost:8000")))
}

/// Refuses a request that may not do this.
///
/// # Errors
/// 403.
pub(crate) fn needs(rights: Rights, right: Right) -> Result<(), Problem> {
    if rights.has(right) {
        return Ok(());
    }
    let name = Rights::name(right);
    Err(Problem::new(StatusCode::FORBIDDEN, format!("this token lacks the right for it: {name}")))
}
