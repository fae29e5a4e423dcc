//! Files generated from the table of causes are up to date; `OASIS_UPDATE_LOSS=1` writes them.

use oasis_wire::loss::{Cause, Entry, TABLE};
use std::{fmt::Write as _, fs, path::Path};

/// Compares a file with its expected text, or writes it.
fn check_or_write(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("OASIS_UPDATE_LOSS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == text,
        "{path} differs from the table: OASIS_UPDATE_LOSS=1 cargo test -p oasis-wire --test integration loss::"
    );
}

fn rows(row: impl Fn(&Entry) -> String) -> String {
    TABLE.iter().map(row).collect()
}

#[test]
fn the_reference_page_has_every_cause() {
    let mut page = String::from(
        "# Causes of loss\n\n\
         Every gap has one of these causes, with the same word everywhere: in the ledger, at the doors, in SQL, in exports, on\n\
         the page, and as the name of counters. `crates/wire/src/loss.rs` holds the table; this page is generated from it.\n\n\
         | cause | where | a loss? | meaning |\n|---|---|---|---|\n",
    );
    page += &rows(|entry| {
        let is_loss = if entry.is_loss { "yes" } else { "no" };
        format!(
            "| `{}` | {} | {is_loss} | {} |\n",
            entry.word,
            entry.place.word(),
            entry.meaning.replace("; ", ";<br>")
        )
    });
    page += "\nThe third column says whether the samples were wanted: a flight recorder keeps samples back on purpose.\n\n\
             ## What counts as missing\n\n\
             The DAC's [ledger](http-api.md#instance) counts for each instance what was taken and never reached its topic log,\n\
             since the DAC started (`since` in `GET /api/v1/ledger`). Everybody who asks gets this number: the page on cards, in\n\
             footers, its ledger and the fleet, WebSocket clients as [statistics](websocket.md#statistics), programs as `missing`.\n\n\
             - `missing` of the API and of statistics is the sum of `causes`. The page and fleets leave out `kept_back`, and show\n\
             \u{20} it apart.\n\
             - A reader that lags, or comes back late, may miss samples that the DAC had. It counts these itself: *Not received here*\n\
             \u{20} on the [page](page.md#missing-samples), messages `gap` at the doors. The DAC's number does not change.\n\
             - The archive may fail to store samples that the DAC received; `archive` in the ledger counts these. The SQL table\n\
             \u{20} `gaps` has both kinds, of all time that is stored.\n\
             - Charts, points, statistics of expressions and exports count in their time.\n\
             - When the DAC restarts, its count begins at 0. What happened before is in the archive.\n\n\
             The doors [announce causes](websocket.md#loss) before the batch that follows a gap, live and from the archive. A gap\n\
             with several causes has a count for each.\n\n\
             ## Former words\n\n\
             Earlier releases used other words. Clients, recordings and archives may still use them; answers have the present\n\
             word.\n\n\
             | former word | cause |\n|---|---|\n";
    for entry in &TABLE {
        entry.former.iter().for_each(|former| {
            let _ = writeln!(page, "| `{former}` | `{}` |", entry.word);
        });
    }
    page += "\nA word that this table lacks, as of a foreign recording, counts as `unexplained`.\n";
    check_or_write("docs/reference/loss.md", &page);
}

#[test]
fn the_typescript_package_has_every_cause() {
    let text = |entry: &Entry| entry.meaning.replace('\'', "\\'");
    let list = rows(|entry| {
        format!(
            "  {{\n    cause: '{}',\n    place: '{}',\n    isLoss: {},\n    meaning: {},\n  }},\n",
            entry.word,
            entry.place.word(),
            entry.is_loss,
            if entry.meaning.contains('\'') {
                format!("\"{}\"", entry.meaning)
            } else {
                format!("'{}'", text(entry))
            }
        )
    });
    let union = rows(|entry| format!("\n  | '{}'", entry.word));
    let former: String = TABLE
        .iter()
        .flat_map(|entry| {
            entry.former.iter().map(move |former| format!("  ['{former}', '{}'],\n", entry.word))
        })
        .collect();
    check_or_write(
        "sdk/typescript/src/loss.ts",
        &format!(
            "// Generated from crates/wire/src/loss.rs: OASIS_UPDATE_LOSS=1 cargo test -p oasis-wire --test integration loss::\n\n\
             /** Why samples are missing: docs/reference/loss.md. */\nexport type Cause ={union};\n\n\
             /** A cause and what is known about it. */\nexport interface LossCause {{\n  readonly cause: Cause;\n  \
             /** Where samples went missing. */\n  readonly place: string;\n  \
             /** Whether samples were lost against somebody's wish. */\n  readonly isLoss: boolean;\n  \
             /** For people, without a full stop. */\n  readonly meaning: string;\n}}\n\n\
             /** All causes, in the order in which a sample meets them. */\nexport const LOSS_CAUSES: readonly LossCause[] = [\n{list}];\n\n\
             const former = new Map<string, Cause>([\n{former}]);\n\n\
             const causes = new Map<string, LossCause>(LOSS_CAUSES.map((entry) => [entry.cause, entry]));\n\n\
             /** The cause with this word or this former word; undefined for any other word. */\n\
             export function lossCause(word: string): LossCause | undefined {{\n  return causes.get(former.get(word) ?? word);\n}}\n"
        ),
    );
}

#[test]
fn the_python_package_has_every_cause() {
    let members = rows(|entry| {
        format!(
            "    {} = \"{}\"\n    \"\"\"{}.\"\"\"\n",
            entry.word.to_uppercase(),
            entry.word,
            sentence(entry.meaning)
        )
    });
    let former: String = TABLE
        .iter()
        .flat_map(|entry| {
            entry
                .former
                .iter()
                .map(move |former| format!("    \"{former}\": Cause.{},\n", entry.word.to_uppercase()))
        })
        .collect();
    check_or_write(
        "sdk/python/src/oasis/loss.py",
        &format!(
            "\"\"\"Why samples are missing.\n\nGenerated from crates/wire/src/loss.rs: OASIS_UPDATE_LOSS=1 cargo test -p oasis-wire --test integration loss::\n\"\"\"\n\n\
             from __future__ import annotations\n\nfrom enum import Enum\n\n\nclass Cause(str, Enum):\n    \
             \"\"\"Why samples are missing: docs/reference/loss.md.\"\"\"\n\n{members}\n    @classmethod\n    \
             def of(cls, word: str) -> Cause:\n        \"\"\"Return the cause with this word or this former word; UNEXPLAINED for any other word.\"\"\"\n        \
             if word in _FORMER:\n            return _FORMER[word]\n        \
             return cls._value2member_map_.get(word, cls.UNEXPLAINED)  # type: ignore[return-value]\n\n\n\
             _FORMER = {{\n{former}}}\n"
        ),
    );
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[test]
fn a_cause_of_another_release_is_read_and_counts_as_unexplained() {
    #[derive(serde::Deserialize)]
    struct Record {
        #[serde(deserialize_with = "oasis_wire::loss::lenient")]
        cause: Cause,
    }
    let read =
        |word: &str| serde_json::from_str::<Record>(&format!("{{\"cause\": {word}}}")).map(|read| read.cause);
    assert_eq!(read("\"disk_full\"").unwrap(), Cause::DiskFull);
    assert_eq!(read("\"archive_behind\"").unwrap(), Cause::ArchiveLag);
    assert_eq!(read("\"meteor\"").unwrap(), Cause::Unexplained);
    assert!(read("7").is_err());
}
