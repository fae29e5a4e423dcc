//! Metrics of a request: each data point becomes a sample.

use crate::{
    points::{DataPoint, Interval, MetricKind, Number},
    series::{MetricSeries, SeriesTable},
    types::{DescribedType, Shape},
    walk::{self, ItemError, Resource, Visitor, each},
    writer::Writer,
};
use oasis_format::protobuf::{BadWire, WireValue, next_field};
use std::{borrow::Cow, sync::Arc};

/// The value of the enum for cumulative values.
const CUMULATIVE: u8 = 2;

/// Makes samples of metrics.
pub struct MetricReader<'w, 'n, 'a> {
    pub writer: &'w mut Writer<'n>,
    pub series: &'w mut SeriesTable,
    point: DataPoint<'a>,
    row: Vec<u8>,
    /// The newest type of the present metric.
    described: Option<Arc<DescribedType>>,
}

/// A metric without its data points.
struct MetricItem<'a> {
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    unit: Cow<'a, str>,
    kind: MetricKind,
    temporality: u8,
    is_monotonic: bool,
    data: &'a [u8],
}

impl<'w, 'n, 'a> MetricReader<'w, 'n, 'a> {
    /// Creates a reader.
    pub fn new(writer: &'w mut Writer<'n>, series: &'w mut SeriesTable) -> Self {
        Self { writer, series, point: DataPoint::default(), row: Vec::new(), described: None }
    }

    fn push(&mut self, metric: &MetricItem<'a>, scope: &str) {
        if !self.point.has_value() {
            self.writer.written.without_value += 1;
            return;
        }
        if !self.writer.begin_item(&metric.name, scope, &mut self.point.attributes) {
            return;
        }
        // Only whoever may write learns that the DAC has an instance.
        if self.writer.skip_looped(&self.point.attributes) {
            return;
        }
        if self.is_of_another_scope(metric, scope)
            && !self.writer.name_scope(&metric.name, scope, &mut self.point.attributes)
        {
            return;
        }
        let Some((node, instance)) = self.writer.target() else { return };
        let known = self.series.get(node, instance);
        let last_start = known.map_or(0, |series| series.start);
        let shape = metric.shape(self.point.number);
        let described = match known.filter(|series| series.fits(&metric.unit, shape)) {
            Some(series) => series.described.clone(),
            None => describe(&mut self.described, metric, shape),
        };
        let is_cumulative = metric.temporality == CUMULATIVE;
        let start = self.point.start;
        let is_reset = is_cumulative && last_start > 0 && start > last_start;
        let interval = Interval { temporality: metric.temporality, start, is_reset };
        let is_rounded = self.point.write(described.shape, interval, &mut self.row);
        let is_known = known.is_some_and(|series| Arc::ptr_eq(&series.described, &described));
        if let Err(why) = self.writer.push(&described.probe_type, self.point.time, &self.row) {
            return self.writer.refuse(&metric.name, &why.why.to_string());
        }
        self.writer.written.rounded += u64::from(is_rounded);
        if (!is_known || start > last_start)
            && let Some((node, instance)) = self.writer.target()
        {
            let scope = scope.into();
            self.series.set(node, instance, MetricSeries { described, start: start.max(last_start), scope });
        }
    }

    /// Returns whether the instance that the metric's name stands for has the samples of another scope: two series must not become one.
    ///
    /// The first scope has the name without it. After a restart that may be another one, so an instance with the scope in its name comes first.
    fn is_of_another_scope(&self, metric: &MetricItem<'a>, scope: &str) -> bool {
        let Some((node, instance)) = self.writer.target() else { return false };
        if scope.is_empty() && self.series.get(node, instance).is_none() {
            return false;
        }
        match self.series.get(node, instance) {
            Some(known) => *known.scope != *scope,
            None => self.writer.has_instance_of_scope(node, &metric.name, scope, &self.point.attributes),
        }
    }
}

/// Returns a new type; all series of a metric share one.
fn describe(
    newest: &mut Option<Arc<DescribedType>>,
    metric: &MetricItem<'_>,
    shape: Shape,
) -> Arc<DescribedType> {
    match newest {
        Some(described) if described.shape == shape => described.clone(),
        _ => {
            let described = DescribedType::new(&metric.name, &metric.description, &metric.unit, shape);
            newest.insert(Arc::new(described)).clone()
        }
    }
}

impl<'a> Visitor<'a> for MetricReader<'_, '_, 'a> {
    fn resource(&mut self, resource: &Resource<'a>) {
        self.writer.begin_resource(resource);
    }

    fn item(&mut self, scope: &str, item: &'a [u8]) -> Result<(), BadWire> {
        self.described = None;
        let Some(metric) = MetricItem::read(item)? else { return Ok(()) };
        each(metric.data, 1, |point| {
            match self.point.read(metric.kind, point) {
                Ok(()) => self.push(&metric, scope),
                Err(ItemError::Refused(why)) => self.writer.refuse(&metric.name, &why),
                Err(ItemError::Malformed(error)) => return Err(error),
            }
            Ok(())
        })
    }
}

impl<'a> MetricItem<'a> {
    /// Reads a metric; `None` without data of a known kind.
    fn read(mut item: &'a [u8]) -> Result<Option<Self>, BadWire> {
        let [mut name, mut description, mut unit]: [&[u8]; 3] = [&[]; 3];
        let mut of_kind = None;
        while let Some(field) = next_field(&mut item)? {
            let (number, WireValue::Bytes(bytes)) = field else { continue };
            let kind = match number {
                5 => MetricKind::Gauge,
                7 => MetricKind::Sum,
                9 => MetricKind::Histogram,
                10 => MetricKind::ExponentialHistogram,
                11 => MetricKind::Summary,
                other => {
                    match other {
                        1 => name = bytes,
                        2 => description = bytes,
                        3 => unit = bytes,
                        _ => {}
                    }
                    continue;
                }
            };
            of_kind = Some((kind, bytes));
        }
        let Some((kind, data)) = of_kind else { return Ok(None) };
        let (temporality, is_monotonic) = aggregation(kind, data)?;
        let [name, description, unit] = [name, description, unit].map(walk::text);
        Ok(Some(Self { name, description, unit, kind, temporality, is_monotonic, data }))
    }

    fn shape(&self, number: Option<Number>) -> Shape {
        let is_real = matches!(number, Some(Number::Real(_)));
        match self.kind {
            MetricKind::Gauge => Shape::Gauge { is_real },
            MetricKind::Sum => {
                let is_counter = self.is_monotonic && self.temporality == CUMULATIVE;
                Shape::Sum { is_real, is_counter }
            }
            MetricKind::Histogram => Shape::Histogram,
            MetricKind::ExponentialHistogram => Shape::ExponentialHistogram,
            MetricKind::Summary => Shape::Summary,
        }
    }
}

/// Returns temporality and monotonicity.
fn aggregation(kind: MetricKind, mut data: &[u8]) -> Result<(u8, bool), BadWire> {
    match kind {
        MetricKind::Gauge => return Ok((0, false)),
        // Summaries are cumulative by definition.
        MetricKind::Summary => return Ok((CUMULATIVE, false)),
        MetricKind::Sum | MetricKind::Histogram | MetricKind::ExponentialHistogram => {}
    }
    let (mut temporality, mut is_monotonic) = (0, false);
    while let Some(field) = next_field(&mut data)? {
        match field {
            (2, WireValue::Varint(value)) => temporality = u8::try_from(value).unwrap_or(0),
            (3, WireValue::Varint(value)) => is_monotonic = value != 0,
            _ => {}
        }
    }
    Ok((temporality, is_monotonic))
}
