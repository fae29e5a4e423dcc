//! Searches of records: log records, events, and all other samples with texts.

use crate::{
    Api,
    archive::catalogue_problem,
    sql::{Leaving, WrittenIntegers, on_own_thread},
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Pattern, Target, Verb};
use oasis_dac::Instance;
use oasis_doors::view::Integers;
use oasis_handler::InstanceLog;
use oasis_http::{Problem, permissions::Caller};
use oasis_query::search::{
    Cursor, FoundRecords, MOST_BYTES, Order, Record, SearchQuery, Searched, has_records, levels_of, search,
};
use oasis_store::{History, ReadError};
use oasis_wire::value;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    sync::Arc,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// Instances of one search.
const MAX_INSTANCES: usize = 2_000;
/// Patterns of a request.
const MAX_PATTERNS: usize = 1_000;
/// Records of a page, if the request does not say.
const DEFAULT_PAGE_RECORDS: usize = 100;

/// Levels of log records, which are no mistake before there are any.
const LOG_LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
/// Levels that a refusal names, at most.
const MAX_LEVELS: usize = 50;
/// Characters of a wrong level that a refusal repeats.
const MAX_SHOWN_CHARS: usize = 64;

/// Search criteria. Without any, all records are found.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchRequest)]
pub struct Request {
    /// Words, separated by blanks. Each must be part of a text of the record, or of the name of a value; case does not matter. At most 256 bytes each.
    #[serde(default)]
    text: String,
    /// The least severity, by its name in the type, such as `WARN`: only records with a metric `level` or `severity` are found.
    level: Option<String>,
    /// Metrics or named fields and their values, as `NAME=VALUE`. With the words at most 16.
    #[serde(default)]
    fields: Vec<String>,
    /// Names in which `*` stands for any text; none for all instances.
    #[serde(default)]
    instances: Vec<InstancePattern>,
    /// Nanoseconds since 1970 on the clock of the node.
    #[serde(default)]
    from: u64,
    /// The end of the time, exclusive; none for now.
    until: Option<u64>,
    #[serde(default)]
    order: WrittenOrder,
    /// Records of a page, 1 to 1,000; 100 if it is absent.
    limit: Option<usize>,
    /// `next` of the page before.
    after: Option<String>,
    /// `string`: integers as strings, because JavaScript rounds those beyond 2^53.
    #[serde(default)]
    #[schema(value_type = String)]
    integers: WrittenIntegers,
}

/// Names of instances.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InstancePattern {
    #[schema(value_type = String)]
    node: Pattern,
    #[schema(value_type = String)]
    instance: Pattern,
}

/// Which records come first.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SearchOrder)]
pub enum WrittenOrder {
    #[default]
    Newest,
    Oldest,
}

/// A page of records.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchAnswer)]
pub struct Answer {
    records: Vec<RecordView>,
    /// Number of scanned samples.
    searched: u64,
    /// Batches that are damaged or could not be read.
    unreadable: u64,
    /// Instances that this DAC relays: their past is at another DAC, which has to be asked.
    not_searched: usize,
    /// Time up to which the search has come, nanoseconds since 1970; null if it has reached the end.
    #[schema(value_type = Option<u64>)]
    reached: serde_json::Value,
    /// `after` for the next page; null at the end. A page that is not full ended because it had read 1 GiB.
    next: Option<String>,
}

/// A record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchRecord)]
pub struct RecordView {
    node: String,
    instance: String,
    /// The name of its probe type.
    #[serde(rename = "type")]
    probe_type: String,
    run: Uuid,
    /// Its number in that run.
    #[schema(value_type = u64)]
    sequence: serde_json::Value,
    /// Nanoseconds since 1970 on the clock of the node.
    #[schema(value_type = u64)]
    time: serde_json::Value,
    /// State of the probe; 0 is normal.
    state: u16,
    /// Values by the names of the metrics.
    #[schema(value_type = Object)]
    metrics: serde_json::Map<String, serde_json::Value>,
}

/// Finds records by level, text and field in the archive and the topic logs, newest first, a page at a time.
#[utoipa::path(post, path = "/api/v1/search", request_body = Request,
    responses((status = 200, body = Answer), (status = 403, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem),
        (status = 500, body = Problem)))]
pub async fn find(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Answer>, Problem> {
    let doors = &api.doors;
    doors.admit(&headers, "pages of other sites may not search (doors.allowed_origins)")?;
    let request: Request = super::body(&body)?;
    let (wanted, integers) = (wanted(&request)?, Integers::from(request.integers));
    let patterns = patterns(request.instances)?;
    let turn = api.sql.take_for(&caller)?;
    let leaving = Leaving::default();
    let has_left = leaving.has_left();
    let archive = doors.archived.archive.as_ref().map(|archive| archive.history());
    let live = doors.dac.registry.instances();
    let found = on_own_thread(move || {
        let _turn = turn;
        let chosen = chosen(archive.as_ref(), live, &patterns, &caller)?;
        check_level(request.level.as_deref(), chosen.levels)?;
        let found = search(archive.as_ref(), &chosen.searched, &wanted, MOST_BYTES, &has_left);
        found.map(|found| (found, chosen.not_searched)).map_err(|error| unread(&error))
    });
    let (found, not_searched) = found.await??;
    Ok(Json(Answer::new(found, not_searched, integers)))
}

fn wanted(request: &Request) -> Result<SearchQuery, Problem> {
    let bad = |place: &str, error: &dyn Display| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_search", format!("{place}: {error}"))
    };
    let times = request.from..request.until.unwrap_or(u64::MAX);
    let mut wanted = SearchQuery::of(times, request.limit.unwrap_or(DEFAULT_PAGE_RECORDS))
        .with_level(request.level.clone());
    wanted = wanted.with_words(&request.text).map_err(|error| bad("text", &error))?;
    for field in &request.fields {
        wanted = wanted.with_field(field).map_err(|error| bad("fields", &error))?;
    }
    let after = request.after.as_deref().map(str::parse::<Cursor>).transpose();
    let after = after.map_err(|error| bad("after", &error))?;
    let order = match request.order {
        WrittenOrder::Newest => Order::Newest,
        WrittenOrder::Oldest => Order::Oldest,
    };
    Ok(wanted.in_order(order, after.as_ref()))
}

fn patterns(given: Vec<InstancePattern>) -> Result<Vec<InstancePattern>, Problem> {
    if given.len() > MAX_PATTERNS {
        let detail = format!("instances: {} patterns are more than {MAX_PATTERNS}", given.len());
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_search", detail));
    }
    Ok(given)
}

/// The instances with records that the caller may read.
struct Chosen {
    searched: Vec<Searched>,
    /// Instances whose past is at other DACs.
    not_searched: usize,
    /// Names of levels of their types.
    levels: BTreeSet<String>,
}

fn chosen(
    archive: Option<&History>,
    live: Vec<Arc<Instance>>,
    patterns: &[InstancePattern],
    caller: &Caller,
) -> Result<Chosen, Problem> {
    let is_chosen = |node: &str, instance: &str| {
        let matches = |of: &InstancePattern| of.node.matches(node) && of.instance.matches(instance);
        (patterns.is_empty() || patterns.iter().any(matches))
            && caller.may(Verb::ReadPast, Target::Instance { node, instance })
    };
    let (mut names, mut levels) = (BTreeSet::new(), BTreeSet::new());
    for of in archive.map_or(Ok(Vec::new()), History::types).map_err(|error| unread(&error))? {
        if has_records(&of) {
            let stored = archive.map_or(Ok(Vec::new()), |archive| archive.instances_of(&of));
            let mut stored = stored.map_err(|error| unread(&error))?;
            stored.retain(|(node, instance)| is_chosen(node, instance));
            if !stored.is_empty() {
                levels.extend(levels_of(&of).map(str::to_owned));
            }
            names.extend(stored);
        }
    }
    let live = live.into_iter().filter(|instance| has_records(&instance.probe_type));
    let (relayed, own): (Vec<_>, Vec<_>) = live.partition(|instance| instance.is_relayed());
    let not_searched = relayed.iter().filter(|of| is_chosen(&of.node, &of.name)).count();
    let mut own: BTreeMap<_, _> =
        own.into_iter().map(|of| ((of.node.to_string(), of.name.to_string()), of)).collect();
    own.retain(|(node, instance), _| is_chosen(node, instance));
    names.extend(own.keys().cloned());
    levels.extend(own.values().flat_map(|of| levels_of(&of.probe_type)).map(str::to_owned));
    if names.len() > MAX_INSTANCES {
        let detail =
            format!("{} instances are more than {MAX_INSTANCES}: name fewer in `instances`", names.len());
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_search", detail));
    }
    let searched = names.into_iter().map(|names| {
        let log = own.remove(&names).map(|of| Arc::new(InstanceLog(of)) as _);
        Searched { node: names.0, instance: names.1, log }
    });
    Ok(Chosen { searched: searched.collect(), not_searched, levels })
}

/// Refuses a level that neither the searched types nor log records have: it would find nothing, as if there were no such records.
fn check_level(level: Option<&str>, mut levels: BTreeSet<String>) -> Result<(), Problem> {
    levels.extend(LOG_LEVELS.map(str::to_owned));
    match level {
        Some(level) if !levels.iter().any(|known| known.eq_ignore_ascii_case(level)) => {
            let known = levels.into_iter().take(MAX_LEVELS).collect::<Vec<_>>().join(", ");
            let shown: String = level.chars().take(MAX_SHOWN_CHARS).collect();
            let detail = format!("level: {shown:?} is no level of the searched types: use one of {known}");
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_search", detail))
        }
        _ => Ok(()),
    }
}

impl Answer {
    fn new(found: FoundRecords, not_searched: usize, integers: Integers) -> Self {
        Self {
            records: found.records.into_iter().map(|record| RecordView::new(record, integers)).collect(),
            searched: found.searched,
            unreadable: found.unreadable,
            not_searched,
            reached: found.reached.map_or(serde_json::Value::Null, |reached| integers.write(reached)),
            next: found.next.map(|next| next.to_string()),
        }
    }
}

impl RecordView {
    fn new(Record { series, state, sample }: Record, integers: Integers) -> Self {
        let metrics = value::to_json(&series.probe_type, &sample.values);
        Self {
            node: series.node.to_string(),
            instance: series.instance.to_string(),
            probe_type: series.probe_type.name.clone(),
            run: series.run,
            sequence: integers.write(sample.sequence),
            time: integers.write(sample.time),
            state,
            metrics: metrics.into_iter().map(|(name, value)| (name, integers.write(value))).collect(),
        }
    }
}

fn unread(error: &ReadError) -> Problem {
    match error {
        ReadError::Catalogue(error) => catalogue_problem(error),
        ReadError::Io(error) => {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "archive_error", error.to_string())
        }
    }
}
