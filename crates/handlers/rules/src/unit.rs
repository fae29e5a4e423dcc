//! The rules of one input of a program, for an instance.

use crate::ruleset::{LoadedProgram, RuleSet};
use oasis_dac::Instance;
use oasis_rules::{Binding, Program, Rows};
use oasis_wire::{batch, schema::ProbeType};
use std::sync::Arc;

/// The rules of one input.
pub struct Unit {
    /// Its number.
    pub program: usize,
    /// The number of the input.
    pub input: usize,
    pub evaluator: oasis_rules::Instance,
    binding: Option<(Arc<ProbeType>, Binding)>,
}

impl Unit {
    /// The samples of a range, if the input reads their type.
    pub fn rows(
        &mut self,
        program: &Program,
        probe_type: &Arc<ProbeType>,
        batch: &batch::Batch,
        range: std::ops::Range<usize>,
        missing: u64,
    ) -> Option<Rows> {
        let input = program.inputs.get(self.input).filter(|input| input.reads(probe_type))?;
        let known = self.binding.take().filter(|(known, _)| Arc::ptr_eq(known, probe_type));
        let bound = known.unwrap_or_else(|| (probe_type.clone(), Binding::new(input, probe_type)));
        Some(self.binding.insert(bound).1.rows(batch, range, missing))
    }
}

/// The rules of all programs that read an instance.
pub fn units(set: &RuleSet, instance: &Instance) -> Vec<Unit> {
    let mut units = Vec::new();
    for (number, LoadedProgram { program, .. }) in set.programs.iter().enumerate() {
        for (at, input) in program.inputs.iter().enumerate() {
            if !input.reads(&instance.probe_type) || !input.matches(&instance.node, &instance.name) {
                continue;
            }
            let evaluator = oasis_rules::Instance::new(program, at);
            if !evaluator.is_idle() {
                units.push(Unit { program: number, input: at, evaluator, binding: None });
            }
        }
    }
    units
}

/// Whether a rule reads an instance.
pub fn is_read(set: &RuleSet, instance: &Instance) -> bool {
    !units(set, instance).is_empty()
}

/// Returns the number of rules in these units.
pub fn count_rules(set: &RuleSet, units: &[Unit]) -> u64 {
    let of_unit = |unit: &Unit| {
        let rules = set.programs.get(unit.program).map_or(&[][..], |loaded| &loaded.program.rules);
        rules.iter().filter(|rule| rule.input == unit.input).count() as u64
    };
    units.iter().map(of_unit).sum()
}
