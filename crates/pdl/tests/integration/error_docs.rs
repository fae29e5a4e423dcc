//! The reference pages match the compiler: every code has a section, every example gives the printed output.

use oasis_pdl::{Disk, Loader, Report, compile};
use std::{collections::HashMap, path::PathBuf};

const LANGUAGE: &str = include_str!("../../../../docs/reference/pdl.md");
const ERRORS: &str = include_str!("../../../../docs/reference/pdl-errors.md");
const DIAGNOSTIC: &str = include_str!("../../src/diagnostic.rs");

/// The file that every example is saved as.
const EXAMPLE: &str = "example.pdl";

/// The content below `## E0001: …`.
struct Section {
    code: String,
    blocks: Vec<Block>,
}

/// A fenced block.
struct Block {
    language: String,
    text: String,
}

impl Section {
    fn text_of(&self, language: &str) -> Option<&str> {
        self.blocks.iter().find(|block| block.language == language).map(|block| block.text.as_str())
    }

    /// Each example and the output below it.
    fn examples(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.blocks.iter().enumerate().filter(|(_, block)| block.language == "pdl").map(|(index, block)| {
            let below = self.blocks.get(index + 1).filter(|below| below.language == "text");
            (block.text.as_str(), below.map(|below| below.text.trim_end()))
        })
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside: String = lines
                .by_ref()
                .take_while(|line| !line.starts_with("```"))
                .map(|line| format!("{line}\n"))
                .collect();
            blocks.push(Block { language: language.into(), text: inside });
        }
    }
    blocks
}

fn sections() -> Vec<Section> {
    let section = |text: &str| {
        let code = text.split(':').next().unwrap_or_default().to_owned();
        Section { code, blocks: blocks(text) }
    };
    ERRORS.split("\n## ").skip(1).map(section).collect()
}

fn section(code: &str) -> Option<Section> {
    sections().into_iter().find(|section| section.code == code)
}

/// The codes that the compiler has, as `Code` lists them.
fn codes() -> Vec<String> {
    let (_, after) = DIAGNOSTIC.split_once("pub enum Code {").unwrap_or_default();
    let (variants, _) = after.split_once('}').unwrap_or_default();
    (1..=variants.matches(',').count()).map(|number| format!("E{number:04}")).collect()
}

fn compiled(text: &str) -> Report {
    let files = HashMap::from([(PathBuf::from(EXAMPLE), text.to_owned())]);
    compiled_from(EXAMPLE, &files)
}

fn compiled_from(path: &str, loader: &dyn Loader) -> Report {
    compile(&[path.into()], &[], loader)
}

/// Checks that the report has findings of this code only, and that its text is on the page.
fn assert_explained(report: &Report, code: &str, printed: Option<&str>) {
    assert!(!report.findings().is_empty(), "the example of {code} has no finding");
    for diagnostic in &report.findings() {
        assert_eq!(diagnostic.code.name(), code, "the example of {code}: {}", diagnostic.message);
    }
    assert_eq!(Some(report.render(false).as_str()), printed, "the output shown for {code}");
}

#[test]
fn every_code_has_a_section() {
    let codes = codes();
    assert!(!codes.is_empty());
    assert_eq!(sections().into_iter().map(|section| section.code).collect::<Vec<_>>(), codes);
}

#[test]
fn every_example_gives_the_error_that_is_shown() {
    for section in sections() {
        for (example, printed) in section.examples() {
            assert_explained(&compiled(example), &section.code, printed);
        }
    }
}

#[test]
fn every_section_has_an_example_where_a_page_can_hold_one() {
    let without: Vec<_> = sections()
        .into_iter()
        .filter(|section| section.examples().next().is_none())
        .map(|section| section.code)
        .collect();
    let why = "a file that is not there, one of 65,537 lines, and what IDL or C99 lack (idl.rs and c99.rs in the tests of pdl-gen)";
    assert_eq!(without, ["E0020", "E0021", "E0030", "E0031"], "{why}");
}

#[test]
fn a_missing_file_gives_the_error_that_is_shown() {
    let section = section("E0020").unwrap();
    let printed = section.text_of("text").map(str::trim_end);
    assert_explained(&compiled_from("missing.pdl", &Disk), "E0020", printed);
}

#[test]
fn a_probe_too_wide_gives_the_error_that_is_shown() {
    let section = section("E0021").unwrap();
    let metrics: String = (1..=65_535).map(|number| format!("  uint8 m{number};\n")).collect();
    let report = compiled(&format!("abstract probe Wide {{\n{metrics}}};\n"));
    assert_explained(&report, "E0021", section.text_of("text").map(str::trim_end));
}

#[test]
fn the_json_that_is_shown_is_what_an_example_gives() {
    let shown: Vec<Block> = blocks(ERRORS).into_iter().filter(|block| block.language == "json").collect();
    let section = section("E0010").unwrap();
    let (example, _) = section.examples().next().unwrap();
    let report = compiled(example);
    let json: Vec<String> = report
        .diagnostics
        .iter()
        .map(|diagnostic| format!("{}\n", diagnostic.to_json(&report.sources)))
        .collect();
    assert_eq!(shown.into_iter().map(|block| block.text).collect::<Vec<_>>(), json);
}

#[test]
fn the_examples_of_the_language_compile() {
    let examples: Vec<Block> = blocks(LANGUAGE).into_iter().filter(|block| block.language == "pdl").collect();
    assert!(!examples.is_empty());
    for example in examples {
        let report = compiled(&example.text);
        assert!(report.is_ok(), "{}", report.render(false));
    }
}

#[test]
fn metrics_of_the_first_example_come_in_the_order_on_the_page() {
    let examples = blocks(LANGUAGE);
    let example = examples.iter().find(|block| block.language == "pdl").unwrap();
    let model = compiled(&example.text).model;
    let switch = model.probes.iter().find(|probe| !probe.is_abstract).unwrap();
    let reported: Vec<_> = switch.metrics.iter().map(|metric| format!("`{}`", metric.name)).collect();
    let sentence = format!("`{}` has four metrics, in this order: {}.", switch.name, reported.join(", "));
    assert!(LANGUAGE.contains(&sentence), "{sentence}");
}
