//! C++17: one header with a struct for each concrete probe and each PDL struct and an enum class for each PDL enum, in namespaces like
//! the PDL's modules. The header includes files of `sdk/cpp`.

pub(crate) mod layout;
mod names;
pub(crate) mod reserved;
pub(crate) mod view;

use crate::templates::environment;
use minijinja::{Error, value::Serde};
use oasis_pdl::Model;

/// All that a header is made of.
const TEMPLATES: [(&str, &str); 4] = [
    ("header.hpp", include_str!("../templates/cpp/header.hpp.j2")),
    ("enum.hpp", include_str!("../templates/cpp/enum.hpp.j2")),
    ("struct.hpp", include_str!("../templates/cpp/struct.hpp.j2")),
    ("codec.hpp", include_str!("../templates/cpp/codec.hpp.j2")),
];

/// A C++ header for all that the model declares. `from` is named in its first line.
pub fn generate(model: &Model, from: &str) -> String {
    // Only an invalid template gives an error; the C++ compiler then shows it.
    render(&view::header(model, from)).unwrap_or_else(|error| format!("#error {error}\n"))
}

fn render(header: &view::Header) -> Result<String, Error> {
    let mut templates = environment(&TEMPLATES)?;
    templates.add_filter("fits", layout::fits);
    templates.get_template("header.hpp")?.render(Serde(header))
}
