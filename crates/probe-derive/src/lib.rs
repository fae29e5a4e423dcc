//! Derives probe types from Rust structs, without a PDL file. Use it through `oasis_probe`, which re-exports the macros.
//!
//! Each derived type has the schema, the rows and the cost of what the Rust generator makes of the equivalent PDL. `oasis pdl infer` writes
//! that PDL. A **struct** becomes a probe type ([`Probe`](macro@Probe)) or a struct inside one ([`ProbeStruct`](macro@ProbeStruct)); an **enum**
//! without data becomes an enum ([`ProbeEnum`](macro@ProbeEnum)).
//!
//! In reading order: attributes are parsed and checked (`attributes`, `numbers`, `names`), a field becomes a metric (`metrics`), and a
//! declaration an implementation (`declarations`, `enums`). JSON that depends on other types is put together by the compiler
//! (`oasis_probe::field::Text`), because a macro sees only names of them.

mod attributes;
mod declarations;
mod enums;
mod json;
mod metrics;
mod names;
mod numbers;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `Sample` for a struct: each field is a metric.
///
/// ```
/// use oasis_probe::{Probe, Sample};
///
/// /// One drive of the plant.
/// #[derive(Probe)]
/// #[probe(type = "Plant::Motor", version = "1.0")]
/// struct Motor {
///     /// Turns of the shaft.
///     #[probe(unit = "1/min", min = 0)]
///     rpm: u32,
///     #[probe(unit = "Cel", min = -40, max = 150, warn(> 80), alarm(> 100), kind = "gauge", label = "Winding")]
///     temperature: f64,
/// }
/// assert_eq!(Motor::NAME, "Plant::Motor");
/// assert!(Motor::SCHEMA.contains(r#"{"name":"temperature","type":"real64","unit":"Cel","kind":"gauge","label":"Winding","min":-40"#));
/// ```
///
/// | on the struct | |
/// |---|---|
/// | `type = "Plant::Motor"` | scoped name of the type; the name of the struct if absent |
/// | `version = "1.0"` | `major.minor`; 1.0 if absent |
/// | `uuid = "…"` | identity of the type; computed from the schema if absent, so a changed schema is another type |
/// | `rate(demand, 1, 100)` | readers of a periodic probe choose its rate between these, in hertz |
/// | `doc = "…"` | documentation, instead of that of the struct |
///
/// | on a field | |
/// |---|---|
/// | `unit = "Cel"` | unit in UCUM |
/// | `min = -40`, `max = 150` | range of a number |
/// | `warn(< 5, > 80)`, `alarm(> 95)` | limits of a number; `warn(Degraded)` names variants of an enum |
/// | `kind = "gauge"` | `counter`, `gauge`, `state` or `event` |
/// | `label = "…"` | name for people |
/// | `name = "…"` | name of the metric, instead of that of the field |
/// | `doc = "…"` | documentation, instead of that of the field |
/// | `skip` | the field is no metric; `read` sets it to its default |
///
/// A field that cannot be a metric is an error at the field:
///
/// ```compile_fail
/// use std::collections::HashMap;
///
/// #[derive(oasis_probe::Probe)]
/// struct Motor {
///     loads: HashMap<u32, f64>, // a field of type `HashMap<u32, f64>` cannot be a metric
/// }
/// ```
///
/// A limit that the type of its field does not have is an error too:
///
/// ```compile_fail
/// #[derive(oasis_probe::Probe)]
/// struct Motor {
///     #[probe(min = -40)] // min of field `temperature` does not fit its type
///     temperature: u8,
/// }
/// ```
#[proc_macro_derive(Probe, attributes(probe))]
pub fn derive_probe(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    declarations::probe(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct a field of probes: its fields are members, with the attributes of [`Probe`](macro@Probe). On the struct: `type`.
#[proc_macro_derive(ProbeStruct, attributes(probe))]
pub fn derive_probe_struct(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    declarations::structure(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum without data a field of probes. `#[repr(u8)]` to `#[repr(i32)]` choose the integer on the wire; `u8` if absent.
///
/// On the enum: `type`. On a variant: `name` and `doc`.
#[proc_macro_derive(ProbeEnum, attributes(probe))]
pub fn derive_probe_enum(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    enums::enumeration(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
