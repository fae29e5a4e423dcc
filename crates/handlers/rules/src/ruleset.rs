//! The rules of all files, compiled against the types that the DAC knows.

use crate::files::RuleFile;
use oasis_alarms::RuleFacts;
use oasis_rules::{
    DeclaredAlarm, FileState, Loaded, LoadedFile, LoadedRule, Problem, Program, compile, limits,
    program::{ActionSpec, Alarm, Body, Event, Rule},
};
use oasis_wire::schema::ProbeType;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The code of an unknown type: its input waits until a node registers it.
const UNKNOWN_TYPE: &str = "R0007";
/// The code of a name that is used twice.
const DUPLICATE_NAME: &str = "R0005";
/// The code of a file that cannot be read.
const UNREADABLE: &str = "R0024";

/// The rules that are evaluated.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub programs: Vec<LoadedProgram>,
    files: Vec<LoadedFile>,
    /// Whether a file is refused whose rules are not known.
    pub lacks_rules: bool,
    /// Limits of PDL files that are no rules, because there are too many.
    pub limits_left_out: usize,
}

/// The rules of a file.
#[derive(Debug, Clone)]
pub struct LoadedProgram {
    /// The name of the file; none of the limits of PDL files.
    pub file: Option<String>,
    pub program: Arc<Program>,
    /// Its alarms, those that wait for their type too.
    alarms: Vec<RuleFacts>,
}

impl RuleSet {
    /// Compiles files. One with errors keeps the rules that it had in `before`.
    pub fn compile(before: &Self, files: &[RuleFile], types: &[Arc<ProbeType>], has_limits: bool) -> Self {
        let mut set = Self::default();
        let mut names: HashMap<String, String> = HashMap::new();
        for file in files {
            let (loaded, mut problems) = compile_file(file, types);
            let duplicates = duplicates(&loaded.program, &names);
            let is_refused =
                !duplicates.is_empty() || problems.iter().any(|wrong| wrong.code != UNKNOWN_TYPE);
            problems.extend(duplicates);
            let loaded = if is_refused { before.program_of(&file.name) } else { Some(loaded) };
            set.lacks_rules |= loaded.is_none();
            if let Some(loaded) = loaded {
                let rules = loaded.program.rules.iter();
                names.extend(rules.map(|rule| (rule.name.clone(), file.name.clone())));
                set.programs.push(loaded);
            }
            let state = if is_refused { FileState::Refused } else { FileState::Loaded };
            let text = file.text.as_deref().ok().filter(|_| !file.is_saved).map(Arc::from);
            set.files.push(LoadedFile { name: file.name.clone(), state, problems, text });
        }
        if has_limits {
            let limits = limits(types);
            set.limits_left_out = limits.left_out;
            let alarms = limits.program.rules.iter().filter_map(of_limit).collect();
            set.programs.push(LoadedProgram { file: None, program: Arc::new(limits.program), alarms });
        }
        set
    }

    fn program_of(&self, file: &str) -> Option<LoadedProgram> {
        self.programs.iter().find(|loaded| loaded.file.as_deref() == Some(file)).cloned()
    }

    /// Returns the facts of the alarm rules for the alarms.
    pub fn facts(&self) -> Vec<RuleFacts> {
        self.programs.iter().flat_map(|loaded| loaded.alarms.iter().cloned()).collect()
    }

    /// The commands of a rule.
    pub fn actions(&self, rule: &str) -> &[ActionSpec] {
        let rules = self.programs.iter().flat_map(|loaded| &loaded.program.rules);
        let named = rules.filter(|known| known.name == rule).map(|known| match &known.body {
            Body::Alarm(Alarm { actions, .. }) | Body::Event(Event { actions, .. }) => &actions[..],
            Body::Derive(_) | Body::Check(_) => &[],
        });
        named.max_by_key(|actions| actions.len()).unwrap_or_default()
    }

    /// The names of all rules.
    pub fn names(&self) -> HashSet<String> {
        let rules = self.programs.iter().flat_map(|loaded| &loaded.program.rules);
        rules.map(|rule| rule.name.clone()).collect()
    }

    /// Whether any rule commands probes.
    pub fn has_actions(&self) -> bool {
        let mut rules = self.programs.iter().flat_map(|loaded| &loaded.program.rules);
        rules.any(|rule| match &rule.body {
            Body::Alarm(Alarm { actions, .. }) | Body::Event(Event { actions, .. }) => !actions.is_empty(),
            Body::Derive(_) | Body::Check(_) => false,
        })
    }

    /// The rules in number.
    pub fn count(&self) -> usize {
        self.programs.iter().map(|loaded| loaded.program.rules.len()).sum()
    }

    /// Files that are refused, with their first error.
    pub fn refused(&self) -> Vec<String> {
        let refused = self.files.iter().filter(|file| file.state == FileState::Refused);
        let described = refused.map(|file| {
            let first = file.problems.first();
            let place = first.and_then(|wrong| wrong.place).map(|place| format!(":{}", place.line));
            let message = first.map_or("errors", |wrong| &*wrong.message);
            format!("the rules of {}{} are not loaded: {message}", file.name, place.unwrap_or_default())
        });
        described.collect()
    }

    /// Returns the loaded rules for the API. `instances` counts those of an input, by program and input.
    pub fn loaded(&self, instances: impl Fn(usize, usize) -> usize) -> Loaded {
        let rules = self.programs.iter().enumerate().flat_map(|(at, LoadedProgram { file, program, .. })| {
            let instances = &instances;
            program
                .rules
                .iter()
                .map(move |rule| LoadedRule::new(program, rule, file.clone(), instances(at, rule.input)))
        });
        Loaded { files: self.files.clone(), rules: rules.collect() }
    }
}

fn compile_file(file: &RuleFile, types: &[Arc<ProbeType>]) -> (LoadedProgram, Vec<Problem>) {
    let name = Some(file.name.clone());
    match &file.text {
        Ok(text) => {
            let report = compile(&file.path, text, types);
            let (problems, alarms) = (report.problems(), report.alarms().into_iter().map(facts).collect());
            (LoadedProgram { file: name, program: Arc::new(report.program), alarms }, problems)
        }
        Err(error) => {
            let message = format!("cannot read {}: {error}", file.path.display());
            let wrong =
                Problem { code: UNREADABLE.into(), is_warning: false, message, help: None, place: None };
            (LoadedProgram { file: name, program: Arc::default(), alarms: Vec::new() }, vec![wrong])
        }
    }
}

fn facts(DeclaredAlarm { name, severity, latch, message, notify }: DeclaredAlarm) -> RuleFacts {
    RuleFacts { name, severity, latch, message, notify }
}

fn of_limit(rule: &Rule) -> Option<RuleFacts> {
    let Body::Alarm(Alarm { severity, latch, message, notify, .. }) = &rule.body else { return None };
    let (name, message, notify) = (rule.name.clone(), message.clone(), notify.clone());
    Some(RuleFacts { name, severity: *severity, latch: *latch, message, notify })
}

/// Rules have names of their own in all files: alarms are found by them.
fn duplicates(program: &Program, names: &HashMap<String, String>) -> Vec<Problem> {
    let duplicate = program.rules.iter().find_map(|rule| Some((&rule.name, names.get(&rule.name)?)));
    let problem = duplicate.map(|(rule, file)| Problem {
        is_warning: false,
        code: DUPLICATE_NAME.into(),
        message: format!("duplicate `{rule}`: {file} has a rule of that name"),
        help: Some("rename one of them".into()),
        place: None,
    });
    problem.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> RuleFile {
        RuleFile { name: name.into(), path: name.into(), is_saved: false, text: Ok(text.into()) }
    }

    fn pump() -> Arc<ProbeType> {
        let json = r#"{"name": "Pump", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
            "metrics": [{"name": "temperature", "type": "real64"}]}"#;
        Arc::new(serde_json::from_str(json).unwrap())
    }

    const HOT: &str = "input p = \"*/pump\" : Pump; alarm Hot { raise p.temperature > 95; }";

    #[test]
    fn a_file_waits_for_its_type() {
        let files = [file("a.rules", HOT)];
        let before = RuleSet::compile(&RuleSet::default(), &files, &[], false);
        assert_eq!((before.count(), before.refused()), (0, Vec::new()));
        assert_eq!(before.facts()[0].name, "Hot", "its alarms do not end");
        assert_eq!(before.loaded(|_, _| 0).files[0].problems[0].code, UNKNOWN_TYPE);
        let after = RuleSet::compile(&before, &files, &[pump()], false);
        assert_eq!(after.facts()[0].name, "Hot");
    }

    #[test]
    fn a_file_with_errors_is_refused_as_a_whole_and_its_rules_before_go_on() {
        let types = [pump()];
        let first = RuleSet::compile(&RuleSet::default(), &[file("a.rules", HOT)], &types, false);
        let wrong = format!(
            "{HOT} alarm New {{ raise p.temprature > 1; }} alarm Fine {{ raise p.temperature > 2; }}"
        );
        let second = RuleSet::compile(&first, &[file("a.rules", &wrong)], &types, false);
        assert_eq!(second.facts().iter().map(|facts| &*facts.name).collect::<Vec<_>>(), ["Hot"]);
        assert_eq!(second.loaded(|_, _| 0).files[0].state, FileState::Refused);
        assert!(
            second.refused()[0].starts_with("the rules of a.rules:1 are not loaded: "),
            "{:?}",
            second.refused()
        );
        let unreadable = RuleFile { text: Err("denied".into()), ..file("a.rules", "") };
        assert_eq!(RuleSet::compile(&second, &[unreadable], &types, false).count(), 1);
        assert_eq!(RuleSet::compile(&second, &[], &types, false).count(), 0, "it was removed");
    }

    #[test]
    fn a_rule_has_its_name_alone() {
        let files = [file("a.rules", HOT), file("b.rules", HOT)];
        let set = RuleSet::compile(&RuleSet::default(), &files, &[pump()], false);
        assert_eq!(set.count(), 1);
        assert!(set.refused()[0].contains("a.rules has a rule of that name"), "{:?}", set.refused());
    }
}
