//! Features that a device without an operating system lacks: values without a fixed size, and those larger than a frame.

use super::view::width;
use crate::json_schema;
use oasis_pdl::{
    Code, Diagnostic, Model,
    model::{Metric, NameSpan, Probe, Type},
};

/// Most bytes of a struct in a row: its width is one byte of the description.
const MOST_STRUCT: usize = 255;
/// Most bytes of a row, so that a frame of 4,096 bytes has room for a sample.
const MOST_ROW: usize = 3_000;
/// Most metrics, for the same reason.
const MOST_METRICS: usize = 500;
/// Most bytes of a schema that a gateway asks a device for.
const MOST_SCHEMA: usize = 16_384;

/// Returns a diagnostic for each declaration that `sdk/embedded` cannot express.
pub fn check(model: &Model) -> Vec<Diagnostic> {
    let probes = || model.probes.iter().filter(|probe| !probe.is_abstract);
    let of_structs = model.structs.iter().flat_map(|declared| &declared.members);
    let metrics = of_structs.chain(probes().flat_map(|probe| &probe.metrics));
    let mut found: Vec<_> = metrics.filter_map(|metric| check_metric(model, metric)).collect();
    // A metric of a base probe is in each probe that has it.
    found.sort_by_key(|diagnostic: &Diagnostic| diagnostic.place.map(|span| (span.file, span.start)));
    found.dedup();
    if found.is_empty() {
        found.extend(probes().filter_map(|probe| check_probe(model, probe)));
    }
    found
}

fn check_metric(model: &Model, metric: &Metric) -> Option<Diagnostic> {
    let refused = |what: &str, label: &str, help: &str| {
        let message = format!("C99 without a heap cannot express `{}`: {what}", metric.name);
        Some(diagnostic(metric.place, message, label, help))
    };
    match (&metric.kind, width(model, &metric.kind)) {
        (Type::Vector(_), _) => refused(
            "a vector has no fixed size",
            "has no fixed size",
            "declare a struct, or as many metrics as there are elements",
        ),
        (Type::Blob(_), _) => refused(
            "a blob does not fit a frame",
            "too large",
            "send images from a program with the library for C or C++",
        ),
        (Type::Primitive(_), None) => refused(
            "a string has no fixed size",
            "has no fixed size",
            "declare an enum for known texts, or a struct of integers for a few characters",
        ),
        (Type::Struct(_), Some(bytes)) if bytes > MOST_STRUCT => refused(
            &format!("its struct takes {bytes} bytes, and at most {MOST_STRUCT} are possible"),
            "too large",
            "use several metrics of smaller structs",
        ),
        // The member without a fixed size is reported where it is.
        (Type::Struct(_) | Type::Primitive(_) | Type::Enum(_), _) => None,
    }
}

fn check_probe(model: &Model, probe: &Probe) -> Option<Diagnostic> {
    let row: usize = probe.metrics.iter().filter_map(|metric| width(model, &metric.kind)).sum();
    let schema = json_schema::schema(model, probe).and_then(|schema| serde_json::to_string(&schema).ok());
    let schema = schema.map_or(0, |schema| schema.len());
    let metrics = probe.metrics.len();
    let what = if metrics > MOST_METRICS {
        format!("it has {metrics} metrics, and at most {MOST_METRICS} fit a frame")
    } else if row > MOST_ROW {
        format!("a sample takes {row} bytes, and at most {MOST_ROW} fit a frame")
    } else if schema > MOST_SCHEMA {
        format!("its schema takes {schema} bytes, and a gateway asks for at most {MOST_SCHEMA}")
    } else {
        return None;
    };
    let message = format!("a device cannot send `{}`: {what}", probe.name);
    Some(diagnostic(
        probe.place,
        message,
        "too large",
        "declare several probes, or shorten the documentation",
    ))
}

fn diagnostic(place: NameSpan, message: String, label: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::NotInC99, place.0, message, label).help(help)
}
