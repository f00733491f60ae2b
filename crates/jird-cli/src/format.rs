//! The format of a file, as an argument or by the file's name.

use clap::builder::PossibleValue;
#[cfg(feature = "convert")]
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jird_formats::files::FileFormat;

/// Reads the name of a format.
#[cfg(feature = "convert")]
pub(crate) fn parser() -> impl TypedValueParser<Value = FileFormat> {
    PossibleValuesParser::new(FileFormat::all().map(value))
        .map(|name| FileFormat::named(&name).unwrap_or_else(|| unreachable!("one of the possible values")))
}

/// A format as a value of an argument.
pub(crate) fn value(format: FileFormat) -> PossibleValue {
    let is_absent = cfg!(not(feature = "parquet")) && format == FileFormat::Parquet;
    let about = if is_absent { "Apache Parquet: not in this program" } else { format.about() };
    PossibleValue::new(format.name()).help(about).aliases(format.aliases().iter().copied())
}

/// The format that the user asked for, or else the one that the name stands for.
#[cfg(feature = "convert")]
pub(crate) fn of_target(asked: Option<FileFormat>, path: Option<&std::path::Path>) -> anyhow::Result<FileFormat> {
    use jird_formats::files::Compression;

    if asked.is_some_and(|asked| !asked.can_write()) {
        anyhow::bail!("a quarantine is written by --on-error quarantine=FILE");
    }
    let Some(path) = path else { return Ok(asked.unwrap_or(FileFormat::Ndjson)) };
    let name = path.display();
    let compression = Compression::of_target(path).map_err(anyhow::Error::msg)?;
    let Some(format) = asked.or_else(|| FileFormat::of_name(path)) else {
        let written = FileFormat::all().filter(|format| format.can_write());
        let known = written.map(|format| format!(".{}", format.suffix())).collect::<Vec<_>>().join(", ");
        anyhow::bail!("{name}: the name does not say which format to write: use {known}, or name the format with --to");
    };
    if format.is_seekable() && compression != Compression::None {
        anyhow::bail!("{name}: a file of this format cannot be compressed; remove the last suffix");
    }
    Ok(format)
}
