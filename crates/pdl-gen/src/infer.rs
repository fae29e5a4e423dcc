//! PDL of a probe type that was declared in a program: what `oasis pdl infer` writes.
//!
//! A schema has all that the PDL of a type says, except the documentation of its structs and enums as a whole, and which metrics it inherits:
//! all are its own here. The text is compiled before it is returned, so it always makes the same schema.

use crate::{json_schema, names::split};
use oasis_pdl::model::blob_spelling;
use oasis_wire::{
    declared::is_name,
    primitive::Primitive,
    schema::{EnumType, Metric, MetricType, ProbeType, StructType, Threshold},
};
use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    fmt::Write,
    path::PathBuf,
};

/// Why a type has no PDL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInPdl {
    /// A name that is no name of PDL.
    #[error(
        "{what} {name:?} has no name in PDL: rename it in the program, with a letter first, then letters, digits and _"
    )]
    Name {
        /// Kind of the named item.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A text with quotes or line breaks.
    #[error(
        "{what} of {metric:?} contains a quote or a line break, which a text of PDL cannot: change it in the program"
    )]
    Text {
        /// `unit` or `label`.
        what: &'static str,
        /// The metric.
        metric: String,
    },
    /// Two declarations with one name.
    #[error(
        "two metrics have different types of the name {0:?}: give one of them another name in the program"
    )]
    TwoTypes(String),
    /// An alarm on a number that the enum does not have.
    #[error("a limit of {metric:?} is {number}, which its enum does not declare: correct it in the program")]
    Enumerator {
        /// The metric.
        metric: String,
        /// The number.
        number: i64,
    },
    /// The compiler refuses the type.
    #[error("PDL cannot declare the type {name:?}:\n{diagnostics}")]
    Refused {
        /// The type.
        name: String,
        /// Report of the compiler.
        diagnostics: String,
    },
    /// The text would make another schema.
    #[error(
        "PDL cannot declare the type {0:?} as it is registered, such as its documentation: declare it by hand"
    )]
    Differs(String),
}

/// Returns PDL that compiles to this schema.
///
/// # Errors
/// Schemas that PDL cannot express.
pub fn infer(probe_type: &ProbeType) -> Result<String, NotInPdl> {
    let mut declarations = Declarations::default();
    declarations.metrics(&probe_type.metrics)?;
    let text = text(probe_type, &declarations)?;
    let refused = |diagnostics| NotInPdl::Refused { name: probe_type.name.clone(), diagnostics };
    let file = PathBuf::from("inferred.pdl");
    let text = oasis_pdl::format(&file, &text).map_err(|report| refused(report.render(false)))?;
    let files = HashMap::from([(file.clone(), text.clone())]);
    let report = oasis_pdl::compile(&[file], &[], &files);
    if !report.is_ok() {
        return Err(refused(report.render(false)));
    }
    let schema = report
        .model
        .probe_named(&probe_type.name)
        .and_then(|probe| json_schema::schema(&report.model, probe));
    if schema.as_ref() == Some(probe_type) {
        Ok(text)
    } else {
        Err(NotInPdl::Differs(probe_type.name.clone()))
    }
}

/// The enums and structs of a type, by their scoped names.
#[derive(Default)]
struct Declarations<'a> {
    enums: BTreeMap<&'a str, (&'a EnumType, Primitive)>,
    structs: BTreeMap<&'a str, &'a StructType>,
}

impl<'a> Declarations<'a> {
    fn metrics(&mut self, metrics: &'a [Metric]) -> Result<(), NotInPdl> {
        for metric in metrics {
            let innermost = innermost(&metric.kind);
            if let (Some(declared), Some(base)) = (&metric.enumeration, innermost.primitive()) {
                insert(&mut self.enums, &declared.name, (declared, base))?;
            }
            if let MetricType::Struct(declared) = innermost {
                insert(&mut self.structs, &declared.name, declared)?;
                self.metrics(&declared.members)?;
            }
        }
        Ok(())
    }
}

fn insert<'a, T: PartialEq>(
    known: &mut BTreeMap<&'a str, T>,
    name: &'a str,
    declared: T,
) -> Result<(), NotInPdl> {
    match known.entry(name) {
        Entry::Occupied(there) if *there.get() != declared => Err(NotInPdl::TwoTypes(name.to_owned())),
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(place) => {
            place.insert(declared);
            Ok(())
        }
    }
}

fn innermost(kind: &MetricType) -> &MetricType {
    kind.element().map_or(kind, innermost)
}

/// All declarations, in modules.
fn text(probe_type: &ProbeType, declarations: &Declarations<'_>) -> Result<String, NotInPdl> {
    let mut parts = Vec::new();
    for (name, (declared, base)) in &declarations.enums {
        parts.push((*name, "enum", enumeration(declared, *base)?));
    }
    for (name, declared) in &declarations.structs {
        parts.push((
            *name,
            "struct",
            format!("struct {} {{\n{}}};\n", split(name).1, metrics(&declared.members)?),
        ));
    }
    parts.push((&probe_type.name, "type", probe(probe_type)?));
    let (mut text, mut open) = (String::new(), "");
    for (name, what, declaration) in &parts {
        let (scope, _) = split(name);
        name.split("::").try_for_each(|part| check_name(what, part))?;
        if scope != open {
            text += &"}\n".repeat(modules(open).count());
            text.extend(modules(scope).map(|module| format!("module {module} {{\n")));
            open = scope;
        }
        // The formatter leaves no empty line after a `{`.
        text.push('\n');
        text += declaration;
    }
    text += &"}\n".repeat(modules(open).count());
    Ok(text)
}

fn modules(scope: &str) -> impl Iterator<Item = &str> {
    scope.split("::").filter(|module| !module.is_empty())
}

fn probe(of: &ProbeType) -> Result<String, NotInPdl> {
    let rate = of.demand().map(|demand| format!("; rate(demand, {}, {})", demand.min(), demand.max()));
    let doc = documentation(of.doc.as_deref());
    let (uuid, version, rate) = (of.uuid, &of.version, rate.unwrap_or_default());
    let name = split(&of.name).1;
    Ok(format!(
        "{doc}[uuid({uuid}); version({version}){rate}]\nprobe {name} {{\n{}}};\n",
        metrics(&of.metrics)?
    ))
}

fn enumeration(of: &EnumType, base: Primitive) -> Result<String, NotInPdl> {
    let mut text = format!("enum {}", split(&of.name).1);
    if base != Primitive::Uint8 {
        let _ = write!(text, " : {}", base.name());
    }
    text += " {\n";
    let mut values = Vec::new();
    for value in &of.values {
        check_name("enumerator", &value.name)?;
        values.push(format!("{}{} = {}", documentation(value.doc.as_deref()), value.name, value.value));
    }
    Ok(text + &values.join(",\n") + "\n};\n")
}

fn metrics(of: &[Metric]) -> Result<String, NotInPdl> {
    of.iter().map(metric).collect()
}

fn metric(of: &Metric) -> Result<String, NotInPdl> {
    check_name("metric", &of.name)?;
    let mut attributes = Vec::new();
    for (what, text) in [("unit", &of.unit), ("label", &of.label)] {
        if let Some(text) = text {
            if text.contains(['"', '\n', '\r']) {
                return Err(NotInPdl::Text { what, metric: of.name.clone() });
            }
            attributes.push(format!("{what}(\"{text}\")"));
        }
    }
    // The schema and the PDL have the same words.
    if let Some(Ok(serde_json::Value::String(kind))) = of.behavior.map(serde_json::to_value) {
        attributes.push(format!("kind({kind})"));
    }
    attributes.extend(of.min.as_ref().map(|min| format!("min({min})")));
    attributes.extend(of.max.as_ref().map(|max| format!("max({max})")));
    for (what, threshold) in [("warn", &of.warn), ("alarm", &of.alarm)] {
        if let Some(threshold) = threshold {
            attributes.push(format!("{what}({})", conditions(threshold, of)?));
        }
    }
    let attributes =
        if attributes.is_empty() { String::new() } else { format!("[{}] ", attributes.join("; ")) };
    Ok(format!(
        "{}{attributes}{} {};\n",
        documentation(of.doc.as_deref()),
        kind(&of.kind, of.enumeration.as_ref()),
        of.name
    ))
}

fn conditions(of: &Threshold, metric: &Metric) -> Result<String, NotInPdl> {
    let mut conditions = Vec::new();
    conditions.extend(of.below.as_ref().map(|below| format!("< {below}")));
    conditions.extend(of.above.as_ref().map(|above| format!("> {above}")));
    for &number in &of.values {
        let mut known = metric.enumeration.iter().flat_map(|of| &of.values);
        let unknown = || NotInPdl::Enumerator { metric: metric.name.clone(), number };
        conditions.push(known.find(|value| value.value == number).ok_or_else(unknown)?.name.clone());
    }
    Ok(conditions.join(", "))
}

fn kind(of: &MetricType, enumeration: Option<&EnumType>) -> String {
    match (of, enumeration) {
        (MetricType::Vector(element), _) => format!("vector<{}>", kind(element, enumeration)),
        // A path from the root means the same everywhere.
        (MetricType::Struct(declared), _) => format!("::{}", declared.name),
        (_, Some(declared)) => format!("::{}", declared.name),
        (MetricType::Blob(of), _) => blob_spelling(*of),
        (kind, None) => kind.primitive().map_or_else(String::new, |primitive| primitive.name().to_owned()),
    }
}

fn documentation(text: Option<&str>) -> String {
    text.map(|text| text.split('\n').map(|line| format!("/// {line}\n")).collect()).unwrap_or_default()
}

fn check_name(what: &'static str, name: &str) -> Result<(), NotInPdl> {
    if is_name(name) { Ok(()) } else { Err(NotInPdl::Name { what, name: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe_type(metrics: &str) -> ProbeType {
        let json = format!(
            r#"{{"name": "plant::motor", "uuid": "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa", "version": "1.2", "metrics": [{metrics}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_type_of_a_program_becomes_a_file() {
        let of = probe_type(
            r#"{"name": "rpm", "type": "int64"},
               {"name": "temperature", "type": "real64", "unit": "Cel", "doc": "Of the\nwinding.", "min": -40, "max": 150.5, "warn": {"above": 80}},
               {"name": "mode", "type": {"vector": "int16"}, "kind": "state", "enum": {"name": "plant::Mode", "values": [{"name": "OFF", "value": -3}]}, "alarm": {"values": [-3]}}"#,
        );
        assert_eq!(
            infer(&of).unwrap(),
            "module plant {\n  enum Mode : int16 { OFF = -3 };\n\n  \
             [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa); version(1.2)]\n  probe motor {\n    int64 rpm;\n    \
             /// Of the\n    /// winding.\n    \
             [unit(\"Cel\"); min(-40); max(150.5); warn(> 80)] real64 temperature;\n    \
             [kind(state); alarm(OFF)] vector<::plant::Mode> mode;\n  };\n}\n"
        );
    }

    #[test]
    fn what_pdl_cannot_say_is_named() {
        let refused = |metrics: &str| infer(&probe_type(metrics)).unwrap_err().to_string();
        assert!(
            refused(r#"{"name": "_rpm", "type": "int64"}"#).starts_with("metric \"_rpm\" has no name in PDL")
        );
        assert!(
            refused(r#"{"name": "a\n}; b", "type": "int64"}"#)
                .starts_with("metric \"a\\n}; b\" has no name in PDL")
        );
        assert!(
            refused(r#"{"name": "a", "type": "int64", "label": "5\""}"#)
                .starts_with("label of \"a\" contains a quote")
        );
        assert!(refused(r#"{"name": "a", "type": "int64", "unit": "jiffies"}"#).contains("unknown unit"));
        assert!(
            refused(r#"{"name": "a", "type": "int64"}, {"name": "a", "type": "int64"}"#)
                .contains("declared twice")
        );
        let two = r#"{"name": "a", "type": {"struct": {"name": "S", "members": []}}},
            {"name": "b", "type": {"struct": {"name": "S", "members": [{"name": "x", "type": "int8"}]}}}"#;
        assert!(refused(two).starts_with("two metrics have different types of the name \"S\""));
        let alarm =
            r#"{"name": "a", "type": "int8", "enum": {"name": "E", "values": []}, "alarm": {"values": [7]}}"#;
        assert!(refused(alarm).starts_with("a limit of \"a\" is 7"));
        assert!(
            refused(r#"{"name": "a", "type": "int8", "doc": "a\r\n}; probe X { "}"#)
                .contains("PDL cannot declare")
        );
    }
}
