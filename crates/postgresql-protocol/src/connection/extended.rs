//! The extended query: statements are prepared, bound to values as portals, described, and executed in parts.

use super::{Connection, Outcome, TEXT_OID, tag};
use crate::{
    failure::{SqlFailure, code},
    prepared::{Portal, PortalResult, Prepared},
    query::QueryOutcome,
    reply::Transaction,
    sql::{Act, Statement, parameters},
    value_type::parameter,
};
use oasis_query::OwnedSqlValue as Value;
use std::{io, sync::Arc};

impl Connection {
    pub(super) fn prepare(&mut self, name: &str, text: &str, mut types: Vec<u32>) -> Result<(), SqlFailure> {
        let mut all = self.statements(text)?;
        if all.len() != 1 {
            let message = "a prepared statement is one statement";
            return Err(SqlFailure::new(code::SYNTAX, message));
        }
        let statement = all.remove(0);
        let count = parameters(&statement.tokens);
        if count > usize::from(u16::MAX) {
            return Err(SqlFailure::new(code::LIMIT, "too many parameters"));
        }
        // 705 is the type of texts without a type.
        types.iter_mut().filter(|oid| **oid == 705).for_each(|oid| *oid = 0);
        types.resize(count.max(types.len()), 0);
        self.store.add(name, Prepared::new(text.to_owned(), statement, types))?;
        self.replies.mark(b'1');
        Ok(())
    }

    pub(super) fn bind(
        &mut self,
        (portal, statement): (&str, &str),
        formats: &[u16],
        values: &[Option<&[u8]>],
        results: Vec<u16>,
    ) -> Result<(), SqlFailure> {
        let prepared = self.store.statement(statement)?.clone();
        let wanted = prepared.types.len();
        if values.len() != wanted || formats.len() > 1 && formats.len() != wanted {
            let message = format!(
                "bind message supplies {} parameters, but the statement requires {wanted}",
                values.len()
            );
            return Err(SqlFailure::new(code::PROTOCOL, message));
        }
        let is_binary = |at: usize| match formats {
            [] => false,
            [all] => *all == 1,
            each => each.get(at) == Some(&1),
        };
        let known = prepared.parameters();
        let values = known
            .iter()
            .zip(values)
            .enumerate()
            .map(|(at, (oid, value))| parameter(*oid, is_binary(at), *value).map(|value| (*oid, value)));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.store.bind(portal, Portal { prepared, values, formats: results, result: None })?;
        self.replies.mark(b'2');
        Ok(())
    }

    /// Describes parameters and columns of a statement. A statement without parameters is run for its types, and its rows
    /// are kept for the portal that follows.
    pub(super) async fn describe_statement(&mut self, name: &str) -> Result<(), (SqlFailure, String)> {
        let prepared = self.store.statement(name).map_err(|failure| (failure, String::new()))?.clone();
        let failed = |failure| (failure, prepared.text.clone());
        if prepared.statement.act != Act::Select {
            self.replies.parameters(&[]);
            return self.describe_other(&prepared.statement).map_err(failed);
        }
        // 0 rows of a LIMIT, and no row where a column equals NULL.
        let value = |oid: &u32| (*oid, if *oid == 20 { Value::Integer(0) } else { Value::Null });
        let values: Vec<_> = prepared.types.iter().map(value).collect();
        let outcome = self.query(&prepared.statement, values, &prepared.text).await.map_err(failed)?;
        let QueryOutcome { answer, types, parameters } = outcome;
        let known: Vec<_> = parameters.iter().map(|oid| if *oid == 0 { TEXT_OID } else { *oid }).collect();
        self.replies.parameters(&known);
        let columns = answer.names().iter().zip(&types).map(|(name, kind)| (name.as_str(), *kind, false));
        self.replies.columns(columns);
        prepared.describe(types, known);
        self.store.described = prepared.types.is_empty().then(|| (prepared.clone(), Arc::new(answer)));
        Ok(())
    }

    /// Describes the answer of a statement that is no query.
    fn describe_other(&mut self, statement: &Statement) -> Result<(), SqlFailure> {
        match &statement.act {
            Act::Show(name) => match self.show(name)? {
                Outcome::Rows { answer, types, .. } => {
                    let columns =
                        answer.names().iter().zip(&types).map(|(name, kind)| (name.as_str(), *kind, false));
                    self.replies.columns(columns);
                }
                Outcome::Done(_) | Outcome::Empty => self.replies.no_columns(),
            },
            _ => self.replies.no_columns(),
        }
        Ok(())
    }

    pub(super) async fn describe_portal(&mut self, name: &str) -> Result<(), (SqlFailure, String)> {
        let portal = self.store.portal(name).map_err(|failure| (failure, String::new()))?;
        let prepared = portal.prepared.clone();
        if prepared.statement.act != Act::Select {
            return self
                .describe_other(&prepared.statement)
                .map_err(|failure| (failure, prepared.text.clone()));
        }
        self.fill(name).await.map_err(|failure| (failure, prepared.text.clone()))?;
        let portal = self.store.portal(name).map_err(|failure| (failure, String::new()))?;
        if let Some(PortalResult { answer, types, .. }) = &portal.result {
            let columns = answer.names().iter().zip(types).enumerate();
            let columns = columns.map(|(at, (name, kind))| (name.as_str(), *kind, portal.is_binary(at)));
            self.replies.columns(columns);
        }
        Ok(())
    }

    /// Runs the query of a portal, unless it has run.
    async fn fill(&mut self, name: &str) -> Result<(), SqlFailure> {
        let portal = self.store.portal(name)?;
        if portal.result.is_some() {
            return Ok(());
        }
        let (prepared, values) = (portal.prepared.clone(), portal.values.clone());
        let described = self.store.described.take().filter(|(of, _)| Arc::ptr_eq(of, &prepared));
        let (answer, types) = match described {
            Some((_, answer)) => (answer, prepared.described_types().unwrap_or_default()),
            None => {
                if self.transaction == Transaction::Failed {
                    let message =
                        "current transaction is aborted, commands ignored until end of transaction block";
                    return Err(SqlFailure::new(code::FAILED_TRANSACTION, message));
                }
                let QueryOutcome { answer, types, .. } =
                    self.query(&prepared.statement, values, &prepared.text).await?;
                let types = prepared.check_types(&answer, types)?;
                (Arc::new(answer), types)
            }
        };
        let position = answer.reader();
        self.store.portal(name)?.result = Some(PortalResult { answer, types, position });
        Ok(())
    }

    /// Sends rows of a portal.
    pub(super) async fn execute(
        &mut self,
        name: &str,
        most: u32,
    ) -> io::Result<Result<(), (SqlFailure, String)>> {
        let prepared = match self.store.portal(name) {
            Ok(portal) => portal.prepared.clone(),
            Err(failure) => return Ok(Err((failure, String::new()))),
        };
        let failed = |failure| Ok(Err((failure, prepared.text.clone())));
        if prepared.statement.act != Act::Select {
            return match self.run(&prepared.statement, Vec::new(), &prepared.text).await {
                Ok(Outcome::Rows { answer, types, word }) => {
                    let mut at = answer.reader();
                    let written = self.rows(&answer, &types, &mut at, (u32::MAX, &[])).await?;
                    self.replies.complete(&tag(word, written));
                    Ok(Ok(()))
                }
                Ok(Outcome::Done(tag)) => {
                    self.replies.complete(&tag);
                    Ok(Ok(()))
                }
                Ok(Outcome::Empty) => {
                    self.replies.mark(b'I');
                    Ok(Ok(()))
                }
                Err(failure) => failed(failure),
            };
        }
        if let Err(failure) = self.fill(name).await {
            return failed(failure);
        }
        let Ok(portal) = self.store.portal(name) else { return Ok(Ok(())) };
        let formats = portal.formats.clone();
        let Some(PortalResult { answer, types, mut position }) = portal.result.take() else {
            return Ok(Ok(()));
        };
        let most = if most == 0 { u32::MAX } else { most };
        let written = self.rows(&answer, &types, &mut position, (most, &formats)).await?;
        let is_all = position.is_at_end(&answer);
        let failure = answer.failure().filter(|_| is_all);
        if let Ok(portal) = self.store.portal(name) {
            portal.result = Some(PortalResult { answer, types, position });
        }
        match failure {
            Some(failure) => return failed(failure),
            None if is_all && written < most as usize => self.replies.complete(&tag("SELECT", written)),
            None => self.replies.mark(b's'),
        }
        Ok(Ok(()))
    }
}
