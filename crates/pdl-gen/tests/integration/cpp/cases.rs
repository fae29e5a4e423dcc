//! `vectors/shapes.json` as C++, so that no C++ needs to read JSON.

use oasis_pdl::{
    Model,
    model::{Metric, Primitive, Type},
};
use serde_json::Value;
use std::fmt::Write;

/// A function that checks all cases.
pub fn include(model: &Model, vectors: &Value) -> String {
    let mut out = "void check_cases() {\n".to_owned();
    for case in vectors["cases"].as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap();
        let probe = model.probes.iter().find(|probe| probe.name == text("probe")).unwrap();
        writeln!(out, "{{\n{} expected;", text("probe")).unwrap();
        members(&mut out, model, &probe.metrics, "expected", &case["values"], 0);
        let forms = ["name", "row", "little", "big"].map(|key| format!("{:?}", text(key))).join(", ");
        writeln!(out, "check_case(Case{{{forms}}}, expected);\n}}").unwrap();
    }
    out + "}\n"
}

/// Structured bindings reach members whatever they are called.
fn members(out: &mut String, model: &Model, members: &[Metric], place: &str, values: &Value, depth: usize) {
    if members.is_empty() {
        return;
    }
    let names: Vec<String> = (0..members.len()).map(|index| format!("member_{depth}_{index}")).collect();
    writeln!(out, "{{\n[[maybe_unused]] auto &[{}] = {place};", names.join(", ")).unwrap();
    for ((member, name), value) in members.iter().zip(&names).zip(values.as_array().unwrap()) {
        assign(out, model, &member.kind, name, value, depth);
    }
    writeln!(out, "}}").unwrap();
}

fn assign(out: &mut String, model: &Model, kind: &Type, place: &str, value: &Value, depth: usize) {
    match kind {
        Type::Primitive(Primitive::Boolean) => writeln!(out, "{place} = {value};").unwrap(),
        Type::Primitive(Primitive::String) => {
            let hex: String =
                value["text"].as_str().unwrap().bytes().map(|byte| format!("{byte:02x}")).collect();
            writeln!(out, "{place} = text(\"{hex}\");").unwrap();
        }
        Type::Primitive(_) | Type::Enum(_) => writeln!(out, "set({place}, {:#x}u);", bits(value)).unwrap(),
        Type::Blob(_) => {
            for pair in value["hex"].as_str().unwrap().as_bytes().chunks(2) {
                writeln!(out, "{place}.push_back(0x{});", String::from_utf8_lossy(pair)).unwrap();
            }
        }
        Type::Vector(element) => {
            for value in value.as_array().unwrap() {
                writeln!(out, "{place}.emplace_back();").unwrap();
                assign(out, model, element, &format!("{place}.back()"), value, depth);
            }
        }
        Type::Struct(name) => {
            let declared = model.structs.iter().find(|declared| declared.name == *name).unwrap();
            members(out, model, &declared.members, place, value, depth + 1);
        }
    }
}

/// The bits of a number, an integer's widened by its sign.
fn bits(value: &Value) -> u64 {
    match value {
        Value::String(decimal) => decimal.parse::<i128>().unwrap() as u64,
        _ => u64::from_str_radix(value["bits"].as_str().unwrap(), 16).unwrap(),
    }
}
