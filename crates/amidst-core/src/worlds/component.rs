//! Components of what reasoning leaves open: unknowns that share no class, directly or through others, are independent.

use super::network::Network;

/// Unknowns that hang together, with what their classes still have to give out.
#[derive(Debug, Clone, Default)]
pub(super) struct Component {
    /// The values in question, ascending.
    pub values: Vec<u32>,
    /// The unknowns, by their number in the network.
    pub names: Vec<u32>,
    pub sizes: Vec<u32>,
    /// Whether an unknown is the counterfeits of a class, which are interchangeable: only their values matter.
    pub counterfeit: Vec<bool>,
    /// The classes of each unknown, and the unknowns of each class, by their numbers here.
    pub classes: Vec<Vec<u32>>,
    pub members: Vec<Vec<u32>>,
    /// The classes by their numbers in the network.
    pub class_names: Vec<u32>,
    /// What each class has left of each value, class by class.
    pub left: Vec<u32>,
    /// The bounds of each unknown, value by value.
    pub low: Vec<u32>,
    pub high: Vec<u32>,
    /// Whether there are too many unknowns and values, so that only the names are kept: nothing is proven about them.
    pub too_large: bool,
}

/// The most bounds that a component may have: 64 million, or half a gigabyte.
const LARGEST: usize = 1 << 26;

impl Component {
    /// The number of values.
    pub fn width(&self) -> usize {
        self.values.len()
    }

    /// Whether all values are interchangeable: every class has as many left of each as of any other. Exchanging two
    /// values then turns every world into another one, so that everybody has each value in equally many worlds.
    pub fn symmetric(&self) -> bool {
        self.left.chunks_exact(self.width().max(1)).all(|class| class.iter().all(|&n| n == class[0] && n > 0))
    }

    /// The group of each value, named by its first value: values that every class has equally many of are
    /// interchangeable, so every person has them in equally many worlds.
    pub fn interchangeable(&self) -> Vec<usize> {
        let width = self.width();
        let column = |v: usize| self.left.iter().skip(v).step_by(width.max(1));
        let mut groups: Vec<usize> = Vec::with_capacity(width);
        for v in 0..width {
            let alike = (0..v).find(|&w| column(v).eq(column(w)));
            groups.push(alike.map_or(v, |w| groups[w]));
        }
        groups
    }
}

/// The components of what is still open in a network.
pub(super) fn components(network: &Network<'_>) -> Vec<Component> {
    let open = |unknown: u32| network.bounds.get(unknown as usize).iter().any(|b| b.low < b.high);
    let mut number = vec![u32::MAX; network.unknowns.len()];
    let mut seen = vec![false; network.members.len()];
    let mut found = Vec::new();
    let mut stack = Vec::new();
    for first in 0..network.unknowns.len() as u32 {
        if number[first as usize] != u32::MAX || !open(first) {
            continue;
        }
        let (mut names, mut classes) = (Vec::new(), Vec::new());
        number[first as usize] = 0;
        stack.push(first);
        while let Some(unknown) = stack.pop() {
            number[unknown as usize] = names.len() as u32;
            names.push(unknown);
            for &class in network.classes.get(unknown as usize) {
                if std::mem::replace(&mut seen[class as usize], true) {
                    continue;
                }
                classes.push(class);
                for &other in network.members.get(class as usize) {
                    if number[other as usize] == u32::MAX && open(other) {
                        number[other as usize] = 0;
                        stack.push(other);
                    }
                }
            }
        }
        found.push(component(network, names, &classes, &number));
    }
    found
}

fn component(network: &Network<'_>, names: Vec<u32>, classes: &[u32], number: &[u32]) -> Component {
    let possible = names.iter().flat_map(|&name| network.bounds.get(name as usize)).filter(|b| b.high > 0);
    let mut values: Vec<u32> = possible.map(|b| b.value).collect();
    values.sort_unstable();
    values.dedup();
    let width = values.len();
    if names.len().max(classes.len()).saturating_mul(width) > LARGEST {
        return Component { names, values, too_large: true, ..Component::default() };
    }
    let mut made = Component { values, class_names: classes.to_vec(), ..Component::default() };
    let (mut low, mut high) = (vec![0; names.len() * width], vec![0; names.len() * width]);
    for (at, &name) in names.iter().enumerate() {
        for b in network.bounds.get(name as usize) {
            if let Ok(v) = made.values.binary_search(&b.value) {
                (low[at * width + v], high[at * width + v]) = (b.low, b.high);
            }
        }
        let unknown = network.unknowns[name as usize];
        made.sizes.push(unknown.size);
        made.counterfeit.push(unknown.cohort.is_none());
    }
    made.classes = vec![Vec::new(); names.len()];
    for (class, &known) in (0u32..).zip(classes) {
        let mut left = vec![0u32; width];
        for &(value, n) in network.history.counts(known) {
            if let Ok(v) = made.values.binary_search(&value) {
                left[v] = n;
            }
        }
        let mut members = Vec::new();
        for &unknown in network.members.get(known as usize) {
            match number[unknown as usize] {
                // What is certain is given out already.
                u32::MAX => {
                    for b in network.bounds.get(unknown as usize) {
                        if let Ok(v) = made.values.binary_search(&b.value) {
                            left[v] = left[v].saturating_sub(b.low);
                        }
                    }
                }
                here => {
                    members.push(here);
                    made.classes[here as usize].push(class);
                }
            }
        }
        made.members.push(members);
        made.left.extend(left);
    }
    (made.names, made.low, made.high) = (names, low, high);
    made
}
