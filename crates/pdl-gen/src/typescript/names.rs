//! Names of the PDL as TypeScript can write them. Metrics and enumerators keep theirs: a property may have any name. A type gets an
//! underscore appended if its name already has another meaning.

use crate::names::{distinct_names, free_names, is_in, last};
use oasis_pdl::Model;
use std::collections::HashMap;

/// Words that cannot be declared in a module, or mean something where a type stands.
const KEYWORDS: &str = "abstract any as asserts async await bigint boolean break case catch class const continue debugger declare default \
    delete do else enum export extends false finally for function get if implements import in infer instanceof interface intrinsic is \
    keyof let module namespace never new null number object of out override package private protected public readonly require return \
    satisfies set static string super switch symbol this throw true try type typeof undefined unique unknown using var void while with \
    yield";

/// Global names that a declaration must not hide.
const GLOBALS: &str = "AggregateError Array ArrayBuffer AsyncFunction AsyncGenerator AsyncGeneratorFunction AsyncIterator Atomics BigInt \
    BigInt64Array BigUint64Array Boolean DataView Date Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array \
    Function Generator GeneratorFunction Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise \
    Proxy RangeError Record ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError \
    Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly arguments console decodeURI \
    decodeURIComponent encodeURI encodeURIComponent escape eval global globalThis isFinite isNaN parseFloat parseInt unescape";

/// The names that a generated module uses itself, including parameters of its methods.
const MODULE: &str = "EnumeratorOf ProbeCodec StructCodec source to value";

/// Names of types, and of their codecs.
pub struct Types(HashMap<String, String>);

impl Types {
    /// The last name of each declaration. Equal ones get as many of their modules in front as distinguish them.
    pub fn new(model: &Model) -> Self {
        let enums = model.enums.iter().map(|declared| &declared.name);
        let structs = model.structs.iter().map(|declared| &declared.name);
        let probes = model.probes.iter().filter(|probe| !probe.is_abstract).map(|probe| &probe.name);
        let scoped: Vec<&String> = enums.chain(structs).chain(probes).collect();
        let names = free_names(&distinct_names(&scoped), is_taken);
        Self(scoped.into_iter().cloned().zip(names).collect())
    }

    /// The type of a scoped PDL name.
    pub fn named<'a>(&'a self, scoped: &'a str) -> &'a str {
        self.0.get(scoped).map_or(last(scoped), String::as_str)
    }
}

/// A name for the elements of a vector, in loops `depth` deep. No type has it.
pub fn element(depth: usize) -> String {
    if depth == 0 { "item".to_owned() } else { format!("item{}", depth + 1) }
}

fn is_taken(name: &str) -> bool {
    let is_element = name
        .strip_prefix("item")
        .is_some_and(|number| number.chars().all(|character| character.is_ascii_digit()));
    is_element || is_in(name, &[KEYWORDS, GLOBALS, MODULE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_module_declares_are_not_used_for_types() {
        let taken = ["class", "Map", "StructCodec", "value", "item", "item16"].map(is_taken);
        assert_eq!(taken, [true; 6]);
        assert_eq!(["Class", "items", "item2b", "Port"].map(is_taken), [false; 4]);
    }
}
