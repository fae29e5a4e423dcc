//! Annotations, in SQL.

use super::{Catalogue, signed, unsigned};
use crate::annotation::{Annotation, AnnotationError, AnnotationFilter, MAX_ANNOTATIONS, Note, Target};
use oasis_wire::quantity::Nanos;
use rusqlite::{OptionalExtension, Row, params};

type Result<T> = std::result::Result<T, AnnotationError>;

impl Catalogue {
    /// Adds an annotation.
    pub fn add_annotation(&mut self, note: Note, who: &str, written: Nanos) -> Result<Annotation> {
        self.change(|transaction| {
            let there = transaction.query_row("SELECT count(*) FROM annotation", [], |row| unsigned(row, 0));
            if there? >= MAX_ANNOTATIONS {
                return Err(AnnotationError::TooMany);
            }
            transaction.execute(
                "INSERT INTO annotation (time, until, text, who, written) VALUES (?, ?, ?, ?, ?)",
                params![
                    signed(note.time.0),
                    note.until.map(|until| signed(until.0)),
                    note.text,
                    who,
                    signed(written.0)
                ],
            )?;
            let id = transaction.last_insert_rowid();
            for (number, target) in (0..).zip(&note.targets) {
                let values: (i64, i64, _, _) = (id, number, &target.node, &target.instance);
                transaction.execute("INSERT INTO annotation_target VALUES (?, ?, ?, ?)", values)?;
            }
            Ok(Annotation { id: id as u64, note, who: who.into(), written })
        })
    }

    /// Returns at most `most` annotations, by time.
    pub fn annotations(&self, filter: &AnnotationFilter, most: usize) -> Result<Vec<Annotation>> {
        let mut statement = self.0.prepare_cached(
                "SELECT id, time, until, text, who, written,
                        (SELECT json_group_array(json_object('node', node, 'instance', instance) ORDER BY number)
                         FROM annotation_target WHERE annotation = id)
                 FROM annotation
                 WHERE coalesce(until, time) >= ?1 AND time < ?2 AND (time, id) > (?3, ?4)
                   AND (?5 IS NULL
                        OR NOT EXISTS (SELECT 1 FROM annotation_target WHERE annotation = id)
                        OR EXISTS (SELECT 1 FROM annotation_target AS target
                                   WHERE target.annotation = id AND target.node = ?5
                                     AND (?6 IS NULL OR target.instance IS NULL OR target.instance = ?6)))
                 ORDER BY time, id LIMIT ?7",
            )?;
        let bounded = |time: Nanos| i64::try_from(time.0).unwrap_or(i64::MAX);
        let (time, id) = filter.after.map_or((-1, 0), |(time, id)| (bounded(time), signed(id)));
        let from = filter.from.map_or(0, bounded);
        let to = filter.to.map_or(i64::MAX, bounded);
        let most = signed(most as u64);
        let values = params![from, to, time, id, filter.node, filter.instance, most];
        Ok(statement.query_map(values, read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the annotation with this number.
    pub fn annotation(&self, id: u64) -> Result<Option<Annotation>> {
        let mut statement = self.0.prepare_cached(
            "SELECT id, time, until, text, who, written,
                    (SELECT json_group_array(json_object('node', node, 'instance', instance) ORDER BY number)
                     FROM annotation_target WHERE annotation = id)
             FROM annotation WHERE id = ?",
        )?;
        Ok(statement.query_row([signed(id)], read).optional()?)
    }

    /// Whether an identical annotation exists.
    pub fn has_annotation(&self, note: &Note) -> Result<bool> {
        let mut statement = self.0.prepare_cached(
            "SELECT (SELECT json_group_array(json_object('node', node, 'instance', instance) ORDER BY number)
                     FROM annotation_target WHERE annotation = id)
             FROM annotation WHERE time = ?1 AND until IS ?2 AND text = ?3",
        )?;
        let until = note.until.map(|until| signed(until.0));
        let targets = statement
            .query_map(params![signed(note.time.0), until, note.text], |row| row.get::<_, String>(0))?;
        for of in targets {
            // SQLite generated this JSON.
            if serde_json::from_str::<Vec<Target>>(&of?).unwrap_or_default() == note.targets {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes an annotation. Returns whether it existed.
    pub fn delete_annotation(&mut self, id: u64) -> Result<bool> {
        let gone = self.0.execute("DELETE FROM annotation WHERE id = ?", [signed(id)]);
        Ok(gone? != 0)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Annotation> {
    let until: Option<i64> = row.get(2)?;
    let targets: String = row.get(6)?;
    let note = Note {
        time: Nanos(unsigned(row, 1)?),
        until: until.map(|until| Nanos(until as u64)),
        text: row.get(3)?,
        // SQLite generated this JSON.
        targets: serde_json::from_str(&targets).unwrap_or_default(),
    };
    Ok(Annotation { id: unsigned(row, 0)?, note, who: row.get(4)?, written: Nanos(unsigned(row, 5)?) })
}
