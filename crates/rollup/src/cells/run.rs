//! Samples of a batch that fall into one cell, without the values that they lack.

use oasis_wire::{
    absence::{self, Absence, ValuePath},
    batch::{Batch, Values},
    value::Value,
};
use std::{borrow::Cow, ops::Range};

/// Consecutive samples of a batch; at least one.
pub struct Run<'a> {
    batch: &'a Batch,
    samples: Range<usize>,
    /// Samples that lack something: their index in the run, and the places in order.
    absent: Vec<(usize, Vec<ValuePath>)>,
}

/// The values of one metric.
pub enum RunValues<'a> {
    /// As the batch has them, 64 bits each.
    Fixed(Cow<'a, [u64]>),
    /// Values with vectors, structs or text.
    Rows(Vec<Cow<'a, Value>>),
}

impl<'a> Run<'a> {
    pub fn new(batch: &'a Batch, samples: Range<usize>, absence: Option<&Absence>) -> Self {
        let mut absent = Vec::new();
        if let Some(absence) = absence
            && let Some(Values::Rows(named)) = batch.values(absence.metric())
        {
            let places = named[samples.clone()].iter().map(|named| absence.places(named));
            absent.extend(places.enumerate().filter(|(_, places)| !places.is_empty()));
        }
        Self { batch, samples, absent }
    }

    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Time of the last sample.
    pub fn last_time(&self) -> u64 {
        self.batch.times()[self.samples.end - 1]
    }

    /// Returns the values of a metric that are there.
    pub fn values(&self, metric: usize) -> Option<RunValues<'_>> {
        let absent =
            self.absent.iter().map(move |(index, places)| (*index, absence::within(places, 0, metric)));
        let mut absent = absent.filter(|(_, places)| !places.is_empty()).peekable();
        match self.batch.values(metric)? {
            Values::Fixed(values) if absent.peek().is_none() => {
                Some(RunValues::Fixed(Cow::Borrowed(&values[self.samples.clone()])))
            }
            Values::Fixed(values) => {
                let values = values[self.samples.clone()].iter().enumerate();
                let there = values.filter(|(index, _)| absent.next_if(|(of, _)| of == index).is_none());
                Some(RunValues::Fixed(there.map(|(_, value)| *value).collect()))
            }
            Values::Rows(values) => {
                let values = values[self.samples.clone()].iter().enumerate().map(|(index, value)| {
                    let mut value = Cow::Borrowed(value);
                    let places = absent.next_if(|(of, _)| *of == index).map_or(&[][..], |(_, places)| places);
                    places.iter().for_each(|place| absence::remove(value.to_mut(), &place[1..]));
                    value
                });
                Some(RunValues::Rows(values.collect()))
            }
        }
    }
}
