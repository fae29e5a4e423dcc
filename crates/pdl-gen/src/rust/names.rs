//! Names of the PDL as Rust writes them.

use proc_macro2::{Ident, Span};

/// An identifier, raw where Rust keeps the word for itself.
pub fn ident(name: &str) -> Ident {
    if syn::parse_str::<Ident>(name).is_ok() {
        return Ident::new(name, Span::call_site());
    }
    match name {
        // These cannot even be raw.
        "self" | "super" | "crate" | "Self" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}
