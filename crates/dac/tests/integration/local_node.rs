//! Nodes of the DAC's own process beside those that are connected.

use oasis_channel::{Failure, NodeIdentity, NodeMessage, PROTOCOL, frame::Frame};
use oasis_dac::{
    Config, Dac, Moment,
    session::{LocalIdentity, LocalNode, NodeSession},
};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Connects `pump` as a program does.
fn connect(dac: &Arc<Dac>) -> Result<NodeSession, Failure> {
    let mut session = NodeSession::new(dac.clone(), mpsc::channel(1).0);
    let node = NodeIdentity {
        name: "pump".into(),
        uuid: Uuid::from_u128(1),
        run: Uuid::from_u128(2),
        host: "host".into(),
        software: "test".into(),
        pid: 1,
    };
    let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false };
    let json = serde_json::to_vec(&hello).unwrap();
    session.handle(Frame::Control(&json), Moment::now(), &mut Vec::new())?;
    Ok(session)
}

/// Connects `pump` as a source does.
fn connect_local(dac: &Arc<Dac>) -> Result<LocalNode, Failure> {
    let identity =
        LocalIdentity { name: "pump", uuid: Uuid::from_u128(3), software: "a source", refusal: "no probe" };
    LocalNode::connect(dac.clone(), identity)
}

#[test]
fn a_source_does_not_get_the_name_of_a_connected_node() {
    let dac = Dac::new(Config::default());
    let _connected = connect(&dac).unwrap();
    let refused = connect_local(&dac).unwrap_err();
    assert_eq!(refused.code, "name_taken", "{}", refused.message);
    assert_eq!(&*dac.registry.nodes()[0].identity.host, "host");
}

#[test]
fn a_node_does_not_get_the_name_of_a_source() {
    let dac = Dac::new(Config::default());
    let source = connect_local(&dac).unwrap();
    let refused = connect(&dac).unwrap_err();
    assert_eq!(refused.code, "name_taken", "{}", refused.message);
    assert!(refused.message.contains("a source or a rule of the DAC"), "{}", refused.message);
    drop(source);
    assert!(connect(&dac).is_ok(), "the name is free once the source has left");
}
