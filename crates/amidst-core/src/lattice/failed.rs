//! Nodes that lose too many rows, remembered so that finer ones need not be counted.

/// Nodes known to lose too many rows because of the sizes of their classes; all finer ones lose as many.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    /// The levels of each, one node after the other.
    nodes: Vec<u16>,
    /// The number of the one that the next takes the place of, once there are enough.
    next: usize,
}

/// As many nodes are remembered: to look through more takes about as long as to count one.
const REMEMBERED: usize = 256;

/// A level as it is remembered. None has nearly as many levels.
fn short(level: usize) -> u16 {
    u16::try_from(level).unwrap_or(u16::MAX)
}

impl Failed {
    /// Whether a node is one of these or finer than one.
    pub fn covers(&self, levels: &[usize]) -> bool {
        // No branch within a node, so that several columns are compared at once.
        let finer = |known: &[u16]| known.iter().zip(levels).fold(true, |all, (k, &l)| all & (usize::from(*k) >= l));
        !levels.is_empty() && self.nodes.chunks_exact(levels.len()).any(finer)
    }

    /// Remembers a node.
    pub fn remember(&mut self, levels: &[usize]) {
        let width = levels.len();
        let levels = levels.iter().map(|&level| short(level));
        if self.nodes.len() < REMEMBERED * width {
            self.nodes.extend(levels);
            return;
        }
        let begin = self.next * width;
        for (known, level) in self.nodes[begin..].iter_mut().zip(levels) {
            *known = level;
        }
        self.next = (self.next + 1) % REMEMBERED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_failed_nodes_cover_finer_ones() {
        let mut failed = Failed::default();
        assert!(!failed.covers(&[0, 0]));
        failed.remember(&[1, 2]);
        assert!(failed.covers(&[1, 2]) && failed.covers(&[0, 1]));
        assert!(!failed.covers(&[2, 0]) && !failed.covers(&[1, 3]));
        (0..REMEMBERED).for_each(|_| failed.remember(&[3, 0]));
        assert!(failed.covers(&[2, 0]) && !failed.covers(&[0, 1]));
    }
}
