//! The curves of a panel: a series over time, a distribution, or a measure along a variable.

use super::{
    super::{
        declaration::{Experiment, Figure},
        outcome::{Measured, Series},
        value::Value,
    },
    figures::describe,
    groups::Group,
    laws::{Fit, amdahl, fit, gustafson},
    plot::{Axes, Curve},
};
use std::collections::{BTreeMap, BTreeSet};

/// Ends the name of a series that stands for several.
const ALL: &str = ".*";
/// Points of a fitted law between two whole numbers.
const STEPS: usize = 4;

/// Content of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Over time, by name.
    Series(&'a str),
    /// By percentages, by name.
    Distribution(&'a str),
    /// A measure, and perhaps another one beside it.
    Measure { measure: &'a str, beside: Option<&'a str>, along: Along<'a>, is_speed_up: bool },
}

/// The horizontal axis of a measure.
#[derive(Debug, Clone, Copy)]
pub enum Along<'a> {
    Variable(&'a str),
    Measure(&'a str),
}

impl<'a> Content<'a> {
    /// Returns the content of a figure; none if it is not drawn.
    pub fn of(figure: &'a Figure) -> Option<Self> {
        match figure {
            Figure { series: Some(name), .. } => Some(Self::Series(name)),
            Figure { distribution: Some(name), .. } => Some(Self::Distribution(name)),
            Figure { measure: Some(measure), beside, along, along_measure, is_speed_up, .. } => {
                let along = match (along, along_measure) {
                    (Some(variable), _) => Along::Variable(variable),
                    (None, other) => Along::Measure(other.as_deref()?),
                };
                let beside = beside.as_deref();
                Some(Self::Measure { measure, beside, along, is_speed_up: *is_speed_up })
            }
            _ => None,
        }
    }

    /// Whether a group has it.
    pub fn is_in(self, group: &Group) -> bool {
        match self {
            Self::Series(name) => group.measured().any(|measured| !names(measured, name).is_empty()),
            Self::Distribution(name) => {
                group.measured().any(|measured| measured.distributions.contains_key(name))
            }
            Self::Measure { measure, .. } => group.estimate(measure).is_some(),
        }
    }

    /// The curves of a panel that shows these groups.
    pub fn curves(self, experiment: &Experiment, figure: &Figure, groups: &[&Group]) -> Vec<Curve> {
        let name = |group: &Group| curve_name(experiment, figure, group);
        match self {
            Self::Series(series) => {
                groups.iter().flat_map(|group| over_time(group, series, &name(group))).collect()
            }
            Self::Distribution(distribution) => groups
                .iter()
                .map(|group| {
                    let of = |measured: &Measured| measured.distributions.get(distribution).cloned();
                    Curve { name: name(group), repetitions: group.measured().filter_map(of).collect() }
                })
                .collect(),
            Self::Measure { measure, beside, along, is_speed_up } => {
                let mut lines: BTreeMap<String, Series> = BTreeMap::new();
                for group in groups {
                    let Some(x) = along.of(group) else { continue };
                    let mut add = |name: String, measure: &str| {
                        if let Some(y) = group.estimate(measure) {
                            lines.entry(name).or_default().push((x, y.median));
                        }
                    };
                    add(name(group), measure);
                    if let Some(beside) = beside {
                        add(format!("{}: {}", name(group), label(beside)), beside);
                    }
                }
                lines
                    .into_iter()
                    .flat_map(|(name, points)| measured_curves(&name, points, is_speed_up))
                    .collect()
            }
        }
    }

    /// Returns the axes.
    pub fn axes(self, experiment: &Experiment) -> Axes {
        match self {
            Self::Series(name) => {
                Axes { x: "seconds".into(), y: label(name.trim_end_matches(ALL)), is_logarithmic: false }
            }
            Self::Distribution(name) => {
                Axes { x: "percent of the measurements".into(), y: label(name), is_logarithmic: true }
            }
            Self::Measure { measure, along, is_speed_up, .. } => Axes {
                x: along.unit(experiment),
                y: if is_speed_up { "speed-up".into() } else { label(measure) },
                is_logarithmic: false,
            },
        }
    }
}

/// The series that a name stands for.
fn names<'a>(measured: &'a Measured, series: &str) -> Vec<&'a str> {
    let all = series.strip_suffix(ALL).map(|stem| format!("{stem}."));
    let is_meant = |name: &&String| match &all {
        Some(stem) => name.starts_with(stem),
        None => *name == series,
    };
    measured.series.keys().filter(is_meant).map(String::as_str).collect()
}

fn over_time(group: &Group, series: &str, name: &str) -> Vec<Curve> {
    let drawn: BTreeSet<&str> = group.measured().flat_map(|measured| names(measured, series)).collect();
    let curve = |drawn: &str| {
        let part = series.strip_suffix(ALL).and_then(|stem| drawn.strip_prefix(stem)).unwrap_or_default();
        let part = part.trim_start_matches('.').replace('_', " ");
        Curve {
            name: [name, &part].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", "),
            repetitions: group
                .measured()
                .filter_map(|measured| measured.series.get(drawn).cloned())
                .collect(),
        }
    };
    drawn.into_iter().map(curve).collect()
}

fn curve_name(experiment: &Experiment, figure: &Figure, group: &Group) -> String {
    let values =
        figure.curves.iter().filter_map(|name| Some(describe(experiment, name, &group.cell.value(name)?)));
    values.collect::<Vec<_>>().join(", ")
}

impl Along<'_> {
    /// Returns the position of a group.
    fn of(self, group: &Group) -> Option<f64> {
        match self {
            Self::Variable(variable) => match group.cell.value(variable)? {
                Value::Number(number) => Some(number as f64),
                Value::Flag(_) | Value::Text(_) => None,
            },
            Self::Measure(measure) => group.estimate(measure).map(|estimate| estimate.median),
        }
    }

    /// Returns the unit of the axis.
    fn unit(self, experiment: &Experiment) -> String {
        match self {
            Self::Variable(name) => {
                experiment.variable(name).map_or_else(|_| label(name), |known| known.unit.clone())
            }
            Self::Measure(name) => label(name),
        }
    }
}

/// A name as people read it.
fn label(name: &str) -> String {
    name.replace('_', " ")
}

/// The points as a line; a speed-up has the lines of the laws too.
fn measured_curves(name: &str, mut points: Series, is_speed_up: bool) -> Vec<Curve> {
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let name = if name.is_empty() { "measured" } else { name };
    let one = |name: String, points: Series| Curve { name, repetitions: vec![points] };
    if !is_speed_up {
        return vec![one(name.to_owned(), points)];
    }
    let Some(speed_ups) = speed_ups(&points) else { return Vec::new() };
    let most = speed_ups.iter().map(|(workers, _)| *workers).fold(1.0, f64::max);
    let mut curves = vec![one(name.to_owned(), speed_ups.clone())];
    for (law, said) in [(amdahl as fn(f64, f64) -> f64, "Amdahl"), (gustafson, "Gustafson")] {
        let Some(Fit { parallel, error }) = fit(law, &speed_ups) else { continue };
        let steps = (STEPS..=STEPS * most as usize).map(|step| step as f64 / STEPS as f64);
        let line = steps.map(|workers| (workers, law(parallel, workers))).collect();
        curves.push(one(format!("{said}: {:.1} % parallel, error {error:.2}", parallel * 100.0), line));
    }
    curves
}

/// Multiples of the value of one worker; none if that was not measured, or nothing else was.
fn speed_ups(points: &[(f64, f64)]) -> Option<Series> {
    let (_, alone) = points.iter().find(|(workers, _)| *workers == 1.0).filter(|(_, value)| *value > 0.0)?;
    (points.len() > 1).then(|| points.iter().map(|(workers, value)| (*workers, value / alone)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_up_has_the_laws_beside_it() {
        let points = vec![(3.0, 250.0), (1.0, 100.0), (7.0, 500.0)];
        let curves = measured_curves("", points, true);
        assert_eq!(curves[0].repetitions[0], [(1.0, 1.0), (3.0, 2.5), (7.0, 5.0)]);
        assert_eq!(curves[0].name, "measured");
        assert!(curves[1].name.starts_with("Amdahl: 9") && curves[2].name.starts_with("Gustafson: "));
        assert!(measured_curves("", vec![(2.0, 1.0)], true).is_empty(), "nothing to compare with");
    }

    #[test]
    fn a_name_may_stand_for_several_series() {
        let mut measured = Measured::default();
        for name in ["cpu_percent.worker_1", "cpu_percent.worker_2", "cpu_percent_of_all"] {
            measured.series.insert(name.into(), vec![(1.0, 2.0)]);
        }
        assert_eq!(names(&measured, "cpu_percent.*"), ["cpu_percent.worker_1", "cpu_percent.worker_2"]);
        assert_eq!(names(&measured, "cpu_percent_of_all"), ["cpu_percent_of_all"]);
    }
}
