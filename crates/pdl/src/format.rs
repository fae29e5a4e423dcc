//! One layout for every file. Words and comments keep their text and order; only blanks and line breaks change.
//!
//! A file passes through four steps, each a file: words with the comments before them (`pieces`), how words stand beside each other on
//! a line (`spacing`), which of them begin a line (`layout`), text (`writer`). All of them know tokens, not declarations: what
//! the language gains is laid out like what it looks like.

mod layout;
mod pieces;
mod spacing;
mod writer;

use crate::{
    compile::Report,
    lexer::lex,
    parser,
    source::{Sources, normalized},
};
use std::path::Path;

/// Characters that a line may have, comments aside.
const WIDTH: usize = 100;

/// Returns the text in its one layout. A file with syntax errors is not laid out; the report has the diagnostics.
///
/// Names are not looked up and includes not read: `path` only says where the text is from.
///
/// ```
/// let laid_out = oasis_pdl::format("tank.pdl".as_ref(), "struct Tank{real64 level , limit;};").unwrap();
/// assert_eq!(laid_out, "struct Tank {\n  real64 level, limit;\n};\n");
/// ```
#[expect(clippy::result_large_err, reason = "an error is returned once a file")]
pub fn format(path: &Path, text: &str) -> Result<String, Report> {
    let mut sources = Sources::default();
    let file = sources.add(normalized(path), text.to_owned());
    let (_, diagnostics) = parser::parse(file, text);
    if !diagnostics.is_empty() {
        return Err(Report { diagnostics, sources, ..Report::default() });
    }
    let pieces = pieces::pieces(text, &lex(file, text).0);
    let places = layout::layout(&pieces);
    Ok(writer::write(&pieces, &places))
}
