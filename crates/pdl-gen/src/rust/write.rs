//! Statements that write a value to a packed row.

use super::{names::ident, rust_simple};
use oasis_pdl::{
    Model,
    model::{Metric, Simple, Type},
};
use proc_macro2::TokenStream;
use quote::quote;

/// The statements that write the metrics in order.
pub fn body(model: &Model, metrics: &[Metric]) -> impl Iterator<Item = TokenStream> {
    metrics.iter().map(|metric| {
        let name = ident(&metric.name);
        write(model, &metric.kind, &quote! { self.#name }, false)
    })
}

/// The statement that writes `value`, which is a place or, in a loop, a reference.
fn write(model: &Model, kind: &Type, value: &TokenStream, reference: bool) -> TokenStream {
    match kind {
        Type::Simple(Simple::String) if reference => quote! { row.string(#value); },
        Type::Simple(Simple::String) => quote! { row.string(&#value); },
        Type::Simple(simple) => {
            let (_, method) = rust_simple(*simple);
            let method = ident(method);
            if reference {
                quote! { row.#method(*#value); }
            } else {
                quote! { row.#method(#value); }
            }
        }
        Type::Enum(name) => {
            let (base, method) = rust_simple(model.base_of(name));
            let (base, method) = (ident(base), ident(method));
            if reference {
                quote! { row.#method(#base::from(*#value)); }
            } else {
                quote! { row.#method(#base::from(#value)); }
            }
        }
        Type::Struct(_) => quote! { #value.write(row); },
        Type::Vector(element) => {
            let inner = write(model, element, &quote! { element }, true);
            let each = if reference {
                quote! { #value }
            } else {
                quote! { &#value }
            };
            quote! {
                row.vector(#value.len());
                for element in #each { #inner }
            }
        }
    }
}
