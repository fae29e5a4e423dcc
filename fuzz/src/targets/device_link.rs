//! The line of a device without an operating system: any bytes, and any whole frames, with state from frame to frame. What a node at a DAC would get
//! adds up: each number arrives once, or is declared.
//!
//! The bytes are a stream. They are also parts: kind of a frame, its session (0: none, 1: the present one, 2: another), length of its body (two
//! bytes) and the body. Kind 255 lets as many milliseconds pass as the length says.

use oasis_channel::{InstanceState, Outcome};
use oasis_gateway::{
    frame::{Damage, Deframer, Frame},
    message::{FromDevice, parse},
    simulation::{
        Device, ForwardedCommand, LineStats, Missing, Moment, NewBatch, Session, Sessions, SharedDevices,
        Uplink,
    },
};
use oasis_probe::NodeError;
use oasis_wire::command::Command;
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Takes a stream and frames.
pub fn run(input: &[u8]) {
    assert_eq!(stream(input, input.len().max(1)), stream(input, 3), "pieces make no difference");
    batches(input);
}

/// Kind, session and body of a frame.
type DecodedFrame = Result<(u8, u32, Vec<u8>), Damage>;

fn stream(input: &[u8], piece: usize) -> Vec<DecodedFrame> {
    let (mut deframer, mut found) = (Deframer::default(), Vec::new());
    for piece in input.chunks(piece) {
        deframer.push(piece, |frame| {
            found.push(frame.map(|frame| (frame.kind, frame.session, frame.body.to_vec())));
        });
    }
    found
}

/// Takes frames. Returns how many batches went to the DAC.
pub fn batches(input: &[u8]) -> usize {
    let node = Node::default();
    let sessions = Arc::new(Mutex::new(Sessions::open(None)));
    let mut device =
        Device::new("device", Box::new(node.clone()), Arc::<SharedDevices>::default(), sessions, false);
    let (stats, mut out) = (LineStats::default(), Vec::new());
    let mut now = Moment { steady: Instant::now(), wall: 1 };
    let mut rest = input;
    while let Some((&[kind, session, low, high], after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high]));
        if kind == 255 {
            now.steady += Duration::from_millis(length as u64);
            device.tick(now, &mut out);
            rest = after;
            continue;
        }
        let (body, after) = after.split_at(length.min(after.len()));
        rest = after;
        let session = [0, device.session(), 7][usize::from(session % 3)];
        let frame = Frame { kind, number: 0, session, body };
        match parse(&frame) {
            Ok(FromDevice::Announce(announce)) => device.announce(announce, now, &stats, &mut out),
            Ok(message) => drop(device.receive(&frame, message, now, &stats, &mut out)),
            Err(_) => {}
        }
    }
    device.shutdown();
    node.0.lock().expect("no panic").batches
}

/// The node of the device, which checks what it gets.
#[derive(Clone, Default)]
struct Node(Arc<Mutex<Account>>);

#[derive(Default)]
struct Account {
    /// Last number of each instance that has arrived or is declared.
    last: Vec<u64>,
    batches: usize,
    commands: u64,
}

impl Uplink for Node {
    fn begin(&mut self, session: Session) -> Result<(), NodeError> {
        assert!(!session.instances.is_empty() && session.instances.len() <= 32);
        self.0.lock().expect("no panic").last = vec![0; session.instances.len()];
        Ok(())
    }

    fn push(&mut self, batch: NewBatch) {
        let mut account = self.0.lock().expect("no panic");
        let Missing { ring_full, network, .. } = batch.before;
        let last = &mut account.last[batch.instance];
        assert_eq!(batch.first_sequence, *last + ring_full + network + 1, "each number has its place");
        *last = batch.first_sequence + u64::from(batch.count) - 1;
        account.batches += 1;
    }

    fn taken(&mut self, _: usize, taken: u64, missing: Missing) {
        assert!(missing.ring_full.saturating_add(missing.network) <= taken, "more is missing than was taken");
        assert!(taken < u64::MAX / 2, "a number that no device reaches");
    }

    fn set_present(&mut self, _: bool) {}

    fn clock_offset(&self) -> Option<i64> {
        Some(-7)
    }

    fn next_command(&mut self) -> Option<ForwardedCommand> {
        let mut account = self.0.lock().expect("no panic");
        account.commands += 1;
        let command = match account.commands % 3 {
            0 => return None,
            1 => Command::SampleNow,
            _ => Command::Trigger,
        };
        Some(ForwardedCommand { id: account.commands, uuid: None, instance: 0, command })
    }

    fn answer(&mut self, _: ForwardedCommand, _: Outcome) {}

    fn state(&mut self, _: usize, _: InstanceState) {}

    fn is_idle(&self) -> bool {
        true
    }

    fn shutdown(&mut self) {}
}
