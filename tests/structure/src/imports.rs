//! The imports between the files of one target.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cycles::cycles;
use crate::module::{Modules, Segments};

/// Re-exports of re-exports that a path is followed through.
const MAX_ALIASES: usize = 16;

/// Which file of a target uses which other: a path counts for the file that defines the item, however many re-exports
/// lie between; a `mod` line and a re-export alone count for nothing.
#[derive(Debug)]
pub struct Imports {
    files: Vec<PathBuf>,
    edges: Vec<Edge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    to: usize,
    kin: Kin,
}

/// Relation of a file to the one that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kin {
    Parent,
    Child,
    Other,
}

impl Imports {
    /// Reads the modules below `root`, a target's first file.
    ///
    /// # Errors
    /// If a file cannot be read or is no Rust.
    pub fn load(root: &Path) -> Result<Self> {
        let modules = Modules::load(root)?;
        let mut edges = BTreeSet::new();
        for (number, module) in modules.list.iter().enumerate() {
            for path in &module.uses {
                if let Some(to) = modules.resolve(number, path, MAX_ALIASES)
                    && to != module.file
                {
                    edges.insert(Edge { from: module.file, to, kin: modules.kin(module.file, to) });
                }
            }
        }
        Ok(Self { files: modules.files, edges: edges.into_iter().collect() })
    }

    /// Returns every group of more than one file in which each file uses each other, directly or through others.
    ///
    /// A parent module puts its children together, and these use what it defines: that alone is no cycle. So cycles are
    /// looked for twice, without what parents use of modules below them, and without what these use of their parents.
    pub fn cycles(&self) -> Vec<Vec<&Path>> {
        let mut found = self.cycles_without(Kin::Parent);
        found.extend(self.cycles_without(Kin::Child));
        found.sort();
        found.dedup();
        found
    }

    fn cycles_without(&self, kin: Kin) -> Vec<Vec<&Path>> {
        let mut edges = vec![Vec::new(); self.files.len()];
        for edge in self.edges.iter().filter(|edge| edge.kin != kin) {
            edges[edge.from].push(edge.to);
        }
        let named = |group: Vec<usize>| group.into_iter().map(|file| self.files[file].as_path()).collect();
        cycles(&edges).into_iter().map(named).collect()
    }

    /// Returns the imports among `files`.
    pub fn among<'a>(&'a self, files: &[&Path]) -> Vec<(&'a Path, &'a Path)> {
        let pairs =
            self.edges.iter().map(|edge| (self.files[edge.from].as_path(), self.files[edge.to].as_path()));
        pairs.filter(|(from, to)| files.contains(from) && files.contains(to)).collect()
    }
}

impl Modules {
    fn kin(&self, from: usize, to: usize) -> Kin {
        if self.is_above(from, to) {
            Kin::Parent
        } else if self.is_above(to, from) {
            Kin::Child
        } else {
            Kin::Other
        }
    }

    /// Whether the module in file `upper` contains, at some depth, the one in file `lower`.
    fn is_above(&self, upper: usize, lower: usize) -> bool {
        let mut at = self.list.iter().find(|module| module.file == lower).and_then(|module| module.parent);
        while let Some(module) = at.map(|number| &self.list[number]) {
            if module.file == upper {
                return true;
            }
            at = module.parent;
        }
        false
    }

    /// Returns the file that `path`, as written in `module`, leads to; `None` for another crate's items and for local names.
    fn resolve(&self, module: usize, path: &[String], aliases: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(0, rest, aliases),
            "self" => self.walk(module, rest, aliases),
            "super" => self.resolve_above(self.list[module].parent?, rest, aliases),
            _ => self.named(module, first, rest, aliases),
        }
    }

    /// Resolves the path after a `super`: another may follow.
    fn resolve_above(&self, module: usize, path: &[String], aliases: usize) -> Option<usize> {
        match path.split_first() {
            Some((first, rest)) if first == "super" => {
                self.resolve_above(self.list[module].parent?, rest, aliases)
            }
            _ => self.walk(module, path, aliases),
        }
    }

    /// Returns the file of `path` below `module`: the module's own if nothing more is known of the name.
    fn walk(&self, module: usize, path: &[String], aliases: usize) -> Option<usize> {
        let Some((first, rest)) = path.split_first() else { return Some(self.list[module].file) };
        self.named(module, first, rest, aliases).or(Some(self.list[module].file))
    }

    fn named(&self, module: usize, name: &str, rest: &[String], aliases: usize) -> Option<usize> {
        let here = &self.list[module];
        if let Some(&child) = here.children.get(name) {
            return self.walk(child, rest, aliases);
        }
        if let Some(&file) = here.items.get(name) {
            return Some(file);
        }
        let aliases = aliases.checked_sub(1)?;
        if let Some(alias) = here.aliases.get(name).filter(|alias| alias.first().is_some_and(|f| f != name)) {
            let full: Segments = alias.iter().chain(rest).cloned().collect();
            return self.resolve(module, &full, aliases);
        }
        here.globs.iter().find_map(|glob| {
            let target = self.module_of(module, glob)?;
            (target != module).then(|| self.named(target, name, rest, aliases)).flatten()
        })
    }

    /// Returns the module that a glob import names, if it is one of this target.
    fn module_of(&self, module: usize, path: &[String]) -> Option<usize> {
        let mut at = module;
        for name in path {
            at = match name.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.list[at].parent?,
                _ => *self.list[at].children.get(name)?,
            };
        }
        Some(at)
    }
}
