//! Reads recordings of rosbag2 in SQLite: `.db3` files, and folders with `metadata.yaml`, also of several files.
//!
//! `folder` finds the files of a recording, `database` reads one, `topics` decodes the messages of a topic with the CDR decoder of
//! `crate::ros`. Files without definitions, of Humble and earlier, have the messages that every installation of ROS 2 has.

mod database;
mod folder;
mod topics;

pub use folder::bag_files;

use crate::input::{Defects, InputError, InputFile, InputFormat, InputOptions, Report, TakeBatch, TimeShift};
use topics::Topics;

/// Recordings of rosbag2 in SQLite.
pub(crate) const INPUT: InputFormat = InputFormat {
    name: "rosbag2",
    title: "rosbag2",
    help: "ROS 2 recordings in SQLite, and folders with metadata.yaml",
    extensions: &["db3"],
    // Any database could have this beginning: the reader checks its tables.
    detect: |beginning| beginning.starts_with(b"SQLite format 3\0"),
    read,
};

fn read(
    file: &mut InputFile<'_>,
    options: &InputOptions,
    take: &mut TakeBatch<'_>,
) -> Result<Report, InputError> {
    let (files, counts) = match file.path.is_dir() {
        true => (bag_files(file.path)?, folder::message_counts(file.path)?),
        false => (vec![file.path.to_owned()], Vec::new()),
    };
    let mut topics = Topics::default();
    let mut defects = Defects::new(options.is_partial);
    // Topics that differ only in a slash are known before the first sample.
    for path in &files {
        topics.describe(&database::topics(path)?);
    }
    topics.name_instances();
    let (mut report, mut shift) = (Report::default(), TimeShift::new(options.start));
    for path in &files {
        if let Some(why) = database::messages(path, &mut topics, &mut shift, &mut defects, take)? {
            let remedy = "`sqlite3 FILE .recover` may save more";
            if !options.is_partial {
                let why = format!("{}: damaged: {why}", path.display());
                return Err(InputError::file(
                    why,
                    format!("import the messages before the damage with --partial; {remedy}"),
                ));
            }
            report.is_damaged = true;
            report.lose(
                None,
                1,
                format!("{}: damaged: {why}: later messages are lost; {remedy}", path.display()),
            );
        }
    }
    topics.compare(&counts, &mut report);
    topics.finish(take, &mut report)?;
    shift.report(&mut report);
    defects.report("messages", &mut report)?;
    Ok(report)
}

#[cfg(test)]
mod tests;
