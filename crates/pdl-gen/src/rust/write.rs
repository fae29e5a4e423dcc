//! Statements that write a value to a packed row.

use super::names::ident;
use oasis_pdl::{
    Model,
    model::{Metric, Type},
};
use oasis_wire::primitive::Class;
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
        Type::Primitive(primitive) => {
            let row = primitive.row();
            let method = ident(row.row_method);
            match (row.class, reference) {
                (Class::Text, true) => quote! { row.#method(#value); },
                (Class::Text, false) => quote! { row.#method(&#value); },
                (Class::Integer { .. } | Class::Real | Class::Boolean, true) => {
                    quote! { row.#method(*#value); }
                }
                (Class::Integer { .. } | Class::Real | Class::Boolean, false) => {
                    quote! { row.#method(#value); }
                }
            }
        }
        Type::Enum(name) => {
            let base = model.base_of(name).row();
            let (base, method) = (ident(base.rust), ident(base.row_method));
            if reference {
                quote! { row.#method(#base::from(*#value)); }
            } else {
                quote! { row.#method(#base::from(#value)); }
            }
        }
        Type::Struct(_) => quote! { #value.write(row); },
        Type::Blob(_) => quote! { row.blob(&#value); },
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
