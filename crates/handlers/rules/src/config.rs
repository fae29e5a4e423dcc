//! The section `[rules]` of the configuration file.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Most threads that evaluate rules.
const MAX_THREADS: usize = 16;
/// Most of them if the configuration does not say how many.
const AUTOMATIC_THREADS: usize = 4;

/// Rules to evaluate, and the place of their state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RulesConfig {
    /// Whether the DAC evaluates rules and has alarms.
    pub enabled: bool,
    /// Files of rules, and directories whose files `*.rules` are read; from the folder of the configuration file on.
    pub files: Vec<String>,
    /// The directory of the alarms, and of files that the page saves (`files/*.rules`). Empty: beside the archive; without an archive the alarms are kept in
    /// memory, and the page saves no files.
    pub directory: String,
    /// Whether the page may change the files of the directory.
    pub editable: bool,
    /// Whether rules read instances of other DACs, which this one relays. Those DACs may evaluate rules too.
    pub relayed: bool,
    /// The name of the node of derived instances and results. Empty: `rules`, or `rules-NAME` for a DAC with a name.
    pub node: String,
    /// Whether the measured clocks of all nodes are published, and not only of those whose instances rules join.
    pub all_clocks: bool,
    /// File with the token for other DACs, whose rules and alarms are taken over when a node comes from there. Empty: that of the relay.
    pub token_file: String,
    /// Whether the limits of PDL files are alarms.
    pub pdl_limits: bool,
    /// Number of threads that evaluate rules. 0: one for each processor, 4 at most.
    pub threads: usize,
    /// The most commands that one rule sends to probes in a minute.
    pub commands_per_minute: u32,
}

impl Default for RulesConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            files: Vec::new(),
            directory: String::new(),
            editable: true,
            relayed: false,
            node: String::new(),
            all_clocks: false,
            token_file: String::new(),
            pdl_limits: true,
            threads: 0,
            commands_per_minute: 10,
        }
    }
}

impl RulesConfig {
    /// Resolves relative paths from this folder on.
    pub fn relative_to(&mut self, folder: &Path) {
        let resolve = |path: &mut String| {
            if !path.is_empty() {
                *path = folder.join(&*path).display().to_string();
            }
        };
        self.files.iter_mut().for_each(resolve);
        resolve(&mut self.directory);
        resolve(&mut self.token_file);
    }

    /// Chooses the name of the node, if none is set, for a DAC with this name; an empty one has none. A relay shows one node of a name.
    pub fn name_node(&mut self, dac: &str) {
        if self.node.is_empty() {
            self.node = if dac.is_empty() { "rules".into() } else { format!("rules-{dac}") };
        }
    }

    /// Returns the number of threads that evaluate rules, that of the handler among them.
    pub fn evaluating_threads(&self) -> usize {
        let processors =
            || std::thread::available_parallelism().map_or(1, usize::from).min(AUTOMATIC_THREADS);
        if self.threads == 0 { processors() } else { self.threads.min(MAX_THREADS) }
    }

    /// The directory of the files that the page saves; none without a directory.
    pub fn saved_files(&self) -> Option<PathBuf> {
        (!self.directory.is_empty()).then(|| Path::new(&self.directory).join("files"))
    }
}
