//! Follows the recipes of `CONTRIBUTING.md` on a copy of the sources: their code blocks build, and the program has what they add.
//!
//! All recipes are followed on one copy, which is built once for all tests. Files keep their times, so cargo builds again only what has changed since the
//! last run. Dependencies are built without optimisation and debug information: the first run takes minutes, later ones seconds.

use crate::harness::{Oasis, eventually, finish, get, instance, ledger, post, program, repository};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
    time::SystemTime,
};

/// What the copy contains.
const SOURCES: [&str; 10] = [
    "ARCHITECTURE.md",
    "Cargo.lock",
    "Cargo.toml",
    "crates",
    "docs/reference",
    "examples",
    "pdl",
    "rustfmt.toml",
    "tests/structure",
    "web/dist",
];

const RECIPES: [&str; 4] = ["Add a probe", "Add a handler", "Add a text door", "Add a format"];

/// A step of a recipe that changes a file.
#[derive(Debug, PartialEq)]
struct Edit<'a> {
    file: &'a str,
    /// Text in the line after which the edit goes, or `None` for a new file.
    after: Option<&'a str>,
    text: String,
}

/// The edits of a recipe: numbered steps that create a file, or add to one after a line, each with a code block.
fn edits<'a>(page: &'a str, recipe: &str) -> Vec<Edit<'a>> {
    let heading = format!("### {recipe}\n");
    let (_, rest) = page.split_once(&heading).unwrap_or_else(|| panic!("no recipe {recipe:?}"));
    let recipe = rest.split("\n### ").next().unwrap();
    let (mut edits, mut lines) = (Vec::new(), recipe.lines());
    let mut step = None;
    while let Some(line) = lines.next() {
        let quoted = |verb| Some(line.split_once(verb)?.1.split('`').step_by(2));
        if let Some(mut quoted) = quoted(". Create `") {
            step = Some((quoted.next().unwrap(), None));
        } else if let Some(mut quoted) = quoted(". In `") {
            step = Some((quoted.next().unwrap(), quoted.next()));
        } else if line.starts_with("   ```") {
            let block = lines.by_ref().take_while(|line| !line.starts_with("   ```"));
            let text: String =
                block.map(|line| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n").collect();
            if let Some((file, after)) = step.take() {
                edits.push(Edit { file, after, text });
            }
        }
    }
    edits
}

/// Copies the sources with their times.
fn copy_sources(copy: &Path) {
    let _ = fs::remove_dir_all(copy);
    let root = repository();
    for name in SOURCES {
        let target = copy.join(name);
        let folder = target.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        finish(Command::new("cp").arg("-a").arg(root.join(name)).arg(folder));
    }
}

/// Applies an edit. Whatever it touches gets the later of its own time and `page_time`, so that cargo builds it again only if one of them has changed.
fn apply(edit: &Edit<'_>, copy: &Path, page_time: SystemTime) {
    let file = copy.join(edit.file);
    let folder = file.parent().unwrap();
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    // Build scripts watch folders too.
    let times =
        [modified(&file), modified(folder)].map(|time| time.map_or(page_time, |time| time.max(page_time)));
    let text = match edit.after {
        None => {
            assert!(!file.exists(), "{} exists", edit.file);
            fs::create_dir_all(folder).unwrap();
            edit.text.clone()
        }
        Some(anchor) => {
            let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", edit.file));
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            let found: Vec<_> = (0..lines.len()).filter(|&at| lines[at].contains(anchor)).collect();
            let [at] = found[..] else {
                panic!("{} has {} lines with {anchor:?}, not one", edit.file, found.len())
            };
            let (before, after) = lines.split_at(at + 1);
            before.concat() + &edit.text + &after.concat()
        }
    };
    fs::write(&file, text).unwrap();
    for (path, time) in [&*file, folder].into_iter().zip(times) {
        File::open(path).unwrap().set_modified(time).unwrap();
    }
}

/// Builds the program of the copy.
fn build(copy: &Path, target: &Path) {
    let cargo = |arguments: &str| {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(copy).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
        finish(cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").args(arguments.split(' ')));
    };
    cargo("fmt -p oasis-probes -p oasis-totals -p oasis-doors -p oasis-format --check");
    cargo(r#"build --quiet --config profile.dev.package."*".opt-level=0 -p oasis"#);
}

/// The copy, after all recipes.
struct AppliedRecipes {
    copy: PathBuf,
    /// The program that was built.
    oasis: PathBuf,
}

static FOLLOWED: LazyLock<AppliedRecipes> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_BIN_EXE_oasis")).parent().unwrap().parent().unwrap().join("recipe");
    let (copy, root) = (target.join("source"), repository());
    copy_sources(&copy);
    let page = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let changed = |file| fs::metadata(root.join(file)).unwrap().modified().unwrap();
    let page_time = changed("CONTRIBUTING.md").max(changed("tests/end_to_end/recipes.rs"));
    for recipe in RECIPES {
        edits(&page, recipe).iter().for_each(|edit| apply(edit, &copy, page_time));
    }
    build(&copy, &target);
    AppliedRecipes { oasis: target.join("debug/oasis"), copy }
});

/// The files that a recipe creates or changes, sorted.
fn files_of(recipe: &str) -> Vec<String> {
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let files: BTreeSet<_> = edits(&page, recipe).iter().map(|edit| edit.file.to_owned()).collect();
    files.into_iter().collect()
}

/// The program of the copy with the new probe, once it has a sample.
fn up(arguments: &[&str]) -> Oasis {
    let probe = ["--name", "plant", "--probe", "uptime@20"];
    let up = Oasis::up_of(&FOLLOWED.oasis, &[&probe, arguments].concat());
    ledger(&up, "plant", "uptime", "a sample", |ledger| ledger["received"] != 0);
    up
}

#[test]
fn the_probe_recipe_adds_a_probe_whose_samples_arrive() {
    let files = ["crates/probes/src/lib.rs", "crates/probes/src/uptime.rs", "pdl/uptime.pdl"];
    assert_eq!(files_of("Add a probe"), files);
    let up = up(&[]);
    let uptime = eventually("a sample of uptime", || {
        instance(&up, "plant", "uptime")?["latest"]["metrics"]["uptime"].as_f64()
    });
    assert!(uptime > 0.0, "{uptime}");
}

#[test]
fn the_handler_recipe_adds_a_handler_that_the_api_lists() {
    let files = [
        "ARCHITECTURE.md",
        "Cargo.toml",
        "crates/handlers/totals/Cargo.toml",
        "crates/handlers/totals/src/lib.rs",
        "crates/oasis/Cargo.toml",
        "crates/oasis/src/config/sections.rs",
        "docs/reference/oasis.toml",
    ];
    assert_eq!(files_of("Add a handler"), files);
    let documented = fs::read_to_string(FOLLOWED.copy.join("docs/reference/oasis.toml")).unwrap();
    let mut settings: toml::Table = documented.parse().unwrap();
    assert_eq!(settings["totals"]["enabled"].as_bool(), Some(false), "as the page documents the default");
    settings["totals"]["enabled"] = true.into();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oasis.toml");
    fs::write(&path, settings.to_string()).unwrap();
    let up = up(&["--config", path.to_str().unwrap()]);
    eventually("a count of the handler", || {
        let list = get(&up, "/api/v1/handlers");
        let totals = list["handlers"].as_array()?.iter().find(|handler| handler["name"] == "totals")?;
        (totals["condition"] == "running" && totals["state"]["samples"].as_u64()? > 0).then_some(())
    });
}

#[test]
fn the_handler_recipe_adds_the_crate_to_the_table_of_the_architecture() {
    let table = fs::read_to_string(FOLLOWED.copy.join("ARCHITECTURE.md")).unwrap();
    let rows: Vec<_> = table.lines().filter(|line| line.starts_with("| `crates/")).collect();
    let place =
        |folder: &str| rows.iter().position(|row| row.starts_with(&format!("| `{folder}` |"))).unwrap();
    let added = place("crates/handlers/totals");
    // It depends on the first, and the second on it.
    assert!(place("crates/handler") < added && added < place("crates/oasis"), "{rows:#?}");
    let is_whole = |row: &&str| row.matches(" |").count() == rows[0].matches(" |").count();
    assert!(is_whole(&rows[added]), "{}", rows[added]);
}

#[test]
fn the_door_recipe_adds_a_door_that_is_read_over_http() {
    assert_eq!(
        files_of("Add a text door"),
        [
            "crates/api/tests/integration/matrix/expected.rs",
            "crates/doors/src/text/json_seq.rs",
            "crates/doors/src/text/mod.rs"
        ]
    );
    let up = up(&[]);
    let path = "/api/v1/samples/sequence";
    let mut stream = TcpStream::connect(up.listen()).unwrap();
    let request = format!("GET {path}?node=plant&instance=uptime HTTP/1.0\r\nHost: {}\r\n\r\n", up.listen());
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.eq_ignore_ascii_case("content-type: application/json-seq")));
    let samples = lines.find_map(|line| {
        let message: Value = serde_json::from_str(line.rsplit_once('\x1e')?.1).unwrap();
        (message["event"] == "samples").then_some(message)
    });
    assert_eq!(samples.unwrap()["instance"], "uptime");
}

#[test]
fn the_format_recipe_adds_a_format_that_samples_are_exported_in() {
    assert_eq!(files_of("Add a format"), ["crates/format/src/lib.rs", "crates/format/src/tsv/mod.rs"]);
    let folder = tempfile::tempdir().unwrap();
    let archive = ["--archive", folder.path().to_str().unwrap()];
    let up = up(&archive);
    assert_eq!(post(&up, "/api/v1/archive/flush", &json!({})).0, 200);
    drop(up);
    let export = |arguments: &[&str]| {
        let output = program(&FOLLOWED.oasis).arg("export").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let help = export(&["--help"]);
    assert!(help.contains("- tsv:") && help.contains("A line a sample, for scripts"), "{help}");
    let table = export(&[&archive[..], &["plant/uptime", "--format", "tsv"]].concat());
    assert!(table.starts_with("node\tinstance\ttime_ns\tuptime\nplant\tuptime\t"), "{table}");
}

#[test]
fn a_recipe_names_the_files_that_it_creates_and_the_lines_that_it_adds() {
    let page = "### Add x\n\n1. Create `a/x.rs`.\n\n   ```rust\n   fn x() {\n       y()\n   }\n   ```\n\n2. In `a/lib.rs`, add after `mod w;`.\n\n   \
                ```rust\n   mod x;\n   ```\n\n3. Run:\n\n   ```sh\n   make\n   ```\n\n### Other\n";
    let created = Edit { file: "a/x.rs", after: None, text: "fn x() {\n    y()\n}\n".into() };
    let added = Edit { file: "a/lib.rs", after: Some("mod w;"), text: "mod x;\n".into() };
    assert_eq!(edits(page, "Add x"), [created, added]);
}
