//! Follows the probe recipe of `CONTRIBUTING.md` on a copy of the sources: its code blocks build, and the new probe's samples arrive.
//!
//! The copy has only the crates that a node needs. Their dependencies and unchanged crates are built once; later runs build the probes alone.

use crate::harness::{Oasis, Program, eventually, finish, instance, repository};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The crates of a node with ready-made probes.
const CRATES: [&str; 7] = ["pdl", "wire", "pdl-gen", "channel", "probe", "instrument", "probes"];

/// A step of a recipe that changes a file.
#[derive(Debug, PartialEq)]
struct Edit<'a> {
    file: &'a str,
    /// The line after which the text goes, or `None` for a new file.
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
        let mut quoted = line.split('`').skip(1).step_by(2);
        if line.contains(". Create `") {
            step = Some((quoted.next().unwrap(), None));
        } else if line.contains(". In `") {
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

/// Copies the sources with their times, so that cargo builds only what a recipe changed.
fn copy_sources(copy: &Path) {
    let _ = fs::remove_dir_all(copy);
    fs::create_dir_all(copy.join("crates")).unwrap();
    let root = repository();
    for name in CRATES {
        finish(Command::new("cp").arg("-a").arg(root.join("crates").join(name)).arg(copy.join("crates")));
    }
    for name in ["pdl", "Cargo.lock", "rustfmt.toml"] {
        finish(Command::new("cp").arg("-a").arg(root.join(name)).arg(copy));
    }
    let mut manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let workspace = manifest["workspace"].as_table_mut().unwrap();
    workspace.insert("members".into(), vec!["crates/*".to_owned()].into());
    workspace.remove("default-members");
    workspace.remove("exclude");
    fs::write(copy.join("Cargo.toml"), manifest.to_string()).unwrap();
}

fn apply(edit: &Edit<'_>, copy: &Path) {
    let file = copy.join(edit.file);
    let text = match edit.after {
        None => {
            assert!(!file.exists(), "{} exists", edit.file);
            edit.text.clone()
        }
        Some(line) => {
            let text = fs::read_to_string(&file).unwrap();
            let (before, after) = text
                .split_once(&format!("{line}\n"))
                .unwrap_or_else(|| panic!("{} has no line {line:?}", edit.file));
            format!("{before}{line}\n{}{after}", edit.text)
        }
    };
    fs::write(file, text).unwrap();
}

/// Builds the example node of the copy. Returns the program.
fn build(copy: &Path, target: &Path) -> PathBuf {
    let cargo = || {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(copy).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
        cargo
    };
    finish(cargo().args(["fmt", "-p", "oasis-probes", "--check"]));
    finish(cargo().args(["build", "--quiet", "-p", "oasis-probes", "--example", "node"]));
    target.join("debug/examples/node")
}

#[test]
fn the_probe_recipe_adds_a_probe_whose_samples_arrive() {
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let edits = edits(&page, "Add a probe");
    let files: Vec<_> = edits.iter().map(|edit| edit.file).collect();
    assert_eq!(files, ["pdl/uptime.pdl", "crates/probes/src/uptime.rs", "crates/probes/src/lib.rs"]);

    let recipe = Path::new(env!("CARGO_BIN_EXE_oasis")).parent().unwrap().parent().unwrap().join("recipe");
    let copy = recipe.join("source");
    copy_sources(&copy);
    edits.iter().for_each(|edit| apply(edit, &copy));
    let program = build(&copy, &recipe);

    let dac = Oasis::dac(&[]);
    let settings = recipe.join("node.toml");
    let node = format!("name = \"plant\"\ndac = \"{}\"", dac.channel());
    fs::write(&settings, format!("[node]\n{node}\nprobes = [{{ probe = \"uptime\", hertz = 20 }}]\n"))
        .unwrap();
    let _node = Program::start(&program, &[settings.to_str().unwrap()]);
    let uptime = eventually("a sample of uptime", || {
        instance(&dac, "plant", "uptime")?["latest"]["metrics"]["uptime"].as_f64()
    });
    assert!(uptime > 0.0, "{uptime}");
}

#[test]
fn a_recipe_names_the_files_that_it_creates_and_the_lines_that_it_adds() {
    let page = "### Add x\n\n1. Create `a/x.rs`.\n\n   ```rust\n   fn x() {\n       y()\n   }\n   ```\n\n2. In `a/lib.rs`, add after `mod w;`.\n\n   \
                ```rust\n   mod x;\n   ```\n\n3. Run:\n\n   ```sh\n   make\n   ```\n\n### Other\n";
    let created = Edit { file: "a/x.rs", after: None, text: "fn x() {\n    y()\n}\n".into() };
    let added = Edit { file: "a/lib.rs", after: Some("mod w;"), text: "mod x;\n".into() };
    assert_eq!(edits(page, "Add x"), [created, added]);
}
