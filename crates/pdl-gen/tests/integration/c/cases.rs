//! `vectors/shapes.json` as C, so that no C needs to read JSON.

use oasis_pdl::{
    Model,
    model::{Metric, Primitive, Type},
};
use serde_json::Value;
use std::fmt::Write;

/// A function that checks all cases.
pub fn include(model: &Model, vectors: &Value) -> String {
    let mut out = "static void check_cases(void) {\n".to_owned();
    for case in vectors["cases"].as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap();
        let probe = model.probes.iter().find(|probe| probe.name == text("probe")).unwrap();
        let name = c_name(&probe.name);
        let value = structure(model, &name, &probe.metrics, &case["values"]);
        let (case, row) = (text("name"), text("row"));
        writeln!(out, "{{\nconst {name} value = {value};").unwrap();
        writeln!(out, "check_row(&value, write_{name}, {case:?}, {row:?});\n}}").unwrap();
    }
    out + "}\n"
}

fn c_name(scoped: &str) -> String {
    scoped.replace("::", "_")
}

fn structure(model: &Model, name: &str, members: &[Metric], values: &Value) -> String {
    let values = members.iter().zip(values.as_array().unwrap());
    let values: Vec<String> = values.map(|(member, value)| expression(model, &member.kind, value)).collect();
    // C requires a value in the initializer of a struct without members.
    let values = if values.is_empty() { "0".to_owned() } else { values.join(", ") };
    format!("({name}){{{values}}}")
}

fn expression(model: &Model, kind: &Type, value: &Value) -> String {
    match kind {
        Type::Primitive(Primitive::Boolean) => value.to_string(),
        Type::Primitive(Primitive::String) => {
            let text = value["text"].as_str().unwrap();
            let bytes: String = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
            format!("(oasis_text){{\"{bytes}\", {}}}", text.len())
        }
        Type::Primitive(Primitive::Real32) => format!("real32({:#x}u)", bits(value)),
        Type::Primitive(Primitive::Real64) => format!("real64({:#x}u)", bits(value)),
        Type::Primitive(_) | Type::Enum(_) => format!("({}){:#x}u", of_kind(kind), bits(value)),
        Type::Blob(_) => {
            let bytes = value["hex"].as_str().unwrap();
            let digits = bytes.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair).into_owned());
            let escaped: String = digits.map(|pair| format!("\\x{pair}")).collect();
            format!("(oasis_uint8_vector){{(const uint8_t *)\"{escaped}\", {}}}", bytes.len() / 2)
        }
        Type::Struct(name) => {
            let declared = model.struct_named(name).unwrap();
            structure(model, &c_name(name), &declared.members, value)
        }
        Type::Vector(element) => {
            let elements = value.as_array().unwrap().iter();
            let elements: Vec<String> = elements.map(|value| expression(model, element, value)).collect();
            match elements.len() {
                0 => format!("({}){{NULL, 0}}", of_kind(kind)),
                count => format!(
                    "({}){{(const {}[]){{{}}}, {count}}}",
                    of_kind(kind),
                    of_kind(element),
                    elements.join(", ")
                ),
            }
        }
    }
}

fn of_kind(kind: &Type) -> String {
    match kind {
        Type::Primitive(Primitive::Boolean) => "bool".to_owned(),
        Type::Primitive(Primitive::Real32) => "float".to_owned(),
        Type::Primitive(Primitive::Real64) => "double".to_owned(),
        Type::Primitive(Primitive::String) => "oasis_text".to_owned(),
        Type::Primitive(simple) => format!("{}_t", simple.name()),
        Type::Struct(name) | Type::Enum(name) => c_name(name),
        Type::Blob(_) => "oasis_uint8_vector".to_owned(),
        Type::Vector(element) => match &**element {
            Type::Primitive(simple) => format!("oasis_{}_vector", simple.name()),
            deeper => format!("{}_vector", of_kind(deeper)),
        },
    }
}

/// The bits of a number, an integer's widened by its sign.
fn bits(value: &Value) -> u64 {
    match value {
        Value::String(decimal) => decimal.parse::<i128>().unwrap() as u64,
        _ => u64::from_str_radix(value["bits"].as_str().unwrap(), 16).unwrap(),
    }
}
