//! Values that single samples lack, although their type has them: a recording or a message of another protocol had none there.
//!
//! The metric [`ABSENT`](crate::schema::ABSENT) names them. The sample has a placeholder in each place, which no reader may take for a value.

use crate::{
    batch::{Batch, Values},
    columns,
    schema::{Metric, MetricType, ProbeType},
    value::Value,
};
use alloc::{
    collections::{BTreeMap, btree_map::Entry},
    string::String,
    vec::Vec,
};

/// Indexes that lead to a value of a sample: of the metric, then of members and elements within.
pub type ValuePath = Vec<usize>;

/// The names of all that samples of a type can lack.
#[derive(Debug, Clone, PartialEq)]
pub struct Absence {
    metric: usize,
    places: BTreeMap<String, Named>,
}

/// Returns the places of what a sample lacks. For many samples of a type, keep an [`Absence`].
pub fn in_sample(probe_type: &ProbeType, values: &[Value]) -> Vec<ValuePath> {
    let named = probe_type.absent_metric().and_then(|metric| values.get(metric));
    let Some(named @ Value::Vector(names)) = named else { return Vec::new() };
    if names.is_empty() {
        return Vec::new();
    }
    Absence::of(probe_type).map(|absence| absence.places(named)).unwrap_or_default()
}

/// The values that a sample lacks within one of its values.
#[derive(Debug, Clone, Copy, Default)]
pub struct Within<'a> {
    /// Places in order, that begin with the indexes of the value.
    places: &'a [ValuePath],
    /// Number of these indexes.
    depth: usize,
}

impl<'a> Within<'a> {
    /// All that a sample lacks, in order.
    pub fn sample(places: &'a [ValuePath]) -> Self {
        Self { places, depth: 0 }
    }

    /// The values that it lacks within the metric, member or element at an index.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        Self { places: within(self.places, self.depth, index), depth: self.depth + 1 }
    }

    /// Whether the value itself is absent.
    pub fn is_absent(self) -> bool {
        self.places.first().is_some_and(|place| place.len() == self.depth)
    }
}

/// Returns those of ordered places whose index at this depth is `index`; all of them have the same indexes before it.
pub fn within(places: &[ValuePath], depth: usize, index: usize) -> &[ValuePath] {
    let from = places.partition_point(|place| place.get(depth) < Some(&index));
    let to = places.partition_point(|place| place.get(depth) <= Some(&index));
    places.get(from..to).unwrap_or_default()
}

/// Whether what is there is among ordered places, by itself or with what is around it.
pub fn contains(places: &[ValuePath], metric: usize, members: &[usize]) -> bool {
    let mut found = within(places, 0, metric);
    for (depth, member) in (1..).zip(members) {
        if found.first().is_some_and(|place| place.len() == depth) {
            return true;
        }
        found = within(found, depth, *member);
    }
    found.first().is_some_and(|place| place.len() == members.len() + 1)
}

/// Replaces what is at a place within a metric's value by a value without numbers and texts.
pub fn remove(value: &mut Value, place: &[usize]) {
    match (place.split_first(), value) {
        (None, value) => *value = Value::Vector(Vec::new()),
        (Some((first, rest)), Value::Struct(values) | Value::Vector(values)) => {
            if let Some(value) = values.get_mut(*first) {
                remove(value, rest);
            }
        }
        _ => {}
    }
}

/// The meaning of a name.
#[derive(Debug, Clone, PartialEq)]
struct Named {
    place: ValuePath,
    /// The type of elements, if it is a vector.
    element: Option<MetricType>,
}

impl Absence {
    /// `None` if samples of the type have all values.
    pub fn of(probe_type: &ProbeType) -> Option<Self> {
        let metric = probe_type.absent_metric()?;
        let mut places = BTreeMap::new();
        columns::visit(probe_type, &mut |name, path, of| {
            // The list itself is always there.
            if path == [metric] {
                return;
            }
            places.insert(name, Named { place: path.to_vec(), element: of.kind.element().cloned() });
        });
        for (at, metric) in probe_type.metrics.iter().enumerate() {
            add_structs(metric, metric.name.clone(), &mut [at].to_vec(), &mut places);
        }
        Some(Self { metric, places })
    }

    /// As [`Absence::of`]; `None` as well if no sample of this batch lacks anything.
    pub fn of_batch(probe_type: &ProbeType, batch: &Batch) -> Option<Self> {
        let Some(Values::Rows(lists)) = batch.values(probe_type.absent_metric()?) else { return None };
        let lacks = |list: &Value| matches!(list, Value::Vector(names) if !names.is_empty());
        if lists.iter().any(lacks) { Self::of(probe_type) } else { None }
    }

    /// Index of the metric that names what a sample lacks.
    pub fn metric(&self) -> usize {
        self.metric
    }

    /// Returns the places that a value of the metric names, in order. A name that stands for nothing has none.
    pub fn places(&self, named: &Value) -> Vec<ValuePath> {
        let mut places: Vec<_> = texts(named).filter_map(|name| self.place(name)).collect();
        places.sort_unstable();
        places
    }

    /// Returns the place of a column, of a whole struct, or of an element such as `loads[2]` or `axes[0].position`.
    fn place(&self, name: &str) -> Option<ValuePath> {
        if let Some(named) = self.places.get(name) {
            return Some(named.place.clone());
        }
        name.match_indices('[').find_map(|(at, _)| {
            let named = self.places.get(&name[..at])?;
            let mut place = named.place.clone();
            find_element(named.element.as_ref()?, &name[at..], &mut place).then_some(place)
        })
    }
}

/// Returns the places of elements of a column with a vector that a value of the metric names, within the column's value, in order.
pub fn elements(column: &str, element: &MetricType, named: &Value) -> Vec<ValuePath> {
    let place = |name: &str| {
        let mut place = ValuePath::new();
        let rest = name.strip_prefix(column)?;
        find_element(element, rest, &mut place).then_some(place)
    };
    let mut places: Vec<_> = texts(named).filter_map(place).collect();
    places.sort_unstable();
    places
}

fn texts(named: &Value) -> impl Iterator<Item = &str> {
    let names = if let Value::Vector(names) = named { names.as_slice() } else { &[] };
    names.iter().filter_map(|name| if let Value::String(name) = name { Some(name.as_str()) } else { None })
}

/// Adds structs, which are no columns themselves.
fn add_structs(metric: &Metric, name: String, path: &mut ValuePath, places: &mut BTreeMap<String, Named>) {
    let MetricType::Struct(of) = &metric.kind else { return };
    for (at, member) in of.members.iter().enumerate() {
        path.push(at);
        add_structs(member, columns::member_name(&name, member), path, places);
        path.pop();
    }
    if let Entry::Vacant(free) = places.entry(name) {
        free.insert(Named { place: path.clone(), element: None });
    }
}

/// Appends the indexes that `[2]` and what follows stand for; returns whether they stand for something.
fn find_element(element: &MetricType, rest: &str, place: &mut ValuePath) -> bool {
    let number = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let is_number = |number: &str| number.bytes().all(|digit| digit.is_ascii_digit());
    let number = number.filter(|(number, _)| is_number(number));
    let Some((Ok(number), rest)) = number.map(|(number, rest)| (number.parse(), rest)) else { return false };
    place.push(number);
    find_within(element, rest, place)
}

fn find_within(kind: &MetricType, rest: &str, place: &mut ValuePath) -> bool {
    match kind {
        _ if rest.is_empty() => true,
        MetricType::Vector(element) => find_element(element, rest, place),
        MetricType::Struct(of) => {
            let Some(rest) = rest.strip_prefix('.') else { return false };
            of.members.iter().enumerate().any(|(at, member)| {
                let length = place.len();
                place.push(at);
                let is_found = rest
                    .strip_prefix(member.name.as_str())
                    .is_some_and(|rest| find_within(&member.kind, rest, place));
                if !is_found {
                    place.truncate(length);
                }
                is_found
            })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ABSENT;
    use alloc::vec;
    use proptest::prelude::*;
    use serde_json::json;

    fn absence() -> Absence {
        let probe_type: ProbeType = serde_json::from_value(json!({
            "name": "A", "uuid": "4bb0d8e2-0f5a-4c50-9f5e-6a8ea1b2c3d4", "version": "1.0.0",
            "metrics": [
                {"name": "time", "type": "int64"},
                {"name": "time_2", "type": "int64"},
                {"name": "p", "type": {"struct": {"name": "P", "members": [
                    {"name": "x", "type": "int8"}, {"name": "tags", "type": {"vector": "string"}}]}}},
                {"name": "a[0]", "type": "int8"},
                {"name": "a", "type": {"vector": {"vector": {"struct": {"name": "B", "members": [
                    {"name": "o", "type": "int8"}, {"name": "on", "type": "boolean"}]}}}}},
                {"name": ABSENT, "type": {"vector": "string"}},
            ],
        }))
        .expect("a schema");
        Absence::of(&probe_type).expect("it names what samples lack")
    }

    fn places(names: &[&str]) -> Vec<ValuePath> {
        let names = names.iter().map(|name| Value::String((*name).into()));
        absence().places(&Value::Vector(names.collect()))
    }

    #[test]
    fn columns_structs_and_elements_have_places() {
        let names = ["time_2", "time_2_2", "p", "p.x", "p.tags[3]", "a[0]", "a[1]", "a[1][2]", "a[1][2].on"];
        let wanted = [
            vec![0],
            vec![1],
            vec![2],
            vec![2, 0],
            vec![2, 1, 3],
            vec![3],
            vec![4, 1],
            vec![4, 1, 2],
            vec![4, 1, 2, 1],
        ];
        assert_eq!(places(&names), wanted);
    }

    #[test]
    fn what_is_within_an_absent_struct_or_element_is_absent() {
        let places = places(&["a[1]", "p.x", "p.tags[3]", "time_2"]);
        let is_absent = |metric, members: &[usize]| contains(&places, metric, members);
        let absent: [(usize, &[usize]); 6] =
            [(0, &[]), (2, &[0]), (2, &[1, 3]), (4, &[1]), (4, &[1, 2]), (4, &[1, 0, 1])];
        let present: [(usize, &[usize]); 7] =
            [(1, &[]), (2, &[]), (2, &[1]), (2, &[1, 2]), (3, &[]), (4, &[]), (4, &[0, 1])];
        assert!(absent.iter().all(|(metric, members)| is_absent(*metric, members)));
        assert!(!present.iter().any(|(metric, members)| is_absent(*metric, members)));
    }

    #[test]
    fn other_names_have_no_place() {
        let names = [
            "oasis.absent",
            "oasis.absent[0]",
            "a[+1]",
            "",
            "x",
            "time",
            "p.",
            "p.y",
            "p[0]",
            "a[",
            "a[]",
            "a[-1]",
            "a[1]on",
            "a[1][2].",
            "a[1][2].off",
        ];
        assert_eq!(places(&names), Vec::<ValuePath>::new());
        assert_eq!(absence().places(&Value::String("p".into())), Vec::<ValuePath>::new());
    }

    proptest! {
        #[test]
        fn no_name_panics(name in "[ap]?[\\[\\]0-9.xon]{0,12}") {
            places(&[&name]);
        }
    }
}
