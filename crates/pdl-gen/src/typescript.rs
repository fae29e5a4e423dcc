//! TypeScript: a module with an interface and a codec of the same name for each concrete probe and each PDL struct, and an object of
//! numbers with a type of the same name for each PDL enum. It imports `sdk/typescript`. PDL modules are no part of it: a
//! name that several have gets its modules in front.

mod layout;
mod names;
mod text;
mod value;
mod view;

use crate::templates::environment;
use minijinja::{Error, value::Serde};
use oasis_pdl::Model;

/// All that a module is made of.
const TEMPLATES: [(&str, &str); 4] = [
    ("module.ts", include_str!("../templates/typescript/module.ts.j2")),
    ("enum.ts", include_str!("../templates/typescript/enum.ts.j2")),
    ("interface.ts", include_str!("../templates/typescript/interface.ts.j2")),
    ("codec.ts", include_str!("../templates/typescript/codec.ts.j2")),
];

/// A TypeScript module for all that the model declares. `from` is named in its first line.
pub fn generate(model: &Model, from: &str) -> String {
    // Only an invalid template gives an error, which is thrown when the module is loaded.
    render(&view::module(model, from))
        .unwrap_or_else(|error| format!("throw new Error({:?});\n", error.to_string()))
}

fn render(module: &view::Module) -> Result<String, Error> {
    environment(&TEMPLATES)?.get_template("module.ts")?.render(Serde(module))
}
