//! Fields of the messages of OTLP 1.9 that are read: numbers and types of `opentelemetry/proto`, and names of its JSON form.

/// A type of messages.
#[derive(Debug)]
pub struct MessageLayout {
    pub fields: &'static [FieldLayout],
}

/// A field of a message.
#[derive(Debug)]
pub struct FieldLayout {
    pub number: u32,
    /// Its name in JSON.
    pub name: &'static str,
    pub kind: FieldKind,
    /// Whether it is a list. Lists of numbers are packed.
    pub is_list: bool,
}

/// The type of a field, by its forms on the wire and in JSON.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    Text,
    /// `bytes`, in JSON as base64.
    Base64,
    /// `bytes`, in JSON as hexadecimal digits: identifiers of traces and spans.
    Hex,
    /// `int64`, `uint32`, `uint64` and enums; in JSON numbers, or texts of digits.
    Varint,
    Bool,
    /// `sint32`
    Zigzag,
    /// `fixed64` and `sfixed64`
    Fixed64,
    Fixed32,
    Double,
    Message(&'static MessageLayout),
}

use FieldKind::{Base64, Bool, Double, Fixed32, Fixed64, Hex, Message, Text, Varint, Zigzag};

const fn one(number: u32, name: &'static str, kind: FieldKind) -> FieldLayout {
    FieldLayout { number, name, kind, is_list: false }
}

const fn list(number: u32, name: &'static str, kind: FieldKind) -> FieldLayout {
    FieldLayout { number, name, kind, is_list: true }
}

/// `ExportMetricsServiceRequest`
pub static METRICS_REQUEST: MessageLayout =
    MessageLayout { fields: &[list(1, "resourceMetrics", Message(&RESOURCE_METRICS))] };
static RESOURCE_METRICS: MessageLayout = MessageLayout {
    fields: &[one(1, "resource", Message(&RESOURCE)), list(2, "scopeMetrics", Message(&SCOPE_METRICS))],
};
static SCOPE_METRICS: MessageLayout =
    MessageLayout { fields: &[one(1, "scope", Message(&SCOPE)), list(2, "metrics", Message(&METRIC))] };

/// `ExportLogsServiceRequest`
pub static LOGS_REQUEST: MessageLayout =
    MessageLayout { fields: &[list(1, "resourceLogs", Message(&RESOURCE_LOGS))] };
static RESOURCE_LOGS: MessageLayout = MessageLayout {
    fields: &[one(1, "resource", Message(&RESOURCE)), list(2, "scopeLogs", Message(&SCOPE_LOGS))],
};
static SCOPE_LOGS: MessageLayout = MessageLayout {
    fields: &[one(1, "scope", Message(&SCOPE)), list(2, "logRecords", Message(&LOG_RECORD))],
};

/// `ExportTraceServiceRequest`
pub static TRACES_REQUEST: MessageLayout =
    MessageLayout { fields: &[list(1, "resourceSpans", Message(&RESOURCE_SPANS))] };
static RESOURCE_SPANS: MessageLayout = MessageLayout {
    fields: &[one(1, "resource", Message(&RESOURCE)), list(2, "scopeSpans", Message(&SCOPE_SPANS))],
};
static SCOPE_SPANS: MessageLayout =
    MessageLayout { fields: &[one(1, "scope", Message(&SCOPE)), list(2, "spans", Message(&SPAN))] };

static RESOURCE: MessageLayout = MessageLayout { fields: &[list(1, "attributes", Message(&KEY_VALUE))] };
static SCOPE: MessageLayout = MessageLayout { fields: &[one(1, "name", Text), one(2, "version", Text)] };
static KEY_VALUE: MessageLayout =
    MessageLayout { fields: &[one(1, "key", Text), one(2, "value", Message(&ANY_VALUE))] };
/// `AnyValue`
pub static ANY_VALUE: MessageLayout = MessageLayout {
    fields: &[
        one(1, "stringValue", Text),
        one(2, "boolValue", Bool),
        one(3, "intValue", Varint),
        one(4, "doubleValue", Double),
        one(5, "arrayValue", Message(&ARRAY_VALUE)),
        one(6, "kvlistValue", Message(&KEY_VALUE_LIST)),
        one(7, "bytesValue", Base64),
    ],
};
static ARRAY_VALUE: MessageLayout = MessageLayout { fields: &[list(1, "values", Message(&ANY_VALUE))] };
static KEY_VALUE_LIST: MessageLayout = MessageLayout { fields: &[list(1, "values", Message(&KEY_VALUE))] };

static METRIC: MessageLayout = MessageLayout {
    fields: &[
        one(1, "name", Text),
        one(2, "description", Text),
        one(3, "unit", Text),
        one(5, "gauge", Message(&GAUGE)),
        one(7, "sum", Message(&SUM)),
        one(9, "histogram", Message(&HISTOGRAM)),
        one(10, "exponentialHistogram", Message(&EXPONENTIAL_HISTOGRAM)),
        one(11, "summary", Message(&SUMMARY)),
    ],
};
static GAUGE: MessageLayout = MessageLayout { fields: &[list(1, "dataPoints", Message(&NUMBER_POINT))] };
static SUM: MessageLayout = MessageLayout {
    fields: &[
        list(1, "dataPoints", Message(&NUMBER_POINT)),
        one(2, "aggregationTemporality", Varint),
        one(3, "isMonotonic", Bool),
    ],
};
static HISTOGRAM: MessageLayout = MessageLayout {
    fields: &[list(1, "dataPoints", Message(&HISTOGRAM_POINT)), one(2, "aggregationTemporality", Varint)],
};
static EXPONENTIAL_HISTOGRAM: MessageLayout = MessageLayout {
    fields: &[list(1, "dataPoints", Message(&EXPONENTIAL_POINT)), one(2, "aggregationTemporality", Varint)],
};
static SUMMARY: MessageLayout = MessageLayout { fields: &[list(1, "dataPoints", Message(&SUMMARY_POINT))] };
static NUMBER_POINT: MessageLayout = MessageLayout {
    fields: &[
        list(7, "attributes", Message(&KEY_VALUE)),
        one(2, "startTimeUnixNano", Fixed64),
        one(3, "timeUnixNano", Fixed64),
        one(4, "asDouble", Double),
        one(6, "asInt", Fixed64),
        one(8, "flags", Varint),
    ],
};
static HISTOGRAM_POINT: MessageLayout = MessageLayout {
    fields: &[
        list(9, "attributes", Message(&KEY_VALUE)),
        one(2, "startTimeUnixNano", Fixed64),
        one(3, "timeUnixNano", Fixed64),
        one(4, "count", Fixed64),
        one(5, "sum", Double),
        list(6, "bucketCounts", Fixed64),
        list(7, "explicitBounds", Double),
        one(10, "flags", Varint),
        one(11, "min", Double),
        one(12, "max", Double),
    ],
};
static EXPONENTIAL_POINT: MessageLayout = MessageLayout {
    fields: &[
        list(1, "attributes", Message(&KEY_VALUE)),
        one(2, "startTimeUnixNano", Fixed64),
        one(3, "timeUnixNano", Fixed64),
        one(4, "count", Fixed64),
        one(5, "sum", Double),
        one(6, "scale", Zigzag),
        one(7, "zeroCount", Fixed64),
        one(8, "positive", Message(&BUCKETS)),
        one(9, "negative", Message(&BUCKETS)),
        one(10, "flags", Varint),
        one(12, "min", Double),
        one(13, "max", Double),
        one(14, "zeroThreshold", Double),
    ],
};
static BUCKETS: MessageLayout =
    MessageLayout { fields: &[one(1, "offset", Zigzag), list(2, "bucketCounts", Varint)] };
static SUMMARY_POINT: MessageLayout = MessageLayout {
    fields: &[
        list(7, "attributes", Message(&KEY_VALUE)),
        one(2, "startTimeUnixNano", Fixed64),
        one(3, "timeUnixNano", Fixed64),
        one(4, "count", Fixed64),
        one(5, "sum", Double),
        list(6, "quantileValues", Message(&QUANTILE)),
        one(8, "flags", Varint),
    ],
};
static QUANTILE: MessageLayout =
    MessageLayout { fields: &[one(1, "quantile", Double), one(2, "value", Double)] };

static LOG_RECORD: MessageLayout = MessageLayout {
    fields: &[
        one(1, "timeUnixNano", Fixed64),
        one(11, "observedTimeUnixNano", Fixed64),
        one(2, "severityNumber", Varint),
        one(3, "severityText", Text),
        one(5, "body", Message(&ANY_VALUE)),
        list(6, "attributes", Message(&KEY_VALUE)),
        one(8, "flags", Fixed32),
        one(9, "traceId", Hex),
        one(10, "spanId", Hex),
        one(12, "eventName", Text),
    ],
};

static SPAN: MessageLayout = MessageLayout {
    fields: &[
        one(1, "traceId", Hex),
        one(2, "spanId", Hex),
        one(4, "parentSpanId", Hex),
        one(5, "name", Text),
        one(6, "kind", Varint),
        one(7, "startTimeUnixNano", Fixed64),
        one(8, "endTimeUnixNano", Fixed64),
        list(9, "attributes", Message(&KEY_VALUE)),
        list(11, "events", Message(&EVENT)),
        list(13, "links", Message(&LINK)),
        one(15, "status", Message(&STATUS)),
    ],
};
static EVENT: MessageLayout = MessageLayout {
    fields: &[
        one(1, "timeUnixNano", Fixed64),
        one(2, "name", Text),
        list(3, "attributes", Message(&KEY_VALUE)),
    ],
};
static LINK: MessageLayout = MessageLayout { fields: &[one(1, "traceId", Hex), one(2, "spanId", Hex)] };
static STATUS: MessageLayout = MessageLayout { fields: &[one(2, "message", Text), one(3, "code", Varint)] };
