//! Visits each state that a model can reach, breadth first, so that what is wrong comes with a shortest way to it.
//!
//! A state is known by a hash of 64 bits: of a million states, two have the same hash with a probability of 3 in 100 million.

use std::{
    collections::{HashMap, VecDeque},
    fmt::Debug,
};

/// Events that can happen, and conditions that must hold.
pub trait Model {
    /// A state.
    type State: Clone;
    /// Step from one state to another.
    type Action: Copy + Debug;

    /// Returns the first state.
    fn start(&self) -> Self::State;
    /// Appends what can happen. `calm` is neither a fault nor new work: without those, the first of it that changes something happens next.
    fn actions(&self, state: &Self::State, calm: &mut Vec<Self::Action>, other: &mut Vec<Self::Action>);
    /// Returns the state after an action, or what is wrong with the action.
    fn next(&self, state: &Self::State, action: Self::Action) -> Result<Self::State, String>;
    /// Returns a hash of the state.
    fn fingerprint(&self, state: &Self::State) -> u64;
    /// Checks what is true in each state.
    fn check(&self, state: &Self::State) -> Result<(), String>;
    /// Checks what is true once nothing calm is left to happen.
    fn check_settled(&self, state: &Self::State) -> Result<(), String>;
}

/// Counts of visited states and steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Explored {
    /// Different states.
    pub states: usize,
    /// Actions that led from one to another.
    pub transitions: usize,
    /// Actions of the longest shortest way.
    pub depth: usize,
    /// States in which nothing calm is left to happen.
    pub settled: usize,
}

/// A way to what is wrong.
#[derive(Debug)]
pub struct Wrong<A> {
    /// Violation that was found.
    pub message: String,
    /// The actions from the first state on.
    pub trace: Vec<A>,
    /// States visited until then.
    pub states: usize,
}

/// First step that led to a state.
struct Step<A> {
    before: usize,
    action: Option<A>,
    depth: usize,
    /// The state after the first calm action; the state itself if there is none.
    calm: usize,
}

/// Visits all states.
pub fn explore<M: Model>(model: &M, most: usize) -> Result<Explored, Wrong<M::Action>> {
    let start = model.start();
    let mut known = HashMap::from([(model.fingerprint(&start), 0)]);
    let mut steps = vec![Step { before: 0, action: None, depth: 0, calm: 0 }];
    let mut waiting = VecDeque::from([(0, start)]);
    let mut explored = Explored::default();
    let (mut calm, mut other) = (Vec::new(), Vec::new());
    while let Some((at, state)) = waiting.pop_front() {
        assert!(steps.len() <= most, "more than {most} states: {explored:?}");
        calm.clear();
        other.clear();
        model.actions(&state, &mut calm, &mut other);
        let actions =
            calm.iter().map(|&action| (action, true)).chain(other.iter().map(|&action| (action, false)));
        for (action, is_calm) in actions {
            let wrong = |message, steps: &[_]| wrong(message, steps, at, Some(action));
            let next = model.next(&state, action).map_err(|message| wrong(message, &steps))?;
            let count = steps.len();
            let to = *known.entry(model.fingerprint(&next)).or_insert(count);
            if to == at {
                continue;
            }
            explored.transitions += 1;
            if is_calm && steps[at].calm == at {
                steps[at].calm = to;
            }
            if to == count {
                model.check(&next).map_err(|message| wrong(message, &steps))?;
                let depth = steps[at].depth + 1;
                explored.depth = depth;
                steps.push(Step { before: at, action: Some(action), depth, calm: to });
                waiting.push_back((to, next));
            }
        }
        if steps[at].calm == at {
            explored.settled += 1;
            model.check_settled(&state).map_err(|message| wrong(message, &steps, at, None))?;
        }
    }
    explored.states = steps.len();
    check_ends(&steps)?;
    Ok(explored)
}

/// Checks that calm actions come to an end from each state.
fn check_ends<A: Copy>(steps: &[Step<A>]) -> Result<(), Wrong<A>> {
    // By which start a state was passed first.
    let mut passed = vec![usize::MAX; steps.len()];
    for from in 0..steps.len() {
        let mut at = from;
        while passed[at] == usize::MAX {
            passed[at] = from;
            at = steps[at].calm;
        }
        if passed[at] == from && steps[at].calm != at {
            return Err(wrong("without faults it goes on forever".into(), steps, at, None));
        }
    }
    Ok(())
}

fn wrong<A: Copy>(message: String, steps: &[Step<A>], at: usize, last: Option<A>) -> Wrong<A> {
    let mut trace: Vec<A> = last.into_iter().collect();
    let mut step = &steps[at];
    while let Some(action) = step.action {
        trace.push(action);
        step = &steps[step.before];
    }
    trace.reverse();
    Wrong { message, trace, states: steps.len() }
}

mod tests {
    use super::*;

    /// Counts to a bound; from there only back to the middle, if it must.
    struct Counter {
        turns_back: bool,
        forbidden: u64,
    }

    impl Model for Counter {
        type State = u64;
        type Action = i64;

        fn start(&self) -> u64 {
            0
        }

        fn actions(&self, state: &u64, calm: &mut Vec<i64>, other: &mut Vec<i64>) {
            match state {
                10 if self.turns_back => calm.push(-5),
                10 => {}
                _ => calm.push(1),
            }
            other.push(i64::from(*state < 10) * 2);
        }

        fn next(&self, state: &u64, action: i64) -> Result<u64, String> {
            Ok(state.saturating_add_signed(action).min(10))
        }

        fn fingerprint(&self, state: &u64) -> u64 {
            *state
        }

        fn check(&self, state: &u64) -> Result<(), String> {
            if *state == self.forbidden { Err(format!("{state} is forbidden")) } else { Ok(()) }
        }

        fn check_settled(&self, state: &u64) -> Result<(), String> {
            if *state == 10 { Ok(()) } else { Err(format!("ends at {state}")) }
        }
    }

    #[test]
    fn the_shortest_way_to_what_is_wrong_is_found() {
        let wrong = explore(&Counter { turns_back: false, forbidden: 7 }, 100).unwrap_err();
        assert_eq!((wrong.message.as_str(), wrong.trace.len()), ("7 is forbidden", 4));
    }

    #[test]
    fn all_states_are_visited_and_what_never_settles_is_found() {
        let explored = explore(&Counter { turns_back: false, forbidden: 99 }, 100).unwrap();
        assert_eq!((explored.states, explored.settled, explored.depth), (11, 1, 5));
        let wrong = explore(&Counter { turns_back: true, forbidden: 99 }, 100).unwrap_err();
        assert_eq!(wrong.message, "without faults it goes on forever");
    }
}
