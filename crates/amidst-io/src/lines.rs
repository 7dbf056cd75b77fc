//! Maps rows back to files and lines, with a few bytes per block of rows.

/// The lines of one block.
#[derive(Debug, Default, Clone)]
pub(crate) struct BlockLines {
    /// Rows in the block.
    pub rows: usize,
    /// Line breaks in the block.
    pub lines: u64,
    /// Where line numbers exceed row numbers (blank lines, line breaks in quotes): pairs of a row of the block and the
    /// excess from that row on. Empty in most files.
    pub extra: Vec<(u32, u32)>,
    /// Whether the format has no lines.
    pub none: bool,
}

#[derive(Debug)]
struct Span {
    first_row: usize,
    file: usize,
    /// The line of the first row; `None` in formats without lines.
    first_line: Option<u64>,
    extra: Vec<(u32, u32)>,
}

/// Lines of all rows of an input.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    spans: Vec<Span>,
    files: usize,
    next_row: usize,
    next_line: u64,
}

impl Lines {
    pub fn begin_file(&mut self, row: usize, line: u64) {
        self.files += 1;
        self.next_row = row;
        self.next_line = line;
    }

    /// The number of the first line of the next block.
    pub fn next_line(&self) -> u64 {
        self.next_line
    }

    pub fn push(&mut self, block: BlockLines) {
        let line = (!block.none).then_some(self.next_line);
        let file = self.files.saturating_sub(1);
        // A block whose lines continue those before needs no span of its own.
        let goes_on = block.extra.is_empty()
            && self.spans.last().is_some_and(|span| {
                span.file == file
                    && span.extra.is_empty()
                    && span.first_line.map(|l| l + (self.next_row - span.first_row) as u64) == line
            });
        if !goes_on {
            self.spans.push(Span { first_row: self.next_row, file, first_line: line, extra: block.extra });
        }
        self.next_row += block.rows;
        self.next_line += block.lines;
    }

    /// The file (by position) and line of a row; `None` if no block was added.
    pub fn place(&self, row: usize) -> Option<(usize, Option<u64>)> {
        let span = &self.spans[self.spans.partition_point(|s| s.first_row <= row).checked_sub(1)?];
        let inside = row - span.first_row;
        let more = span.extra.partition_point(|&(r, _)| r as usize <= inside).checked_sub(1);
        let more = more.map_or(0, |i| u64::from(span.extra[i].1));
        Some((span.file, span.first_line.map(|l| l + inside as u64 + more)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lead_back_to_lines() {
        let mut lines = Lines::default();
        lines.begin_file(0, 2);
        lines.push(BlockLines { rows: 3, lines: 3, ..BlockLines::default() });
        lines.push(BlockLines { rows: 3, lines: 5, extra: vec![(1, 2)], none: false });
        lines.push(BlockLines { rows: 1, lines: 1, ..BlockLines::default() });
        lines.begin_file(7, 2);
        lines.push(BlockLines { rows: 1, lines: 1, ..BlockLines::default() });
        let places: Vec<_> = (0..8).filter_map(|r| lines.place(r)).map(|(f, l)| (f, l.unwrap_or(0))).collect();
        assert_eq!(places, [(0, 2), (0, 3), (0, 4), (0, 5), (0, 8), (0, 9), (0, 10), (1, 2)]);
    }
}
