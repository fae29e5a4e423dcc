//! Expressions that read a value from a packed row.

use super::{names::ident, relative, rust_simple};
use oasis_pdl::model::{Metric, Simple, Type};
use proc_macro2::TokenStream;
use quote::quote;

/// The fields of a struct, read in order.
pub fn fields(scoped: &str, metrics: &[Metric]) -> impl Iterator<Item = TokenStream> {
    metrics.iter().map(move |metric| {
        let (name, value) = (ident(&metric.name), read(scoped, &metric.kind));
        quote! { #name: #value? }
    })
}

/// An expression for a `Result` of the value, but for the `?` behind it. `scoped` is the declaration that it stands in.
fn read(scoped: &str, kind: &Type) -> TokenStream {
    match kind {
        Type::Simple(Simple::String) => quote! { row.string().map(str::to_owned) },
        Type::Simple(Simple::Boolean) => quote! { row.boolean() },
        Type::Simple(simple) => {
            let number = ident(rust_simple(*simple).0);
            quote! { row.array().map(#number::from_le_bytes) }
        }
        Type::Struct(name) | Type::Enum(name) => {
            let declared = relative(scoped, name);
            quote! { #declared::read(row) }
        }
        Type::Vector(element) => {
            let element = read(scoped, element);
            quote! { (0..row.count()?).map(|_| #element).collect::<Result<_, _>>() }
        }
    }
}
