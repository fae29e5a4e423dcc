//! `explain_gaps`: which samples are missing, and why.

use super::{
    Tool, fields,
    instance::{self, InstanceName},
    parsed, taken,
};
use crate::{
    api::{ApiError, DacApi},
    bounded::BoundedList,
};
use oasis_wire::loss::Cause;
use serde_json::{Value, json};

/// Newest gaps of each ledger.
const MAX_GAPS: usize = 100;

pub const TOOL: Tool = Tool {
    name: "explain_gaps",
    title: "Explain missing samples",
    description: "Returns how many samples of an instance are missing on the way from the probe to the DAC and in the archive, the newest gaps, and the meaning of each cause.",
    properties: instance::properties,
    required: &["node", "instance"],
    changes: false,
};

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let name: InstanceName = parsed(arguments)?;
    let mut ledger = instance::detail(api, &name).await?["ledger"].take();
    let mut answer = json!({"meanings": meanings(&ledger)});
    answer["received_by_dac"] = part(&mut ledger);
    if ledger["archive"].is_object() {
        answer["archive"] = part(&mut ledger["archive"]);
    }
    Ok(answer)
}

/// Returns the counts and the newest gaps of one ledger.
fn part(ledger: &mut Value) -> Value {
    let counts = [
        "received",
        "last_sequence",
        "stored",
        "missing",
        "unexplained",
        "duplicates",
        "causes",
        "gaps_forgotten",
    ];
    let mut part = fields(ledger, &counts);
    BoundedList::last(taken(ledger, "gaps"), MAX_GAPS).put(&mut part, "gaps", "ask SQL for the table gaps");
    part
}

/// Returns the meaning of each cause that the ledgers name.
fn meanings(ledger: &Value) -> Value {
    let gaps =
        [&ledger["gaps"], &ledger["archive"]["gaps"]].into_iter().filter_map(Value::as_array).flatten();
    let in_gaps = gaps.filter_map(|gap| gap["cause"].as_str());
    let counted = ledger["causes"].as_object().into_iter().flatten().map(|(cause, _)| cause.as_str());
    let causes = in_gaps.chain(counted).filter_map(Cause::from_word);
    causes.map(|cause| (cause.word().to_owned(), Value::from(meaning(cause)))).collect()
}

fn meaning(cause: Cause) -> String {
    let entry = cause.entry();
    format!("{} (lost at: {})", entry.meaning, entry.place.word())
}
