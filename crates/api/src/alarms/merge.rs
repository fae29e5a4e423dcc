//! The journals of this DAC and of those that it relays as one: each is asked for a page, and the newest entries of all come first.

use super::{
    bad_parameter, forward,
    journal::{After, EntryView, Journal, JournalQuery, own},
};
use crate::Api;
use futures_util::future::join_all;
use oasis_access::{Target, Verb};
use oasis_alarms::{JournalFilter, RelayedAlarms, UpstreamRequest};
use oasis_http::{Problem, permissions::Caller};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};

/// The name of this DAC among the journals.
const OWN: &str = "";

/// A page of one journal.
struct Source {
    name: String,
    entries: VecDeque<EntryView>,
    /// Position of the entries that follow the page.
    next: Option<u64>,
    /// The last entry that was taken.
    taken: Option<u64>,
}

/// Answer of an upstream.
#[derive(Deserialize)]
struct Answer {
    entries: Vec<EntryView>,
    next: Option<u64>,
}

/// Places in all journals; a journal that is at its end has none.
type Places = BTreeMap<String, u64>;

/// The newest entries of all journals after a place.
pub async fn list(
    api: &Api,
    caller: &Caller,
    relayed: &RelayedAlarms,
    filter: JournalFilter,
    query: &JournalQuery,
) -> Result<Journal, Problem> {
    let places = query.after.as_deref().map(places).transpose()?;
    let is_wanted = |name: &str| places.as_ref().is_none_or(|places| places.contains_key(name));
    let place = |name: &str| places.as_ref()?.get(name).filter(|at| **at != u64::MAX).copied();
    let most = filter.most;
    let asked = relayed.forward_all(|name| {
        is_wanted(name).then(|| UpstreamRequest::Journal(question(query, most, place(name))))
    });
    let answers = join_all(asked.into_iter().map(async |(name, asked)| (name, forward::asked(asked).await)));
    let mut sources = Vec::new();
    if is_wanted(OWN) {
        let after = place(OWN).map(|at| at.to_string());
        let (entries, next) = own(api, caller, filter, after.as_deref()).await?;
        sources.push(Source { name: OWN.into(), entries: entries.into(), next, taken: place(OWN) });
    }
    let mut not_read = BTreeMap::new();
    for (name, answer) in answers.await {
        let page = match answer {
            Ok(answer) => serde_json::from_value::<Answer>(answer).map_err(|error| error.to_string()),
            // The upstream keeps no alarms.
            Err(refusal) if refusal.status == Some(404) => continue,
            Err(refusal) => Err(refusal.detail),
        };
        match page {
            Ok(Answer { entries, next }) => {
                let taken = place(&name);
                let entries = entries.into_iter().take(most).collect();
                sources.push(Source { name, entries, next, taken });
            }
            Err(why) => drop(not_read.insert(name, why)),
        }
    }
    let entries = merge(&mut sources, most, caller);
    Ok(Journal { entries, next: next(sources), not_read })
}

/// The query for an upstream.
fn question(query: &JournalQuery, most: usize, after: Option<u64>) -> Vec<(String, String)> {
    let texts = [
        ("from", query.from.clone()),
        ("to", query.to.clone()),
        ("rule", query.rule.clone()),
        ("node", query.node.clone()),
        ("instance", query.instance.clone()),
        ("kind", query.kind.clone()),
        ("after", after.map(|after| after.to_string())),
        ("limit", Some(most.to_string())),
        ("relayed", Some("false".into())),
    ];
    texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
}

/// Takes the newest entries of all. Entries that the caller may not see are left out.
fn merge(sources: &mut [Source], most: usize, caller: &Caller) -> Vec<EntryView> {
    let mut merged = Vec::new();
    while merged.len() < most {
        let newest = sources
            .iter_mut()
            .filter(|source| !source.entries.is_empty())
            .max_by_key(|source| source.entries.front().map(|entry| entry.written));
        let Some(source) = newest else { break };
        let Some(mut entry) = source.entries.pop_front() else { break };
        source.taken = Some(entry.id);
        if source.name != OWN {
            let target = Target::Instance { node: &entry.node, instance: &entry.instance };
            if !caller.may(Verb::ReadPast, target) {
                continue;
            }
            entry.dac = Some(source.name.clone());
            entry.principal = entry.principal.map(|principal| caller.shown_author(&principal).to_owned());
        }
        merged.push(entry);
    }
    merged
}

/// Returns the position of the next entries; none if there are none.
fn next(sources: Vec<Source>) -> Option<After> {
    let place = |source: Source| match (source.entries.is_empty(), source.next) {
        (true, None) => None,
        (true, Some(next)) => Some((source.name, next)),
        // Nothing of it was taken: it begins at its newest entry again.
        (false, _) => Some((source.name, source.taken.unwrap_or(u64::MAX))),
    };
    let places: Places = sources.into_iter().filter_map(place).collect();
    (!places.is_empty()).then(|| After::OfSeveral(serde_json::to_string(&places).unwrap_or_default()))
}

fn places(text: &str) -> Result<Places, Problem> {
    let wrong = |_| bad_parameter(format!("after is {text:?}: take it from next of an earlier answer"));
    serde_json::from_str(text).map_err(wrong)
}
