//! Programs written for `serde_json`, compiled once with it and once with this crate in its place: the same source, the
//! same output. Between them they use every public name.
#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]
#![allow(missing_docs, unreachable_pub, reason = "programs as people write them")]

macro_rules! programs {
    ($($name:ident)*) => {
        mod ours {
            use ::jird_serde_json as serde_json;
            $(pub(super) mod $name {
                use super::serde_json;
                include!(concat!("programs/", stringify!($name), ".rs"));
            })*
        }
        mod theirs {
            use ::serde_json;
            $(pub(super) mod $name {
                use super::serde_json;
                include!(concat!("programs/", stringify!($name), ".rs"));
            })*
        }
        $(
            #[test]
            fn $name() {
                let (ours, theirs) = (ours::$name::run(), theirs::$name::run());
                let different = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
                assert_eq!(different, None);
                assert_eq!(ours, theirs);
                assert!(ours.len() > 100, "{ours}");
            }
        )*
    };
}

programs! {
    trees maps numbers macros requests streams readers writers formats raws kinds keys
}
