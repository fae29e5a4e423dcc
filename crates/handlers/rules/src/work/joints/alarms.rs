//! The alarms of rules over several inputs. They are those of the node of the first input, which may be at another DAC than the one that evaluates: so they do
//! not go with a node. The DAC that begins takes them over as the former one has shown them, and that one ends them when it sees them there.

use super::{Candidate, JointLocation};
use crate::work::Work;
use oasis_alarms::{AlarmKey, AlarmsError, CheckpointKey, HandedAlarm};
use oasis_dac::{Hop, now};
use oasis_rules::Standing;
use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

/// Time that an alarm waits until the other DAC shows it.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum interval of checks.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Places of the alarms of joints.
#[derive(Default)]
pub struct JointAlarms {
    /// All that this DAC may have; with the DAC that evaluates instead, and since when, if there is one.
    known: HashMap<AlarmKey, Option<(Hop, Instant)>>,
    /// Alarms that were taken over.
    taken: HashSet<AlarmKey>,
    looked: Option<Instant>,
}

impl JointAlarms {
    /// Whether an alarm is one of those: it does not end because its node is elsewhere.
    pub fn has(&self, key: &AlarmKey) -> bool {
        self.known.contains_key(key)
    }

    /// Whether it stays at this DAC, although its node may go.
    pub fn stays(&self, key: &AlarmKey) -> bool {
        self.known.get(key).is_some_and(Option::is_none)
    }
}

impl Work<'_> {
    /// Notes where the alarms of joints are.
    pub(super) fn note_joint_alarms(&mut self, candidates: &[Candidate]) {
        let mut before = std::mem::take(&mut self.joints.alarms.known);
        let mut known = HashMap::new();
        for candidate in candidates {
            for (_, key) in self.alarms_of_joint(candidate.numbers, &candidate.key) {
                let since = before.remove(&key).flatten();
                let left = match &candidate.place {
                    JointLocation::Elsewhere(to) => {
                        let since = since.filter(|(before, _)| before == to).map(|(_, since)| since);
                        Some((to.clone(), since.unwrap_or_else(Instant::now)))
                    }
                    JointLocation::Here | JointLocation::Waiting(_) => None,
                };
                known.insert(key, left);
            }
        }
        // Alarms that come back are taken again.
        self.joints.alarms.taken.retain(|key| known.get(key).is_some_and(Option::is_none));
        self.joints.alarms.known = known;
    }

    /// Takes the alarms of a joint that begins from the DAC that has evaluated it, each once. Returns those of its rules that stand then; none if it is not the
    /// time for that.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) fn take_joint_alarms(
        &mut self,
        numbers: (usize, usize),
        key: &CheckpointKey,
    ) -> Result<Option<Vec<(usize, Standing)>>, AlarmsError> {
        let Some(relayed) = self.relayed else { return Ok(Some(Vec::new())) };
        let (mut found, mut rules) = (Vec::new(), Vec::new());
        for (rule, key) in self.alarms_of_joint(numbers, key) {
            let stands = self.alarms.get(&key).is_some_and(|own| own.state != Standing::Normal);
            if stands || self.joints.alarms.taken.contains(&key) {
                continue;
            }
            let Some(other) = relayed.get(&key) else { continue };
            let dac = other.path.first().map(|hop| hop.dac.clone()).unwrap_or_default();
            found.push((HandedAlarm::shown(other.view, now().0), dac));
            rules.push((rule, key));
        }
        if found.is_empty() {
            return Ok(Some(Vec::new()));
        }
        // Evaluated samples must be committed before other states replace them, and alarms need their rules.
        if !self.has_facts || !self.pending.is_empty() {
            return Ok(None);
        }
        self.alarms.take_over(now(), found)?;
        self.joints.alarms.taken.extend(rules.iter().map(|(_, key)| key.clone()));
        let stands = |(rule, key): &(usize, AlarmKey)| {
            let standing = self.alarms.get(key)?.state;
            (standing != Standing::Normal).then_some((*rule, standing))
        };
        Ok(Some(rules.iter().filter_map(stands).collect()))
    }

    /// Takes alarms that have become known after their joint has begun: this DAC has connected to the other one a moment ago.
    fn take_late_alarms(&mut self) -> Result<(), AlarmsError> {
        for at in 0..self.joints.all.len() {
            let Some(joint) =
                self.joints.all.get(at).filter(|joint| joint.begun.elapsed() < HANDOVER_TIMEOUT)
            else {
                continue;
            };
            let (numbers, key) = (joint.numbers(), joint.key());
            let taken = self.take_joint_alarms(numbers, &key)?;
            let Some(joint) = self.joints.all.get_mut(at) else { continue };
            taken.iter().flatten().for_each(|(rule, standing)| joint.stand(*rule, *standing));
        }
        Ok(())
    }

    /// Takes the alarms of joints that have come, and ends those of joints that another DAC evaluates.
    pub(in crate::work) fn move_joint_alarms(&mut self) {
        let is_early = self.joints.alarms.looked.is_some_and(|looked| looked.elapsed() < MIN_CHECK_INTERVAL);
        if is_early || !self.has_facts || !self.pending.is_empty() {
            return;
        }
        self.joints.alarms.looked = Some(Instant::now());
        let moved = self.take_late_alarms().and_then(|()| self.end_left_alarms());
        if let Err(error) = moved {
            self.fail(&error.to_string());
        }
    }

    /// Ends alarms once the other DAC shows them.
    fn end_left_alarms(&self) -> Result<(), AlarmsError> {
        let left = self.joints.alarms.known.iter();
        let ending = left.filter_map(|(key, left)| {
            let (to, since) = left.as_ref()?;
            let own = self.alarms.get(key)?;
            let is_shown = self
                .relayed
                .and_then(|relayed| relayed.get(key))
                .is_some_and(|other| other.path.first().is_some_and(|hop| hop.epoch == to.epoch));
            // The other DAC may have ended it meanwhile. What an operator has silenced stays so.
            let is_over =
                since.elapsed() >= HANDOVER_TIMEOUT && (own.state != Standing::Normal || !own.is_silenced());
            (is_shown || is_over).then(|| (key.clone(), to.dac.clone(), is_shown))
        });
        let ending: Vec<_> = ending.collect();
        if ending.is_empty() { Ok(()) } else { self.alarms.leave_to(now(), &ending) }
    }
}
