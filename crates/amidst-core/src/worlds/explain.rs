//! Why few values are left for a cohort: the classes from which that follows, step by step.
//!
//! The reasoning of `network` is repeated with a record of its steps, which is followed back from the bounds of the
//! cohort.

use rustc_hash::{FxHashMap, FxHashSet};

use super::history::{Cohort, History};
use super::network::{Listener, Network};

/// How many steps are told; of more, the last.
const LONGEST: usize = 12;

/// A class that told something about a cohort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The version, from 0, and the class in it.
    pub version: usize,
    /// The number of the class in its version, from 0.
    pub class: usize,
    /// What the class publishes, by value.
    pub published: Vec<(u32, u64)>,
    /// What is certain of others of the class: the cohort, and how many of it have a value at least.
    pub taken: Vec<(Cohort, Vec<(u32, u64)>)>,
    /// The cohort that the class tells something about; `None` for its counterfeits.
    pub about: Option<Cohort>,
    /// The values that are left for it.
    pub left: Vec<u32>,
}

/// Notes who learned from which class, and the details of those that are wanted.
#[derive(Default)]
struct Notes {
    events: Vec<(u32, u32)>,
    wanted: FxHashSet<usize>,
    steps: FxHashMap<usize, Step>,
}

impl Listener for Notes {
    fn learned(&mut self, network: &Network<'_>, unknown: u32, class: u32) {
        if self.wanted.contains(&self.events.len()) {
            self.steps.insert(self.events.len(), step(network, unknown, class));
        }
        self.events.push((unknown, class));
    }
}

fn step(network: &Network<'_>, unknown: u32, class: u32) -> Step {
    let seen = network.history.classes()[class as usize];
    let others = network.members.get(class as usize).iter().filter(|&&other| other != unknown);
    let taken = others.filter_map(|&other| {
        let certain = network.bounds.get(other as usize).iter().filter(|b| b.low > 0);
        let certain: Vec<(u32, u64)> = certain.map(|b| (network.history.meant(b.value), u64::from(b.low))).collect();
        Some((network.unknowns[other as usize].cohort?, certain)).filter(|taken| !taken.1.is_empty())
    });
    let left = network.bounds.get(unknown as usize).iter().filter(|b| b.high > 0);
    let meant = |value: u32| network.history.meant(value);
    Step {
        version: seen.version as usize,
        class: seen.number as usize,
        published: network.history.counts(class).iter().map(|&(value, n)| (meant(value), u64::from(n))).collect(),
        taken: taken.collect(),
        about: network.unknowns[unknown as usize].cohort,
        left: left.map(|b| meant(b.value)).collect(),
    }
}

impl History {
    /// For each of some cohorts the steps that lead to what is known about it, the last ones of many.
    pub fn explain(&self, cohorts: &[Cohort]) -> Vec<Vec<Step>> {
        let run = |notes: &mut Notes| {
            let mut network = Network::new(self);
            network.tighten(network.entries().saturating_mul(64), notes);
            network
        };
        let mut first = Notes::default();
        let network = run(&mut first);
        let chains: Vec<Vec<usize>> = cohorts.iter().map(|&cohort| chain(&network, &first.events, cohort)).collect();
        let wanted = chains.iter().flatten().copied().collect();
        let mut second = Notes { wanted, ..Notes::default() };
        run(&mut second);
        let told = |chain: &Vec<usize>| chain.iter().filter_map(|event| second.steps.get(event).cloned()).collect();
        chains.iter().map(told).collect()
    }

    /// The classes of a cohort: the version, the number of the class in it, and the values that it publishes.
    pub fn classes_of(&self, cohort: Cohort) -> Vec<(usize, usize, Vec<u32>)> {
        let mut path = Vec::new();
        self.path(cohort, &mut path);
        let class = |&class: &u32| {
            let seen = self.classes()[class as usize];
            (seen.version as usize, seen.number as usize, self.counts(class).iter().map(|c| self.meant(c.0)).collect())
        };
        path.iter().map(class).collect()
    }
}

/// The events that lead to the bounds of a cohort, in their order.
fn chain(network: &Network<'_>, events: &[(u32, u32)], cohort: Cohort) -> Vec<usize> {
    let own = (0u32..).zip(&network.unknowns).filter(|(_, u)| u.cohort == Some(cohort)).map(|(number, _)| number);
    let mut asked: FxHashSet<u32> = own.collect();
    let mut found = Vec::new();
    for (number, (unknown, class)) in events.iter().enumerate().rev() {
        if found.len() == LONGEST {
            break;
        }
        if asked.contains(unknown) {
            found.push(number);
            asked.extend(network.members.get(*class as usize));
        }
    }
    found.reverse();
    found
}
