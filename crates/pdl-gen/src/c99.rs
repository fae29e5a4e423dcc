//! C99 for devices without an operating system: one header with a struct for each concrete probe and each PDL struct, an integer type with
//! constants for each PDL enum, and for each probe a static description and a function that puts a sample into its ring. No heap.
//! The header includes `oasis_embedded.h` of `sdk/embedded`; `docs/reference/embedded.md` describes what it needs.

mod unsupported;
mod view;

pub use unsupported::check;

use crate::templates::environment;
use minijinja::{Error, value::Serde};
use oasis_pdl::Model;

/// All that a header is made of.
const TEMPLATES: [(&str, &str); 4] = [
    ("header.h", include_str!("../templates/c99/header.h.j2")),
    ("enum.h", include_str!("../templates/c/enum.h.j2")),
    ("struct.h", include_str!("../templates/c99/struct.h.j2")),
    ("probe.h", include_str!("../templates/c99/probe.h.j2")),
];

/// A C99 header for all that the model declares. `from` is named in its first line. Only for a model that passes [`check`].
pub fn generate(model: &Model, from: &str) -> String {
    // Only an invalid template gives an error; the C compiler then shows it.
    render(&view::header(model, from)).unwrap_or_else(|error| format!("#error {error}\n"))
}

fn render(header: &view::Header) -> Result<String, Error> {
    environment(&TEMPLATES)?.get_template("header.h")?.render(Serde(header))
}
