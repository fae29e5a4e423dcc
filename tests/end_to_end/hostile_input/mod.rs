//! Seeds of the fuzz targets, and variants of them, in the normal suite. `OASIS_FUZZ_SECONDS=600` runs each target that long.

#[path = "../../../fuzz/src/targets/mod.rs"]
mod targets;
#[path = "../../../fuzz/src/variants.rs"]
mod variants;

use std::path::Path;

fn run_target(name: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    variants::run_seeds(&folder, run);
}

#[test]
fn any_configuration_gives_settings_or_an_error_with_its_place() {
    run_target("configuration", targets::configuration::run);
}

#[test]
fn any_file_spool_is_sent_or_reported() {
    run_target("file_spool", targets::file_spool::run);
}

#[test]
fn the_batches_of_a_seed_are_sent() {
    let seed = include_bytes!("../../../fuzz/seeds/file_spool/two-runs");
    assert_eq!(targets::file_spool::batches(seed), 5);
}

#[test]
fn any_stream_of_a_node_is_taken_or_refused() {
    run_target("data_channel", targets::data_channel::run);
}

#[test]
fn any_line_of_a_device_is_read_and_its_account_adds_up() {
    run_target("device_link", targets::device_link::run);
}

#[test]
fn the_batches_of_a_device_are_taken() {
    let seed = include_bytes!("../../../fuzz/seeds/device_link/session");
    assert_eq!(targets::device_link::batches(seed), 2);
}

#[test]
fn any_request_is_answered_without_an_internal_error() {
    run_target("http", targets::http::run);
}

#[test]
fn any_segment_file_is_read_or_reported() {
    run_target("segment_file", targets::segment_file::run);
}

#[test]
fn the_records_of_a_seed_are_read_as_samples() {
    let seed = include_bytes!("../../../fuzz/seeds/segment_file/batches");
    assert_eq!(targets::segment_file::samples(seed), 10);
}

#[test]
fn any_query_is_answered_or_refused() {
    run_target("sql", targets::sql::run);
}

#[test]
fn any_message_of_a_client_is_answered_or_closes_its_connection() {
    run_target("websocket_messages", targets::websocket_messages::run);
}
