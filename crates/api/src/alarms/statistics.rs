//! Figures by which ISA-18.2 judges a system of alarms.

use super::{all::AllAlarms, query_alarms, sees};
use crate::Api;
use axum::{Extension, Json, extract::State};
use oasis_alarms::{AlarmKey, Statistics};
use oasis_dac::now;
use oasis_http::{Problem, permissions::Caller};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Figures of the alarms that the caller may see.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlarmStatistics)]
pub struct Figures {
    /// Alarms that exist.
    alarms: u64,
    /// Standing alarms that are not silenced, by severity.
    standing: BTreeMap<&'static str, u64>,
    /// Standing alarms that are not acknowledged.
    unacknowledged: u64,
    shelved: u64,
    suppressed: u64,
    out_of_service: u64,
    /// Alarms whose condition is unknown.
    unknown: u64,
    raised: Raised,
    /// The alarms that were raised most often in the last hour, most often first: those that chatter.
    most_frequent: Vec<Frequent>,
    /// The alarms that have stood longest, longest first.
    longest_standing: Vec<Longest>,
    /// The size of the journal; only for callers that may read everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<JournalSize>,
}

/// Number of times that alarms were raised.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlarmsRaised)]
pub struct Raised {
    ten_minutes: u64,
    hour: u64,
    day: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FrequentAlarm)]
pub struct Frequent {
    rule: String,
    node: String,
    instance: String,
    /// Number of times that it was raised in the last hour.
    count: u32,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LongStandingAlarm)]
pub struct Longest {
    rule: String,
    node: String,
    instance: String,
    /// When it was raised, nanoseconds on the DAC's clock.
    since: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlarmJournalSize)]
pub struct JournalSize {
    entries: u64,
    bytes: u64,
    /// Entries that were removed to make room.
    removed: u64,
    /// Events for which there was no room among the alarms, since the start.
    refused: u64,
}

impl Figures {
    fn new(figures: Statistics, caller: &Caller) -> Self {
        let frequent = |(AlarmKey { rule, node, instance }, count)| Frequent { rule, node, instance, count };
        let longest = |(AlarmKey { rule, node, instance }, since)| Longest { rule, node, instance, since };
        let journal = JournalSize {
            entries: figures.journal_entries,
            bytes: figures.journal_bytes,
            removed: figures.journal_removed,
            refused: figures.refused,
        };
        Self {
            alarms: figures.alarms,
            standing: figures.standing.iter().map(|(severity, count)| (severity.name(), *count)).collect(),
            unacknowledged: figures.unacknowledged,
            shelved: figures.shelved,
            suppressed: figures.suppressed,
            out_of_service: figures.out_of_service,
            unknown: figures.unknown,
            raised: Raised {
                ten_minutes: figures.raised_ten_minutes,
                hour: figures.raised_hour,
                day: figures.raised_day,
            },
            most_frequent: figures.most_frequent.into_iter().map(frequent).collect(),
            longest_standing: figures.longest_standing.into_iter().map(longest).collect(),
            journal: caller.sees_everything().then_some(journal),
        }
    }
}

/// Returns the numbers of standing and of raised alarms, and the alarms that chatter or stand for long.
#[utoipa::path(get, path = "/api/v1/alarms/statistics",
    responses((status = 200, body = Figures), (status = 404, body = Problem)))]
pub async fn show(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Figures>, Problem> {
    let mut figures = match &api.alarms {
        Some(_) => {
            let reader = caller.clone();
            query_alarms(&api, move |alarms| alarms.statistics_visible(now(), |key| sees(&reader, key)))
                .await?
        }
        None => Statistics::default(),
    };
    let AllAlarms { own, relayed } = AllAlarms::of(&api)?;
    if let Some(relayed) = relayed {
        let is_shown = |key: &AlarmKey| sees(&caller, key) && !own.as_ref().is_some_and(|own| own.has(key));
        figures.add_relayed(&relayed, now(), is_shown);
    }
    Ok(Json(Figures::new(figures, &caller)))
}
