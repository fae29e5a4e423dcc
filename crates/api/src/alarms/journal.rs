//! The journal of alarms, and of the results of all other rules.

use super::{all::AllAlarms, bad_parameter, merge, query_alarms, view};
use crate::Api;
use axum::{
    Extension, Json,
    extract::{Query, State, rejection::QueryRejection},
};
use oasis_access::{Target, Verb};
use oasis_alarms::{JournalEntry, JournalFilter, JournalKind, rows};
use oasis_dac::now;
use oasis_doors::in_order;
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::{quantity::Nanos, time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Entries in one answer: by default, and at most.
const MAX_ENTRIES: usize = 1_000;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlarmJournal)]
pub struct Journal {
    /// Newest first.
    pub entries: Vec<EntryView>,
    /// `after` for the next entries; null after the last one. A page may have fewer entries than asked for.
    pub next: Option<After>,
    /// Why entries of DACs that this one relays are missing, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_read: BTreeMap<String, String>,
}

/// A place in the journal: a number, or at a DAC that relays others a text that is opaque to clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AlarmJournalPlace)]
pub enum After {
    Entry(u64),
    OfSeveral(String),
}

/// An event of an alarm, or the result of another rule. Unknown properties are absent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = AlarmJournalEntry)]
pub struct EntryView {
    /// Its number: greater for later entries.
    pub id: u64,
    /// When it happened, nanoseconds: on the node's clock for results of rules, otherwise on the DAC's.
    time: u64,
    /// When the DAC received the sample, or had the action, nanoseconds on the DAC's clock.
    dac_time: u64,
    /// When it was written, nanoseconds on the DAC's clock.
    pub written: u64,
    rule: String,
    pub node: String,
    pub instance: String,
    /// Kind of the event, such as `raised`.
    kind: String,
    /// The state of the alarm after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<String>,
    /// `good`, or `unknown` if the condition was not known.
    quality: String,
    /// The value that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// Limit that the value was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    /// Unit of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// The sequence number of the sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    /// Since when the condition had been true.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    /// Samples that are missing, if that is why something is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// Whether the samples came too late to act on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    late: bool,
    /// Principal that acted; with the address only for callers that may read everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// The DAC whose journal has it, if this one relays it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dac: Option<String>,
}

impl EntryView {
    fn new(entry: JournalEntry, caller: &Caller) -> Self {
        Self {
            id: entry.id,
            time: entry.time,
            dac_time: entry.dac_time,
            written: entry.written,
            rule: entry.rule,
            node: entry.node,
            instance: entry.instance,
            kind: entry.kind.name().to_owned(),
            state: entry.state.map(|state| state.name().to_owned()),
            severity: entry.severity.map(|severity| severity.name().to_owned()),
            quality: rows::quality(entry.is_known).to_owned(),
            value: view::finite(entry.value),
            limit: view::finite(entry.limit),
            unit: entry.unit,
            sequence: entry.sequence,
            since: entry.since,
            missing: entry.missing,
            cause: entry.cause,
            late: entry.late,
            principal: entry.principal.map(|principal| caller.shown_author(&principal).to_owned()),
            comment: entry.comment,
            dac: None,
        }
    }
}

#[derive(Debug, Clone, Deserialize, IntoParams)]
pub struct JournalQuery {
    /// Earliest time (inclusive): nanoseconds since 1970, a date and time, or an age (-15m).
    pub from: Option<String>,
    /// Latest time (exclusive).
    pub to: Option<String>,
    /// Entries of this rule.
    pub rule: Option<String>,
    /// Entries of this node.
    pub node: Option<String>,
    /// Entries of instances with this name.
    pub instance: Option<String>,
    /// Entries of this kind, such as `raised`.
    pub kind: Option<String>,
    /// The next entries: `next` of an earlier answer.
    pub after: Option<String>,
    /// Most entries in the answer, 1 to 1000; 1000 by default.
    limit: Option<usize>,
    /// Whether to ask the DACs that this one relays too; true by default.
    relayed: Option<bool>,
}

/// Lists the events of alarms of instances whose past the caller may read, newest first.
#[utoipa::path(get, path = "/api/v1/alarms/journal", params(JournalQuery),
    responses((status = 200, body = Journal), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<JournalQuery>, QueryRejection>,
) -> Result<Json<Journal>, Problem> {
    let Query(query) = crate::understood(query)?;
    let filter = filter(query.clone())?;
    let AllAlarms { relayed, .. } = AllAlarms::of(&api)?;
    match relayed.filter(|_| query.relayed != Some(false)) {
        Some(relayed) => merge::list(&api, &caller, &relayed, filter, &query).await.map(Json),
        None => {
            let (entries, next) = own(&api, &caller, filter, query.after.as_deref()).await?;
            Ok(Json(Journal { entries, next: next.map(After::Entry), not_read: BTreeMap::new() }))
        }
    }
}

/// Entries of this DAC, and the place of the next ones.
pub async fn own(
    api: &Api,
    caller: &Caller,
    mut filter: JournalFilter,
    after: Option<&str>,
) -> Result<(Vec<EntryView>, Option<u64>), Problem> {
    let wrong =
        |after: &str| bad_parameter(format!("after is {after:?}: take it from next of an earlier answer"));
    filter.after = after.map(|after| after.parse().map_err(|_| wrong(after))).transpose()?;
    if api.alarms.is_none() {
        return Ok((Vec::new(), None));
    }
    let reader = caller.clone();
    let page = query_alarms(api, move |alarms| {
        let sees =
            |node: &str, instance: &str| reader.may(Verb::ReadPast, Target::Instance { node, instance });
        alarms.journal_visible(&filter, sees)
    });
    let page = page.await?;
    Ok((page.entries.into_iter().map(|entry| EntryView::new(entry, caller)).collect(), page.next))
}

fn filter(query: JournalQuery) -> Result<JournalFilter, Problem> {
    let from = query.from.map(|from| at("from", &from)).transpose()?;
    let to = query.to.map(|to| at("to", &to)).transpose()?;
    if let (Some(from), Some(to)) = (from, to) {
        in_order(from.0, to.0)?;
    }
    let kind = query.kind.map(|name| {
        let known: Vec<_> = JournalKind::ALL.iter().map(|kind| kind.name()).collect();
        let named = JournalKind::named(&name);
        named.ok_or_else(|| bad_parameter(format!("kind is {name:?}: write one of {}", known.join(", "))))
    });
    Ok(JournalFilter {
        from,
        to,
        rule: query.rule,
        node: query.node,
        instance: query.instance,
        kind: kind.transpose()?,
        after: None,
        most: query.limit.unwrap_or(MAX_ENTRIES).clamp(1, MAX_ENTRIES),
    })
}

fn at(name: &str, text: &str) -> Result<Nanos, Problem> {
    time::parse(text, now()).map(Nanos).map_err(|error| bad_parameter(format!("{name} is {text:?}: {error}")))
}
