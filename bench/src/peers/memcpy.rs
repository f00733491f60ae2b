//! The wall: copies the text into an existing buffer.

use std::hint::black_box;

use crate::peer::{Answer, Peer};

/// `memcpy`, or whatever the standard library compiles `copy_from_slice` to.
#[derive(Default)]
pub(super) struct Memcpy {
    documents: Vec<Vec<u8>>,
    target: Vec<u8>,
}

impl Peer for Memcpy {
    fn version(&self) -> String {
        "the C library's".to_owned()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
        self.target = vec![0; documents.iter().map(Vec::len).max().unwrap_or_default()];
    }

    fn scan(&mut self, index: usize) -> Answer<u64> {
        let text = black_box(&self.documents[index]);
        self.target[..text.len()].copy_from_slice(text);
        Ok(black_box(&self.target).len() as u64)
    }
}
