//! An enum without data becomes a PDL enum.

use crate::{
    attributes::{OnField, OnType},
    declarations::name,
    json::quoted,
    names::{Name, check_distinct},
};
use oasis_wire::primitive::Primitive;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, ExprUnary, Fields, Ident, Lit, Result, UnOp, Variant,
    spanned::Spanned,
};

/// A variant.
struct Value<'a> {
    ident: &'a Ident,
    name: Name,
    doc: Option<String>,
    number: i128,
}

/// Implements `Field`.
pub fn enumeration(input: &DeriveInput) -> Result<TokenStream> {
    let of = OnType::parse(&input.attrs, &["type"])?;
    let base = base(input)?;
    let values = values(input, base)?;
    let (ident, name) = (&input.ident, name(&of, input)?);
    let (row, number) = (base.row(), format_ident!("{}", base.row().rust));
    let (kind, method) = (row.name, format_ident!("{}", row.row_method));
    let schema = schema(&name, &values);
    let names: Vec<&Ident> = values.iter().map(|value| value.ident).collect();
    let numbers: Vec<Literal> = values.iter().map(|value| Literal::i128_unsuffixed(value.number)).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::oasis_probe::field::Field for #ident {
            const TYPE: ::oasis_probe::field::Text = ::oasis_probe::field::Text::Quoted(#kind);
            const ENUM: ::oasis_probe::field::Text = ::oasis_probe::field::Text::Str(#schema);
            const LIMITS: ::oasis_probe::field::LimitKind = ::oasis_probe::field::LimitKind::Enumerators;

            #[inline]
            fn write(&self, row: &mut ::oasis_probe::RowWriter<'_>) {
                row.#method(match self { #(Self::#names => #numbers),* });
            }

            fn read(row: &mut ::oasis_probe::Reader<'_>) -> ::core::result::Result<Self, ::oasis_probe::Malformed> {
                let at = row.at();
                match row.array().map(#number::from_le_bytes)? {
                    #(#numbers => ::core::result::Result::Ok(Self::#names),)*
                    _ => ::core::result::Result::Err(::oasis_probe::Malformed::Range { at }),
                }
            }
        }
    })
}

/// The integer of `#[repr(…)]`; `u8` without.
fn base(input: &DeriveInput) -> Result<Primitive> {
    let mut base = Primitive::Uint8;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
            let found = Primitive::ALL
                .iter()
                .find(|primitive| primitive.row().rust == word && primitive.can_carry_enum());
            base = *found.ok_or_else(|| {
                meta.error(format!(
                    "`{}` needs an integer of at most 32 bits: `#[repr(u8)]` to `#[repr(i32)]`",
                    input.ident
                ))
            })?;
            Ok(())
        })?;
    }
    Ok(base)
}

fn values(input: &DeriveInput, base: Primitive) -> Result<Vec<Value<'_>>> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "ProbeEnum is for enums; a struct that is a field has `#[derive(ProbeStruct)]`",
        ));
    };
    if data.variants.is_empty() {
        return Err(Error::new(
            input.ident.span(),
            format!("`{}` has no variants: a PDL enum has at least one", input.ident),
        ));
    }
    let (least, greatest) = base.integers().unwrap_or_default();
    let (mut next, mut values) = (0, Vec::new());
    for variant in &data.variants {
        let value = value(variant, next)?;
        if value.number < least || value.number > greatest {
            let message = format!(
                "`{}` is {}, which does not fit {}: `#[repr(i32)]` has more",
                value.ident,
                value.number,
                base.row().rust
            );
            return Err(Error::new(variant.span(), message));
        }
        next = value.number + 1;
        values.push(value);
    }
    check_distinct("variants", values.iter().map(|value| &value.name))?;
    Ok(values)
}

fn value(variant: &Variant, next: i128) -> Result<Value<'_>> {
    let ident = &variant.ident;
    if !matches!(variant.fields, Fields::Unit) {
        let message = format!(
            "variant `{ident}` has data, and a PDL enum has only names: make the data fields of the probe"
        );
        return Err(Error::new(variant.fields.span(), message));
    }
    let own = Name::of(ident);
    let of = OnField::parse(&variant.attrs, &["name", "doc"], &format!("of variant `{}`", own.text))?;
    let name = of.name.unwrap_or(own);
    name.check("variant")?;
    let number = match &variant.discriminant {
        Some((_, number)) => integer(number).ok_or_else(|| {
            Error::new(
                number.span(),
                format!("the number of variant `{ident}` must be written as digits, such as `-3` or `5`"),
            )
        })?,
        None => next,
    };
    Ok(Value { ident, name, doc: of.doc, number })
}

fn integer(number: &Expr) -> Option<i128> {
    match number {
        Expr::Lit(ExprLit { lit: Lit::Int(digits), .. }) => digits.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => integer(expr).map(|size| -size),
        _ => None,
    }
}

/// The member `enum` of a metric.
fn schema(name: &str, values: &[Value<'_>]) -> String {
    let mut json = format!(",\"enum\":{{\"name\":{},\"values\":[", quoted(name));
    for (index, value) in values.iter().enumerate() {
        json += if index == 0 { "" } else { "," };
        json += &format!("{{\"name\":{},\"value\":{}", quoted(&value.name.text), value.number);
        if let Some(doc) = &value.doc {
            json += &format!(",\"doc\":{}", quoted(doc));
        }
        json += "}";
    }
    json + "]}"
}
