//! A struct becomes a probe type, or a struct inside one.

use crate::{
    attributes::OnType,
    json::{Json, quoted},
    metrics::Metrics,
    names::Name,
};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

/// Implements `Sample`.
pub fn probe(input: &DeriveInput) -> Result<TokenStream> {
    let of = OnType::parse(&input.attrs, &["type", "version", "uuid", "rate", "doc"])?;
    let metrics = Metrics::of(input, "Probe")?;
    let (ident, name) = (&input.ident, name(&of, input)?);
    let (before, after) = schema(&of, &name, &metrics);
    let identity = match of.uuid {
        Some(uuid) => {
            let uuid = uuid.to_string();
            quote! { const __OASIS_IDENTITY: &str = #uuid; }
        }
        None => quote! {
            const __OASIS_UNIDENTIFIED: ::oasis_probe::field::Text = ::oasis_probe::field::Text::All(&[__OASIS_BEFORE, __OASIS_AFTER]);
            const __OASIS_HASHED: [u8; __OASIS_UNIDENTIFIED.length()] = __OASIS_UNIDENTIFIED.bytes();
            const __OASIS_DIGITS: [u8; 36] = ::oasis_probe::field::identity::text(::oasis_probe::field::identity::identity(&__OASIS_HASHED));
            const __OASIS_IDENTITY: &str = ::oasis_probe::field::text(&__OASIS_DIGITS);
        },
    };
    let (checks, write, read) = (metrics.checks(), metrics.write(), metrics.read());
    Ok(quote! {
        const _: () = {
            const __OASIS_BEFORE: ::oasis_probe::field::Text = #before;
            const __OASIS_AFTER: ::oasis_probe::field::Text = #after;
            #identity
            const __OASIS_WHOLE: ::oasis_probe::field::Text = ::oasis_probe::field::Text::All(&[
                __OASIS_BEFORE,
                ::oasis_probe::field::Text::Str(",\"uuid\":"),
                ::oasis_probe::field::Text::Quoted(__OASIS_IDENTITY),
                __OASIS_AFTER,
            ]);
            const __OASIS_BYTES: [u8; __OASIS_WHOLE.length()] = __OASIS_WHOLE.bytes();
            const _: () = { #(#checks)* };

            #[automatically_derived]
            impl ::oasis_probe::Sample for #ident {
                const NAME: &'static str = #name;
                const UUID: &'static str = __OASIS_IDENTITY;
                const SCHEMA: &'static str = ::oasis_probe::field::text(&__OASIS_BYTES);

                fn write(&self, row: &mut ::oasis_probe::RowWriter<'_>) {
                    #write
                }

                fn read(row: &mut ::oasis_probe::Reader<'_>) -> ::core::result::Result<Self, ::oasis_probe::Malformed> {
                    #read
                }
            }
        };
    })
}

/// Implements `Field`.
pub fn structure(input: &DeriveInput) -> Result<TokenStream> {
    let of = OnType::parse(&input.attrs, &["type"])?;
    let metrics = Metrics::of(input, "ProbeStruct")?;
    let (ident, name) = (&input.ident, name(&of, input)?);
    let mut json = Json::default();
    json.push(&format!("{{\"struct\":{{\"name\":{},\"members\":", quoted(&name)));
    metrics.schema(&mut json);
    json.push("}}");
    let kind = json.into_text();
    let (checks, write, read) = (metrics.checks(), metrics.write(), metrics.read());
    Ok(quote! {
        const _: () = {
            const _: () = { #(#checks)* };

            #[automatically_derived]
            impl ::oasis_probe::field::Field for #ident {
                const TYPE: ::oasis_probe::field::Text = #kind;

                fn write(&self, row: &mut ::oasis_probe::RowWriter<'_>) {
                    #write
                }

                fn read(row: &mut ::oasis_probe::Reader<'_>) -> ::core::result::Result<Self, ::oasis_probe::Malformed> {
                    #read
                }
            }
        };
    })
}

/// The scoped name of a type: the one that is given, or that of the Rust type.
pub fn name(of: &OnType, input: &DeriveInput) -> Result<String> {
    let name = of.name.clone().unwrap_or_else(|| Name::of(&input.ident));
    name.check_scoped()?;
    Ok(name.text)
}

/// The schema before and after its `uuid`.
fn schema(of: &OnType, name: &str, metrics: &Metrics<'_>) -> (TokenStream, TokenStream) {
    let (mut before, mut after) = (Json::default(), Json::default());
    before.push(&format!("{{\"name\":{}", quoted(name)));
    after.member("version", of.version.as_deref().unwrap_or("1.0"));
    if let Some(doc) = &of.doc {
        after.member("doc", doc);
    }
    if let Some(rate) = &of.rate {
        let rate = serde_json::to_string(rate).unwrap_or_default();
        after.push(&format!(",\"rate\":{rate}"));
    }
    after.push(",\"metrics\":");
    metrics.schema(&mut after);
    after.push("}");
    (before.into_text(), after.into_text())
}
