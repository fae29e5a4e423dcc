//! The format of exporters in Protocol Buffers: messages `io.prometheus.client.MetricFamily` with their lengths, as far as samples are made of them.
//! Source: <https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto>.

use crate::native_histogram::{BucketReader, NativeHistogram};
use oasis_format::protobuf::{BadWire, WireValue, next_field, varint};
use std::borrow::Cow;

/// Labels in the order of the message.
pub type ExposedLabels<'m> = Vec<(&'m str, Cow<'m, str>)>;

/// A value of a series.
#[derive(Debug, PartialEq)]
pub enum ExposedValue<'h> {
    /// A value that the text format has too.
    Number(f64),
    /// A histogram with exponential buckets.
    Histogram(&'h NativeHistogram),
}

/// Takes a sample: name, labels, value, and its time in milliseconds if the exporter has one.
pub type TakeSample<'t> = dyn FnMut(&str, &ExposedLabels<'_>, ExposedValue<'_>, Option<i64>) + 't;

/// Takes all samples, with the names and labels that the text format has. Returns how many metrics were refused.
///
/// # Errors
/// If the bytes are damaged; the samples before that place are taken.
pub fn each_sample(mut bytes: &[u8], take: &mut TakeSample<'_>) -> Result<u64, BadWire> {
    let mut refused = 0;
    while !bytes.is_empty() {
        let length = usize::try_from(varint(&mut bytes)?).map_err(|_| BadWire)?;
        let (family, rest) = bytes.split_at_checked(length).ok_or(BadWire)?;
        bytes = rest;
        refused += family_samples(family, take)?;
    }
    Ok(refused)
}

fn family_samples(family: &[u8], take: &mut TakeSample<'_>) -> Result<u64, BadWire> {
    let (mut name, mut refused) = ("", 0);
    let mut fields = family;
    while let Some((field, value)) = next_field(&mut fields)? {
        match (field, value) {
            (1, WireValue::Bytes(bytes)) => name = text(bytes)?,
            (4, WireValue::Bytes(metric)) => match read_metric(name, metric, take)? {
                // Fields can come in any order, but writers write the name first.
                MetricOutcome::All if !name.is_empty() => {}
                _ => refused += 1,
            },
            _ => {}
        }
    }
    Ok(refused)
}

/// Whether the samples of a metric were taken.
enum MetricOutcome {
    All,
    Refused,
}

fn read_metric(name: &str, metric: &[u8], take: &mut TakeSample<'_>) -> Result<MetricOutcome, BadWire> {
    let (mut labels, mut time, mut data) = (Vec::new(), None, None);
    let mut fields = metric;
    while let Some((field, value)) = next_field(&mut fields)? {
        match (field, value) {
            (1, WireValue::Bytes(pair)) => labels.push(label(pair)?),
            (2 | 3 | 4 | 5 | 7, WireValue::Bytes(bytes)) => data = Some((field, bytes)),
            (6, WireValue::Varint(milliseconds)) => time = Some(milliseconds.cast_signed()),
            _ => {}
        }
    }
    match data {
        None => Ok(MetricOutcome::Refused),
        Some((4, summary)) => read_summary(name, &labels, time, summary, take),
        Some((7, histogram)) => read_histogram(name, &labels, time, histogram, take),
        Some((_, number)) => {
            take(name, &labels, ExposedValue::Number(real(number, 1)?), time);
            Ok(MetricOutcome::All)
        }
    }
}

fn read_summary(
    name: &str,
    labels: &ExposedLabels<'_>,
    time: Option<i64>,
    summary: &[u8],
    take: &mut TakeSample<'_>,
) -> Result<MetricOutcome, BadWire> {
    let (mut count, mut sum) = (0.0, 0.0);
    let mut fields = summary;
    while let Some((field, value)) = next_field(&mut fields)? {
        match (field, value) {
            (1, WireValue::Varint(number)) => count = number as f64,
            (2, WireValue::Fixed64(bytes)) => sum = f64::from_le_bytes(bytes),
            (3, WireValue::Bytes(quantile)) => {
                let labels = with_label(labels, "quantile", &go_text(real(quantile, 1)?));
                take(name, &labels, ExposedValue::Number(real(quantile, 2)?), time);
            }
            _ => {}
        }
    }
    take(&format!("{name}_sum"), labels, ExposedValue::Number(sum), time);
    take(&format!("{name}_count"), labels, ExposedValue::Number(count), time);
    Ok(MetricOutcome::All)
}

fn read_histogram(
    name: &str,
    labels: &ExposedLabels<'_>,
    time: Option<i64>,
    histogram: &[u8],
    take: &mut TakeSample<'_>,
) -> Result<MetricOutcome, BadWire> {
    let (mut count, mut sum, mut has_infinity, mut is_classic) = (0.0, 0.0, false, false);
    let mut buckets = BucketReader::default();
    let bucket_name = format!("{name}_bucket");
    let mut fields = histogram;
    while let Some((field, value)) = next_field(&mut fields)? {
        match (field, value) {
            (1, WireValue::Varint(number)) => count = number as f64,
            (2, WireValue::Fixed64(bytes)) => sum = f64::from_le_bytes(bytes),
            (3, WireValue::Bytes(bucket)) => {
                let (bound, below) = classic_bucket(bucket)?;
                (has_infinity, is_classic) = (has_infinity || bound == f64::INFINITY, true);
                let labels = with_label(labels, "le", &go_text(bound));
                take(&bucket_name, &labels, ExposedValue::Number(below), time);
            }
            (4, WireValue::Fixed64(bytes)) if f64::from_le_bytes(bytes) > 0.0 => {
                count = f64::from_le_bytes(bytes)
            }
            (field, value) => buckets.read(field, value)?,
        }
    }
    if is_classic && !has_infinity {
        // The text format has this bucket always.
        let labels = with_label(labels, "le", "+Inf");
        take(&bucket_name, &labels, ExposedValue::Number(count), time);
    }
    take(&format!("{name}_sum"), labels, ExposedValue::Number(sum), time);
    take(&format!("{name}_count"), labels, ExposedValue::Number(count), time);
    match buckets.finish(count, sum) {
        None => Ok(MetricOutcome::All),
        Some(Err(_)) => Ok(MetricOutcome::Refused),
        Some(Ok(native)) => {
            take(name, labels, ExposedValue::Histogram(&native), time);
            Ok(MetricOutcome::All)
        }
    }
}

/// Returns the upper bound of a bucket, and the number of values up to it.
fn classic_bucket(mut bucket: &[u8]) -> Result<(f64, f64), BadWire> {
    let (mut bound, mut below) = (0.0, 0.0);
    while let Some((field, value)) = next_field(&mut bucket)? {
        match (field, value) {
            (1, WireValue::Varint(number)) => below = number as f64,
            (2, WireValue::Fixed64(bytes)) => bound = f64::from_le_bytes(bytes),
            (4, WireValue::Fixed64(bytes)) if f64::from_le_bytes(bytes) > 0.0 => {
                below = f64::from_le_bytes(bytes)
            }
            _ => {}
        }
    }
    Ok((bound, below))
}

fn label(mut pair: &[u8]) -> Result<(&str, Cow<'_, str>), BadWire> {
    let (mut name, mut value) = ("", "");
    while let Some((field, found)) = next_field(&mut pair)? {
        match (field, found) {
            (1, WireValue::Bytes(bytes)) => name = text(bytes)?,
            (2, WireValue::Bytes(bytes)) => value = text(bytes)?,
            _ => {}
        }
    }
    Ok((name, value.into()))
}

fn with_label<'m>(labels: &ExposedLabels<'m>, name: &'m str, value: &str) -> ExposedLabels<'m> {
    let mut labels = labels.clone();
    labels.push((name, value.to_owned().into()));
    labels
}

/// Returns the real in a field; 0 if it is absent.
fn real(mut message: &[u8], wanted: u32) -> Result<f64, BadWire> {
    let mut found = 0.0;
    while let Some((field, value)) = next_field(&mut message)? {
        if let (true, WireValue::Fixed64(bytes)) = (field == wanted, value) {
            found = f64::from_le_bytes(bytes);
        }
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> Result<&str, BadWire> {
    str::from_utf8(bytes).map_err(|_| BadWire)
}

/// Returns a number as Go writes it in the text format, so that both formats have the same series.
fn go_text(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.into()
    } else if magnitude == 0.0 || (1e-4..1e6).contains(&magnitude) {
        value.to_string()
    } else {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        format!("{digits}e{sign}{exponent:0>2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_format::protobuf::wire_writer::{bytes, fixed64, number, varint};
    use proptest::prelude::*;

    fn message(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut message = Vec::new();
        write(&mut message);
        message
    }

    fn family(name: &str, metric: &[u8]) -> Vec<u8> {
        let family = message(|to| {
            bytes(1, name.as_bytes(), to);
            bytes(2, b"help", to);
            bytes(4, metric, to);
        });
        message(|to| {
            varint(family.len() as u64, to);
            to.extend(&family);
        })
    }

    /// The numbers as lines of text, the histograms, and the refused metrics.
    fn read(of: &[u8]) -> (Vec<String>, Vec<(String, NativeHistogram)>, u64) {
        let (mut lines, mut histograms) = (Vec::new(), Vec::new());
        let refused = each_sample(of, &mut |name, labels, value, time| {
            let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let name = format!("{name}{{{}}}", labels.join(","));
            match value {
                ExposedValue::Number(value) => lines.push(format!("{name} {value} {time:?}")),
                ExposedValue::Histogram(histogram) => histograms.push((name, histogram.clone())),
            }
        });
        (lines, histograms, refused.unwrap())
    }

    #[test]
    fn families_have_the_samples_of_the_text_format() {
        let pair = message(|to| {
            bytes(1, b"job", to);
            bytes(2, b"a,b", to);
        });
        let gauge = message(|to| {
            bytes(1, &pair, to);
            bytes(2, &message(|to| fixed64(1, 1.5_f64.to_le_bytes(), to)), to);
            number(6, 1_700, to);
        });
        let quantile = message(|to| {
            fixed64(1, 0.99_f64.to_le_bytes(), to);
            fixed64(2, 7.0_f64.to_le_bytes(), to);
        });
        let summary = message(|to| {
            let summary = message(|to| {
                number(1, 3, to);
                fixed64(2, 9.0_f64.to_le_bytes(), to);
                bytes(3, &quantile, to);
            });
            bytes(4, &summary, to);
        });
        let bucket = message(|to| {
            number(1, 2, to);
            fixed64(2, 1e-5_f64.to_le_bytes(), to);
        });
        let histogram = message(|to| {
            let histogram = message(|to| {
                number(1, 4, to);
                fixed64(2, 8.0_f64.to_le_bytes(), to);
                bytes(3, &bucket, to);
            });
            bytes(7, &histogram, to);
        });
        let all = [family("load", &gauge), family("size", &summary), family("wait", &histogram)].concat();
        let (lines, histograms, refused) = read(&all);
        let expected = [
            "load{job=a,b} 1.5 Some(1700)",
            "size{quantile=0.99} 7 None",
            "size_sum{} 9 None",
            "size_count{} 3 None",
            "wait_bucket{le=1e-05} 2 None",
            "wait_bucket{le=+Inf} 4 None",
            "wait_sum{} 8 None",
            "wait_count{} 4 None",
        ];
        assert_eq!((lines, histograms.len(), refused), (expected.map(str::to_owned).to_vec(), 0, 0));
    }

    #[test]
    fn native_histograms_are_read_packed_or_not() {
        let span = message(|to| {
            number(1, 2, to);
            number(2, 2, to);
        });
        for is_packed in [false, true] {
            let histogram = message(|to| {
                number(1, 6, to);
                fixed64(2, 12.5_f64.to_le_bytes(), to);
                number(5, 6, to);
                fixed64(6, 0.001_f64.to_le_bytes(), to);
                number(7, 1, to);
                bytes(12, &span, to);
                // The differences 2 and 1.
                match is_packed {
                    true => bytes(13, &[4, 2], to),
                    false => [4, 2].into_iter().for_each(|delta| number(13, delta, to)),
                }
            });
            let metric = message(|to| bytes(7, &histogram, to));
            let (lines, histograms, refused) = read(&family("wait", &metric));
            let expected = NativeHistogram {
                count: 6.0,
                sum: 12.5,
                scale: 3,
                zero_count: 1.0,
                zero_threshold: 0.001,
                positive: crate::Buckets { offset: 0, counts: vec![2.0, 3.0] },
                negative: crate::Buckets::default(),
            };
            assert_eq!((lines.len(), refused), (2, 0), "sum and count: {lines:?}");
            assert_eq!(histograms, [("wait{}".to_owned(), expected)]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_samples_or_refused(bytes: Vec<u8>) {
            let _ = each_sample(&bytes, &mut |_, _, _, _| {});
        }
    }

    #[test]
    fn numbers_in_labels_are_written_as_go_writes_them() {
        for (number, expected) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (999_999.0, "999999"),
            (1_638_400.0, "1.6384e+06"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (2.5e-10, "2.5e-10"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "+Inf"),
            (-1e-5, "-1e-05"),
        ] {
            assert_eq!(go_text(number), expected);
        }
    }
}
