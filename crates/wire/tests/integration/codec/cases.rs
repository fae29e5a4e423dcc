//! Probe types and samples of every shape.

use oasis_wire::{
    batch::Choice,
    schema::{Metric, MetricType, ProbeType, StructType},
    value::Value,
};

/// A node's time, and about when the samples were taken: 2025-11-21, in nanoseconds.
pub const NODE_TIME: u64 = 1_763_683_200_000_000_000;

pub struct Case {
    pub name: &'static str,
    pub metrics: Vec<(&'static str, MetricType)>,
    /// Time and values.
    pub samples: Vec<(u64, Vec<Value>)>,
    pub choice: Choice,
    /// The expected choice of the encoder, so that each encoding is covered.
    pub encodings: &'static str,
}

pub fn metric(name: &str, kind: MetricType) -> Metric {
    Metric::new(name, kind)
}

fn structure(name: &str, members: &[(&str, MetricType)]) -> MetricType {
    let members = members.iter().map(|(name, kind)| metric(name, kind.clone())).collect();
    MetricType::Struct(StructType { name: name.into(), members })
}

pub fn probe_type(case: &Case) -> ProbeType {
    ProbeType {
        name: "Vectors::Probe".into(),
        uuid: uuid::uuid!("3f0f7d9e-6f0f-4f0c-9a55-0a1c4a0b7d11"),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: case.metrics.iter().map(|(name, kind)| metric(name, kind.clone())).collect(),
    }
}

/// Samples a millisecond apart, up to 100 us late.
fn each_ms(rows: Vec<Vec<Value>>) -> Vec<(u64, Vec<Value>)> {
    let last = rows.len() as u64;
    let time = |index: u64| NODE_TIME - (last - index) * 1_000_000 + index * index * 7919 % 100_000;
    rows.into_iter().enumerate().map(|(index, row)| (time(index as u64), row)).collect()
}

fn column(values: impl IntoIterator<Item = Value>) -> Vec<(u64, Vec<Value>)> {
    each_ms(values.into_iter().map(|value| vec![value]).collect())
}

pub fn cases() -> Vec<Case> {
    use MetricType::{
        Boolean, Int8, Int16, Int32, Int64, Real32, Real64, String as Text, Uint8, Uint16, Uint32, Uint64,
        Vector,
    };
    use Value::{Int, Uint};
    let smallest = |name, metrics, samples, encodings| Case {
        name,
        metrics,
        samples,
        choice: Choice::Smallest,
        encodings,
    };
    let one = |name, kind, values: Vec<Value>, encodings| {
        smallest(name, vec![("value", kind)], column(values), encodings)
    };
    let text = |text: &str| Value::String(text.into());
    let port = structure("Vectors::Port", &[("name", Text), ("bytes", Uint64), ("up", Boolean)]);
    let port_value = |name: &str, bytes, up| Value::Struct(vec![text(name), Uint(bytes), Value::Boolean(up)]);
    let all_fixed = || {
        let kinds = [
            ("int8", Int8),
            ("int64", Int64),
            ("uint8", Uint8),
            ("int16", Int16),
            ("real64", Real64),
            ("uint16", Uint16),
            ("int32", Int32),
            ("boolean", Boolean),
            ("uint32", Uint32),
            ("real32", Real32),
            ("uint64", Uint64),
        ];
        let low = vec![
            Int(-128),
            Int(i64::MIN),
            Uint(0),
            Int(-32_768),
            Value::Real64(-0.0),
            Uint(0),
            Int(i32::MIN.into()),
            Value::Boolean(false),
            Uint(0),
            Value::Real32(f32::NEG_INFINITY),
            Uint(0),
        ];
        let high = vec![
            Int(127),
            Int(i64::MAX),
            Uint(255),
            Int(32_767),
            Value::Real64(f64::INFINITY),
            Uint(65_535),
            Int(i32::MAX.into()),
            Value::Boolean(true),
            Uint(u32::MAX.into()),
            Value::Real32(f32::MAX),
            Uint(u64::MAX),
        ];
        (kinds.to_vec(), each_ms(vec![low.clone(), high, low]))
    };
    vec![
        smallest("a probe without metrics", vec![], each_ms(vec![vec![]; 5]), "rice"),
        smallest("one sample", vec![("value", Uint64)], column([Uint(8_011_350)]), "constant constant"),
        one("a counter that stands still", Uint64, vec![Uint(28); 70], "rice constant"),
        one(
            "a counter that moves now and then",
            Uint64,
            (0..64).map(|i| Uint(1000 + i / 10 + i / 25 * 2)).collect(),
            "rice delta",
        ),
        one(
            "a counter that resets",
            Uint64,
            (0..40).map(|i| Uint(if i < 20 { u64::MAX } else { i / 8 })).collect(),
            "rice delta",
        ),
        one(
            "steps of one, two and minus one",
            Int32,
            [0, 0, 0, 0, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2].map(Int).into(),
            "rice delta",
        ),
        one(
            "a value that moves a little",
            Int32,
            (0..50).map(|i| Int(500 + i * 20 + i * i % 7)).collect(),
            "rice rice",
        ),
        one(
            "a rice residual beyond its quotient",
            Uint64,
            (0..200).map(|i| Uint(i * 1000 + i * i % 401 + u64::from(i == 120) * (1 << 20))).collect(),
            "rice rice",
        ),
        one(
            "integers without a pattern",
            Uint8,
            (0..16_u64).map(|i| Uint(i * i * i * 37 % 251)).collect(),
            "rice plain",
        ),
        one(
            "extremes of 64 bits",
            Int64,
            vec![Int(i64::MIN), Int(i64::MAX), Int(-1), Int(0), Int(i64::MIN)],
            "rice delta",
        ),
        one("numbers beyond 2^53", Uint64, (0..20).map(|i| Uint((1 << 60) + i / 7)).collect(), "rice delta"),
        one("reals that stay", Real64, vec![Value::Real64(21.5); 30], "rice xor"),
        one(
            "reals with few digits",
            Real64,
            (0..20).map(|i| Value::Real64(f64::from(i / 3) * 0.5)).collect(),
            "rice xor",
        ),
        one(
            "reals without a pattern",
            Real64,
            (1..9).map(|i| Value::Real64(1.0 / f64::from(i * i + 1))).collect(),
            "rice plain",
        ),
        one(
            "special reals",
            Real64,
            [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX]
                .map(Value::Real64)
                .into(),
            "rice xor",
        ),
        one(
            "special short reals",
            Real32,
            [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, 0.1, f32::MAX]
                .map(Value::Real32)
                .into(),
            "rice xor",
        ),
        one("booleans", Boolean, (0..30).map(|i| Value::Boolean(i / 12 == 1)).collect(), "rice delta"),
        one(
            "texts",
            Text,
            ["", "ready", "Grüße, 東京 🚀", "line\nfeed \"and\" quotes\\", "\0"].map(text).into(),
            "rice rows",
        ),
        one(
            "vectors",
            Vector(Box::new(Int16)),
            vec![Value::Vector(vec![]), Value::Vector([1, -2, 300].map(Int).into())],
            "delta rows",
        ),
        one(
            "structs in vectors in vectors",
            Vector(Box::new(Vector(Box::new(port.clone())))),
            vec![
                Value::Vector(vec![]),
                Value::Vector(vec![
                    Value::Vector(vec![]),
                    Value::Vector(vec![port_value("eth0", 3193, true), port_value("", u64::MAX, false)]),
                ]),
            ],
            "delta rows",
        ),
        smallest(
            "columns of all shapes together",
            vec![("count", Uint32), ("port", port), ("ratio", Real32)],
            each_ms(
                (0..6)
                    .map(|i| vec![Uint(i * 5), port_value("p", i, i % 2 == 0), Value::Real32(i as f32 / 4.0)])
                    .collect(),
            ),
            "rice rice rows xor",
        ),
        {
            let (metrics, samples) = all_fixed();
            Case {
                name: "plain, each width aligned",
                metrics,
                samples,
                choice: Choice::Plain,
                encodings: "plain plain plain plain plain plain plain plain plain plain plain plain",
            }
        },
        {
            let (metrics, samples) = all_fixed();
            smallest("each type from its least to its greatest value", metrics, samples, "*")
        },
        smallest(
            "times that go back",
            vec![],
            vec![
                (NODE_TIME, vec![]),
                (NODE_TIME - 5_000_000_000, vec![]),
                (0, vec![]),
                (u64::MAX >> 1, vec![]),
            ],
            "*",
        ),
    ]
}
