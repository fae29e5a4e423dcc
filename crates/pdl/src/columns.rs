//! Warns of metrics whose names are those of built-in columns of tables.

use crate::{
    diagnostic::{Code, Diagnostic},
    model::{Model, Type},
};
use oasis_wire::schema::SAMPLE_COLUMNS;
use std::collections::HashSet;

/// The warnings of a model. A metric that several probes inherit has one.
pub fn check(model: &Model) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let metrics = model.probes.iter().flat_map(|probe| &probe.metrics);
    // A struct becomes a column for each member: `time.x`.
    let metrics = metrics.filter(|metric| !matches!(metric.kind, Type::Struct(_)));
    let built_in = metrics.filter(|metric| is_built_in(&metric.name) && seen.insert(metric.place.0));
    let warnings = built_in.map(|metric| {
        let name = &metric.name;
        let message = format!("metric `{name}` has the name of a built-in column");
        let label = format!("the column is `{name}_2` in SQL and in exported tables");
        let columns = SAMPLE_COLUMNS.map(|column| format!("`{column}`")).join(", ");
        Diagnostic::new(Code::BuiltInColumn, metric.place.0, message, label)
            .note(format!("each table of samples has the columns {columns}"))
            .help(format!(
                "rename the metric, or write `{name}_2` in queries (`oasis sql .schema` lists the columns)"
            ))
    });
    warnings.collect()
}

fn is_built_in(name: &str) -> bool {
    SAMPLE_COLUMNS.iter().any(|column| column.eq_ignore_ascii_case(name))
}
