//! A Rust enum for a PDL enum, with the numbers of the wire.

use super::{docs, names::ident};
use crate::names::{camel_case, last};
use oasis_pdl::model::Enum;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::collections::HashSet;

pub fn declaration(declared: &Enum) -> TokenStream {
    let name = ident(last(&declared.name));
    let doc = docs(declared.doc.as_deref().unwrap_or(&format!("`{}`", declared.name)));
    let base = ident(declared.base.row().rust);
    let (allow, names) = variants(declared);
    let mut default = Some(quote! { #[default] });
    let variants = declared.enumerators.iter().zip(&names).map(|(value, name)| {
        let doc = docs(value.doc.as_deref().unwrap_or(&format!("`{}`", value.name)));
        let (name, number, default) = (ident(name), Literal::i64_unsuffixed(value.value), default.take());
        quote! { #doc #default #name = #number }
    });
    let arms = declared.enumerators.iter().zip(&names).map(|(value, name)| {
        let (name, number) = (ident(name), Literal::i64_unsuffixed(value.value));
        quote! { #number => Ok(Self::#name) }
    });
    quote! {
        #doc
        #allow
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(#base)]
        pub enum #name { #(#variants),* }

        impl From<#name> for #base {
            fn from(value: #name) -> Self {
                value as Self
            }
        }

        impl TryFrom<#base> for #name {
            /// A number that was not declared.
            type Error = #base;

            fn try_from(number: #base) -> Result<Self, #base> {
                match number {
                    #(#arms,)*
                    undeclared => Err(undeclared),
                }
            }
        }

        impl #name {
            /// Reads its number.
            pub fn read(row: &mut oasis_probe::Reader<'_>) -> Result<Self, oasis_probe::Malformed> {
                let at = row.at();
                let number = row.array().map(#base::from_le_bytes)?;
                Self::try_from(number).map_err(|_| oasis_probe::Malformed::Range { at })
            }
        }
    }
}

/// Names as Rust writes them; as the PDL does where two would become one.
fn variants(declared: &Enum) -> (Option<TokenStream>, Vec<String>) {
    let written = declared.enumerators.iter().map(|value| value.name.clone());
    let camel: Vec<String> = written.clone().map(|name| camel_case(&name)).collect();
    if camel.iter().collect::<HashSet<_>>().len() == camel.len() {
        return (None, camel);
    }
    (Some(quote! { #[allow(non_camel_case_types, clippy::upper_case_acronyms)] }), written.collect())
}
