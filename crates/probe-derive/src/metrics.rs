//! A field becomes a metric: its schema, and how it is written and read.

use crate::{
    attributes::OnField,
    json::{Json, quoted},
    names::{Name, check_distinct},
    numbers::{Limits, Threshold, literal},
};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Result, Type, spanned::Spanned};

const ALLOWED: [&str; 10] = ["unit", "min", "max", "warn", "alarm", "kind", "label", "name", "doc", "skip"];

/// The metrics of a struct, in order.
pub struct Metrics<'a> {
    metrics: Vec<Metric<'a>>,
    skipped: Vec<&'a Ident>,
}

struct Metric<'a> {
    field: &'a Ident,
    kind: &'a Type,
    name: Name,
    attributes: OnField,
}

impl<'a> Metrics<'a> {
    /// Checks the fields of a struct. `derive` is the macro that asks.
    pub fn of(input: &'a DeriveInput, derive: &str) -> Result<Self> {
        let fields = match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => fields.named.iter().collect(),
                Fields::Unit => Vec::new(),
                Fields::Unnamed(fields) => {
                    let message = format!(
                        "{derive} needs fields with names: write `struct {} {{ name: type }}`",
                        input.ident
                    );
                    return Err(Error::new(fields.span(), message));
                }
            },
            Data::Enum(_) | Data::Union(_) => {
                let message =
                    format!("{derive} is for structs; an enum that is a field has `#[derive(ProbeEnum)]`");
                return Err(Error::new(input.ident.span(), message));
            }
        };
        if let Some(parameter) = input.generics.params.first() {
            let message =
                format!("`{}` has parameters, but a probe type is one layout: remove them", input.ident);
            return Err(Error::new(parameter.span(), message));
        }
        let (mut metrics, mut skipped) = (Vec::new(), Vec::new());
        for field in fields {
            match Metric::of(field)? {
                Some(metric) => metrics.push(metric),
                None => skipped.extend(&field.ident),
            }
        }
        check_distinct("metrics", metrics.iter().map(|metric| &metric.name))?;
        Ok(Self { metrics, skipped })
    }

    /// Appends the metrics as a JSON list.
    pub fn schema(&self, json: &mut Json) {
        json.push("[");
        for (index, metric) in self.metrics.iter().enumerate() {
            json.push(if index == 0 { "" } else { "," });
            metric.schema(json);
        }
        json.push("]");
    }

    /// Statements that fail to compile for a limit that the field's type cannot have.
    pub fn checks(&self) -> impl Iterator<Item = TokenStream> {
        self.metrics.iter().flat_map(Metric::checks)
    }

    /// Statements that write the metrics in order to `row`.
    pub fn write(&self) -> TokenStream {
        let statements = self.metrics.iter().map(|metric| {
            let field = metric.field;
            quote_spanned! { metric.kind.span() => ::oasis_probe::field::Field::write(&self.#field, row); }
        });
        quote! { let _ = &row; #(#statements)* }
    }

    /// An expression that reads the metrics in order from `row`.
    pub fn read(&self) -> TokenStream {
        let fields = self.metrics.iter().map(|metric| {
            let field = metric.field;
            quote_spanned! { metric.kind.span() => #field: ::oasis_probe::field::Field::read(row)? }
        });
        let skipped = self.skipped.iter().map(|field| quote! { #field: ::core::default::Default::default() });
        quote! { let _ = &row; ::core::result::Result::Ok(Self { #(#fields,)* #(#skipped,)* }) }
    }
}

impl<'a> Metric<'a> {
    /// None for a field that is left out.
    fn of(field: &'a Field) -> Result<Option<Self>> {
        let Some(ident) = &field.ident else { return Ok(None) };
        let own = Name::of(ident);
        let attributes = OnField::parse(&field.attrs, &ALLOWED, &format!("of field `{}`", own.text))?;
        if attributes.skip {
            return Ok(None);
        }
        let name = attributes.name.clone().unwrap_or(own);
        name.check("field")?;
        attributes.limits.check(&name.text)?;
        Ok(Some(Self { field: ident, kind: &field.ty, name, attributes }))
    }

    fn schema(&self, json: &mut Json) {
        let (of, kind) = (&self.attributes, self.kind);
        json.push(&format!("{{\"name\":{},\"type\":", quoted(&self.name.text)));
        json.piece(quote_spanned! { kind.span() => <#kind as ::oasis_probe::field::Field>::TYPE });
        for (name, text) in [("doc", &of.doc), ("unit", &of.unit), ("kind", &of.kind), ("label", &of.label)] {
            if let Some(text) = text {
                json.member(name, text);
            }
        }
        json.piece(quote! { <#kind as ::oasis_probe::field::Field>::ENUM });
        let Limits { min, max, warn, alarm } = &of.limits;
        for (name, number) in [("min", min), ("max", max)] {
            if let Some(number) = number {
                json.push(&format!(",\"{name}\":{}", number.json()));
            }
        }
        for (name, threshold) in [("warn", warn), ("alarm", alarm)] {
            if let Some(threshold) = threshold {
                self.threshold(name, threshold, json);
            }
        }
        json.push("}");
    }

    fn threshold(&self, name: &str, threshold: &Threshold, json: &mut Json) {
        let bounds = [("below", &threshold.below), ("above", &threshold.above)];
        let members = bounds
            .into_iter()
            .filter_map(|(name, number)| Some(format!("\"{name}\":{}", number.as_ref()?.json())));
        let members: Vec<String> = members.collect();
        json.push(&format!(",\"{name}\":{{{}", members.join(",")));
        if !threshold.variants.is_empty() {
            json.push(if members.is_empty() { "\"values\":[" } else { ",\"values\":[" });
            let kind = innermost(self.kind);
            for (index, variant) in threshold.variants.iter().enumerate() {
                json.push(if index == 0 { "" } else { "," });
                json.piece(quote! { ::oasis_probe::field::Text::Integer(<#kind>::#variant as i64) });
            }
            json.push("]");
        }
        json.push("}");
    }

    fn checks(&self) -> impl Iterator<Item = TokenStream> {
        let (kind, field) = (self.kind, self.name.text.clone());
        let of_numbers = self.attributes.limits.numbers().map({
            let field = field.clone();
            move |(name, number)| {
                let message = format!(
                    "{name} of field `{field}` does not fit its type: write a number that the type can have"
                );
                (literal(number), message, number.span)
            }
        });
        let of_variants = self.attributes.limits.variants().map(move |(name, variant)| {
            let message = format!("{name} of field `{field}` must be numbers: `{name}(> 80)`");
            (quote! { is_enum() }, message, variant.span())
        });
        of_numbers.chain(of_variants).map(move |(fits, message, span)| {
            quote_spanned! { span => ::core::assert!(<#kind as ::oasis_probe::field::Field>::LIMITS.#fits, #message); }
        })
    }
}

/// The type of the elements of vectors and arrays, as far as it is written so.
fn innermost(kind: &Type) -> &Type {
    match kind {
        Type::Array(array) => innermost(&array.elem),
        Type::Path(path) => {
            let last = path.path.segments.last().filter(|last| last.ident == "Vec");
            let element = last.and_then(|last| match &last.arguments {
                syn::PathArguments::AngleBracketed(of) => match of.args.first() {
                    Some(syn::GenericArgument::Type(element)) => Some(element),
                    _ => None,
                },
                _ => None,
            });
            element.map_or(kind, innermost)
        }
        _ => kind,
    }
}
