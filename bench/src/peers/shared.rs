//! What peers share whose crates have the same methods, but no trait for them: macros, which take the names that their
//! users import.

/// For a peer with a tree (`read`) and a buffer (`minified`): the tasks that read some of its fields.
macro_rules! reads_tree {
    () => {
        fn partial(&mut self, index: usize) -> Answer<Fold> {
            let root = self.read(index)?;
            let mut fold = Fold::default();
            for tweet in root["statuses"].as_array().ok_or(Refusal::Rejected)? {
                let user = &tweet["user"];
                for text in [&tweet["created_at"], &tweet["text"], &user["screen_name"]] {
                    fold.string(text.as_str().ok_or(Refusal::Rejected)?);
                }
                let counts = [&tweet["retweet_count"], &tweet["favorite_count"], &user["followers_count"]];
                for number in [&tweet["id"], &user["id"]].into_iter().chain(counts) {
                    fold.integer(number.as_i64().ok_or(Refusal::Rejected)?);
                }
            }
            Ok(fold)
        }

        fn users(&mut self, index: usize) -> Answer<Fold> {
            let root = self.read(index)?;
            let mut ids = Vec::new();
            for tweet in root["statuses"].as_array().ok_or(Refusal::Rejected)? {
                ids.push(tweet["user"]["id"].as_u64().ok_or(Refusal::Rejected)?);
                if let Some(original) = tweet.get("retweeted_status") {
                    ids.push(original["user"]["id"].as_u64().ok_or(Refusal::Rejected)?);
                }
            }
            Ok(fold_distinct(ids))
        }

        fn two(&mut self, index: usize) -> Answer<Fold> {
            let root = self.read(index)?;
            let message = root["Message"].as_str().ok_or(Refusal::Rejected)?;
            Ok(fold_two(message, root["Elapsed"].as_f64().ok_or(Refusal::Rejected)?))
        }

        fn minified(&self) -> Result<Vec<u8>, String> {
            Ok(self.minified.clone())
        }
    };
}
pub(super) use reads_tree;

/// A peer that reads into structs with serde, and writes them: `from_slice` and `to_vec` of a crate, and the name of the
/// variable with its version.
macro_rules! reads_structs {
    ($json:ident, $version:literal) => {
        /// `from_slice` into a struct of the wanted fields.
        #[derive(Default)]
        pub(super) struct Typed {
            documents: Vec<Vec<u8>>,
            encoded: Encoded,
            shapes: Vec<Shape>,
        }

        impl Peer for Typed {
            fn version(&self) -> String {
                env!($version).to_owned()
            }

            fn load(&mut self, documents: &[Vec<u8>]) {
                self.documents = documents.to_vec();
                self.encoded.load(documents);
                self.shapes = Shape::of_all(documents);
            }

            fn typed(&mut self, index: usize) -> Answer<()> {
                decode!(self.shapes[index], $json::from_slice, &self.documents[index])
            }

            fn partial(&mut self, index: usize) -> Answer<Fold> {
                let timeline: Timeline<'_> = $json::from_slice(&self.documents[index]).map_err(Refusal::rejected)?;
                Ok(timeline.fold())
            }

            fn users(&mut self, index: usize) -> Answer<Fold> {
                let authors: Authors = $json::from_slice(&self.documents[index]).map_err(Refusal::rejected)?;
                Ok(authors.fold())
            }

            fn two(&mut self, index: usize) -> Answer<Fold> {
                let event: Event<'_> = $json::from_slice(&self.documents[index]).map_err(Refusal::rejected)?;
                Ok(event.fold())
            }

            fn encode(&mut self, index: usize) -> Answer<&[u8]> {
                self.encoded.write(index, &self.documents[index], $json::to_vec)
            }

            fn strings(&mut self, index: usize) -> Answer<Fold> {
                let texts: Vec<Text<'_>> = $json::from_slice(&self.documents[index]).map_err(Refusal::rejected)?;
                Ok(fold_texts(&texts))
            }
        }
    };
}
pub(super) use reads_structs;
