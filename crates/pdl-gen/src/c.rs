//! C11: one header with a struct for each concrete probe and each PDL struct, an integer type with constants for each PDL enum, and
//! functions that write packed rows. The header includes files of `sdk/c`.

pub(crate) mod names;
pub(crate) mod view;

use crate::templates::environment;
use minijinja::{Error, value::Serde};
use oasis_pdl::Model;

/// All that a header is made of.
const TEMPLATES: [(&str, &str); 3] = [
    ("header.h", include_str!("../templates/c/header.h.j2")),
    ("enum.h", include_str!("../templates/c/enum.h.j2")),
    ("struct.h", include_str!("../templates/c/struct.h.j2")),
];

/// A C header for all that the model declares. `from` is named in its first line.
pub fn generate(model: &Model, from: &str) -> String {
    // Only an invalid template gives an error; the C compiler then shows it.
    render(&view::header(model, from)).unwrap_or_else(|error| format!("#error {error}\n"))
}

fn render(header: &view::Header) -> Result<String, Error> {
    environment(&TEMPLATES)?.get_template("header.h")?.render(Serde(header))
}
