//! Tables of the catalogue as the author of a query may see them: copies of the visible rows, in temporary tables of a connection that has nothing else.
//!
//! Only tables that the query names are copied. SQLite keeps them in a file if they are large.

use super::{SqlError, TableInfo, sight::Sight, stop::Stop, table::TIMES};
use rusqlite::{
    Connection, Statement, params_from_iter,
    types::{Value, ValueRef},
};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Rows between two checks of the limits.
const ROWS: usize = 100;

/// Receives the rows of a table that is not of the archive.
pub type TakeRow<'a> = dyn FnMut(&[Value]) -> Result<(), SqlError> + 'a;

/// Passes all rows of a table.
pub type PassRows = Box<dyn FnOnce(&mut TakeRow<'_>) -> Result<(), SqlError> + Send>;

/// A table that is not of the archive. Its rows are asked for only if a query names it.
pub struct ExtraTable {
    /// Description of the table.
    pub info: TableInfo,
    /// Passes its rows.
    pub rows: PassRows,
}

/// Whether a query can use a table: identifiers stand in its text as they are.
pub fn names(query: &str, table: &str) -> bool {
    query.to_ascii_lowercase().contains(&table.to_ascii_lowercase())
}

/// Copies the visible rows of a view of `from`.
pub fn copy(
    from: &Connection,
    to: &Connection,
    table: &TableInfo,
    sight: &dyn Sight,
    stop: &Stop,
) -> Result<(), SqlError> {
    let rules = Rules::new(from, table, sight)?;
    let mut copy = Copy::begin(to, table, &types_of_view(from, &table.name)?, stop)?;
    let mut select = from.prepare(&format!("SELECT * FROM temp.{}", table.name))?;
    let mut rows = select.query([])?;
    let author = table.columns.iter().position(|(column, _)| column == "who");
    while let Some(row) = rows.next()? {
        let values = (0..table.columns.len()).map(|at| row.get(at));
        let mut values = values.collect::<rusqlite::Result<Vec<Value>>>()?;
        if !rules.show(&mut values) {
            continue;
        }
        if let Some(Value::Text(who)) = author.and_then(|at| values.get_mut(at)) {
            *who = sight.author(who).to_owned();
        }
        copy.row(&values)?;
    }
    Ok(())
}

/// Copies all rows of another table.
pub fn copy_extra(to: &Connection, table: ExtraTable, stop: &Stop) -> Result<(), SqlError> {
    let mut copy = Copy::begin(to, &table.info, &[], stop)?;
    (table.rows)(&mut |values| copy.row(values))
}

/// The types of the columns of a view: with those of the catalogue, `id = '5'` compares numbers in a copy too. SQLite names those of expressions `INT` and
/// `NUM`, which convert nothing in a view.
fn types_of_view(from: &Connection, view: &str) -> rusqlite::Result<Vec<String>> {
    let mut types = from.prepare(
        "SELECT CASE WHEN type IN ('INTEGER', 'TEXT') THEN type ELSE '' END FROM pragma_table_info(?, 'temp') ORDER BY cid",
    )?;
    types.query_map([view], |row| row.get(0))?.collect()
}

/// A temporary table that is being filled.
struct Copy<'a> {
    insert: Statement<'a>,
    stop: &'a Stop,
    rows: usize,
    bytes: u64,
    table: &'a str,
}

impl<'a> Copy<'a> {
    /// Creates it with these types of columns, if they are known.
    fn begin(
        to: &'a Connection,
        table: &'a TableInfo,
        types: &[String],
        stop: &'a Stop,
    ) -> Result<Self, SqlError> {
        let TableInfo { name, columns, .. } = table;
        let times = ["time", "until", "written", "started", "stopped", "last_seen", "first", "last"];
        let column = |(at, (column, _)): (usize, &(String, Option<String>))| match types.get(at) {
            _ if times.contains(&column.as_str()) => format!("\"{column}\" TEXT COLLATE {TIMES}"),
            Some(of) => format!("\"{column}\" {of}"),
            None => format!("\"{column}\""),
        };
        let declared: Vec<_> = columns.iter().enumerate().map(column).collect();
        to.execute_batch(&format!("CREATE TEMP TABLE {name} ({})", declared.join(", ")))?;
        let places = vec!["?"; columns.len()].join(", ");
        let insert = to.prepare(&format!("INSERT INTO temp.{name} VALUES ({places})"))?;
        Ok(Self { insert, stop, rows: 0, bytes: 0, table: name })
    }

    fn row(&mut self, values: &[Value]) -> Result<(), SqlError> {
        self.rows += 1;
        self.bytes += values.iter().map(bytes).sum::<u64>();
        if self.bytes > self.stop.most_copied() {
            return Err(SqlError::TooLarge(self.table.to_owned()));
        }
        if self.rows.is_multiple_of(ROWS) && self.stop.is_due() {
            return Err(self.stop.reason().unwrap_or(SqlError::Left));
        }
        self.insert.execute(params_from_iter(values))?;
        Ok(())
    }
}

fn bytes(value: &Value) -> u64 {
    let content = match ValueRef::from(value) {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 8,
    };
    content as u64
}

/// Which rows of a table are visible, by the columns that name nodes and instances.
enum Rules<'a> {
    /// All of them, or none.
    All(bool),
    /// Rows of visible instances: the columns of node and instance.
    Instances(&'a dyn Sight, usize, usize),
    /// Visible nodes: the column of their name.
    Nodes(Nodes<'a>, usize),
    /// Annotations of something visible, or of everything: the column of their targets.
    Targets(Nodes<'a>, usize),
}

impl<'a> Rules<'a> {
    fn new(from: &Connection, table: &TableInfo, sight: &'a dyn Sight) -> Result<Self, SqlError> {
        let column = |name: &str| table.columns.iter().position(|(column, _)| column == name);
        Ok(match (column("node"), column("instance"), column("targets")) {
            (Some(node), Some(instance), _) => Self::Instances(sight, node, instance),
            (.., Some(targets)) => Self::Targets(Nodes::new(from, sight)?, targets),
            _ if table.name == "nodes" => {
                Self::Nodes(Nodes::new(from, sight)?, column("name").unwrap_or_default())
            }
            _ => Self::All(sight.anything()),
        })
    }

    /// Whether a row is shown. Removes what is not visible in it.
    fn show(&self, values: &mut [Value]) -> bool {
        let text = |at: usize| match values.get(at) {
            Some(Value::Text(text)) => text.as_str(),
            _ => "",
        };
        match self {
            Self::All(are_shown) => *are_shown,
            Self::Instances(sight, node, instance) => sight.instance(text(*node), text(*instance)),
            Self::Nodes(nodes, name) => nodes.shows(text(*name)),
            Self::Targets(nodes, at) => match nodes.visible_targets(text(*at)) {
                Some(targets) => {
                    values[*at] = Value::Text(targets);
                    true
                }
                None => false,
            },
        }
    }
}

/// The visible nodes: those that are visible as a whole, or have a visible instance.
struct Nodes<'a> {
    sight: &'a dyn Sight,
    with_instances: HashSet<String>,
}

#[derive(Serialize, Deserialize)]
struct Target {
    node: String,
    instance: Option<String>,
}

impl<'a> Nodes<'a> {
    fn new(from: &Connection, sight: &'a dyn Sight) -> Result<Self, SqlError> {
        let mut select = from.prepare("SELECT node, instance FROM temp.instances")?;
        let mut rows = select.query([])?;
        let mut with_instances = HashSet::new();
        while let Some(row) = rows.next()? {
            let (node, instance): (String, String) = (row.get(0)?, row.get(1)?);
            if sight.instance(&node, &instance) {
                with_instances.insert(node);
            }
        }
        Ok(Self { sight, with_instances })
    }

    fn shows(&self, node: &str) -> bool {
        self.with_instances.contains(node) || self.sight.node(node)
    }

    /// The visible ones of an annotation's targets, as JSON; none if it is of nothing visible.
    fn visible_targets(&self, targets: &str) -> Option<String> {
        let all: Vec<Target> = serde_json::from_str(targets).ok()?;
        if all.is_empty() {
            return self.sight.anything().then(|| targets.to_owned());
        }
        let is_visible = |target: &Target| match &target.instance {
            Some(instance) => self.sight.instance(&target.node, instance),
            None => self.shows(&target.node),
        };
        let visible: Vec<_> = all.into_iter().filter(is_visible).collect();
        if visible.is_empty() { None } else { serde_json::to_string(&visible).ok() }
    }
}
