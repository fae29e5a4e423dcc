//! The page of bounds: constants of the sources that limit a number, a size or a time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Folders of product code.
const FOLDERS: [&str; 3] = ["crates", "sdk", "web/src"];
const ENDINGS: [&str; 4] = ["rs", "ts", "java", "go"];
/// Parts of paths that are no product code.
const OTHER_PARTS: [&str; 5] = ["tests", "benches", "examples", "test", "generated"];
const PAGE_HEADING: &str = "# Bounds\n\n\
    Every buffer, table and wait has a bound. This page lists the constants, by folder; settings with a default are in\n\
    [oasis.toml](oasis.toml). It is generated from the sources:\n\n\
    ```sh\nOASIS_UPDATE_BOUNDS=1 cargo test -p oasis-structure --test integration bounds::\n```\n";

/// A constant that limits something.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    name: String,
    value: String,
    /// First sentence of the comment.
    meaning: String,
    /// The path in the folder's sources.
    file: String,
}

/// Returns the page of bounds of the sources below `root`.
///
/// # Errors
/// If git cannot list the files, or one is not text.
pub fn bounds_page(root: &Path) -> Result<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"])
        .args(FOLDERS)
        .current_dir(root)
        .output()?;
    let mut rooms: BTreeMap<String, Vec<Bound>> = BTreeMap::new();
    for file in String::from_utf8(listed.stdout)?.split('\0').filter(|file| is_product(file)) {
        // A file may be deleted and not committed yet.
        let path = root.join(file);
        if path.exists() {
            let text = std::fs::read_to_string(path).with_context(|| file.to_owned())?;
            let (room, inner) =
                file.split_once("/src/").unwrap_or(file.rsplit_once('/').unwrap_or(("", file)));
            rooms.entry(room.to_owned()).or_default().extend(bounds(&text, inner));
        }
    }
    let mut page = String::from(PAGE_HEADING);
    page += "\n<!-- generated -->\n";
    for (room, mut bounds) in rooms.into_iter().filter(|(_, bounds)| !bounds.is_empty()) {
        bounds.sort();
        write!(page, "\n## {room}\n\n| constant | value | meaning | file |\n|---|---|---|---|\n")?;
        for Bound { name, value, meaning, file } in bounds {
            writeln!(page, "| `{name}` | {value} | {meaning} | `{file}` |")?;
        }
    }
    page += "\n<!-- end -->\n";
    Ok(page)
}

fn is_product(file: &str) -> bool {
    let is_other = |part: &str| OTHER_PARTS.contains(&part);
    let stem = file.rsplit('/').next().unwrap_or(file).split('.').next().unwrap_or(file);
    let is_test = stem.ends_with("tests") || stem.ends_with("_test") || file.contains(".test.");
    let ending = file.rsplit('.').next().unwrap_or_default();
    ENDINGS.contains(&ending) && !is_test && !file.split('/').any(is_other)
}

/// Returns the bounds that a file declares with a comment.
fn bounds(text: &str, file: &str) -> Vec<Bound> {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = (0..lines.len()).filter_map(|at| {
        let (left, right) = lines[at].split_once(" =")?;
        let name = bound_name(left, file.ends_with(".go"))?;
        let meaning = first_sentence(&comment_above(&lines[..at]));
        let source = std::iter::once(right).chain(lines[at + 1..].iter().copied());
        let value = value(&name, &statement(source, file), &meaning);
        (!meaning.is_empty()).then(|| Bound { name, value, meaning, file: file.to_owned() })
    });
    declared.collect()
}

/// Returns the name that a line declares before its `=`, if it is that of a bound.
fn bound_name(left: &str, is_go: bool) -> Option<String> {
    let is_constant = left.split(' ').any(|word| word == "const" || word == "final");
    let declared = left.split(':').next()?;
    let mut words = declared.split(' ').filter(|word| !word.is_empty());
    let name = match (is_go, is_constant) {
        (true, _) => words.find(|word| *word != "const")?,
        (false, true) => words.next_back()?,
        (false, false) => return None,
    };
    let is_go_constant = is_go && name.chars().all(char::is_alphanumeric) && left.split(' ').count() <= 3;
    let is_name = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_uppercase()))
    };
    let ends = ["_LIMIT", "_TIMEOUT", "_CAPACITY", "_DEADLINE", "Limit", "Timeout", "Capacity"];
    let is_bound = is_name("MAX") || is_go && is_name("max") || ends.iter().any(|end| name.ends_with(end));
    (is_bound && (is_constant || is_go_constant)).then(|| name.to_owned())
}

/// Returns the comment that ends directly above a declaration, without its signs.
fn comment_above(lines: &[&str]) -> String {
    let above = lines.iter().rev().skip_while(|line| line.starts_with("#[") || line.starts_with('@'));
    let signs = ["///", "//", "/**", "*/", "*"];
    let is_comment = |line: &&&str| signs.iter().any(|sign| line.starts_with(sign));
    let mut comment = Vec::new();
    for line in above.take_while(is_comment) {
        let text = signs.iter().find_map(|sign| line.strip_prefix(sign)).unwrap_or(line);
        comment.push(text.trim_end_matches("*/").trim());
        if line.starts_with("/**") {
            break;
        }
    }
    comment.reverse();
    comment.join(" ").trim().to_owned()
}

/// Returns the first sentence for a cell of a table: links of the documentation become their texts.
fn first_sentence(comment: &str) -> String {
    let end = comment.find(". ").map_or(comment.len(), |at| at + 1);
    let sentence = &comment[..end];
    let mut text = String::new();
    let mut rest = sentence;
    while let Some((before, linked)) = rest.split_once('[') {
        text += before;
        let Some((label, after)) = linked.split_once(']') else {
            rest = &rest[before.len()..];
            break;
        };
        text += label;
        rest = after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
            .map_or(after, |(_, after)| after);
    }
    text += rest;
    short(&text).replace('|', "\\|")
}

/// Returns a sentence without what follows its first colon or semicolon, if it is too long for a cell.
fn short(sentence: &str) -> String {
    const MAX_CELL_WORDS: usize = 20;
    let is_long = sentence.split_whitespace().count() > MAX_CELL_WORDS;
    let end = sentence.find([':', ';']).filter(|_| is_long);
    end.map_or_else(|| sentence.to_owned(), |at| format!("{}.", &sentence[..at]))
}

/// Returns the source of a value up to its end.
fn statement<'a>(lines: impl Iterator<Item = &'a str>, file: &str) -> String {
    let mut source = String::new();
    for line in lines {
        let line = line.split(" //").next().unwrap_or(line);
        source.extend([line.trim(), " "]);
        if line.contains(';') || file.ends_with(".go") || source.len() > 200 {
            break;
        }
    }
    source.split(';').next().unwrap_or_default().trim().to_owned()
}

/// Returns a value as people write it, or its source if that needs more than arithmetic.
fn value(name: &str, source: &str, meaning: &str) -> String {
    if let Some(nanos) = duration(source) {
        return format_time(nanos);
    }
    let Some(number) = evaluate(source) else { return format!("`{}`", source.replace('|', "\\|")) };
    if meaning.contains("nanoseconds") || name.ends_with("_NANOS") {
        return format_time(number);
    }
    let is_size = name.to_lowercase().contains("bytes") || meaning.to_lowercase().contains("byte");
    match number {
        _ if !is_size || number < 1_024 => {
            format!("{}{}", thousands(number), if is_size { " bytes" } else { "" })
        }
        _ if number % (1 << 30) == 0 => format!("{} GiB", thousands(number >> 30)),
        _ if number % (1 << 20) == 0 => format!("{} MiB", thousands(number >> 20)),
        _ if number % (1 << 10) == 0 => format!("{} KiB", thousands(number >> 10)),
        _ => format!("{} bytes", thousands(number)),
    }
}

/// Returns the nanoseconds of a duration of any of the languages.
fn duration(source: &str) -> Option<u128> {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    const CALLS: [(&str, u128); 7] = [
        ("from_secs(", NANOS_PER_SECOND),
        ("from_millis(", NANOS_PER_SECOND / 1_000),
        ("from_micros(", NANOS_PER_SECOND / 1_000_000),
        ("from_nanos(", 1),
        ("from_mins(", 60 * NANOS_PER_SECOND),
        ("from_hours(", 3_600 * NANOS_PER_SECOND),
        ("ofSeconds(", NANOS_PER_SECOND),
    ];
    const FACTORS: [(&str, u128); 5] = [
        ("NANOS_PER_SECOND", NANOS_PER_SECOND),
        ("NANOS_PER_MILLISECOND", NANOS_PER_SECOND / 1_000),
        ("DAY_NANOS", 86_400 * NANOS_PER_SECOND),
        ("time.Second", NANOS_PER_SECOND),
        ("time.Millisecond", NANOS_PER_SECOND / 1_000),
    ];
    for (call, unit) in CALLS {
        if let Some((_, argument)) = source.split_once(call) {
            return Some(evaluate(argument.strip_suffix(')')?)? * unit);
        }
    }
    let (factor, unit) = FACTORS.iter().find(|(factor, _)| source.ends_with(factor))?;
    let product = source.strip_suffix(factor)?.trim();
    let count = if product.is_empty() { 1 } else { evaluate(product.strip_suffix('*')?)? };
    Some(count * unit)
}

fn format_time(nanos: u128) -> String {
    const UNITS: [(u128, &str); 6] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
    ];
    let (size, unit) =
        UNITS.iter().find(|(size, _)| nanos > 0 && nanos.is_multiple_of(*size)).unwrap_or(&(1, "ns"));
    format!("{} {unit}", thousands(nanos / size))
}

fn thousands(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 3 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Evaluates products, sums and shifts of numbers; `None` for anything else.
fn evaluate(source: &str) -> Option<u128> {
    let fold = |parts: Vec<u128>, apply: fn(u128, u128) -> Option<u128>| {
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        parts.try_fold(first, apply)
    };
    let split = |source: &str, sign: &str| source.split(sign).map(evaluate).collect::<Option<Vec<_>>>();
    let source = source.trim();
    if source.contains("<<") {
        return fold(split(source, "<<")?, |left, right| left.checked_shl(u32::try_from(right).ok()?));
    }
    for (sign, apply) in [
        (" + ", u128::checked_add as fn(u128, u128) -> Option<u128>),
        (" - ", u128::checked_sub),
        ("*", u128::checked_mul),
    ] {
        if source.contains(sign) {
            return fold(split(source, sign)?, apply);
        }
    }
    let digits = source.replace('_', "");
    let digits = digits.trim_end_matches("usize").trim_end_matches("u64").trim_end_matches("u32");
    digits.strip_suffix(['L', 'n']).unwrap_or(digits).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bound: &Bound) -> (&str, &str, &str) {
        (&bound.name, &bound.value, &bound.meaning)
    }

    #[test]
    fn a_bound_is_a_constant_with_a_comment() {
        let text = "/// Devices of [`Gateway`]. More.\n#[doc(hidden)]\npub const MAX_DEVICES: usize = 2_560;\n\
                    const MAX_OTHER: usize = 1;\n/// Bytes.\nlet MAX_LOCAL = 4;\n\
                    /// Text of a\n/// message.\nconst MAX_TEXT_BYTES: u64 =\n    4 * 1024; // why\n\
                    /// Longest request.\nconst REQUEST_TIMEOUT: Duration = Duration::from_millis(1_500);\n\
                    /// Age, nanoseconds.\nconst MAX_AGE: u64 = 5_000_000_000;\n\
                    /// Twice.\nconst MAX_PAIRS: usize = 2 * other();\n";
        let found = bounds(text, "lib.rs");
        let expected = [
            ("MAX_DEVICES", "2,560", "Devices of `Gateway`."),
            ("MAX_TEXT_BYTES", "4 KiB", "Text of a message."),
            ("REQUEST_TIMEOUT", "1,500 ms", "Longest request."),
            ("MAX_AGE", "5 s", "Age, nanoseconds."),
            ("MAX_PAIRS", "`2 * other()`", "Twice."),
        ];
        assert_eq!(found.iter().map(row).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn other_languages_have_bounds_too() {
        let java =
            bounds("/** Rows that wait. */\nprivate static final int MAX_ROWS = 1 << 10;\n", "Rows.java");
        assert_eq!(java.iter().map(row).collect::<Vec<_>>(), [("MAX_ROWS", "1,024", "Rows that wait.")]);
        let go = bounds("const (\n\t// Bytes of a row.\n\tmaxRowBytes = 512 * 1024\n)\n", "row.go");
        assert_eq!(go.iter().map(row).collect::<Vec<_>>(), [("maxRowBytes", "512 KiB", "Bytes of a row.")]);
        let page = bounds("/** Alarms of the\n * list. */\nexport const MAX_ALARMS = 20_000;\n", "alarms.ts");
        assert_eq!(
            page.iter().map(row).collect::<Vec<_>>(),
            [("MAX_ALARMS", "20,000", "Alarms of the list.")]
        );
    }
}
