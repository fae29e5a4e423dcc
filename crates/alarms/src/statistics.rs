//! Figures by which ISA-18.2 judges a system of alarms.

use crate::{
    AlarmKey, AlarmView, Filter, RelayedAlarms,
    memory::{Alarm, Memory},
    tables::journal::Raises,
};
use oasis_rules::{Standing, program::Severity};
use oasis_wire::quantity::Nanos;

/// Figures of all alarms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Alarms that exist.
    pub alarms: u64,
    /// Alarms that stand (active or latched) and are not silenced, by severity.
    pub standing: Vec<(Severity, u64)>,
    /// Standing alarms that are not acknowledged.
    pub unacknowledged: u64,
    /// Alarms that are shelved.
    pub shelved: u64,
    /// Alarms that are suppressed.
    pub suppressed: u64,
    /// Alarms that are out of service.
    pub out_of_service: u64,
    /// Alarms whose condition is unknown.
    pub unknown: u64,
    /// Number of raises in the last ten minutes.
    pub raised_ten_minutes: u64,
    /// In the last hour.
    pub raised_hour: u64,
    /// In the last day.
    pub raised_day: u64,
    /// The alarms that were raised most often in the last hour, most often first, with how often.
    pub most_frequent: Vec<(AlarmKey, u32)>,
    /// The alarms that have stood longest, longest first, with when they were raised (DAC's clock).
    pub longest_standing: Vec<(AlarmKey, u64)>,
    /// Entries of the journal.
    pub journal_entries: u64,
    /// Their bytes.
    pub journal_bytes: u64,
    /// Entries that were removed to make room.
    pub journal_removed: u64,
    /// Bytes of all checkpoints.
    pub checkpoints_bytes: u64,
    /// Events for which there was no room among the alarms, since the start.
    pub refused: u64,
}

/// Alarms in the lists of the figures.
const MAX_LISTED_ALARMS: usize = 10;

/// Computes the figures of the alarms that a caller may see.
pub fn compute(memory: &Memory, raises: Vec<Raises>, is_visible: impl Fn(&AlarmKey) -> bool) -> Statistics {
    let seen: Vec<_> = memory.alarms.values().filter(|alarm| is_visible(&alarm.view.key)).collect();
    let count = |is: &dyn Fn(&Alarm) -> bool| seen.iter().filter(|alarm| is(alarm)).count() as u64;
    let stands = |alarm: &Alarm| alarm.state.standing != Standing::Normal;
    let is_shown = |alarm: &Alarm| stands(alarm) && !alarm.state.is_silenced();
    let mut raises: Vec<_> = raises.into_iter().filter(|raises| is_visible(&raises.key)).collect();
    raises.sort_by(|a, b| b.hour.cmp(&a.hour).then_with(|| a.key.cmp(&b.key)));
    let of_severity = |severity| count(&|alarm| is_shown(alarm) && alarm.view.severity == severity);
    let frequent = raises.iter().filter(|raises| raises.hour > 0).take(MAX_LISTED_ALARMS);
    Statistics {
        alarms: seen.len() as u64,
        standing: Severity::ALL.map(|(_, severity)| (severity, of_severity(severity))).to_vec(),
        unacknowledged: count(&|alarm| is_shown(alarm) && !alarm.state.acknowledged),
        shelved: count(&|alarm| alarm.state.shelve.is_on()),
        suppressed: count(&|alarm| alarm.state.suppressed),
        out_of_service: count(&|alarm| alarm.state.out_of_service),
        unknown: count(&|alarm| !alarm.state.is_known),
        raised_ten_minutes: raises.iter().map(|raises| raises.ten_minutes).sum(),
        raised_hour: raises.iter().map(|raises| raises.hour).sum(),
        raised_day: raises.iter().map(|raises| raises.day).sum(),
        most_frequent: frequent.map(|raises| (raises.key.clone(), raises.hour as u32)).collect(),
        longest_standing: memory.longest_standing(MAX_LISTED_ALARMS, is_visible),
        journal_entries: memory.journal.entries,
        journal_bytes: memory.journal.bytes,
        journal_removed: memory.journal_removed,
        checkpoints_bytes: memory.checkpoints_bytes,
        refused: memory.refused,
    }
}

impl Statistics {
    /// Adds the alarms of other DACs that a caller may see. Their raises are those that this DAC has learned of since its start.
    pub fn add_relayed(
        &mut self,
        relayed: &RelayedAlarms,
        now: Nanos,
        is_visible: impl Fn(&AlarmKey) -> bool,
    ) {
        let (alarms, _) = relayed.list(&Filter::default(), &is_visible);
        let views: Vec<AlarmView> = alarms.into_iter().map(|alarm| alarm.view).collect();
        let count = |is: &dyn Fn(&AlarmView) -> bool| views.iter().filter(|view| is(view)).count() as u64;
        let is_shown = |view: &AlarmView| view.state != Standing::Normal && !view.is_silenced();
        if self.standing.is_empty() {
            self.standing = Severity::ALL.map(|(_, severity)| (severity, 0)).to_vec();
        }
        for (severity, standing) in &mut self.standing {
            *standing += count(&|view| is_shown(view) && view.severity == *severity);
        }
        self.alarms += views.len() as u64;
        self.unacknowledged += count(&|view| is_shown(view) && !view.acknowledged);
        self.shelved += count(&|view| view.shelved_until.is_some() || view.shelved_once);
        self.suppressed += count(&|view| view.suppressed);
        self.out_of_service += count(&|view| view.out_of_service);
        self.unknown += count(&|view| !view.is_known);
        let raised = |seconds: u64| {
            relayed.raised_since(Nanos(now.0.saturating_sub(seconds * 1_000_000_000)), &is_visible)
        };
        self.raised_ten_minutes += raised(600);
        self.raised_hour += raised(3_600);
        self.raised_day += raised(86_400);
        let frequent = views.iter().filter(|view| view.raised_last_hour > 0);
        self.most_frequent.extend(frequent.map(|view| (view.key.clone(), view.raised_last_hour)));
        self.most_frequent.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        self.most_frequent.truncate(MAX_LISTED_ALARMS);
        let standing = views.iter().filter(|view| view.state != Standing::Normal);
        self.longest_standing.extend(standing.filter_map(|view| Some((view.key.clone(), view.raised?))));
        self.longest_standing.sort_by(|one, other| one.1.cmp(&other.1).then_with(|| one.0.cmp(&other.0)));
        self.longest_standing.truncate(MAX_LISTED_ALARMS);
    }
}
