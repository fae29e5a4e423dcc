//! OMG IDL 4.2: a struct for each PDL struct and each concrete probe's metrics, and a keyed struct for each probe's samples, which is the type of
//! its DDS topic. `docs/guides/use-dds.md` describes the topics.

mod names;
mod reserved;
mod unsupported;
mod view;

pub use unsupported::check;

use crate::templates::environment;
use minijinja::{Error, value::Serde};
use oasis_pdl::Model;

/// All that a file is made of.
const TEMPLATES: [(&str, &str); 3] = [
    ("module.idl", include_str!("../templates/idl/module.idl.j2")),
    ("enum.idl", include_str!("../templates/idl/enum.idl.j2")),
    ("struct.idl", include_str!("../templates/idl/struct.idl.j2")),
];

/// IDL for all that the model declares. `from` is named in its first line. Only for a model that passes [`check`].
pub fn generate(model: &Model, from: &str) -> String {
    // Only an invalid template gives an error; the IDL compiler then shows it.
    render(&view::file(model, from)).unwrap_or_else(|error| format!("#error {error}\n"))
}

fn render(file: &view::File) -> Result<String, Error> {
    environment(&TEMPLATES)?.get_template("module.idl")?.render(Serde(file))
}
