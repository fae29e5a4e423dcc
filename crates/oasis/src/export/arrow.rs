//! Arrow streams and Parquet files, if this program was built with them (feature `arrow`).

use super::{Format, same_type};
use anyhow::{Context, bail};
use oasis_archive::Series;
use oasis_format::arrow::{Parquet, Source, Stream};
use oasis_wire::batch::Sample;
use std::{io::Write, sync::Arc};

/// A table to this.
pub struct Arrow<'a, W: Write + Send> {
    out: Option<&'a mut W>,
    is_parquet: bool,
    table: Option<Table<'a, W>>,
    /// Of the sample before, with its run and epoch as texts.
    series: Option<(Arc<Series>, String, String)>,
}

enum Table<'a, W: Write + Send> {
    Stream(Box<Stream<&'a mut W>>),
    Parquet(Box<Parquet<&'a mut W>>),
}

impl<'a, W: Write + Send> Arrow<'a, W> {
    /// An Arrow IPC stream.
    pub fn stream(out: &'a mut W) -> Self {
        Self { out: Some(out), is_parquet: false, table: None, series: None }
    }

    /// A Parquet file.
    pub fn parquet(out: &'a mut W) -> Self {
        Self { is_parquet: true, ..Self::stream(out) }
    }
}

impl<W: Write + Send> Format for Arrow<'_, W> {
    fn sample(&mut self, series: &Arc<Series>, state: u16, sample: &Sample) -> anyhow::Result<()> {
        if let Some((known, ..)) = &self.series {
            same_type(&known.probe_type, &series.probe_type)?;
        }
        if let Some(out) = self.out.take() {
            let probe_type = &series.probe_type;
            self.table = Some(match self.is_parquet {
                true => Table::Parquet(Box::new(Parquet::new(out, probe_type)?)),
                false => Table::Stream(Box::new(Stream::new(out, probe_type)?)),
            });
        }
        if !self.series.as_ref().is_some_and(|(known, ..)| Arc::ptr_eq(known, series)) {
            self.series = Some((series.clone(), series.run.to_string(), series.epoch.to_string()));
        }
        let (_, run, epoch) = self.series.as_ref().context("set just now")?;
        let source = Source { node: &series.node, instance: &series.instance, run, epoch };
        match &mut self.table {
            Some(Table::Stream(stream)) => stream.push(&source, state, sample)?,
            Some(Table::Parquet(file)) => file.push(&source, state, sample)?,
            None => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        match self.table.take() {
            Some(Table::Stream(stream)) => drop(stream.finish()?),
            Some(Table::Parquet(file)) => drop(file.finish()?),
            None => bail!("there is no sample of that time, and a table without a type has no columns"),
        }
        Ok(())
    }
}
