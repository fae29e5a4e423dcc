//! Descriptions of channels count once towards the bounds.

use mcap::{Writer, records::MessageHeader};
use serde_json::json;
use std::{collections::BTreeMap, convert::Infallible, io::Cursor};

#[test]
fn metrics_of_a_channel_count_once_however_many_messages_are_skipped() {
    let metrics: Vec<_> =
        (0..1_000).map(|number| json!({"name": format!("m{number}"), "type": "uint8"})).collect();
    let id = "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e31";
    let schema = json!({"name": "Wide", "uuid": id, "version": "1.0", "metrics": metrics}).to_string();
    let about = [
        ("node", "plant"),
        ("instance", "wide"),
        ("kind", "pushed"),
        ("run", id),
        ("first_sequence", "1"),
        ("schema", &schema),
    ];
    let about: BTreeMap<_, _> = about.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file).unwrap();
    let channel_id = writer.add_channel(0, "plant/wide", "json", &about).unwrap();
    for log_time in 0..1_100 {
        let header = MessageHeader { channel_id, sequence: 1, log_time, publish_time: log_time };
        writer.write_to_known_channel(&header, b"{").unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let left_out = oasis_format::mcap::read(Cursor::new(file.into_inner()), |_, _| Ok::<_, Infallible>(()))
        .unwrap()
        .left_out;
    assert_eq!(left_out.iter().map(|channel| channel.messages).collect::<Vec<_>>(), [1_100]);
}
