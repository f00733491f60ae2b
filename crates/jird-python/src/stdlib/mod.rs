//! What `jird.json` needs besides `loads` and `dumps`: the ways of Python's `json`.
//!
//! ```text
//! read   values by hooks, and floats beyond all bounds as infinite
//! write  the text that `json.dumps` writes, byte for byte
//! text   strings and floats as `json` writes them
//! ```

mod read;
mod text;
mod write;

pub(crate) use read::json_loads;
pub(crate) use write::json_dumps;
