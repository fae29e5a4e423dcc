//! Test runs, in SQL.

use super::{Catalogue, signed, unsigned};
use crate::test_run::{Description, MAX_TEST_RUNS, TestRun, TestRunError, TestRunFilter};
use oasis_wire::quantity::Nanos;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

type Result<T> = std::result::Result<T, TestRunError>;

/// The columns for [`read`].
const COLUMNS: &str = "id, name, started, stopped, notes, pinned, who,
    (SELECT json_group_array(tag) FROM test_run_tag WHERE test_run = id)";

impl Catalogue {
    /// Starts a test run.
    pub fn add_test_run(&mut self, run: &Description, who: &str, started: Nanos) -> Result<TestRun> {
        self.change(|transaction| {
            let there = transaction.query_row("SELECT count(*) FROM test_run", [], |row| unsigned(row, 0));
            if there? >= MAX_TEST_RUNS {
                return Err(TestRunError::TooMany);
            }
            let values = params![run.name, signed(started.0), run.notes, run.pinned, who];
            transaction
                .execute(
                    "INSERT INTO test_run (name, started, notes, pinned, who) VALUES (?, ?, ?, ?, ?)",
                    values,
                )
                .map_err(|error| taken(error, &run.name))?;
            let id = transaction.last_insert_rowid();
            set_tags(transaction, id, &run.tags)?;
            Ok(TestRun {
                id: id as u64,
                name: run.name.clone(),
                started,
                stopped: None,
                notes: run.notes.clone(),
                tags: run.tags.clone(),
                pinned: run.pinned,
                who: who.into(),
            })
        })
    }

    /// Sets the end of a test run.
    pub fn stop_test_run(&mut self, id: u64, stopped: Nanos) -> Result<()> {
        let values = params![signed(stopped.0), signed(id)];
        self.0.execute("UPDATE test_run SET stopped = ? WHERE id = ?", values)?;
        Ok(())
    }

    /// Changes the description of a test run.
    pub fn change_test_run(&mut self, id: u64, run: &Description) -> Result<TestRun> {
        let transaction = self.0.transaction()?;
        let values = params![run.name, run.notes, run.pinned, signed(id)];
        transaction
            .execute("UPDATE test_run SET name = ?, notes = ?, pinned = ? WHERE id = ?", values)
            .map_err(|error| taken(error, &run.name))?;
        set_tags(&transaction, signed(id), &run.tags)?;
        transaction.commit()?;
        self.test_run(id)?.ok_or(TestRunError::Unknown(id))
    }

    /// Deletes a test run. Returns whether it existed.
    pub fn delete_test_run(&mut self, id: u64) -> Result<bool> {
        let gone = self.0.execute("DELETE FROM test_run WHERE id = ?", [signed(id)]);
        Ok(gone? != 0)
    }

    /// A test run by number.
    pub fn test_run(&self, id: u64) -> Result<Option<TestRun>> {
        let select = format!("SELECT {COLUMNS} FROM test_run WHERE id = ?");
        let mut statement = self.0.prepare_cached(&select)?;
        Ok(statement.query_row([signed(id)], read).optional()?)
    }

    /// Returns at most `most` test runs, newest first.
    pub fn test_runs(&self, filter: &TestRunFilter, most: usize) -> Result<Vec<TestRun>> {
        let select = format!(
            "SELECT {COLUMNS} FROM test_run
             WHERE id < ?1 AND (?2 IS NULL OR name = ?2)
               AND (?3 IS NULL OR EXISTS (SELECT 1 FROM test_run_tag WHERE test_run = id AND tag = ?3))
             ORDER BY id DESC LIMIT ?4"
        );
        let before = filter.before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
        let mut statement = self.0.prepare_cached(&select)?;
        let values = params![before, filter.name, filter.tag, signed(most as u64)];
        Ok(statement.query_map(values, read)?.collect::<rusqlite::Result<_>>()?)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<TestRun> {
    let stopped: Option<i64> = row.get(3)?;
    let tags: String = row.get(7)?;
    Ok(TestRun {
        id: unsigned(row, 0)?,
        name: row.get(1)?,
        started: Nanos(unsigned(row, 2)?),
        stopped: stopped.map(|stopped| Nanos(stopped as u64)),
        notes: row.get(4)?,
        pinned: row.get(5)?,
        who: row.get(6)?,
        // SQLite generated this JSON.
        tags: serde_json::from_str(&tags).unwrap_or_default(),
    })
}

fn set_tags(to: &Connection, id: i64, tags: &[String]) -> Result<()> {
    to.execute("DELETE FROM test_run_tag WHERE test_run = ?", [id])?;
    let mut insert = to.prepare_cached("INSERT INTO test_run_tag VALUES (?, ?)")?;
    Ok(tags.iter().try_for_each(|tag| insert.execute(params![id, tag]).map(drop))?)
}

/// Only names are unique.
fn taken(error: rusqlite::Error, name: &str) -> TestRunError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => TestRunError::Taken(name.into()),
        _ => error.into(),
    }
}
