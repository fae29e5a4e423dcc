//! Prepared statements and portals of a connection, within bounds.

use crate::{
    answer::{Answer, RowPosition},
    failure::{SqlFailure, code},
    sql::Statement,
    value_type::ValueType,
};
use oasis_query::OwnedSqlValue as Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most prepared statements of a connection.
const MAX_STATEMENTS: usize = 1_000;
/// Most bytes of the texts of prepared statements of a connection.
const MAX_STATEMENTS_BYTES: usize = 4 * 1024 * 1024;
/// Most portals of a connection.
const MAX_PORTALS: usize = 64;
/// Most bytes of the values of the parameters of all portals of a connection.
const MAX_VALUES_BYTES: usize = 4 * 1024 * 1024;

/// Types that a client knows of a statement.
#[derive(Debug, Clone, Default)]
struct Described {
    columns: Option<Vec<ValueType>>,
    parameters: Option<Vec<u32>>,
}

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its text.
    pub text: String,
    /// The statement.
    pub statement: Statement,
    /// Types of its parameters; 0 for unknown ones.
    pub types: Vec<u32>,
    /// Types of its columns and its parameters as the client knows them. Locked to copy them.
    described: Mutex<Described>,
}

impl Prepared {
    /// A statement that was not described yet.
    pub fn new(text: String, statement: Statement, types: Vec<u32>) -> Self {
        Self { text, statement, types, described: Mutex::default() }
    }

    /// The client learns the types of the columns and of the parameters.
    pub fn describe(&self, columns: Vec<ValueType>, parameters: Vec<u32>) {
        *self.lock() = Described { columns: Some(columns), parameters: Some(parameters) };
    }

    /// Types of the parameters, as the client knows them.
    pub fn parameters(&self) -> Vec<u32> {
        self.lock().parameters.clone().unwrap_or_else(|| self.types.clone())
    }

    /// Types of the columns as the client knows them.
    pub fn described_types(&self) -> Option<Vec<ValueType>> {
        self.lock().columns.clone()
    }

    /// Returns the types of an answer: those that the client knows, if its values have them.
    ///
    /// # Errors
    /// If they have not: the client then prepares the statement again, as it does with PostgreSQL.
    pub fn check_types(&self, answer: &Answer, types: Vec<ValueType>) -> Result<Vec<ValueType>, SqlFailure> {
        let Some(described) = self.described_types() else { return Ok(types) };
        let mut known = described.iter().copied();
        let found = answer.types(|_| known.next());
        if found == described {
            return Ok(described);
        }
        self.lock().columns = None;
        Err(SqlFailure::new(code::UNSUPPORTED, "cached plan must not change result type"))
    }

    fn lock(&self) -> MutexGuard<'_, Described> {
        self.described.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A portal: a statement with values.
#[derive(Debug)]
pub struct Portal {
    /// Its statement.
    pub prepared: Arc<Prepared>,
    /// Its values, each with the number of its type.
    pub values: Vec<(u32, Value)>,
    /// Formats of its columns: none for text, one for all, or one for each.
    pub formats: Vec<u16>,
    /// Its answer, once there is one.
    pub result: Option<PortalResult>,
}

/// The answer of a portal.
#[derive(Debug)]
pub struct PortalResult {
    /// The rows.
    pub answer: Arc<Answer>,
    /// Types of the columns.
    pub types: Vec<ValueType>,
    /// Position of the client in the rows.
    pub position: RowPosition,
}

impl Portal {
    /// Whether a column is in binary.
    pub fn is_binary(&self, column: usize) -> bool {
        match self.formats[..] {
            [] => false,
            [all] => all == 1,
            ref each => each.get(column) == Some(&1),
        }
    }
}

/// Statements and portals by name.
#[derive(Debug, Default)]
pub struct PreparedStore {
    statements: HashMap<String, Arc<Prepared>>,
    portals: HashMap<String, Portal>,
    /// The answer of a statement that was described, for the portal that follows.
    pub described: Option<(Arc<Prepared>, Arc<Answer>)>,
}

impl PreparedStore {
    /// Adds a statement. The unnamed one replaces the one before it.
    ///
    /// # Errors
    /// If the name is taken, or there are too many.
    pub fn add(&mut self, name: &str, prepared: Prepared) -> Result<(), SqlFailure> {
        if name.is_empty() {
            self.statements.remove(name);
        } else if self.statements.contains_key(name) {
            let shown: String = name.chars().take(100).collect();
            return Err(SqlFailure::new(
                code::TAKEN_STATEMENT,
                format!("prepared statement {shown:?} already exists"),
            ));
        }
        let size = |name: &str, prepared: &Prepared| name.len() + prepared.text.len();
        let bytes: usize = self.statements.iter().map(|(name, known)| size(name, known)).sum();
        if self.statements.len() == MAX_STATEMENTS || bytes + size(name, &prepared) > MAX_STATEMENTS_BYTES {
            let message = format!(
                "more than {MAX_STATEMENTS} prepared statements or {MAX_STATEMENTS_BYTES} bytes of them: DEALLOCATE some"
            );
            return Err(SqlFailure::new(code::LIMIT, message));
        }
        self.statements.insert(name.to_owned(), Arc::new(prepared));
        Ok(())
    }

    /// Returns a statement.
    ///
    /// # Errors
    /// If there is none.
    pub fn statement(&self, name: &str) -> Result<&Arc<Prepared>, SqlFailure> {
        let shown: String = name.chars().take(100).collect();
        let missing = || {
            SqlFailure::new(code::UNKNOWN_STATEMENT, format!("prepared statement {shown:?} does not exist"))
        };
        self.statements.get(name).ok_or_else(missing)
    }

    /// Adds a portal. One with the same name is replaced.
    ///
    /// # Errors
    /// If there are too many.
    pub fn bind(&mut self, name: &str, portal: Portal) -> Result<(), SqlFailure> {
        self.portals.remove(name);
        let bytes =
            |portal: &Portal| -> usize { portal.values.iter().map(|(_, value)| value_bytes(value)).sum() };
        let all = self.portals.values().map(bytes).sum::<usize>() + bytes(&portal);
        if self.portals.len() == MAX_PORTALS || all > MAX_VALUES_BYTES {
            let message =
                format!("more than {MAX_PORTALS} portals or {MAX_VALUES_BYTES} bytes of values: close some");
            return Err(SqlFailure::new(code::LIMIT, message));
        }
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    /// Returns a portal.
    ///
    /// # Errors
    /// If there is none.
    pub fn portal(&mut self, name: &str) -> Result<&mut Portal, SqlFailure> {
        let shown: String = name.chars().take(100).collect();
        let missing = || SqlFailure::new(code::UNKNOWN_PORTAL, format!("portal {shown:?} does not exist"));
        self.portals.get_mut(name).ok_or_else(missing)
    }

    /// Forgets a statement; all for `None`.
    pub fn close_statement(&mut self, name: Option<&str>) {
        self.described = None;
        match name {
            Some(name) => drop(self.statements.remove(name)),
            None => self.statements.clear(),
        }
    }

    /// Forgets a portal.
    pub fn close_portal(&mut self, name: &str) {
        self.portals.remove(name);
    }

    /// Forgets all portals: the transaction has ended.
    pub fn close_portals(&mut self) {
        self.portals.clear();
        self.described = None;
    }
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => size_of::<Value>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer::AnswerBudget, sql::statements};
    use oasis_query::{Rows, SqlValue};

    fn prepared(text: &str) -> Prepared {
        Prepared::new(text.into(), statements(text).unwrap().remove(0), Vec::new())
    }

    fn portal(values: Vec<(u32, Value)>) -> Portal {
        Portal { prepared: Arc::new(prepared("SELECT 1")), values, formats: Vec::new(), result: None }
    }

    #[test]
    fn a_statement_whose_types_change_is_prepared_again() {
        let mut answer = Answer::new(AnswerBudget::default());
        answer.begin(&["a".into()]).unwrap();
        let prepared = prepared("SELECT 1");
        prepared.describe(vec![ValueType::Int8], Vec::new());
        assert_eq!(prepared.check_types(&answer, vec![ValueType::Text]), Ok(vec![ValueType::Int8]));
        answer.row(&[SqlValue::Real(0.5)]).unwrap();
        assert_eq!(
            prepared.check_types(&answer, vec![ValueType::Float8]).unwrap_err().code,
            code::UNSUPPORTED
        );
        assert_eq!(prepared.check_types(&answer, vec![ValueType::Float8]), Ok(vec![ValueType::Float8]));
    }

    #[test]
    fn statements_have_names_and_bounds() {
        let mut store = PreparedStore::default();
        store.add("a", prepared("SELECT 1")).unwrap();
        assert_eq!(store.add("a", prepared("SELECT 1")).unwrap_err().code, code::TAKEN_STATEMENT);
        store.add("", prepared("SELECT 1")).unwrap();
        store.add("", prepared("SELECT 2")).unwrap();
        assert_eq!(store.statement("").unwrap().text, "SELECT 2");
        let full = (0..=MAX_STATEMENTS).find_map(|at| store.add(&at.to_string(), prepared("SELECT 1")).err());
        assert_eq!(full.unwrap().code, code::LIMIT);
        store.close_statement(None);
        assert_eq!(store.statement("a").unwrap_err().code, code::UNKNOWN_STATEMENT);
        let long = format!("SELECT '{}'", "x".repeat(MAX_STATEMENTS_BYTES));
        assert_eq!(store.add("long", prepared(&long)).unwrap_err().code, code::LIMIT);
    }

    #[test]
    fn portals_that_are_never_closed_have_bounds() {
        let mut store = PreparedStore::default();
        let full = (0..=MAX_PORTALS).find_map(|at| store.bind(&at.to_string(), portal(Vec::new())).err());
        assert_eq!(full.unwrap().code, code::LIMIT);
        store.close_portals();
        assert_eq!(store.portal("0").unwrap_err().code, code::UNKNOWN_PORTAL);
        let large = portal(vec![(25, Value::Text("x".repeat(MAX_VALUES_BYTES + 1)))]);
        assert_eq!(store.bind("large", large).unwrap_err().code, code::LIMIT);
    }
}
