//! The size of a type after each struct is put in place of its name, as schemas have it.
//!
//! A struct that doubles the one before grows with a power of two: a file of a kilobyte would fill the memory of everything that reads its schemas. The bounds
//! are those that a schema has to keep (`oasis_wire::schema`).

use crate::{
    diagnostic::{Code, Diagnostic},
    model::{Metric, NameSpan, Probe, Struct, Type},
};
use oasis_wire::schema::{MAX_DEPTH, MAX_MEMBERS};
use std::collections::HashMap;

/// A struct or a probe with everything in it.
#[derive(Clone, Copy, Default)]
struct Size {
    members: usize,
    depth: usize,
}

/// Reports structs and probes that are larger than any schema may be, unless what they contain was reported. Structs must not contain themselves.
pub fn check(structs: &[Struct], probes: &[Probe], wrong: &mut Vec<Diagnostic>) {
    let numbers: HashMap<&str, usize> =
        structs.iter().enumerate().map(|(number, declared)| (declared.name.as_str(), number)).collect();
    let mut sizes = Sizes { structs, numbers, known: vec![None; structs.len()] };
    for number in 0..structs.len() {
        sizes.measure(number);
    }
    for declared in structs {
        sizes.report("struct", &declared.name, declared.place, &declared.members, wrong);
    }
    for probe in probes {
        sizes.report("probe", &probe.name, probe.place, &probe.metrics, wrong);
    }
}

struct Sizes<'a> {
    structs: &'a [Struct],
    numbers: HashMap<&'a str, usize>,
    /// By the number of a struct.
    known: Vec<Option<Size>>,
}

impl Sizes<'_> {
    /// Measures a struct after those in it. Walks instead of recursing, so that the length of a chain does not matter.
    fn measure(&mut self, start: usize) {
        let mut open = vec![(start, 0)];
        while let Some((at, next)) = open.last_mut() {
            let members = &self.structs[*at].members;
            if let Some(member) = members.get(*next) {
                *next += 1;
                let inner = self.struct_in(&member.kind).0;
                if let Some(inner) = inner.filter(|&inner| self.known[inner].is_none()) {
                    open.push((inner, 0));
                }
            } else {
                let (at, size) = (*at, self.of(members));
                self.known[at] = Some(size);
                open.pop();
            }
        }
    }

    /// The size of metrics or members together.
    fn of(&self, members: &[Metric]) -> Size {
        members.iter().fold(Size::default(), |sum, member| {
            let (inner, depth) = self.struct_in(&member.kind);
            let of_struct = inner.and_then(|inner| self.known[inner]);
            let inside = of_struct.unwrap_or_default();
            let structs = usize::from(of_struct.is_some());
            Size {
                members: sum.members.saturating_add(1).saturating_add(inside.members),
                depth: sum.depth.max(depth.saturating_add(structs).saturating_add(inside.depth)),
            }
        })
    }

    /// The struct that a type is made of, and the vectors around it.
    fn struct_in(&self, mut kind: &Type) -> (Option<usize>, usize) {
        let mut vectors = 0;
        while let Type::Vector(element) = kind {
            kind = element;
            vectors += 1;
        }
        let number = if let Type::Struct(name) = kind { self.numbers.get(name.as_str()) } else { None };
        (number.copied(), vectors)
    }

    fn report(
        &self,
        noun: &str,
        name: &str,
        place: NameSpan,
        members: &[Metric],
        wrong: &mut Vec<Diagnostic>,
    ) {
        let size = self.of(members);
        let exceeds = |size: Size| size.members > MAX_MEMBERS || size.depth > MAX_DEPTH;
        let inside = members.iter().filter_map(|member| self.struct_in(&member.kind).0);
        // Its cause is reported, or it has too many metrics of its own.
        if !exceeds(size)
            || members.len() > MAX_MEMBERS
            || inside.filter_map(|inner| self.known[inner]).any(exceeds)
        {
            return;
        }
        if size.members > MAX_MEMBERS {
            let message = format!(
                "{noun} `{name}` has {} metrics and struct members in all: at most {MAX_MEMBERS} are allowed",
                size.members
            );
            let diagnostic = Diagnostic::new(Code::TooManyMetrics, place.0, message, "too many members");
            wrong.push(diagnostic.note("a struct counts at each place that uses it"));
        } else {
            let message =
                format!("{noun} `{name}` nests structs and vectors {} deep: at most {MAX_DEPTH}", size.depth);
            wrong.push(Diagnostic::new(Code::TooDeep, place.0, message, "exceeds the limit"));
        }
    }
}
