//! The columns of `oasis export`: the source of each row, and what the file says besides its rows.

use super::{cells, content::Content, plan};
use crate::{
    arrow::{
        gaps,
        schema::{SCHEMA_KEY, nullable_schema},
    },
    input::{Lost, names::without_controls},
};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use oasis_wire::schema::ProbeType;
use uuid::Uuid;

/// The columns before the metrics.
pub const COLUMNS: [&str; 8] = ["node", "instance", "run", "epoch", "offset", "sequence", "time", "state"];
const NODE: usize = 0;
const INSTANCE: usize = 1;
const RUN: usize = 2;
const SEQUENCE: usize = 5;
const STATE: usize = 7;
/// The column of times.
pub const TIME: usize = 6;

/// Whether a file has the columns of an export.
pub fn is_export(schema: &Schema) -> bool {
    let fields = schema.fields();
    let is_text = |at: usize| match fields[at].data_type() {
        DataType::Dictionary(_, values) => matches!(**values, DataType::Utf8 | DataType::LargeUtf8),
        other => matches!(other, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    };
    fields.len() > COLUMNS.len()
        && fields.iter().map(|field| field.name().as_str()).take(COLUMNS.len()).eq(COLUMNS)
        && [NODE, INSTANCE, RUN].into_iter().all(is_text)
        && fields[SEQUENCE].data_type().is_integer()
        && matches!(fields[TIME].data_type(), DataType::Timestamp(..))
        && fields[STATE].data_type().is_integer()
}

/// The probe type of an export, if its columns are as they were written.
pub fn probe_type(content: &Content) -> Option<ProbeType> {
    let probe_type: ProbeType = serde_json::from_str(&content.text(SCHEMA_KEY)?).ok()?;
    probe_type.validate().ok()?;
    let found = content.schema();
    let kinds = |schema: &Schema| -> Vec<(String, DataType)> {
        schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
    };
    // Earlier releases wrote no nulls.
    let is_written = |is_nullable| kinds(&nullable_schema(&probe_type, is_nullable)) == kinds(&found);
    (is_written(true) || is_written(false)).then_some(probe_type)
}

/// The metrics of an export.
pub fn metrics(probe_type: &ProbeType) -> Vec<plan::Planned> {
    plan::export(probe_type, COLUMNS.len())
}

/// Node, instance and run of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub node: String,
    pub instance: String,
    pub run: String,
}

impl Origin {
    /// The source of a row, if all three are there.
    pub fn of(batch: &RecordBatch, row: usize) -> Option<Self> {
        let text = |at: usize| cells::text(&**batch.column(at), row);
        let (node, instance) = (without_controls(text(NODE)?), without_controls(text(INSTANCE)?));
        Some(Self { node, instance, run: text(RUN)?.to_owned() })
    }

    /// Whether a row has this source.
    pub fn is(&self, batch: &RecordBatch, row: usize) -> bool {
        let text = |at: usize| cells::text(&**batch.column(at), row);
        text(NODE) == Some(&self.node)
            && text(INSTANCE) == Some(&self.instance)
            && text(RUN) == Some(&self.run)
    }

    /// The run as the archive has it.
    pub fn run(&self) -> Uuid {
        self.run.parse().unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, self.run.as_bytes()))
    }
}

/// Sequence number and state of a row.
pub fn numbers(batch: &RecordBatch, row: usize) -> Option<(u64, u16)> {
    let number = |at: usize| cells::integer(&**batch.column(at), row);
    let state = number(STATE).and_then(|state| u16::try_from(state).ok()).unwrap_or(0);
    Some((u64::try_from(number(SEQUENCE)?).ok()?, state))
}

/// The gaps that the file names.
pub fn gaps(content: &Content) -> Vec<Lost> {
    content.text(gaps::KEY).map(|text| gaps::parse(&text)).unwrap_or_default()
}
