//! Log records and spans, from any thread, with or without the interpreter's lock.

use crate::node::{NodeBuilder, forked};
use oasis_ei_node::{
    LogLevel, Outcome,
    log::{self, LogRecord},
    span::{self, SpanRecord},
};
use pyo3::{prelude::*, types::PyString};
use std::borrow::Cow;

/// Accepts log records.
#[pyclass(frozen)]
pub struct Logger(log::Logger);

/// Accepts spans.
#[pyclass(frozen)]
pub struct Spans(span::Spans);

/// A Python text, which may not be valid UTF-8: invalid parts are replaced.
type Text<'py> = Bound<'py, PyString>;
type Fields<'py> = Vec<(Text<'py>, Text<'py>)>;

#[pymethods]
impl Logger {
    #[new]
    fn new(builder: &mut NodeBuilder, instance: &str, ring_bytes: usize) -> PyResult<Self> {
        builder.add(|builder| log::Logger::new(builder, instance, ring_bytes)).map(Self)
    }

    fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    #[pyo3(signature = (time, severity, target, message, file, line, thread, span, fields))]
    #[allow(clippy::too_many_arguments, reason = "the metrics of a record")]
    fn log(
        &self,
        time: u64,
        severity: u8,
        target: Text<'_>,
        message: Text<'_>,
        file: Text<'_>,
        line: u32,
        thread: Text<'_>,
        span: Text<'_>,
        fields: Fields<'_>,
    ) -> PyResult<()> {
        if self.0.is_forked() {
            return Err(forked());
        }
        let level = LogLevel::of_severity(severity);
        let texts = [&target, &message, &file, &thread, &span].map(|text| text.to_string_lossy());
        let [target, message, file, thread, span] = texts.each_ref().map(|text| &**text);
        let record = LogRecord { level, target, message, file, line, thread, span, cut: 0 };
        self.0.log(time, &record, fields_of(&texts_of(&fields)));
        Ok(())
    }
}

#[pymethods]
impl Spans {
    #[new]
    fn new(builder: &mut NodeBuilder, instance: &str, ring_bytes: usize) -> PyResult<Self> {
        builder.add(|builder| span::Spans::new(builder, instance, ring_bytes)).map(Self)
    }

    fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    #[pyo3(signature = (time, name, target, duration, failed, thread, number, parent, fields))]
    #[allow(clippy::too_many_arguments, reason = "the metrics of a span")]
    fn ended(
        &self,
        time: u64,
        name: Text<'_>,
        target: Text<'_>,
        duration: u64,
        failed: bool,
        thread: Text<'_>,
        number: u64,
        parent: u64,
        fields: Fields<'_>,
    ) -> PyResult<()> {
        if self.0.is_forked() {
            return Err(forked());
        }
        let texts = [&name, &target, &thread].map(|text| text.to_string_lossy());
        let [name, target, thread] = texts.each_ref().map(|text| &**text);
        let outcome = if failed { Outcome::Error } else { Outcome::Ok };
        let record = SpanRecord {
            name,
            target,
            duration,
            busy: duration,
            outcome,
            thread,
            id: number,
            parent,
            cut: 0,
        };
        self.0.ended(time, &record, fields_of(&texts_of(&fields)));
        Ok(())
    }
}

fn texts_of<'a>(fields: &'a Fields<'_>) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    fields.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy())).collect()
}

fn fields_of<'a>(
    texts: &'a [(Cow<'_, str>, Cow<'_, str>)],
) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> {
    texts.iter().map(|(name, value)| (&**name, &**value))
}
