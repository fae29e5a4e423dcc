//! Readers of archives without a DAC link neither the DAC nor its async runtime, and the default program nothing that only a site needs.

use oasis_structure::Workspace;

/// Crates that other programs link to read and write recordings.
const OFFLINE: [&str; 7] = [
    "oasis-store",
    "oasis-history",
    "oasis-query",
    "oasis-recordings",
    "oasis-format",
    "oasis-rules",
    "oasis-rules-history",
];

/// Crates that they must not link.
const LIVE: [&str; 2] = ["tokio", "oasis-dac"];

/// Libraries that only features beyond the default ones need.
const SITE: [&str; 8] =
    ["openidconnect", "lettre", "tokio-postgres", "mdns-sd", "parquet", "mcap", "lsp-types", "clap_mangen"];

#[test]
fn crates_for_recordings_link_neither_the_dac_nor_tokio() {
    let workspace = Workspace::load().unwrap();
    for name in OFFLINE {
        let linked = workspace.linked(name, &[]).unwrap();
        assert!(linked.contains(name), "{name}: {linked:?}");
        assert_eq!(LIVE.map(|live| linked.contains(live)), [false; 2], "{name} links one of {LIVE:?}");
    }
}

#[test]
fn archives_and_formats_link_no_cryptography() {
    let workspace = Workspace::load().unwrap();
    for name in ["oasis-store", "oasis-format"] {
        let linked = workspace.linked(name, &[]).unwrap();
        assert!(linked.contains("oasis-wire"), "{name}: {linked:?}");
        assert_eq!(
            ["ring", "rustls"].map(|library| linked.contains(library)),
            [false; 2],
            "{name}: {linked:?}"
        );
    }
}

#[test]
fn the_offline_command_line_links_neither_the_dac_nor_tokio() {
    let workspace = Workspace::load().unwrap();
    let linked = |flags: &[&str]| {
        let linked = workspace.linked("oasis", flags).unwrap();
        LIVE.map(|live| linked.contains(live))
    };
    assert_eq!(linked(&["--no-default-features"]), [false; 2], "oasis without `live` links one of {LIVE:?}");
    assert_eq!(linked(&[]), [true; 2], "the names in {LIVE:?} are those that Cargo uses");
}

#[test]
fn the_default_command_line_links_no_library_of_a_site() {
    let workspace = Workspace::load().unwrap();
    let linked = |flags: &[&str]| {
        let linked = workspace.linked("oasis", flags).unwrap();
        SITE.map(|library| linked.contains(library))
    };
    assert_eq!(linked(&[]), [false; 8], "oasis without `site` links one of {SITE:?}");
    assert_eq!(linked(&["--features", "site"]), [true; 8], "the names in {SITE:?} are those that Cargo uses");
}
