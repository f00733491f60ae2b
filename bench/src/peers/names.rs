//! The functions of the crates that have `serde_json`'s names, for `migrate`; and the wall of its trees.

use std::io::{BufReader, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::migrate::{Event, Names, PIECE_BYTES, Pieces, message};
use crate::models::decoded::{Shape, decode};
use crate::peer::{Answer, Refusal};

/// The functions of `serde_json` and of a crate with its names. `$reader` makes what its `from_reader` wants.
macro_rules! names {
    ($type:ident, $json:ident, $reader:expr) => {
        impl Names for $type {
            type Tree = $json::Value;

            fn tree(text: &mut [u8]) -> Answer<Self::Tree> {
                $json::from_slice(text).map_err(Refusal::rejected)
            }

            fn structs(text: &mut [u8], shape: Shape) -> Answer<()> {
                decode!(shape, $json::from_slice, text)
            }

            fn write<T: Serialize>(value: &T) -> Answer<Vec<u8>> {
                $json::to_vec(value).map_err(Refusal::rejected)
            }

            fn message(event: &Event) -> Answer<String> {
                use $json::json;
                $json::to_string(&message!(json, event)).map_err(Refusal::rejected)
            }

            fn to_tree<T: Serialize>(value: &T) -> Answer<Self::Tree> {
                $json::to_value(value).map_err(Refusal::rejected)
            }

            fn of_tree<T: DeserializeOwned>(tree: Self::Tree) -> Answer<T> {
                $json::from_value(tree).map_err(Refusal::rejected)
            }

            fn read<T: DeserializeOwned>(reader: Pieces<'_>) -> Answer<T> {
                $json::from_reader($reader(reader)).map_err(Refusal::rejected)
            }

            fn read_tree(reader: Pieces<'_>) -> Answer<Self::Tree> {
                Self::read(reader)
            }

            fn take<T: DeserializeOwned>(reader: &mut impl Read) -> Answer<T> {
                T::deserialize(&mut $json::Deserializer::from_reader(reader)).map_err(Refusal::rejected)
            }

            fn take_tree(reader: &mut impl Read) -> Answer<Self::Tree> {
                Self::take(reader)
            }
        }
    };
}

/// `serde_json`. Its `from_reader` reads byte by byte, and wants a buffer.
pub(super) struct SerdeJson;
names!(SerdeJson, serde_json, |reader| BufReader::with_capacity(PIECE_BYTES, reader));

#[cfg(feature = "facade")]
pub(super) use facade::{JirdSerdeJson, MadeTree};

#[cfg(feature = "facade")]
mod facade {
    use super::*;
    use crate::migrate::{Deed, KeptText, migrates};
    use crate::peer::Peer;
    use jird_serde_json::{Map, Number, Value};
    use std::hint::black_box;

    /// `jird-serde-json`.
    pub(in crate::peers) struct OurNames;
    names!(OurNames, jird_serde_json, |reader| reader);

    #[derive(Default)]
    pub(in crate::peers) struct JirdSerdeJson {
        migrant: crate::migrate::Migrant<OurNames>,
    }

    impl Peer for JirdSerdeJson {
        fn version(&self) -> String {
            env!("CARGO_PKG_VERSION").to_owned()
        }

        fn load(&mut self, _documents: &[Vec<u8>]) {}

        migrates!(migrant);
    }

    /// What a tree is made of, without reading a text: keys, strings and numbers.
    enum Parts {
        Null,
        Bool(bool),
        Number(Number),
        String(Box<str>),
        Array(Vec<Parts>),
        Object(Vec<(Box<str>, Parts)>),
    }

    impl Parts {
        fn of(value: Value) -> Self {
            match value {
                Value::Null => Self::Null,
                Value::Bool(value) => Self::Bool(value),
                Value::Number(number) => Self::Number(number),
                Value::String(text) => Self::String(text.into()),
                Value::Array(elements) => Self::Array(elements.into_iter().map(Self::of).collect()),
                Value::Object(members) => {
                    Self::Object(members.into_iter().map(|(key, value)| (key.into(), Self::of(value))).collect())
                }
            }
        }

        /// The tree, in which nothing of these parts is used but their bytes.
        fn made(&self) -> Value {
            match self {
                Self::Null => Value::Null,
                Self::Bool(value) => Value::Bool(*value),
                Self::Number(number) => Value::Number(number.clone()),
                Self::String(text) => Value::String((**text).to_owned()),
                Self::Array(elements) => Value::Array(elements.iter().map(Self::made).collect()),
                Self::Object(members) => {
                    let members = members.iter().map(|(key, value)| ((**key).to_owned(), value.made()));
                    Value::Object(members.collect::<Map<_, _>>())
                }
            }
        }
    }

    /// Makes the trees of `jird-serde-json` from their parts.
    #[derive(Default)]
    pub(in crate::peers) struct MadeTree {
        parts: Vec<Parts>,
    }

    impl Peer for MadeTree {
        fn version(&self) -> String {
            env!("CARGO_PKG_VERSION").to_owned()
        }

        fn load(&mut self, _documents: &[Vec<u8>]) {}

        fn prepare(&mut self, documents: &[Vec<u8>], deed: Deed) -> Answer<()> {
            let parts = |text: &Vec<u8>| jird_serde_json::from_slice(text).map(Parts::of).map_err(Refusal::rejected);
            if deed != Deed::Tree {
                return Err(Refusal::NotDone);
            }
            self.parts = documents.iter().map(parts).collect::<Answer<_>>()?;
            Ok(())
        }

        fn migrate(&mut self, index: usize, _deed: Deed) -> Answer<()> {
            drop(black_box(black_box(&self.parts[index]).made()));
            Ok(())
        }

        fn migrated(&mut self, index: usize, _deed: Deed) -> Answer<KeptText> {
            let mut kept = KeptText::default();
            crate::migrate::ResultSink::is(&mut kept, self.parts[index].made());
            Ok(kept)
        }
    }
}

/// `sonic-rs`.
pub(super) struct SonicRs;

impl Names for SonicRs {
    type Tree = sonic_rs::Value;

    fn tree(text: &mut [u8]) -> Answer<Self::Tree> {
        sonic_rs::from_slice(text).map_err(Refusal::rejected)
    }

    fn structs(text: &mut [u8], shape: Shape) -> Answer<()> {
        decode!(shape, sonic_rs::from_slice, text)
    }

    fn write<T: Serialize>(value: &T) -> Answer<Vec<u8>> {
        sonic_rs::to_vec(value).map_err(Refusal::rejected)
    }

    fn message(event: &Event) -> Answer<String> {
        use sonic_rs::json;
        sonic_rs::to_string(&message!(json, event)).map_err(Refusal::rejected)
    }

    fn to_tree<T: Serialize>(value: &T) -> Answer<Self::Tree> {
        sonic_rs::to_value(value).map_err(Refusal::rejected)
    }

    fn of_tree<T: DeserializeOwned>(tree: Self::Tree) -> Answer<T> {
        sonic_rs::from_value(&tree).map_err(Refusal::rejected)
    }

    fn read<T: DeserializeOwned>(reader: Pieces<'_>) -> Answer<T> {
        sonic_rs::from_reader(reader).map_err(Refusal::rejected)
    }

    fn read_tree(reader: Pieces<'_>) -> Answer<Self::Tree> {
        Self::read(reader)
    }
}

/// `simd-json`, with its owned value.
pub(super) struct SimdJson;

impl Names for SimdJson {
    type Tree = simd_json::OwnedValue;

    fn tree(text: &mut [u8]) -> Answer<Self::Tree> {
        simd_json::to_owned_value(text).map_err(Refusal::rejected)
    }

    fn structs(text: &mut [u8], shape: Shape) -> Answer<()> {
        decode!(shape, simd_json::serde::from_slice, text)
    }

    fn write<T: Serialize>(value: &T) -> Answer<Vec<u8>> {
        simd_json::serde::to_vec(value).map_err(Refusal::rejected)
    }

    fn to_tree<T: Serialize>(value: &T) -> Answer<Self::Tree> {
        simd_json::serde::to_owned_value(value).map_err(Refusal::rejected)
    }

    fn of_tree<T: DeserializeOwned>(tree: Self::Tree) -> Answer<T> {
        simd_json::serde::from_owned_value(tree).map_err(Refusal::rejected)
    }

    fn read<T: DeserializeOwned>(reader: Pieces<'_>) -> Answer<T> {
        simd_json::serde::from_reader(reader).map_err(Refusal::rejected)
    }

    fn read_tree(reader: Pieces<'_>) -> Answer<Self::Tree> {
        Self::read(reader)
    }
}
