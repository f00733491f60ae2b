//! Names and views: what the tables of a query stand for.
//!
//! A name of files becomes a path. A view becomes a common table expression in front of the query, called `view:NAME`,
//! which no name of the query can mean by accident; a view that is all of a file is another name of the file. The
//! query's own common table expressions go before both.

use crate::base::defined::Defined;
use crate::base::error::Error;
use crate::base::nearest::{nearest, some};
use crate::sql::base::functions::STREAM;
use crate::sql::base::syntax::quoted;
use crate::sql::base::visit;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    CreateView, Cte, Ident, ObjectName, ObjectNamePart, Query, SetExpr, TableAlias, TableAliasColumnDef, TableFactor,
    VisitorMut, With,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// The start of a common table expression's name that is a view's.
const PREFIX: &str = "view:";

/// A query with a name.
#[derive(Clone, Debug)]
pub(crate) struct View {
    name: Ident,
    columns: Vec<TableAliasColumnDef>,
    query: Box<Query>,
    /// The query as it was written.
    written: String,
    /// Whether it takes the place of another one of its name.
    replaces: bool,
    /// Whether another one of its name stays.
    yields: bool,
    /// The file that defines it, if it is not the text of the query.
    file: Option<String>,
}

impl View {
    /// The view of `create view`, whose query was written like this.
    pub(super) fn new(created: CreateView, written: String) -> Result<Self, Error> {
        let CreateView { or_alter, materialized, secure, options, cluster_by, comment, to, params, .. } = &created;
        let plain = options.to_string().is_empty() && comment.is_none() && to.is_none() && params.is_none();
        let more = *or_alter || *materialized || *secure || !cluster_by.is_empty() || created.with_no_schema_binding;
        let plain = plain && !more && !created.copy_grants;
        let [ObjectNamePart::Identifier(name)] = &created.name.0[..] else {
            return Err(Error::sql(format!("{} cannot name a view, because it has a dot", created.name)));
        };
        let start = name.span.start;
        if !plain || created.columns.iter().any(|column| column.options.is_some()) {
            let message = format!("the view {name} has more than a name, names of columns and a query");
            return Err(Error::sql(message).at(start.line, start.column));
        }
        if name.quote_style == Some('\'') || STREAM.eq_ignore_ascii_case(&name.value) {
            let message = format!("{name} cannot name a view, because it stands for files");
            return Err(Error::sql(message).at(start.line, start.column));
        }
        let columns = created.columns.iter().map(|column| TableAliasColumnDef::from_name(&*column.name.value));
        Ok(Self {
            name: name.clone(),
            columns: columns.collect(),
            query: created.query,
            written,
            replaces: created.or_replace,
            yields: created.if_not_exists,
            file: None,
        })
    }

    /// The same view, defined in this file.
    pub(crate) fn of_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    /// The name of its common table expression.
    fn table(&self) -> Ident {
        quoted(&format!("{PREFIX}{}", self.name.value))
    }

    /// What its name stands for: the file that it is all of, or its common table expression.
    fn stands_for(&self) -> ObjectName {
        if let SetExpr::Select(select) = &*self.query.body
            && let [from] = &select.from[..]
            && let TableFactor::Table { name, .. } = &from.relation
            && name.0.iter().all(|part| part.as_ident().is_some_and(|part| part.quote_style.is_some()))
            && self.columns.is_empty()
            && self.query.to_string() == format!("SELECT * FROM {name}")
        {
            return name.clone();
        }
        ObjectName::from(vec![self.table()])
    }

    /// An error at a name in the view.
    fn wrong(&self, message: &str, at: &Ident) -> Error {
        let place = match &self.file {
            Some(file) => format!("{file}, "),
            None => String::new(),
        };
        Error::sql(format!("{message} ({place}line {}, column {})", at.span.start.line, at.span.start.column))
            .at(at.span.start.line, at.span.start.column)
    }
}

/// An error in a common table expression. If that is a view, the error says so.
pub(crate) fn of_view(error: Error, table: &str) -> Error {
    match table.strip_prefix(PREFIX) {
        Some(view) => error.renamed(|message| format!("in the view {view}: {message}")),
        None => error,
    }
}

/// Whether a table is a view.
pub(super) fn is_view(table: &ObjectName) -> bool {
    table.0.iter().any(|part| part.as_ident().is_some_and(|part| part.value.starts_with(PREFIX)))
}

/// All names that a query may use in place of paths.
#[derive(Debug)]
pub(crate) struct Views<'d> {
    files: &'d [Defined],
    /// Each after those that it uses.
    sorted: Vec<View>,
    /// The views that each one uses.
    uses: Vec<Vec<usize>>,
    /// What each name of a view stands for.
    tables: HashMap<String, (usize, ObjectName)>,
}

impl<'d> Views<'d> {
    /// These names of files and views; later ones may replace earlier ones.
    pub(crate) fn new(files: &'d [Defined], defined: Vec<View>) -> Result<Self, Error> {
        let mut views: Vec<View> = Vec::new();
        for view in defined {
            let name = &view.name.value;
            if files.iter().any(|files| files.name == *name) {
                return Err(view.wrong(&format!("{name} is a view and a name of files: rename one"), &view.name));
            }
            match views.iter().position(|other| other.name.value == *name) {
                None => views.push(view),
                Some(other) if view.replaces => views[other] = view,
                Some(_) if view.yields => {}
                Some(_) => {
                    let message = format!("there are two views {name}: `create or replace view` replaces one");
                    return Err(view.wrong(&message, &view.name));
                }
            }
        }
        let mut all = Self { files, sorted: Vec::new(), uses: Vec::new(), tables: HashMap::new() };
        all.add(views)?;
        Ok(all)
    }

    /// The names, in the order in which they are defined.
    fn known(&self, left: &[View]) -> Vec<String> {
        let files = self.files.iter().map(|files| files.name.clone());
        files.chain(self.sorted.iter().chain(left).map(|view| view.name.value.clone())).collect()
    }

    /// The names, what they are, and what they stand for.
    pub(crate) fn described(&self) -> impl Iterator<Item = [String; 3]> {
        let files =
            self.files.iter().map(|Defined { name, files }| [name.clone(), "files".to_owned(), files.join(" ")]);
        let mut views: Vec<_> = self.sorted.iter().collect();
        views.sort_by_key(|view| &view.name.value);
        files.chain(views.into_iter().map(|view| [view.name.value.clone(), "view".to_owned(), view.written.clone()]))
    }

    /// Adds views, those that others use first. Nothing is recursive: views may follow from one another in any number.
    fn add(&mut self, mut left: Vec<View>) -> Result<(), Error> {
        let known = self.known(&left);
        let number: HashMap<_, _> = left.iter().enumerate().map(|(at, view)| (view.name.value.clone(), at)).collect();
        let mut uses = Vec::new();
        for view in &mut left {
            let mut used = Vec::new();
            walk(&mut view.query, &mut |name, _| match number.get(&name.value) {
                Some(at) => {
                    used.push(*at);
                    Ok(None)
                }
                None if name.quote_style.is_some() || known.contains(&name.value) => Ok(None),
                None => Err((name.clone(), unknown(&name.value, &known))),
            })
            .map_err(|(name, message)| view.wrong(&message, &name))?;
            uses.push(used);
        }
        let order = sorted(&uses).map_err(|circle| {
            let names: Vec<_> = circle.iter().map(|at| left[*at].name.value.as_str()).collect();
            let first = &left[circle[0]];
            first.wrong(&format!("the view {} reads itself: {}", first.name.value, names.join(" reads ")), &first.name)
        })?;
        let mut left: Vec<_> = left.into_iter().map(Some).collect();
        for at in order {
            let Some(mut view) = left[at].take() else { continue };
            let used = self.expand_names(&mut view.query).map_err(|(name, message)| view.wrong(&message, &name))?;
            self.tables.insert(view.name.value.clone(), (self.sorted.len(), view.stands_for()));
            self.sorted.push(view);
            self.uses.push(used);
        }
        Ok(())
    }

    /// Puts in what the names of a query stand for, and the views that it uses in front of it.
    pub(crate) fn expand(&self, query: &mut Query) -> Result<(), Error> {
        if self.files.is_empty() && self.sorted.is_empty() {
            return Ok(());
        }
        let mut next = self.expand_names(query).map_err(|(name, message)| {
            let start = name.span.start;
            Error::sql(message).at(start.line, start.column)
        })?;
        let mut used = HashSet::new();
        while let Some(view) = next.pop() {
            if used.insert(view) {
                next.extend(&self.uses[view]);
            }
        }
        let is_used = |(at, view): &(usize, &View)| used.contains(at) && view.stands_for() == view.table().into();
        let views = self.sorted.iter().enumerate().filter(is_used).map(|(_, view)| Cte {
            alias: TableAlias { explicit: true, name: view.table(), columns: view.columns.clone(), at: None },
            query: view.query.clone(),
            from: None,
            materialized: None,
            closing_paren_token: AttachedToken::empty(),
        });
        let views: Vec<_> = views.collect();
        if !views.is_empty() {
            let with = query.with.get_or_insert_with(|| With {
                with_token: AttachedToken::empty(),
                recursive: false,
                cte_tables: Vec::new(),
            });
            with.cte_tables.splice(0..0, views);
        }
        Ok(())
    }

    /// Puts in what the names of a query stand for. Returns the views among them.
    fn expand_names(&self, query: &mut Query) -> Result<Vec<usize>, Wrong> {
        let mut used = Vec::new();
        walk(query, &mut |name, alias| {
            if let Some((view, table)) = self.tables.get(&name.value) {
                used.push(*view);
                alias.get_or_insert_with(|| TableAlias {
                    explicit: true,
                    name: quoted(&name.value),
                    columns: Vec::new(),
                    at: None,
                });
                return Ok(Some(table.clone()));
            }
            if name.quote_style.is_some() {
                return Ok(None);
            }
            if !self.files.iter().any(|files| files.name == name.value) {
                return Err((name.clone(), unknown(&name.value, &self.known(&[]))));
            }
            Ok(Some(ObjectName::from(vec![Ident { quote_style: Some('\''), ..name.clone() }])))
        })?;
        Ok(used)
    }
}

/// The message that a name stands for nothing.
fn unknown(name: &str, known: &[String]) -> String {
    let what = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => return format!("there is no table {name}; did you mean {near}?"),
        None if known.is_empty() => "no names are defined".to_owned(),
        None => format!("defined are {}", some(known.iter().map(String::as_str))),
    };
    format!("there is no table {name}: {what}, and a path is written in quotes, '{name}'")
}

/// Numbers in an order in which each follows those that it uses, or a circle, which ends as it begins.
fn sorted(uses: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut missing: Vec<_> = uses.iter().map(Vec::len).collect();
    let mut users = vec![Vec::new(); uses.len()];
    for (user, used) in uses.iter().enumerate() {
        used.iter().for_each(|used| users[*used].push(user));
    }
    let mut ready: Vec<_> = (0..uses.len()).filter(|at| missing[*at] == 0).collect();
    let mut order = Vec::new();
    while let Some(at) = ready.pop() {
        order.push(at);
        for user in &users[at] {
            missing[*user] -= 1;
            if missing[*user] == 0 {
                ready.push(*user);
            }
        }
    }
    let Some(first) = missing.iter().position(|missing| *missing > 0) else { return Ok(order) };
    let mut path = vec![first];
    loop {
        // Whatever waits, waits for something that waits.
        let next = uses[path[path.len() - 1]].iter().copied().find(|used| missing[*used] > 0).unwrap_or(first);
        if let Some(begin) = path.iter().position(|at| *at == next) {
            path.drain(..begin);
            path.push(next);
            return Err(path);
        }
        path.push(next);
    }
}

/// A name that stands for nothing, and what is wrong with it.
type Wrong = (Ident, String);

/// Takes the name of a table and its alias, and returns what takes its place, if anything does.
type Replace<'f> = dyn FnMut(&Ident, &mut Option<TableAlias>) -> Result<Option<ObjectName>, Wrong> + 'f;

/// Finds the names of tables that are neither common table expressions nor paths, and puts others in their place.
struct Names<'f> {
    found: &'f mut Replace<'f>,
    /// The common table expressions that can be named at the current place.
    ctes: Vec<String>,
    /// For each query around the current place: its common table expressions, which were visited before, and how many
    /// others can be named.
    around: Vec<(Option<With>, usize)>,
}

/// Calls `found` with each such name of a query and its alias; what it returns takes the name's place.
fn walk<'f>(query: &mut Query, found: &'f mut Replace<'f>) -> Result<(), Wrong> {
    match visit::change(query, &mut Names { found, ctes: Vec::new(), around: Vec::new() }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(wrong) => Err(wrong),
    }
}

impl VisitorMut for Names<'_> {
    type Break = Wrong;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Wrong> {
        let before = self.ctes.len();
        let mut with = query.with.take();
        if let Some(With { recursive, cte_tables, .. }) = &mut with {
            for cte in cte_tables {
                let name = cte.alias.name.value.clone();
                // Only such a one can name itself.
                self.ctes.extend(recursive.then(|| name.clone()));
                visit::change(&mut cte.query, self)?;
                self.ctes.push(name);
            }
        }
        self.around.push((with, before));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Wrong> {
        if let Some((with, before)) = self.around.pop() {
            query.with = with;
            self.ctes.truncate(before);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Wrong> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor
            && let [ObjectNamePart::Identifier(ident)] = &name.0[..]
            && ident.quote_style != Some('\'')
            && !(ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case(STREAM))
            && !self.ctes.contains(&ident.value)
        {
            match (self.found)(ident, alias) {
                Ok(Some(other)) => *name = other,
                Ok(None) => {}
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn what_is_used_comes_first_and_a_circle_is_found() {
        assert_eq!(sorted(&[vec![1, 2], vec![2], vec![]]), Ok(vec![2, 1, 0]));
        assert_eq!(sorted(&[vec![1], vec![2], vec![1]]), Err(vec![1, 2, 1]));
        assert_eq!(sorted(&[vec![], vec![1]]), Err(vec![1, 1]));
        assert_eq!(sorted(&[]), Ok(vec![]));
    }
}
