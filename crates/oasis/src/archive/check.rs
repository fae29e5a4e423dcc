//! `oasis archive check`: finds damage in an archive.

use super::{count, size};
use crate::{output_format::Format, progress::Progress};
use anyhow::Context;
use oasis_format::visible::Visible;
use oasis_store::{CheckEvent, CheckTotals, Damage};
use oasis_wire::time;
use serde_json::json;
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// Reads all files, and prints each damage when it is found.
pub fn run(folder: &Path, format: Format) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let (mut damages, mut printed) = (0, Ok(()));
    let mut progress = Progress::new();
    let checked = oasis_store::check(folder, |event| match event {
        CheckEvent::Read(checked, of) => {
            progress.show(|| format!("{} of {of} segment files, {}", checked.segments, size(checked.bytes)))
        }
        CheckEvent::Damage(damage) => {
            damages += 1;
            progress.clear();
            if printed.is_ok() {
                printed = print(&mut out, damage, format);
            }
        }
    })?;
    progress.clear();
    printed.context("cannot write the findings")?;
    if format == Format::Text {
        writeln!(out, "{}", verdict(folder, checked, damages))?;
    }
    Ok(if damages == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(out: &mut impl Write, damage: &Damage, format: Format) -> io::Result<()> {
    let Damage { finding, lost } = damage;
    if format == Format::Json {
        let lost: Vec<_> = lost
            .iter()
            .map(|lost| json!({"node": lost.node, "instance": lost.instance, "samples": lost.samples, "from": lost.times.0, "to": lost.times.1}))
            .collect();
        let mut line = serde_json::to_value(finding)?;
        line["lost"] = lost.into();
        return writeln!(out, "{line}");
    }
    writeln!(
        out,
        "{}, bytes {} to {} ({}): {}",
        finding.file,
        finding.from,
        finding.to,
        finding.kind,
        Visible(&finding.detail)
    )?;
    for lost in lost {
        let name = format!("{}/{}", lost.node, lost.instance);
        let [from, to] = [lost.times.0, lost.times.1].map(|time| time::format_digits(time, 3));
        writeln!(out, "  {}: {}, {from} to {to}", Visible(&name), count(lost.samples, "sample", "samples"))?;
    }
    Ok(())
}

fn verdict(folder: &Path, checked: CheckTotals, damages: u64) -> String {
    let files = format!(
        "{} and {}, {}",
        count(checked.segments, "segment file", "segment files"),
        count(checked.rollups, "roll-up file", "roll-up files"),
        size(checked.bytes)
    );
    let samples = count(checked.samples, "sample", "samples");
    match damages {
        0 => format!("{}: no damage: {samples} in {files}", folder.display()),
        damages => format!(
            "{}: {} damaged; {samples} in {files} can be read",
            folder.display(),
            count(damages, "place", "places")
        ),
    }
}
