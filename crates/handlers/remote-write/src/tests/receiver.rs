//! A server that takes remote write, and decodes it by the definitions of the protocol.

use oasis_format::protobuf::{WireValue, next_field, varint};
use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A series of a request.
#[derive(Debug, Clone, Default)]
pub struct ReceivedSeries {
    pub labels: BTreeMap<String, String>,
    pub points: Vec<(i64, f64)>,
    /// Help and unit.
    pub description: Option<(String, String)>,
}

/// An answer to the next request.
#[derive(Debug, Clone, Copy)]
pub struct Answering {
    /// 0: the connection ends without an answer.
    status: u16,
    retry_after: Option<u64>,
    has_headers: bool,
}

impl Answering {
    pub fn status(status: u16) -> Self {
        Self { status, retry_after: None, has_headers: true }
    }

    pub fn closed() -> Self {
        Self::status(0)
    }

    pub fn retry_after(status: u16, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..Self::status(status) }
    }

    pub fn without_headers(status: u16) -> Self {
        Self { has_headers: false, ..Self::status(status) }
    }
}

type Refusing = Box<dyn Fn(&ReceivedSeries) -> bool + Send>;

#[derive(Default)]
struct Shared {
    answers: VecDeque<Answering>,
    refusing: Option<Refusing>,
    requests: Vec<Vec<ReceivedSeries>>,
    head: String,
}

/// A server of remote write.
pub struct TestReceiver {
    address: String,
    shared: Arc<Mutex<Shared>>,
}

impl TestReceiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::<Mutex<Shared>>::default();
        let known = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = known.clone();
                thread::spawn(move || while serve(&stream, &shared).is_some() {});
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}/api/v1/write", self.address)
    }

    /// Answers of the next requests; all others are taken.
    pub fn answer(&self, answers: impl IntoIterator<Item = Answering>) {
        self.shared.lock().unwrap().answers.extend(answers);
    }

    /// Forgets the answers of the next requests.
    pub fn clear(&self) {
        self.shared.lock().unwrap().answers.clear();
    }

    /// Refuses requests that have such a series.
    pub fn refuse(&self, is_refused: impl Fn(&ReceivedSeries) -> bool + Send + 'static) {
        self.shared.lock().unwrap().refusing = Some(Box::new(is_refused));
    }

    /// Takes the requests that were taken.
    pub fn requests(&self) -> Vec<Vec<ReceivedSeries>> {
        std::mem::take(&mut self.shared.lock().unwrap().requests)
    }

    /// The header of the last request, in lower case.
    pub fn head(&self) -> String {
        self.shared.lock().unwrap().head.clone()
    }
}

fn serve(stream: &TcpStream, shared: &Mutex<Shared>) -> Option<()> {
    let (head, body) = request(stream)?;
    let message = snap::raw::Decoder::new().decompress_vec(&body).unwrap();
    let series = if head.contains("proto=io.prometheus.write.v2.request") {
        second_version(&message)
    } else {
        first_version(&message)
    };
    let mut shared = shared.lock().unwrap();
    shared.head = head;
    let is_refused = shared.refusing.as_ref().is_some_and(|is_refused| series.iter().any(is_refused));
    let taken = Answering::status(if is_refused { 400 } else { 204 });
    let answer = shared.answers.pop_front().unwrap_or(taken);
    let written: usize = series.iter().map(|series| series.points.len()).sum();
    if (200..300).contains(&answer.status) {
        shared.requests.push(series);
    }
    drop(shared);
    let mut text = format!("HTTP/1.1 {} x\r\ncontent-length: 0\r\n", answer.status);
    if let Some(seconds) = answer.retry_after {
        text += &format!("retry-after: {seconds}\r\n");
    }
    if answer.has_headers {
        text += &format!("x-prometheus-remote-write-samples-written: {written}\r\n");
    }
    let mut stream = stream;
    if answer.status == 0 {
        return None;
    }
    stream.write_all(format!("{text}\r\n").as_bytes()).ok()
}

fn request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap().trim();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn fields(mut message: &[u8]) -> Vec<(u32, WireValue<'_>)> {
    let mut all = Vec::new();
    while let Some(field) = next_field(&mut message).unwrap() {
        all.push(field);
    }
    all
}

fn text(value: WireValue<'_>) -> String {
    let WireValue::Bytes(bytes) = value else { panic!("{value:?}") };
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn bytes(value: WireValue<'_>) -> &[u8] {
    let WireValue::Bytes(bytes) = value else { panic!("{value:?}") };
    bytes
}

fn point(message: &[u8]) -> (i64, f64) {
    let mut point = (0, 0.0);
    for (field, value) in fields(message) {
        match (field, value) {
            (1, WireValue::Fixed64(bytes)) => point.1 = f64::from_le_bytes(bytes),
            (2, WireValue::Varint(time)) => point.0 = time.cast_signed(),
            other => panic!("{other:?}"),
        }
    }
    point
}

/// `prometheus.WriteRequest`.
fn first_version(message: &[u8]) -> Vec<ReceivedSeries> {
    let mut all = Vec::new();
    let mut descriptions = BTreeMap::new();
    for (field, value) in fields(message) {
        match field {
            1 => {
                let mut series = ReceivedSeries::default();
                for (field, value) in fields(bytes(value)) {
                    match field {
                        1 => {
                            let pair: Vec<String> =
                                fields(bytes(value)).into_iter().map(|(_, value)| text(value)).collect();
                            let is_after_all = series.labels.keys().all(|known| *known < pair[0]);
                            assert!(is_after_all, "labels are sorted, and each is there once");
                            series.labels.insert(pair[0].clone(), pair[1].clone());
                        }
                        2 => series.points.push(point(bytes(value))),
                        other => panic!("{other}"),
                    }
                }
                all.push(series);
            }
            3 => {
                let metadata: BTreeMap<u32, WireValue<'_>> = fields(bytes(value)).into_iter().collect();
                descriptions.insert(text(metadata[&2]), (text(metadata[&4]), text(metadata[&5])));
            }
            other => panic!("{other}"),
        }
    }
    for series in &mut all {
        let name = &series.labels["__name__"];
        let family = name.strip_suffix("_total").unwrap_or(name);
        series.description = descriptions.get(family).cloned();
    }
    all
}

/// `io.prometheus.write.v2.Request`.
fn second_version(message: &[u8]) -> Vec<ReceivedSeries> {
    let all = fields(message);
    let symbols: Vec<String> =
        all.iter().filter(|(field, _)| *field == 4).map(|(_, value)| text(*value)).collect();
    assert_eq!(symbols[0], "", "the first symbol is empty");
    let series = all.iter().filter(|(field, _)| *field == 5);
    series
        .map(|(_, value)| {
            let mut series = ReceivedSeries::default();
            for (field, value) in fields(bytes(*value)) {
                match field {
                    1 => {
                        let mut packed = bytes(value);
                        while !packed.is_empty() {
                            let [name, value] =
                                [(); 2].map(|()| symbols[varint(&mut packed).unwrap() as usize].clone());
                            series.labels.insert(name, value);
                        }
                    }
                    2 => series.points.push(point(bytes(value))),
                    5 => {
                        let metadata: BTreeMap<u32, WireValue<'_>> =
                            fields(bytes(value)).into_iter().collect();
                        let symbol = |field: u32| match metadata[&field] {
                            WireValue::Varint(number) => symbols[number as usize].clone(),
                            other => panic!("{other:?}"),
                        };
                        series.description = Some((symbol(3), symbol(4)));
                    }
                    other => panic!("{other}"),
                }
            }
            series
        })
        .collect()
}
