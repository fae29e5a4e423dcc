//! Samples and gaps as JSON.

use crate::{missing::Missing, topic::PublishedSample};
use oasis_dac::Instance;
use oasis_format::json_lines;
use serde_json::{Map, Value, json};

/// Encodes a sample.
pub fn sample(instance: &Instance, published: &PublishedSample, has_units: bool) -> Vec<u8> {
    let PublishedSample { run, state, described, sample, .. } = published;
    let run = Some(run).filter(|run| !run.is_nil());
    let name = (&*instance.node, &*instance.name);
    let mut object = json_lines::object(name, run, &described.probe_type, *state, sample);
    object.insert("type".into(), (&*described.probe_type.name).into());
    if has_units {
        let columns = described.table.columns.iter();
        let units = columns.filter_map(|column| Some((column.name.clone(), column.unit.clone()?.into())));
        object.insert("units".into(), Value::Object(units.collect::<Map<_, _>>()));
    }
    Value::Object(object).to_string().into_bytes()
}

/// Encodes a gap, with the members of `/oasis/missing` in MCAP files.
pub fn missing(instance: &Instance, missing: &Missing) -> Vec<u8> {
    let (node, name) = (&*instance.node, &*instance.name);
    let mut object = json!({
        "topic": format!("{node}/{name}"),
        "samples": missing.samples,
        "cause": missing.cause.word(),
        "node": node,
        "instance": name,
        "run": missing.run.map(|run| run.to_string()),
    });
    if let Some((first, last)) = missing.numbers {
        object["from_sequence"] = first.into();
        object["to_sequence"] = last.into();
    }
    object.to_string().into_bytes()
}
