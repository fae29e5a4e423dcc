//! Expressions that read a value from a packed row.

use super::{names::ident, relative};
use oasis_pdl::model::{Metric, Type};
use oasis_wire::primitive::Class;
use proc_macro2::TokenStream;
use quote::quote;

/// The fields of a struct, read in order.
pub fn fields(scoped: &str, metrics: &[Metric]) -> impl Iterator<Item = TokenStream> {
    metrics.iter().map(move |metric| {
        let (name, value) = (ident(&metric.name), read(scoped, &metric.kind));
        quote! { #name: #value? }
    })
}

/// An expression for a `Result` of the value, without the `?`. `scoped` is the declaration around it.
fn read(scoped: &str, kind: &Type) -> TokenStream {
    match kind {
        Type::Primitive(primitive) => match primitive.row().class {
            Class::Text => quote! { row.text().map(::std::borrow::Cow::into_owned) },
            Class::Boolean => quote! { row.boolean() },
            Class::Integer { .. } | Class::Real => {
                let number = ident(primitive.row().rust);
                quote! { row.array().map(#number::from_le_bytes) }
            }
        },
        Type::Struct(name) | Type::Enum(name) => {
            let declared = relative(scoped, name);
            quote! { #declared::read(row) }
        }
        Type::Blob(of) => {
            let bound = of.max_bytes;
            quote! { row.blob(#bound).map(<[u8]>::to_vec) }
        }
        Type::Vector(element) => {
            let element = read(scoped, element);
            quote! { (0..row.count()?).map(|_| #element).collect::<Result<_, _>>() }
        }
    }
}
