//! Table 12: measures the worth of single decisions by reverting each of them.

use std::hint::black_box;

use jird::hooks::Kernel;
use jird::policy::Policy;
use jird::{Parser, hooks::Technique};

use super::clock::{self, used};
use super::table::{Drawing, Table, column};
use super::{documents, text};
use crate::options::Options;

/// jird with one decision reverted. To add a variant, add an entry to `VARIANTS`.
struct Variant {
    name: &'static str,
    words: &'static str,
    /// Makes a new parse function for each document.
    make: fn(Kernel) -> Result<Parse, String>,
}

type Parse = Box<dyn FnMut(&[u8])>;

const VARIANTS: &[Variant] = &[
    Variant {
        name: "as it is",
        words: "a reused parser with the best kernel",
        make: |kernel| Ok(reused(Parser::with_kernel(Policy::default(), kernel))),
    },
    Variant { name: "AVX2", words: "without AVX-512", make: |_| with_kernel("avx2") },
    Variant { name: "portable", words: "without vector instructions", make: |_| with_kernel("portable") },
    Variant {
        name: "fresh",
        words: "jird::parse, which allocates its buffers for each document",
        make: |_| Ok(Box::new(|text| used(jird::parse(text)))),
    },
    Variant {
        name: "by token",
        words: "pass two takes one token after the other, not 64 by masks",
        make: |kernel| Ok(without(kernel, Technique::Batches)),
    },
    Variant {
        name: "numbers one by one",
        words: "pass two judges every number, and none is judged by masks",
        make: |kernel| Ok(without(kernel, Technique::NumbersByMasks)),
    },
    Variant {
        name: "numbers by masks",
        words: "every number is judged by masks, also where there are few",
        make: |kernel| Ok(without(kernel, Technique::NumbersOneByOne)),
    },
    Variant {
        name: "numbers gathered",
        words: "every number is copied from the text, and judged by masks of the copies",
        make: |kernel| Ok(without(kernel, Technique::NumbersInPlace)),
    },
    Variant {
        name: "no ASCII",
        words: "UTF-8 is checked also where 128 bytes are ASCII",
        make: |kernel| Ok(without(kernel, Technique::AsciiShortcut)),
    },
    Variant {
        name: "one chunk",
        words: "pass one over the whole document before pass two begins",
        make: |kernel| Ok(reused(Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(1 << 30))),
    },
];

/// The speed of a parse without a visit.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    let kernel = kernel(options)?;
    let mut rows = Vec::new();
    for name in documents(options) {
        rows.push((name.to_owned(), speeds(&text(name)?, kernel, options)));
    }
    let mut notes: Vec<String> =
        VARIANTS.iter().map(|variant| format!("{}: {}", variant.name, variant.words)).collect();
    for variant in VARIANTS {
        if let Err(reason) = (variant.make)(kernel) {
            notes.push(format!("{} was not measured: {reason}", variant.name));
        }
    }
    let columns = VARIANTS.iter().map(|variant| column(variant.name, 2)).collect();
    let drawing = Drawing { unit: "GB/s; longer is better", columns: (0..VARIANTS.len()).collect(), stacked: false };
    let title = format!("Table 12: one decision taken back at a time, parse, jird ({})", kernel.name());
    Ok(Table { title, heading: "GB/s", columns, rows, notes, drawing: Some(drawing) })
}

/// The speeds of all variants; NaN for a variant that is not available.
fn speeds(text: &[u8], kernel: Kernel, options: &Options) -> Vec<f64> {
    let mut made: Vec<Option<Parse>> = VARIANTS.iter().map(|variant| (variant.make)(kernel).ok()).collect();
    let mut passes: Vec<Box<dyn FnMut() + '_>> = Vec::new();
    for parse in made.iter_mut().flatten() {
        passes.push(Box::new(move || parse(black_box(text))));
    }
    let mut times = clock::medians(&mut passes, options).into_iter();
    drop(passes);
    let speed = |parse: &Option<Parse>| {
        let time = parse.as_ref().and_then(|_| times.next());
        time.map_or(f64::NAN, |ns| text.len() as f64 / ns)
    };
    made.iter().map(speed).collect()
}

fn with_kernel(name: &str) -> Result<Parse, String> {
    let kernel = Kernel::named(name).map_err(|error| error.to_string())?;
    Ok(reused(Parser::with_kernel(Policy::default(), kernel)))
}

fn without(kernel: Kernel, technique: Technique) -> Parse {
    reused(Parser::with_kernel(Policy::default(), kernel).without(technique))
}

fn reused(mut parser: Parser) -> Parse {
    Box::new(move |text| used(parser.parse(text)))
}

/// The kernel that the user named, or the best one.
pub(super) fn kernel(options: &Options) -> Result<Kernel, String> {
    options.kernel.as_deref().map_or(Ok(Kernel::best()), |name| Kernel::named(name).map_err(|error| error.to_string()))
}
