//! The state of the source for API and page.

use crate::{link::Link, receiver::ReceiverCounters};
use serde_json::{Map, Value, json};

/// Returns the state as JSON.
pub fn json(links: &[Link], counters: &ReceiverCounters) -> Value {
    let unknown: Map<String, Value> =
        counters.unknown_messages.iter().map(|(id, count)| (id.to_string(), (*count).into())).collect();
    let links: Vec<_> = links
        .iter()
        .map(|link| {
            let state = link.state().clone();
            json!({
                "address": link.address.to_string(),
                "local": state.local.map(|local| local.to_string()),
                "open": state.is_open,
                "bytes": state.bytes,
                "newest_failure": state.newest_failure,
            })
        })
        .collect();
    json!({
        "links": links,
        "frames": counters.frames,
        "signed_frames": counters.signed_frames,
        "samples": counters.samples,
        "lost_samples": counters.lost_samples,
        "refused_messages": counters.refused_messages,
        "missing_frames": counters.missing_frames,
        "late_frames": counters.late_frames,
        "restarts": counters.restarts,
        "damaged_frames": counters.damaged_frames,
        "incompatible_frames": counters.incompatible_frames,
        "skipped_bytes": counters.skipped_bytes,
        "frames_of_other_ways": counters.frames_of_other_ways,
        "secret_messages": counters.secret_messages,
        "unknown_messages": unknown,
        "more_unknown_messages": counters.more_unknown_messages,
        "nodes": counters.nodes,
        "series": counters.series,
        "newest_refusal": counters.newest_refusal,
    })
}

/// Returns which links are not open.
pub fn problem(links: &[Link]) -> Option<String> {
    let closed = links.iter().filter_map(|link| {
        let state = link.state();
        let why = state.newest_failure.as_ref().filter(|_| !state.is_open)?;
        Some(format!("{}: {why}", link.address))
    });
    let closed: Vec<_> = closed.collect();
    (!closed.is_empty()).then(|| closed.join("; "))
}

/// Returns what was refused, or may be lost.
pub fn warnings(counters: &ReceiverCounters) -> Vec<String> {
    let refusal = counters.newest_refusal.as_ref().map(|why| {
        let (refused, lost) = (counters.refused_messages, counters.lost_samples);
        format!("MAVLink: {refused} messages refused, {lost} samples lost in this DAC, the newest: {why}")
    });
    let missing = (counters.missing_frames > 0).then(|| {
        let count = counters.missing_frames;
        format!(
            "MAVLink: {count} frames were lost before they reached this DAC: numbers of frames have 8 bits, so that a loss of more than 255 in a row looks 256 shorter"
        )
    });
    let unknown: Vec<_> = counters.unknown_messages.keys().map(u32::to_string).collect();
    let unknown = (!unknown.is_empty()).then(|| {
        format!("the dialect ardupilotmega lacks these messages, which are not kept: {}", unknown.join(", "))
    });
    let ways = (counters.frames_of_other_ways > 0).then(|| {
        let count = counters.frames_of_other_ways;
        format!(
            "{count} frames were left out because their sender is heard on another way: give each vehicle a system number of its own, or ignore this if it has two radios"
        )
    });
    [refusal, missing, unknown, ways].into_iter().flatten().collect()
}
