//! Samples of the types in `vectors/shapes.pdl`, with the values that a language could get wrong.

use super::generated::shapes::{
    Enums, Mode, Nothing, Numbers, Port, Rack, Structs, Texts, Trend, Vectors, inner,
};
use oasis_probe::{RowWriter, Sample};
use oasis_wire::schema::ProbeType;

pub struct Case {
    pub name: &'static str,
    pub probe_type: ProbeType,
    pub row: Vec<u8>,
    /// Row after it was read and written again.
    pub again: Vec<u8>,
}

fn case<S: Sample>(name: &'static str, sample: S) -> Case {
    let write = |sample: &S| {
        let mut row = Vec::new();
        sample.write(&mut RowWriter::new(&mut row));
        row
    };
    let row = write(&sample);
    let read = S::read(&mut oasis_probe::Reader::new(&row, 0)).unwrap();
    Case { name, probe_type: serde_json::from_str(S::SCHEMA).unwrap(), again: write(&read), row }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn port(name: &str, bytes: u64, mode: Mode) -> Port {
    Port { name: name.into(), bytes, up: mode == Mode::Up, mode }
}

pub fn cases() -> Vec<Case> {
    let full = port("eth0", u64::MAX, Mode::Up);
    let rack = Rack {
        temperature: 21.5,
        ports: vec![full.clone(), Port::default(), port("Grüße, 東京 🚀", 1 << 53, Mode::Draining)],
    };
    let words = inner::Words {
        class: 1,
        r#type: 2,
        def: 3,
        self_: 4,
        delete: 5,
        read: 6,
        write: 7,
        name: 8,
        from: 9,
        operator: 10,
        None: 11,
    };
    let mut cases = numbers();
    cases.extend([
        case("texts, empty", Texts::default()),
        case(
            "texts of every length of padding",
            Texts {
                text: "abc".into(),
                between: true,
                texts: texts(&["", "a", "ab", "abc", "abcd", "line\nfeed \"and\" quotes\\", "é", "東京 🚀"]),
            },
        ),
        case("a text of two length bytes", Texts { text: "x".repeat(300), ..Texts::default() }),
        case("vectors, empty", Vectors::default()),
        case(
            "vectors, full",
            Vectors {
                bytes: vec![0, 127, 255],
                reals: vec![0.5, f64::NAN, f64::NEG_INFINITY],
                rows: vec![vec![], vec![i32::MIN, 0, i32::MAX], vec![-1]],
                flags: vec![true, false, true],
                deep: vec![vec![], vec![vec![], texts(&["", "x"])]],
            },
        ),
        case("a vector of two length bytes", Vectors { bytes: vec![9; 200], ..Vectors::default() }),
        case("structs, empty", Structs::default()),
        case(
            "structs in vectors in vectors",
            Structs {
                uplink: full.clone(),
                racks: vec![rack.clone(), Rack::default()],
                groups: vec![vec![], vec![port("", 0, Mode::Down), full]],
            },
        ),
        case(
            "enums",
            Enums {
                mode: Mode::Draining,
                trend: Trend::Rising,
                trends: vec![Trend::Falling, Trend::Level, Trend::Rising],
            },
        ),
        case("nothing", Nothing::default()),
        case("metrics of a base first", inner::Numbers { ticks: 3193, mode: Mode::Up, rack }),
        case("words that languages keep", words),
    ]);
    cases
}

fn numbers() -> Vec<Case> {
    let least = Numbers {
        int8_value: i8::MIN,
        int64_value: i64::MIN,
        int16_value: i16::MIN,
        real64_value: -0.0,
        int32_value: i32::MIN,
        real32_value: f32::NEG_INFINITY,
        ..Numbers::default()
    };
    let greatest = Numbers {
        int8_value: i8::MAX,
        int64_value: i64::MAX,
        uint8_value: u8::MAX,
        int16_value: i16::MAX,
        real64_value: f64::INFINITY,
        uint16_value: u16::MAX,
        int32_value: i32::MAX,
        boolean_value: true,
        uint32_value: u32::MAX,
        real32_value: f32::MAX,
        uint64_value: u64::MAX,
    };
    let odd = Numbers {
        int8_value: -1,
        int64_value: -2,
        uint8_value: 3,
        int16_value: -4,
        real64_value: f64::NAN,
        uint16_value: 0x0102,
        int32_value: 0x0102_0304,
        boolean_value: true,
        uint32_value: 0x0102_0304,
        real32_value: f32::NAN,
        uint64_value: 0x0102_0304_0506_0708,
    };
    let small = Numbers { real64_value: 5e-324, real32_value: 1e-45, ..Numbers::default() };
    vec![
        case("numbers, zero", Numbers::default()),
        case("numbers, least", least),
        case("numbers, greatest", greatest),
        case("numbers, odd ones", odd),
        case("numbers, least above zero", small),
    ]
}
