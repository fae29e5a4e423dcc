//! Names that PDL can say.

use oasis_wire::declared::is_name;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::{Error, Ident, Result, ext::IdentExt};

/// A name with its place.
#[derive(Debug, Clone)]
pub struct Name {
    /// The text, without the `r#` of a raw identifier.
    pub text: String,
    /// Its place, for errors.
    pub span: Span,
}

impl Name {
    /// The name of a field, a variant or a type.
    pub fn of(ident: &Ident) -> Self {
        Self { text: ident.unraw().to_string(), span: ident.span() }
    }

    /// Checks that PDL has such a name for `what`.
    pub fn check(&self, what: &str) -> Result<()> {
        if is_name(&self.text) {
            return Ok(());
        }
        let remedy =
            "begin with a letter and use letters, digits and `_`, or name it with `#[probe(name = \"…\")]`";
        Err(Error::new(
            self.span,
            format!("the name of {what} `{}` cannot be written in PDL: {remedy}", self.text),
        ))
    }

    /// Checks a name with modules, as in `Plant::Motor`.
    pub fn check_scoped(&self) -> Result<()> {
        if self.text.split("::").all(is_name) {
            return Ok(());
        }
        let remedy = "use names of letters, digits and `_` with `::` between them: `#[probe(type = \"Plant::Motor\")]`";
        Err(Error::new(self.span, format!("the type `{}` cannot be written in PDL: {remedy}", self.text)))
    }
}

/// Checks that no two names of `what` are the same.
pub fn check_distinct<'a>(what: &str, names: impl Iterator<Item = &'a Name>) -> Result<()> {
    let mut seen = HashMap::new();
    for name in names {
        if seen.insert(&name.text, ()).is_some() {
            return Err(Error::new(
                name.span,
                format!("two {what} have the name `{}`: rename one", name.text),
            ));
        }
    }
    Ok(())
}
