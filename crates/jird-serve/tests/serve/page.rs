//! The page's files as they are sent. `jird-cli/tests/all/page/mod.rs` clicks through the page itself.

use crate::common::{Service, TASKS};

const FILES: [(&str, &str); 3] = [
    ("/", "text/html; charset=utf-8"),
    ("/_/page.css", "text/css; charset=utf-8"),
    ("/_/page.js", "text/javascript; charset=utf-8"),
];

#[test]
fn the_page_needs_no_token_and_runs_nothing_but_its_own_script() {
    let service = Service::with(TASKS, |settings| settings.tokens = vec!["s3cret".into()]);
    for (path, media) in FILES {
        let answer = service.get(path).is(200);
        assert_eq!(answer.header("content-type"), Some(media));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let policy = answer.header("content-security-policy").unwrap();
        for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        service.send("GET", path, &[("Host", "evil.example")], b"").is(421);
        for method in ["POST", "DELETE", "PUT"] {
            service.json(method, path, "{}").is(405);
        }
    }
    service.get("/_/other.js").is(401);
}

#[test]
fn a_browser_keeps_the_page_until_it_changes() {
    let service = Service::new();
    for (path, _) in FILES {
        let answer = service.get(path).is(200);
        let (tag, text) = (answer.header("etag").unwrap().to_owned(), answer.body);
        assert_eq!(service.send("HEAD", path, &[], b"").status, 200);
        for coding in ["identity", "gzip", "zstd"] {
            let answer = service.send("GET", path, &[("Accept-Encoding", coding)], b"").is(200);
            assert_eq!(answer.header("cache-control"), Some("no-cache"));
            assert_eq!(answer.header("content-encoding").unwrap_or("identity"), coding);
            if coding != "identity" {
                assert!(answer.body.len() < text.len());
            }
            let known = answer.header("etag").unwrap();
            let again = service.send("GET", path, &[("If-None-Match", known), ("Accept-Encoding", coding)], b"");
            assert_eq!(
                (again.is(304).body.len(), known.trim_matches('"').starts_with(tag.trim_matches('"'))),
                (0, true)
            );
        }
        service.send("GET", path, &[("If-None-Match", "\"other\"")], b"").is(200);
    }
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let service = Service::new();
    for (path, _) in FILES {
        let answer = service.get(path);
        let text = answer.text();
        let outside = text.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
        // Namespace names of SVG, which are never fetched.
        assert!(outside.into_iter().all(|rest| rest.starts_with("://www.w3.org/2000/svg")), "{path}");
        for markup in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=", "onclick=\""]
        {
            assert!(!text.contains(markup), "{path} has {markup}");
        }
    }
}
