//! One node, played back: its instances' recordings, and its connection.

use super::{
    link::Link,
    track::{NOT_RECORDED, Recorded, Track},
};
use anyhow::Context;
use oasis_archive::{Missing, Series};
use oasis_channel::{InstanceState, NodeIdentity, RegisteredInstance};
use oasis_dac::Cause;
use oasis_wire::{
    batch::{Encoder, Fields},
    quantity::TopicId,
    schema::ProbeType,
};
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// Samples of an instance sent at a time; others, and Ctrl-C, wait no longer than that takes.
const TURN: usize = 1_000;
/// Bytes of a batch, about.
const BATCH: usize = 64 * 1024;

/// What a node is called when it is played back.
pub fn replayed_name(node: &str) -> String {
    format!("{PREFIX}{node}")
}

/// Whether this is a node that was played back.
pub fn is_replay(node: &str) -> bool {
    node.starts_with(PREFIX)
}

/// No slash: `NODE/INSTANCE` ends a node's name at the first.
const PREFIX: &str = "replay:";

/// What was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// Samples.
    pub samples: u64,
    /// Samples told missing.
    pub missing: u64,
}

/// A node.
pub struct Stage {
    dac: String,
    identity: NodeIdentity,
    players: Vec<Player>,
    link: Option<Link>,
    /// The recorded run that is played.
    run: Option<Uuid>,
    /// Types that the DAC has been told on this connection.
    types: HashMap<Uuid, Arc<ProbeType>>,
    /// All that was sent.
    pub sent: Sent,
}

/// An instance.
struct Player {
    track: Track,
    /// Once the DAC knows it in this run.
    on_air: Option<OnAir>,
}

struct OnAir {
    topic: TopicId,
    probe_type: Arc<ProbeType>,
    encoder: Encoder,
    /// Of the first sample held.
    first_sequence: u64,
    state: u16,
}

impl Player {
    /// The recorded run of the next sample.
    fn run(&self) -> Option<Uuid> {
        self.track.peek().map(|next| next.series.run)
    }

    fn time(&self) -> Option<u64> {
        self.track.peek().map(|next| next.time)
    }
}

impl Stage {
    /// The node of these recordings.
    pub fn new(dac: &str, node: &str, tracks: Vec<Track>) -> Self {
        let host = oasis_probe::host_name();
        let name = replayed_name(node);
        let identity = NodeIdentity {
            uuid: Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("oasis replay {host}/{name}").as_bytes()),
            run: Uuid::new_v4(),
            name,
            host,
            software: oasis_dac::SOFTWARE.into(),
            pid: std::process::id(),
        };
        let players = tracks.into_iter().map(|track| Player { track, on_air: None }).collect();
        let (types, sent) = (HashMap::new(), Sent::default());
        Self { dac: dac.into(), identity, players, link: None, run: None, types, sent }
    }

    /// Time of the sample that comes next, on the recorded node's clock; none at the end.
    pub fn next_time(&self) -> Option<u64> {
        let of_run = |player: &&Player| self.run.is_some() && player.run() == self.run;
        // All of a run before the next one begins, whatever a clock that was set back says.
        let now = self.players.iter().filter(of_run).filter_map(Player::time).min();
        now.or_else(|| self.players.iter().filter_map(Player::time).min())
    }

    /// Begins again.
    pub fn rewind(&mut self) -> anyhow::Result<()> {
        self.end("again")?;
        self.players.iter_mut().try_for_each(|player| player.track.rewind())
    }

    /// Sends what is due, each sample with the time that `live` makes of its own, but not more than a turn's worth. Whether that was all.
    pub fn play(&mut self, is_due: impl Fn(u64) -> bool, live: impl Fn(u64) -> u64) -> anyhow::Result<bool> {
        let is_over = self.run.is_none() || self.players.iter().all(|player| player.run() != self.run);
        if is_over && self.next_time().is_some_and(&is_due) {
            self.begin_run()?;
        }
        let mut is_all = true;
        for at in 0..self.players.len() {
            is_all &= self.play_turn(at, &is_due, &live)?;
            self.flush(at)?;
        }
        if let Some(link) = &mut self.link {
            link.tend()?;
        }
        Ok(is_all)
    }

    /// Says goodbye, once the DAC has all that was sent.
    pub fn end(&mut self, reason: &str) -> anyhow::Result<()> {
        for at in 0..self.players.len() {
            self.flush(at)?;
            // What was lost at the end of a run is known with the first sample of the next one, or when the recording is over.
            if let Some(run) = self.run.filter(|run| self.players[at].run() != Some(*run)) {
                let missing = self.players[at].track.behind().to_vec();
                self.tell(at, &missing, run)?;
            }
        }
        self.players.iter_mut().for_each(|player| player.on_air = None);
        self.types.clear();
        self.run = None;
        self.link.take().map_or(Ok(()), |link| link.leave(reason))
    }

    fn play_turn(
        &mut self,
        at: usize,
        is_due: impl Fn(u64) -> bool,
        live: impl Fn(u64) -> u64,
    ) -> anyhow::Result<bool> {
        for _ in 0..TURN {
            let player = &mut self.players[at];
            if player.run() != self.run || !player.time().is_some_and(&is_due) {
                return Ok(true);
            }
            let Some(next) = player.track.take()? else { return Ok(true) };
            if player.on_air.as_ref().is_none_or(|on_air| on_air.probe_type != next.series.probe_type) {
                self.flush(at)?;
                self.announce(at, &next.series)?;
            }
            if !next.missing.is_empty() {
                self.flush(at)?;
                self.tell(at, &next.missing, next.series.run)?;
            }
            if self.players[at].on_air.as_ref().is_some_and(|on_air| on_air.is_full(&next)) {
                self.flush(at)?;
            }
            let on_air = self.players[at].on_air.as_mut().context("the DAC gave no topic")?;
            on_air.push(&next, live(next.time))?;
            self.sent.samples += 1;
        }
        Ok(false)
    }

    /// Tells what of a run is missing.
    fn tell(&mut self, at: usize, missing: &[Missing], run: Uuid) -> anyhow::Result<()> {
        let (Some(link), Some(on_air)) = (&mut self.link, &self.players[at].on_air) else { return Ok(()) };
        for Missing { count, cause, .. } in missing.iter().filter(|missing| missing.run == run) {
            // What only an archive can lack, a DAC's ledger calls by one word.
            let cause = Cause::from_word(cause).map_or(NOT_RECORDED, Cause::word);
            link.missing(on_air.topic, *count, cause)?;
            self.sent.missing += count;
        }
        Ok(())
    }

    fn flush(&mut self, at: usize) -> anyhow::Result<()> {
        let (Some(link), Some(on_air)) = (&mut self.link, &mut self.players[at].on_air) else {
            return Ok(());
        };
        on_air.batch().map_or(Ok(()), |batch| link.send(&batch))
    }

    /// Connects anew as the run that the earliest sample is of: sequence numbers count in runs.
    fn begin_run(&mut self) -> anyhow::Result<()> {
        let next = self.players.iter().filter_map(|player| player.track.peek());
        let Some(run) = next.min_by_key(|next| next.time).map(|next| next.series.run) else { return Ok(()) };
        self.end("next run")?;
        self.run = Some(run);
        self.identity.run = Uuid::new_v4();
        self.link = Some(Link::connect(&self.dac, &self.identity)?);
        for at in 0..self.players.len() {
            let next = self.players[at].track.peek().filter(|next| next.series.run == run);
            if let Some(series) = next.map(|next| next.series.clone()) {
                self.announce(at, &series)?;
            }
        }
        Ok(())
    }

    /// Registers an instance with its type.
    fn announce(&mut self, at: usize, series: &Series) -> anyhow::Result<()> {
        let link = self.link.as_mut().context("there is no connection")?;
        let probe_type = series.probe_type.clone();
        let known = self.types.insert(probe_type.uuid, probe_type.clone());
        let types =
            if known.is_some_and(|known| known == probe_type) { vec![] } else { vec![(*probe_type).clone()] };
        let instance = RegisteredInstance {
            name: series.instance.as_ref().into(),
            probe_type: probe_type.uuid,
            kind: series.kind,
            demand: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let topics = link.register(types, vec![instance])?;
        let topic = topics.first().context("the DAC gave no topic")?.topic;
        let encoder = Encoder::new(&probe_type)?;
        self.players[at].on_air = Some(OnAir { topic, probe_type, encoder, first_sequence: 0, state: 0 });
        Ok(())
    }
}

impl OnAir {
    /// Whether what is held has to go before this sample.
    fn is_full(&self, next: &Recorded) -> bool {
        !self.encoder.is_empty()
            && (self.state != next.state || self.encoder.bytes_held() + next.row.len() > BATCH)
    }

    fn push(&mut self, next: &Recorded, time: u64) -> anyhow::Result<()> {
        if self.encoder.is_empty() {
            (self.first_sequence, self.state) = (next.sequence, next.state);
        }
        Ok(self.encoder.push(time, &next.row)?)
    }

    /// What is held, as a batch.
    fn batch(&mut self) -> Option<Vec<u8>> {
        if self.encoder.is_empty() {
            return None;
        }
        let fields = Fields {
            topic: self.topic.0,
            state: self.state,
            first_sequence: self.first_sequence,
            node_time: oasis_probe::now_ns(),
            dropped_before: 0,
        };
        let mut batch = Vec::new();
        self.encoder.finish(fields, &mut batch);
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replayed_node_is_told_from_a_recorded_one_and_has_no_slash_of_its_own() {
        assert!(is_replay(&replayed_name("plant")) && !is_replay("plant"));
        let target: crate::target::Target = format!("{}/a/b", replayed_name("plant")).parse().unwrap();
        assert_eq!((&*target.node, &*target.instance), ("replay:plant", "a/b"));
    }
}
