//! Python: a module with a dataclass for each concrete probe and each PDL struct and an `IntEnum` for each PDL enum. What it imports
//! is in `sdk/python`. PDL modules are no part of it: a name that several have gets its modules in front.

mod layout;
mod names;
mod text;
mod value;
mod view;

use crate::templates::environment;
use minijinja::{Error, value::Serde};
pub use names::module as module_name;
use oasis_pdl::Model;

/// All that a module is made of.
const TEMPLATES: [(&str, &str); 3] = [
    ("module.py", include_str!("../templates/python/module.py.j2")),
    ("enum.py", include_str!("../templates/python/enum.py.j2")),
    ("class.py", include_str!("../templates/python/class.py.j2")),
];

/// A Python module for all that the model declares. `from` is named in its first line.
pub fn generate(model: &Model, from: &str) -> String {
    // Only an invalid template gives an error; Python then shows it.
    render(&view::module(model, from))
        .unwrap_or_else(|error| format!("raise SyntaxError({:?})\n", error.to_string()))
}

fn render(module: &view::Module) -> Result<String, Error> {
    environment(&TEMPLATES)?.get_template("module.py")?.render(Serde(module))
}
