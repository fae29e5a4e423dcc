//! The state of a group in a form to keep.

use super::{
    Group, PendingSample, Times,
    clock::{Clock, Timeline},
    other::{FeedState, Other},
    queue::{Queue, Sample},
};
use crate::{
    evaluate::{
        instance::{SavedState, State, open, restore_memories, seal},
        window::{Memory, SavedMemory},
    },
    program::{Feed, Program},
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct SavedGroup {
    /// The columns of the values of its samples: another file can have them in another order.
    columns: Vec<String>,
    pending: Vec<PendingSample>,
    others: Vec<SavedOther>,
    clocks: Vec<Clock>,
    timeline: Timeline,
    dac_time: u64,
    last_time: Option<u64>,
    evaluated: Times,
    states: Vec<SavedState>,
}

#[derive(Serialize, Deserialize)]
struct SavedOther {
    columns: Vec<String>,
    feeds: Vec<(Vec<SavedMemory>, f64)>,
    queue: Vec<Sample>,
    taken: Option<u64>,
    newest: Option<u64>,
    timeline: Timeline,
    is_lost: bool,
}

impl Group {
    /// Its state, with that of the rules that read what it derives.
    pub fn save(&self, program: &Program) -> Option<SavedState> {
        let rule = program.rules.get(self.rule)?;
        let state = |(at, state): &(usize, State)| {
            let (rule, fingerprint) = (program.rules.get(*at)?.name.clone(), program.fingerprint(*at)?);
            Some(SavedState { rule, fingerprint, state: state.save()? })
        };
        let kept = SavedGroup {
            columns: columns(program, rule.input),
            pending: self.pending.iter().cloned().collect(),
            others: self.others.iter().map(|other| other.save(program)).collect(),
            clocks: self.clocks.clone(),
            timeline: self.timeline,
            dac_time: self.dac_time,
            last_time: self.last_time,
            evaluated: self.evaluated,
            states: self.states.iter().filter_map(state).collect(),
        };
        let (rule, fingerprint) = (rule.name.clone(), program.fingerprint(self.rule)?);
        Some(SavedState { rule, fingerprint, state: seal(&kept)? })
    }

    /// Takes a state that belongs to its rule. Returns the numbers of the other rules of the group, which begin anew; `None` if the state is damaged or of another
    /// rule, and it begins anew as a whole.
    pub fn restore(&mut self, program: &Program, saved: &SavedState) -> Option<Vec<usize>> {
        let rule = program.rules.get(self.rule)?;
        if saved.rule != rule.name || saved.fingerprint != program.fingerprint(self.rule)? {
            return None;
        }
        let kept: SavedGroup = open(&saved.state)?;
        let order = ColumnOrder::new(&kept.columns, &columns(program, rule.input));
        let reordered =
            kept.pending.into_iter().map(|asked| PendingSample { sample: order.of(&asked.sample), ..asked });
        let pending = Queue::new(order.0.len()).filled(reordered.collect())?;
        if kept.others.len() != self.others.len() || kept.clocks.len() != self.clocks.len() {
            return None;
        }
        let others = self.others.iter().zip(kept.others);
        let others = others.map(|(other, kept)| kept.restore(program, other, &rule.feeds));
        let others = others.collect::<Option<Vec<_>>>()?;
        let mut anew = Vec::new();
        for (at, state) in &mut self.states {
            let restored = program.rules.get(*at).and_then(|rule| {
                let fingerprint = program.fingerprint(*at)?;
                let of_rule =
                    |saved: &&SavedState| saved.rule == rule.name && saved.fingerprint == fingerprint;
                State::restore(rule, &kept.states.iter().find(of_rule)?.state)
            });
            match restored {
                Some(restored) => *state = restored,
                None => anew.push(*at),
            }
        }
        (self.pending, self.others) = (pending, others);
        (self.clocks, self.timeline) = (kept.clocks, kept.timeline);
        (self.dac_time, self.last_time, self.evaluated) = (kept.dac_time, kept.last_time, kept.evaluated);
        Some(anew)
    }
}

impl Other {
    fn save(&self, program: &Program) -> SavedOther {
        let feed =
            |(_, state): &(usize, FeedState)| (state.memories.iter().map(Memory::save).collect(), state.held);
        SavedOther {
            columns: columns(program, self.input),
            feeds: self.states.iter().map(feed).collect(),
            queue: self.queue.iter().cloned().collect(),
            taken: self.taken,
            newest: self.newest,
            timeline: self.timeline,
            is_lost: self.is_lost,
        }
    }
}

impl SavedOther {
    fn restore(self, program: &Program, of: &Other, feeds: &[Feed]) -> Option<Other> {
        let order = ColumnOrder::new(&self.columns, &columns(program, of.input));
        let mut other = Other { clock: of.clock, ..Other::new(of.input, feeds, order.0.len()) };
        if other.states.len() != self.feeds.len() {
            return None;
        }
        for ((at, state), (memories, held)) in other.states.iter_mut().zip(self.feeds) {
            *state = FeedState { memories: restore_memories(&feeds.get(*at)?.slots, memories)?, held };
        }
        let queue = self.queue.iter().map(|sample| order.of(sample)).collect();
        other.queue = Queue::new(order.0.len()).filled(queue)?;
        (other.taken, other.newest) = (self.taken, self.newest);
        (other.timeline, other.is_lost) = (self.timeline, self.is_lost);
        Some(other)
    }
}

fn columns(program: &Program, input: usize) -> Vec<String> {
    let columns = program.inputs.get(input).map_or(&[][..], |input| &input.columns);
    columns.iter().map(|column| column.path.join(".")).collect()
}

/// For each column, the earlier index of its value.
struct ColumnOrder(Vec<Option<usize>>);

impl ColumnOrder {
    fn new(kept: &[String], wanted: &[String]) -> Self {
        Self(wanted.iter().map(|column| kept.iter().position(|known| known == column)).collect())
    }

    fn of(&self, sample: &Sample) -> Sample {
        let value = |at: &Option<usize>| at.and_then(|at| sample.values.get(at).copied());
        let values = self.0.iter().map(|at| value(at).unwrap_or(f64::NAN)).collect();
        Sample { values, ..*sample }
    }
}
