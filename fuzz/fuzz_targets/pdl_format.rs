//! Formatting twice is formatting once, and means the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_pdl::{Model, compile, format};
use std::{collections::HashMap, path::PathBuf};

fn model(text: &str) -> Model {
    let path = PathBuf::from("a.pdl");
    compile(&[path.clone()], &[], &HashMap::from([(path, text.to_owned())])).model
}

fuzz_target!(|text: &str| {
    let Ok(once) = format("a.pdl".as_ref(), text) else { return };
    let twice = format("a.pdl".as_ref(), &once).ok().expect("what was laid out can be laid out");
    assert_eq!(once, twice);
    assert_eq!(model(text), model(&once));
});
