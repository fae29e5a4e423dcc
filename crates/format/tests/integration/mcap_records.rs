//! Records of MCAP besides messages, and channels that contradict each other.

use mcap::{Attachment, Writer, records::Metadata};
use oasis_format::mcap::read;
use std::{borrow::Cow, collections::BTreeMap, convert::Infallible, io::Cursor};

#[test]
fn attachments_and_metadata_are_reported() {
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file).unwrap();
    let data = Cow::Borrowed(&b"picture"[..]);
    let attachment = Attachment {
        log_time: 1,
        create_time: 1,
        name: "a.png".into(),
        media_type: "image/png".into(),
        data,
    };
    writer.attach(&attachment).unwrap();
    writer.write_metadata(&Metadata { name: "about".into(), metadata: BTreeMap::new() }).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let report = read(Cursor::new(file.into_inner()), |_, _| Ok::<_, Infallible>(())).unwrap().into_report();
    let texts: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "not imported: 1 attachments, which have no samples",
            "not imported: 1 records of metadata, which have no samples"
        ]
    );
    assert!(report.is_complete());
}

#[test]
fn a_channel_with_two_topics_is_refused() {
    let record = |kind: u8, body: Vec<u8>| [&[kind][..], &(body.len() as u64).to_le_bytes(), &body].concat();
    let text = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let channel = |topic: &str| record(4, [vec![0; 4], text(topic), text("json"), vec![0; 4]].concat());
    let magic = b"\x89MCAP0\r\n".to_vec();
    let file = [
        magic.clone(),
        record(1, [text(""), text("")].concat()),
        channel("/imu"),
        channel("/gps"),
        record(15, vec![0; 4]),
        record(2, vec![0; 20]),
        magic,
    ]
    .concat();
    let error = read(Cursor::new(file), |_, _| Ok::<_, Infallible>(())).unwrap_err().to_string();
    assert!(error.contains("channel 0"), "{error}");
}
