//! The values of `--format`, from the registry of formats.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use oasis_format::{FORMATS, Format};

/// Parses the name of a format for samples.
pub fn of_samples() -> impl TypedValueParser<Value = &'static Format> {
    parser(|format| Some(format.samples.as_ref()?.help))
}

/// Parses the name of a format for query results.
pub fn of_rows() -> impl TypedValueParser<Value = &'static Format> {
    parser(|format| Some(format.rows.as_ref()?.help))
}

fn parser(help: fn(&Format) -> Option<&'static str>) -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS
        .iter()
        .filter_map(|format| Some(PossibleValue::new(format.name).aliases(format.alias).help(help(format)?)));
    PossibleValuesParser::new(values)
        .try_map(|name| oasis_format::find(&name).ok_or_else(|| format!("unknown format {name:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    fn parse(parser: impl TypedValueParser<Value = &'static Format>, name: &str) -> Option<&'static str> {
        let command = Command::new("test").arg(Arg::new("format").value_parser(parser));
        let matches = command.try_get_matches_from(["test", name]).ok()?;
        matches.get_one::<&'static Format>("format").map(|format| format.name)
    }

    #[test]
    fn each_command_takes_the_formats_that_it_can_write_by_both_their_names() {
        for name in ["csv", "jsonl", "mcap", "arrow", "parquet"] {
            assert_eq!(parse(of_samples(), name), Some(name));
        }
        for name in ["table", "csv", "jsonl"] {
            assert_eq!(parse(of_rows(), name), Some(name));
        }
        assert_eq!([parse(of_samples(), "json"), parse(of_rows(), "json")], [Some("jsonl"); 2]);
        assert_eq!([parse(of_samples(), "table"), parse(of_rows(), "mcap")], [None; 2]);
    }
}
