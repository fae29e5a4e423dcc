//! `list_tables` and `query_sql`: the archive as tables.

use super::{Tool, parsed, taken};
use crate::{
    api::{ApiError, ApiRequest, DacApi},
    bounded::BoundedList,
};
use oasis_wire::pattern;
use serde::Deserialize;
use serde_json::{Value, json};

const MAX_ROWS: usize = 500;
const MAX_TABLES: usize = 200;

pub const TABLES: Tool = Tool {
    name: "list_tables",
    title: "List tables of the archive",
    description: "Lists the tables that query_sql can read, with columns and units: a table for each probe type, and gaps, nodes, instances, runs, alarms and others.",
    properties: || json!({"pattern": {"type": "string", "description": "only tables whose names match; a * stands for any text"}}),
    required: &[],
    changes: false,
};

pub const TOOL: Tool = Tool {
    name: "query_sql",
    title: "Query the archive with SQL",
    description: "Runs one SELECT in the dialect of SQLite over the archive. Nothing can be changed. Aggregate and use LIMIT: an answer holds a few hundred rows.",
    properties: || json!({"query": {"type": "string", "description": "one SELECT"}}),
    required: &["query"],
    changes: false,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    pattern: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
}

pub async fn tables(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let Filter { pattern } = parsed(arguments)?;
    let wanted = pattern.unwrap_or_else(|| "*".into());
    let mut document = api.send(ApiRequest::get("/sql")).await?;
    let tables = taken(&mut document, "tables");
    let tables = tables
        .into_iter()
        .filter(|table| pattern::matches(&wanted, table["name"].as_str().unwrap_or_default()));
    let mut answer = json!({});
    BoundedList::first(tables, MAX_TABLES).put(&mut answer, "tables", "give a narrower pattern");
    Ok(answer)
}

pub async fn run(api: &impl DacApi, arguments: Value) -> Result<Value, ApiError> {
    let Query { query } = parsed(arguments)?;
    let mut document = api.send(ApiRequest::post("/sql", json!({"query": query}))).await?;
    let rows = taken(&mut document, "rows");
    let mut answer = json!({"columns": document["columns"].take()});
    BoundedList::first(rows, MAX_ROWS).put(&mut answer, "rows", "aggregate, or use LIMIT and OFFSET");
    if document["more"] == true {
        answer["more"] = "the query has more rows than the DAC answers with".into();
    }
    Ok(answer)
}
