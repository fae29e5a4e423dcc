//! Maintenance of the archive's thread between rounds: ends and lists files, evicts old ones, records nodes and commands.

use super::{Writer, lanes::Lane};
use oasis_dac::{Gap, Node, commands::JournalEntry};
use oasis_store::{
    catalogue::{CatalogueError, CommandRow, LossRow, SealedFile},
    reserve,
    segment_file::SegmentFile,
};
use oasis_wire::stored::StoredNode;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::Instant;

/// Commands listed between two checks of their number.
const TIDY_COMMANDS: u64 = 1_000;
/// Interval at which the times of the nodes' last messages are recorded, besides when nodes connect or leave and at the
/// end.
const LAST_SEEN_INTERVAL: Duration = Duration::from_secs(60);

/// A file that is full and not listed yet.
#[derive(Debug)]
pub struct FullFile {
    /// Its retention rule.
    pub rule: usize,
    /// The file to seal.
    pub file: SegmentFile,
    /// Its size, once it is sealed.
    pub bytes: Option<u64>,
}

/// The last problem logged of an operation that is retried each second. Repeating it would fill a disk that stays full.
#[derive(Debug, Default)]
pub struct LastProblem(Option<String>);

impl LastProblem {
    /// Records a problem. Returns whether it differs from the last one.
    fn is_new(&mut self, problem: String) -> bool {
        self.0.replace(problem.clone()) != Some(problem)
    }
}

impl Writer {
    /// Ends the file of a lane if it is full or old.
    pub fn rotate(&mut self, lane: Lane) {
        let age = Duration::from_secs(self.config.segment_seconds);
        let is_over =
            |file: &mut SegmentFile| file.length() >= self.config.segment_bytes || file.age() >= age;
        if let Some(file) = self.files[lane.slot()].take_if(is_over) {
            self.unsealed.push_back(FullFile { rule: lane.rule, file, bytes: None });
            self.retaining.full.insert(lane.rule);
            self.seal();
            self.divide();
        }
    }

    /// Seals and lists what waits for it.
    fn seal(&mut self) {
        while let Some(mut next) = self.unsealed.pop_front() {
            if !next.file.is_named() {
                tracing::error!(file = %next.file.path().display(), "a segment file was removed while it was written: its samples are lost");
                self.store.remove_open(next.file.open.header.number);
                continue;
            }
            if let Err(error) = self.seal_one(&mut next) {
                let path = next.file.path().display().to_string();
                if self.sealing.is_new(format!("{path}: {error}")) {
                    tracing::warn!(file = path, %error, "sealing a segment file is tried again");
                }
                self.unsealed.push_front(next);
                return;
            }
            self.sealing = LastProblem::default();
        }
    }

    fn seal_one(&mut self, unsealed: &mut FullFile) -> Result<(), Box<dyn std::error::Error>> {
        let bytes = match unsealed.bytes {
            Some(bytes) => bytes,
            None => unsealed.file.seal()?,
        };
        unsealed.bytes = Some(bytes);
        let open = unsealed.file.open.clone();
        let index = open.index();
        let sealed = self.store.clock.expected();
        self.store.add_sealed(&SealedFile {
            number: open.header.number,
            rule: &self.config.retention[unsealed.rule].instances,
            created: open.header.created,
            sealed,
            bytes,
            index: &index,
            window: self.store.limits.around(open.header.created, sealed),
        })?;
        drop(index);
        self.retaining.note_sealed(
            &self.store,
            &self.config.retention[unsealed.rule].instances,
            open.header.number,
        );
        Ok(())
    }

    /// Ends and seals the files of the chosen lanes.
    pub(super) fn end_files(&mut self, is_chosen: impl Fn(Lane) -> bool) {
        for lane in Lane::all(self.config.retention.len()).filter(|lane| is_chosen(*lane)) {
            if let Some(file) = self.files[lane.slot()].take() {
                self.unsealed.push_back(FullFile { rule: lane.rule, file, bytes: None });
            }
        }
        self.seal();
    }

    pub fn maintain(&mut self) {
        for lane in Lane::all(self.config.retention.len()) {
            self.rotate(lane);
        }
        self.seal();
        reserve::keep(&self.store.directory, &self.config);
        match self
            .retain()
            .and_then(|()| Ok(self.store.record_trusted_time()?))
            .and_then(|()| self.list_others())
        {
            Ok(()) => self.listing = LastProblem::default(),
            Err(error) if self.listing.is_new(error.to_string()) => {
                tracing::warn!(%error, "the archive's catalogue is not up to date");
            }
            Err(_) => {}
        }
    }

    /// Nodes, and commands that have ended.
    fn list_others(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let listed = self.commands_listed;
        let journal = self.dac.commands.journal();
        // Up to the first that is under way: it ends within seconds, and is then listed with what follows.
        let new = journal.into_iter().skip_while(|entry| entry.id <= listed);
        let ended: Vec<_> = new.take_while(|entry| entry.outcome != "pending").collect();
        let mut catalogue = self.store.catalogue();
        if self.nodes_listed.is_none_or(|at| at.elapsed() >= LAST_SEEN_INTERVAL) {
            catalogue.add_nodes(&self.nodes_with_instances())?;
            self.nodes_listed = Some(Instant::now());
        }
        if let Some(last) = ended.last() {
            let rows: Vec<_> = ended.iter().map(command_row).collect();
            catalogue.add_commands(self.dac.epoch(), &rows)?;
            // The journal keeps 1,000 commands: commands that it evicted before they were listed are lost.
            let missed = ended.first().map_or(0, |first| first.id.saturating_sub(listed + 1));
            self.store.counters.lock().commands_forgotten += missed;
            self.commands_listed = last.id;
            if listed == 0 || listed / TIDY_COMMANDS != last.id / TIDY_COMMANDS {
                let forgotten = catalogue.forget_commands()?;
                self.store.counters.lock().commands_forgotten += forgotten;
            }
        }
        drop(catalogue);
        Ok(self.list_losses()?)
    }

    /// Returns the nodes that have instances. The others would only fill the catalogue, which keeps every node.
    fn nodes_with_instances(&self) -> Vec<StoredNode> {
        let names: BTreeSet<_> = self.tracked.iter().map(|tracked| &tracked.instance.node).collect();
        let nodes = names.into_iter().filter_map(|name| self.dac.registry.node(name));
        // Remembered nodes are already in the catalogue.
        nodes.filter(|node| !node.is_remembered).map(|node| node_row(&node)).collect()
    }

    /// Lists losses before the archive, from the ledgers: the files contain only their sequence numbers.
    pub(super) fn list_losses(&mut self) -> Result<(), CatalogueError> {
        let all: Vec<_> = (0..self.tracked.len()).collect();
        self.list_losses_of(&all)
    }

    /// Does the same for some topics, by index.
    pub(super) fn list_losses_of(&mut self, which: &[usize]) -> Result<(), CatalogueError> {
        let mut losses = Vec::new();
        let mut forgotten = 0;
        let mut reported = Vec::with_capacity(which.len());
        for &at in which {
            self.retract_losses_of(at)?;
            let tracked = &self.tracked[at];
            let instance = &tracked.instance;
            let ledger = instance.ledger();
            let gaps = ledger.gaps_forgotten + ledger.gaps.len() as u64;
            let new = usize::try_from(gaps - tracked.losses_listed).unwrap_or(usize::MAX);
            let listed = ledger.gaps.len().saturating_sub(new);
            // Gaps that a ledger evicted before they were listed are lost.
            forgotten += new.saturating_sub(ledger.gaps.len()) as u64;
            let loss = |gap: &Gap| (instance.node.clone(), instance.name.clone(), gap.clone());
            losses.extend(ledger.gaps.range(listed..).map(loss));
            reported.push((at, gaps, ledger.run(), ledger.last_sequence));
        }
        if !losses.is_empty() {
            let rows = losses.iter().map(|(node, instance, gap)| LossRow {
                node,
                instance,
                run: gap.run,
                numbers: gap.from_sequence..=gap.to_sequence,
                cause: gap.cause,
                time: gap.time,
            });
            forgotten += self.store.catalogue().add_losses(rows)?;
        }
        self.store.counters.lock().losses_forgotten += forgotten;
        for (at, gaps, run, last) in reported {
            let tracked = &mut self.tracked[at];
            tracked.losses_listed = gaps;
            tracked.instance.ledger().note_listed(run, last);
        }
        Ok(())
    }

    /// Lists who owns the present runs of some topics' nodes, if that has not been done: without, a DAC that starts again would believe the
    /// first peer that claims such a run.
    pub(super) fn list_owners_of(&mut self, which: &[usize]) -> Result<(), CatalogueError> {
        let mut nodes = BTreeMap::new();
        let mut runs = Vec::new();
        for &at in which {
            let tracked = &self.tracked[at];
            let run = tracked.instance.ledger().run();
            if tracked.owner_listed != run {
                runs.push((at, run));
                let name = &tracked.instance.node;
                nodes.entry(name.clone()).or_insert_with(|| self.dac.registry.node(name));
            }
        }
        if !runs.is_empty() {
            let rows: Vec<_> = nodes.values().flatten().map(node_row).collect();
            self.store.catalogue().add_nodes(&rows)?;
        }
        for (at, run) in runs {
            self.tracked[at].owner_listed = run;
        }
        Ok(())
    }

    /// Removes the causes of samples that came after all: their run had ended and continued, or an earlier run of the DAC could not store
    /// them and the node has kept them.
    fn retract_losses_of(&self, at: usize) -> Result<(), CatalogueError> {
        let instance = &self.tracked[at].instance;
        let names = (&*instance.node, &*instance.name);
        let all = instance.ledger().came_after_all();
        for came in all {
            let mut catalogue = self.store.catalogue();
            let are_left = catalogue.retract_losses(names, came.run, &came.numbers, came.last_sequence)?;
            drop(catalogue);
            instance.ledger().note_retracted(&came, are_left);
        }
        Ok(())
    }

    pub fn end(&mut self) {
        self.end_files(|_| true);
        self.nodes_listed = None;
        if let Err(error) = self.list_others().and_then(|()| Ok(self.list_unstored()?)) {
            tracing::warn!(%error, "the archive's catalogue is not up to date");
        }
    }
}

fn node_row(node: &Node) -> StoredNode {
    let identity = &node.identity;
    StoredNode {
        name: identity.name.clone(),
        uuid: identity.uuid,
        host: identity.host.clone(),
        software: identity.software.clone(),
        last_seen: node.last_heard,
        run: Some(identity.run),
        owner: node.owner,
        former: node.former_runs().collect(),
    }
}

fn command_row(entry: &JournalEntry) -> CommandRow<'_> {
    CommandRow {
        id: entry.id,
        time: entry.time,
        who: &entry.who,
        node: &entry.node,
        instance: &entry.instance,
        command: serde_json::to_string(&entry.command).unwrap_or_default(),
        outcome: &entry.outcome,
    }
}
