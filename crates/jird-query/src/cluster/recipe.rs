//! How a query was prepared, so that another process can prepare it in the same way.
//!
//! A predicate holds regular expressions and parsed literals. It does not travel: the text of the query does, with all
//! else that decided how it was rewritten, and the other process rewrites it again.

use super::message::{self, PathName, of_json, wrong};
use crate::base::error::Error;
use crate::setup::session::is_aggregate;
use crate::sql::{self, FieldKnowledge, Leaf, Records, Rewritten, Style};
use datafusion::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// All that decides how a query is rewritten.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recipe {
    sql: String,
    style: u8,
    /// The types of fields that were known: table, path, type.
    known: Vec<(String, PathName, usize)>,
    /// The keys of all records, by table.
    keys: HashMap<String, Vec<String>>,
}

const STYLES: [Style; 3] = [Style::Json, Style::Cells, Style::Typed];

/// How many recipes a process keeps prepared. A plan has a few, and its tasks come one after the other.
const KEPT: usize = 16;

/// A recipe's text, and the predicates that it gives.
type Prepared = (String, Arc<Vec<Arc<Leaf>>>);

impl Recipe {
    pub(crate) fn new(sql: &str, style: Style, known: &FieldKnowledge, keys: &HashMap<String, Vec<String>>) -> Self {
        let style = STYLES.iter().position(|other| *other == style).unwrap_or_default();
        let known = known.types.iter();
        Self {
            sql: sql.to_owned(),
            style: u8::try_from(style).unwrap_or_default(),
            known: known
                .map(|(table, path, kind)| (table.clone(), PathName::of(path), message::number_of_kind(*kind)))
                .collect(),
            keys: keys.clone(),
        }
    }

    /// The recipe as a message.
    fn text(&self) -> Result<Arc<str>> {
        message::to_json(self).map(Arc::from)
    }

    /// The predicate of this name, with its recipe. `text` is a recipe.
    pub(super) fn leaf(text: &str, name: &str) -> Result<Arc<Leaf>> {
        static PREPARED: Mutex<VecDeque<Prepared>> = Mutex::new(VecDeque::new());
        let known = |prepared: &VecDeque<Prepared>| {
            prepared.iter().find(|(other, _)| other == text).map(|(_, leaves)| Arc::clone(leaves))
        };
        let found = known(&PREPARED.lock().unwrap_or_else(PoisonError::into_inner));
        let leaves = if let Some(leaves) = found {
            leaves
        } else {
            let leaves = Arc::new(of_json::<Self>(text.as_bytes())?.leaves()?);
            let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
            prepared.push_front((text.to_owned(), Arc::clone(&leaves)));
            prepared.truncate(KEPT);
            leaves
        };
        let leaf = leaves.iter().find(|leaf| leaf.name == name).cloned();
        leaf.ok_or_else(|| wrong(&format!("a message names a condition {name} that its query does not have")))
    }

    /// The predicates of the query.
    fn leaves(&self) -> Result<Vec<Arc<Leaf>>> {
        let mut parsed = sql::parse(&self.sql)?;
        parsed.expand(&[], &[])?;
        let types = self.known.iter();
        let types = types.map(|(table, path, kind)| Ok((table.clone(), path.path(), message::kind(*kind)?)));
        let known = FieldKnowledge { types: types.collect::<Result<_>>()?, ..FieldKnowledge::default() };
        let style = STYLES.get(usize::from(self.style)).copied();
        let style = style.ok_or_else(|| wrong("a message names a style of output that does not exist"))?;
        Ok(sql::rewrite(parsed.query, &is_aggregate, &mut MessageKeys(&self.keys), &known, style, None)?.leaves)
    }
}

/// The keys that a message tells, by table.
struct MessageKeys<'m>(&'m HashMap<String, Vec<String>>);

impl Records for MessageKeys<'_> {
    fn keys(&mut self, table: &str) -> std::result::Result<Vec<String>, Error> {
        let keys = self.0.get(table).cloned();
        keys.ok_or_else(|| Error::sql(format!("a message lacks the keys of {table}")))
    }
}

impl Rewritten {
    /// The same query, which other processes can rewrite too.
    pub(crate) fn with_recipe(self, recipe: &Recipe) -> Result<Self, Error> {
        let recipe = recipe.text().map_err(|error| Error::of(&error))?;
        Ok(Self { recipe: Some(recipe), ..self })
    }
}
