//! The entry points of jird, and the shapes that each is tried on.

mod csv;
mod documents;
mod encode;
mod events;
mod lenient;
mod lines;
mod migrate;
mod patches;
mod paths;
mod texts;
mod typed;
mod values;

use crate::case::{Case, Prepared};
use crate::judge::Bar;
use crate::shapes::Shape;

/// The smallest of the three sizes. All three are below the 64 KB that are scanned, read or dropped at a time, because
/// the cost has a step there. Longer inputs are tried with small chunks.
const BYTES: usize = 15 << 10;

/// The smallest size of the cases [`beyond_a_chunk`]. The inputs are slightly longer than one, two and four chunks.
const LARGE_BYTES: usize = 68 << 10;

/// Every entry point, on every shape that it is tried on.
pub fn cases() -> Vec<Case> {
    [
        documents::cases(),
        typed::cases(),
        migrate::cases(),
        events::cases(),
        lenient::cases(),
        lines::cases(),
        paths::cases(),
        patches::cases(),
        encode::cases(),
        values::cases(),
        texts::cases(),
        csv::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// An entry point that takes a text.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    run: fn(&[u8]),
    bar: Bar,
    /// The sizes are divided by this, for an entry point that spends much on each byte.
    smaller: usize,
}

/// An entry point with linear cost.
const fn way(name: &'static str, run: fn(&[u8])) -> Way {
    Way { name, run, bar: Bar::LINEAR, smaller: 1 }
}

impl Way {
    const fn bar(self, bar: Bar) -> Self {
        Self { bar, ..self }
    }

    const fn smaller(self, smaller: usize) -> Self {
        Self { smaller, ..self }
    }

    /// This entry point on one shape.
    fn on(self, shape: Shape) -> Case {
        let prepare = move |bytes| {
            let text = shape.text(bytes);
            Prepared::new(text.len(), move || (self.run)(&text))
        };
        let name = format!("{} · {}", self.name, shape.name);
        Case { name, bar: self.bar, bytes: BYTES / self.smaller / shape.smaller, prepare: Box::new(prepare) }
    }
}

/// Each of these entry points on each of these shapes.
fn each<'s>(ways: &'s [Way], shapes: &'s [Shape]) -> impl Iterator<Item = Case> + 's {
    ways.iter().flat_map(|way| shapes.iter().map(|shape| way.on(*shape)))
}

/// The entry points with one of these names, on the shapes with one of these names, with inputs of several chunks.
fn beyond_a_chunk(ways: &[&[Way]], names: &[&str], shapes: &[Shape], shape_names: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    for name in names {
        let way = ways.iter().copied().flatten().find(|way| way.name == *name);
        let way = way.unwrap_or_else(|| panic!("no way is called {name:?}"));
        for shape in shapes.iter().filter(|shape| shape_names.contains(&shape.name)) {
            let case = way.on(*shape);
            cases.push(Case { name: format!("{}, beyond a chunk", case.name), bytes: LARGE_BYTES, ..case });
        }
    }
    cases
}

/// A single case. `prepare` makes an input of about the size that it is given, and the work to do on it.
fn case(name: &str, prepare: impl Fn(usize) -> Prepared + 'static) -> Case {
    Case { name: name.to_owned(), bar: Bar::LINEAR, bytes: BYTES, prepare: Box::new(prepare) }
}

/// Keeps the compiler from removing work whose result is not used.
fn used<T>(value: T) {
    drop(std::hint::black_box(value));
}

/// A reader that gives one byte at a time.
struct ByteByByte<'t>(&'t [u8]);

impl std::io::Read for ByteByByte<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let one = buffer.len().min(1);
        self.0.read(&mut buffer[..one])
    }
}
