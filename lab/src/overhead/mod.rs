//! Cost of a message on its way: WebSocket frame, TCP, TLS record and HTTP; one message a frame against many in one, and the native batch beside them.
//!
//! [`model`] computes from the specifications, in the terms of Mueller 2014, section 1.2.4. [`capture`] reads the packets of a loopback connection, [`dissection`] names the fields of one, [`tls`]
//! runs two TLS endpoints, [`http()`] polls a DAC. The report shows computed and measured bytes side by side.

mod capture;
mod dissection;
mod http;
mod model;
mod packet;
mod samples;
mod tap;
mod tls;

pub use tap::{Tap, Traffic};

use crate::table::Table;
use capture::{Cost, Wire};
use clap::Args;
use http::Poll;
use model::{Direction, TIMESTAMPS, Tls};
use oasis_websocket::{Opcode, frame};
use tls::Session;

/// Payloads, in bytes: the paper's greeting and files, and both sides of each step of the header.
const PAYLOADS: [usize; 8] = [13, 81, 125, 126, 1_000, 65_535, 65_536, 500_000];
/// Messages that are sent one by one or together.
const COUNTS: [usize; 4] = [1, 10, 100, 1_000];
/// Bytes of each of them: the paper's smallest file.
const SMALL_MESSAGE_BYTES: usize = 81;

/// Bytes of the headers of a poll and its answer that the paper quotes.
const PAPER_POLL_BYTES: f64 = 871.0;

/// Bytes that a message costs on each layer, computed and captured. Capturing needs CAP_NET_RAW.
#[derive(Debug, Args)]
pub struct Overhead {}

impl Overhead {
    /// The sections of the report.
    pub fn run(&self) -> anyhow::Result<Vec<String>> {
        let mut wire =
            Wire::open().inspect_err(|error| eprintln!("{error:#}: the report has no captures")).ok();
        Ok(vec![
            frames(),
            dissected(wire.as_mut())?,
            layers(wire.as_mut())?,
            http(http::polls()?),
            batching(wire.as_mut())?,
            samples()?,
            quoted(),
        ])
    }
}

fn frames() -> String {
    let mut table = Table::new(["payload", "to server", "printed", "to client", "printed"]);
    for (class, payload) in [("0 to 125", 0), ("126 to 65,535", 126), ("65,536 and more", 65_536)] {
        let cells = [Direction::ToServer, Direction::ToClient]
            .map(|direction| [model::frame(payload, direction), model::frame_as_printed(payload, direction)]);
        let cells = cells.concat().into_iter().map(|bytes| bytes.to_string());
        table.row([class.to_owned()].into_iter().chain(cells).collect());
    }
    format!(
        "## WebSocket frame\n\nBytes before the payload, in one frame. \"Printed\" is figure 1.5 of the paper. For large frames it forgets two bytes: \
         RFC 6455 5.2 has a byte\nof flags, a byte with the number 127, eight bytes of length, and from a client four bytes of mask.\n\n{table}"
    )
}

/// A frame of the loopback interface, field by field.
fn dissected(wire: Option<&mut Wire>) -> anyhow::Result<String> {
    let mut frame = Vec::new();
    frame::write_message(Opcode::Binary, &dissection::packet(), &mut frame);
    let table = match wire {
        Some(wire) => dissection::dissect(&wire.frame_of(&frame)?)?,
        None => "Not captured: CAP_NET_RAW is missing.\n".into(),
    };
    Ok(format!(
        "## A captured frame\n\nThe frame of the thesis of 2012, appendix D, captured on the loopback interface. There it had 194 bytes: its TCP had no timestamps.\n\n{table}"
    ))
}

/// One message, layer by layer.
fn layers(mut wire: Option<&mut Wire>) -> anyhow::Result<String> {
    let (mut old, mut new) = (Session::new(Tls::V1_2)?, Session::new(Tls::V1_3)?);
    let mut table = Table::new([
        "payload",
        "direction",
        "frame",
        "TLS 1.2",
        "TLS 1.3",
        "segments",
        "their headers",
        "captured segments",
        "captured headers",
    ]);
    for payload in PAYLOADS {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let bytes = message(payload, direction);
            let headers = model::segments(bytes.len(), TIMESTAMPS);
            let each = model::segments(1, TIMESTAMPS);
            let captured = wire.as_mut().map(|wire| wire.send(std::slice::from_ref(&bytes))).transpose()?;
            let tls = [&mut old, &mut new].map(|session| Ok(session.write(&bytes)? - bytes.len()));
            let [old, new] = tls.map(|added: anyhow::Result<usize>| added.map(|bytes| bytes.to_string()));
            table.row(vec![
                payload.to_string(),
                named(direction).into(),
                (bytes.len() - payload).to_string(),
                old?,
                new?,
                (headers / each).to_string(),
                headers.to_string(),
                captured.map_or("–".into(), |cost| cost.segments.to_string()),
                captured.map_or("–".into(), |cost| with_ethernet(cost).to_string()),
            ]);
        }
    }
    Ok(format!(
        "## One message, layer by layer\n\nBytes that each layer adds to a message that is written at once. Frame: written by our codec. TLS: measured between \
         two endpoints of rustls,\nAES-GCM or ChaCha20. Segments: computed for Ethernet (1,500 bytes) with the TCP timestamps that Linux sends; captured: on the loopback \
         interface, which\ncarries up to 65,536 bytes a packet. Headers: Ethernet, IP and TCP.\n\n{table}"
    ))
}

fn http([script, browser]: [Poll; 2]) -> String {
    let mut table = Table::new(["client", "request", "head of the answer", "both"]);
    for (client, Poll { request, head }) in [("script", script), ("browser", browser)] {
        let cells = [request, head, request + head].map(|bytes| bytes.to_string());
        table.row([client.to_owned()].into_iter().chain(cells).collect());
    }
    let both = browser.request + browser.head;
    format!(
        "## HTTP\n\nBytes of one poll of a DAC besides the samples. The paper quotes {PAPER_POLL_BYTES} bytes and more for both; a browser's poll has {:.2} times as\n\
         many. A script sends only the headers that HTTP/1.1 asks for. A browser sends those of `fetch` in Chromium. Most of an answer's head restricts\n\
         what a page may do with it, as [ASVS](asvs.md) asks.\n\n{table}",
        both as f64 / PAPER_POLL_BYTES
    )
}

/// Small messages, one in each frame or all in one.
fn batching(mut wire: Option<&mut Wire>) -> anyhow::Result<String> {
    let mut table =
        Table::new(["messages", "frames", "plain", "TLS 1.3", "captured, plain", "bytes a message, plain"]);
    for count in COUNTS {
        let one_by_one = vec![message(SMALL_MESSAGE_BYTES, Direction::ToClient); count];
        let together = vec![message(count * SMALL_MESSAGE_BYTES, Direction::ToClient)];
        let ways: [(&str, Model, _); 2] =
            [("one each", model::one_by_one, one_by_one), ("one for all", model::in_one_frame, together)];
        for (frames, computed, writes) in ways {
            let bytes = |tls| computed(count, SMALL_MESSAGE_BYTES, Direction::ToClient, tls, TIMESTAMPS);
            let captured = wire.as_mut().map(|wire| wire.send(&writes)).transpose()?;
            table.row(vec![
                count.to_string(),
                frames.into(),
                bytes(None).to_string(),
                bytes(Some(Tls::V1_3)).to_string(),
                captured.map_or("–".into(), |cost| (cost.payload + with_ethernet(cost)).to_string()),
                format!("{:.1}", bytes(None) as f64 / count as f64),
            ]);
        }
    }
    Ok(format!(
        "## Many messages in one frame\n\nBytes on the wire of messages of {SMALL_MESSAGE_BYTES} bytes to a client: each written by itself, or all in one frame. Computed for Ethernet; \
         the capture is of the\nloopback interface, where a large write needs fewer segments.\n\n{table}"
    ))
}

/// Function that computes the bytes of many messages.
type Model = fn(usize, usize, Direction, Option<Tls>, usize) -> usize;

/// Samples as packets and as native batches.
fn samples() -> anyhow::Result<String> {
    let mut table = Table::new([
        "samples",
        "EISA, a frame each",
        "EISA, one frame",
        "native batch",
        "bytes a sample, EISA",
        "bytes a sample, native",
    ]);
    for count in COUNTS {
        let on_wire =
            |messages, payload| model::one_by_one(messages, payload, Direction::ToClient, None, TIMESTAMPS);
        let single = on_wire(count, samples::packets(1));
        let native = on_wire(1, samples::native_batch(count)?);
        let each = |bytes: usize| format!("{:.1}", bytes as f64 / count as f64);
        table.row(vec![
            count.to_string(),
            single.to_string(),
            on_wire(1, samples::packets(count)).to_string(),
            native.to_string(),
            each(single),
            each(native),
        ]);
    }
    Ok(format!(
        "## Samples\n\nBytes on the wire of `/proc/stat` of a machine at work, a thousand times a second: seven 64-bit counters a sample. Computed for Ethernet without TLS:\n\
         EISA packets of 136 bytes as in 2012, one a frame or all in one, and the same samples in one [native batch](../reference/native-batch.md), which is what\nOASIS sends.\n\n{table}"
    ))
}

/// The captures that the paper quotes.
fn quoted() -> String {
    let answered = 8 * message(13, Direction::ToClient).len();
    let records = 8 * Tls::V1_2.of_record();
    let browser = |tls| model::one_by_one(8, 13, Direction::ToServer, tls, 0);
    let rows = [
        ("Chrome 34, 8 segments, plain", 584, browser(None)),
        ("Chrome 34, 8 segments, TLS 1.2", 816, browser(Some(Tls::V1_2))),
        ("Autobahn's answer, 1 segment, plain", 174, answered + model::segments(answered, 0)),
        (
            "Autobahn's answer, 1 segment, TLS 1.2",
            406,
            answered + records + model::segments(answered + records, 0),
        ),
    ];
    let mut table = Table::new(["capture", "paper", "computed"]);
    for (capture, paper, computed) in rows {
        table.row(vec![capture.into(), paper.to_string(), computed.to_string()]);
    }
    format!(
        "## The captures of the paper\n\nFigures 1.6 and 1.7: bytes on the wire of eight messages of 13 bytes. The same formulas, without TCP timestamps, give the \
         paper's numbers.\n\n{table}"
    )
}

fn message(payload: usize, direction: Direction) -> Vec<u8> {
    let (bytes, mut out) = (vec![b'x'; payload], Vec::new());
    match direction {
        Direction::ToServer => frame::write_masked(Opcode::Binary, &bytes, [1, 2, 3, 4], &mut out),
        Direction::ToClient => frame::write_message(Opcode::Binary, &bytes, &mut out),
    }
    out
}

fn named(direction: Direction) -> &'static str {
    match direction {
        Direction::ToServer => "to server",
        Direction::ToClient => "to client",
    }
}

fn with_ethernet(cost: Cost) -> usize {
    cost.headers + cost.segments * model::ETHERNET
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, fs, path::Path};

    const PAGE: &str = "../docs/evidence/overhead.md";
    const HOW: &str = "make overhead writes the page again";

    fn page() -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).expect("the page")
    }

    /// The rows of all tables of a section, cells without padding.
    fn rows(section: &str) -> Vec<Vec<&str>> {
        let lines = section.lines().filter(|line| line.starts_with('|'));
        lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
    }

    #[test]
    fn the_page_has_what_is_computed_and_what_a_poll_costs_today() {
        let page = page();
        let sections = [frames(), http(http::polls().expect("polls")), samples().expect("samples"), quoted()];
        for section in sections {
            assert!(page.contains(section.trim()), "{HOW}, which has not:\n{section}");
        }
    }

    /// Captures differ between machines: cells that this run does not have are not compared.
    #[test]
    fn the_page_has_the_layers_and_batches_of_today() {
        let page = page();
        let sections: BTreeMap<&str, &str> =
            page.split("\n## ").filter_map(|section| section.split_once('\n')).collect();
        for section in [layers(None).expect("layers"), batching(None).expect("batches")] {
            let (title, fresh) = section.trim_start_matches("## ").split_once('\n').expect("a title");
            let (written, fresh) = (rows(sections.get(title).expect("the section")), rows(fresh));
            assert_eq!(written.len(), fresh.len(), "{title}: {HOW}");
            for (written, fresh) in written.iter().zip(&fresh).filter(|(_, fresh)| !fresh[0].starts_with('-'))
            {
                let cells = written.iter().zip(fresh).filter(|(_, fresh)| **fresh != "–");
                let differ: Vec<_> = cells.filter(|(written, fresh)| written != fresh).collect();
                assert!(differ.is_empty(), "{title}, {fresh:?}: {differ:?}: {HOW}");
            }
        }
    }

    #[test]
    fn the_page_has_the_dissection_of_a_frame() {
        let page = page();
        match Wire::open() {
            Ok(mut wire) => {
                let section = dissected(Some(&mut wire)).expect("a dissection");
                assert!(page.contains(section.trim()), "{HOW}, which has not:\n{section}");
            }
            // Without captures the page is compared on other machines.
            Err(_) => assert!(page.contains("| EISA: metrics"), "{HOW}"),
        }
    }
}
