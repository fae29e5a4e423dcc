//! Structs that contain themselves, directly, through others or in a vector: they would nest without end.
//!
//! Only a struct of a *knot* (a strongly connected component: each leads to each) can lead back to itself. Tarjan's
//! algorithm finds the knots in one walk; the shortest way back is then searched inside one of them. Valid files have no knots.

use crate::{
    diagnostic::{Code, Diagnostic},
    model::{Struct, Type},
};
use std::{
    collections::{HashMap, VecDeque},
    iter,
};

/// For each struct, the structs of its members, by number.
type Uses = Vec<Vec<usize>>;

/// Reports each cycle once, however many structs it leads over.
pub fn check(structs: &[Struct], wrong: &mut Vec<Diagnostic>) {
    let uses = uses(structs);
    let knots = Walk::new(&uses).knots();
    let mut reported = vec![false; structs.len()];
    for (start, declared) in structs.iter().enumerate() {
        if reported[start] {
            continue;
        }
        if let Some(cycle) = way_back(start, &uses, &knots) {
            let message = format!("struct `{}` contains itself", declared.name);
            let diagnostic = Diagnostic::new(Code::StructCycle, declared.place.0, message, "this struct");
            let names = cycle.iter().map(|&number| structs[number].name.as_str());
            wrong.push(diagnostic.cycle_note(names, "contains"));
            cycle.into_iter().for_each(|number| reported[number] = true);
        }
    }
}

fn uses(structs: &[Struct]) -> Uses {
    let numbers: HashMap<&str, usize> =
        structs.iter().enumerate().map(|(number, declared)| (declared.name.as_str(), number)).collect();
    let used = |declared: &Struct| {
        let names = declared.members.iter().filter_map(|member| struct_in(&member.kind));
        names.filter_map(|name| numbers.get(name).copied()).collect()
    };
    structs.iter().map(used).collect()
}

/// The struct that a type is made of.
fn struct_in(mut kind: &Type) -> Option<&str> {
    while let Type::Vector(element) = kind {
        kind = element;
    }
    if let Type::Struct(name) = kind { Some(name) } else { None }
}

/// The structs on the shortest way from a struct's members back to it, itself first.
fn way_back(start: usize, uses: &Uses, knots: &[usize]) -> Option<Vec<usize>> {
    let mut reached_from = HashMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(from) = open.pop_front() {
        for &inner in uses[from].iter().filter(|&&inner| knots[inner] == knots[start]) {
            if inner == start {
                let mut way: Vec<usize> =
                    iter::successors(Some(from), |number| reached_from.get(number).copied()).collect();
                way.reverse();
                return Some(way);
            }
            reached_from.entry(inner).or_insert_with(|| {
                open.push_back(inner);
                from
            });
        }
    }
    None
}

/// Tarjan's walk, without recursion, so that the length of a chain does not matter.
struct Walk<'a> {
    uses: &'a Uses,
    /// When a struct was first reached, from 1; 0 means not yet.
    reached: Vec<usize>,
    /// The earliest that can be reached from a struct and is not in a finished knot.
    lowest: Vec<usize>,
    /// The knot that a struct is in, from 1; 0 means not yet known.
    knot: Vec<usize>,
    /// Reached, and not in a finished knot.
    loose: Vec<usize>,
    clock: usize,
}

impl<'a> Walk<'a> {
    fn new(uses: &'a Uses) -> Self {
        let zeros = || vec![0; uses.len()];
        Self { uses, reached: zeros(), lowest: zeros(), knot: zeros(), loose: Vec::new(), clock: 0 }
    }

    /// By the number of a struct: the number of its knot.
    fn knots(mut self) -> Vec<usize> {
        for start in 0..self.uses.len() {
            if self.reached[start] == 0 {
                self.walk(start);
            }
        }
        self.knot
    }

    fn walk(&mut self, start: usize) {
        // Structs on the path, and the number of their members already visited.
        let mut way = vec![(start, 0)];
        self.reach(start);
        while let Some((at, next)) = way.last_mut() {
            let from = *at;
            match self.uses[from].get(*next) {
                Some(&inner) => {
                    *next += 1;
                    if self.reached[inner] == 0 {
                        self.reach(inner);
                        way.push((inner, 0));
                    } else if self.knot[inner] == 0 {
                        self.lowest[from] = self.lowest[from].min(self.reached[inner]);
                    }
                }
                None => {
                    way.pop();
                    if let Some(&(before, _)) = way.last() {
                        self.lowest[before] = self.lowest[before].min(self.lowest[from]);
                    }
                    self.finish(from);
                }
            }
        }
    }

    fn reach(&mut self, number: usize) {
        self.clock += 1;
        self.reached[number] = self.clock;
        self.lowest[number] = self.clock;
        self.loose.push(number);
    }

    /// All that was reached from the first struct of a knot, and is still loose, is in the knot.
    fn finish(&mut self, first: usize) {
        if self.lowest[first] != self.reached[first] {
            return;
        }
        while let Some(number) = self.loose.pop() {
            self.knot[number] = self.reached[first];
            if number == first {
                return;
            }
        }
    }
}
