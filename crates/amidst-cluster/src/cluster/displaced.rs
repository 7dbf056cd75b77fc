//! Combinations that leave the cluster while it divides a table, because rows of them go elsewhere than the others.

use amidst::Failure;
use amidst::core::internal::partial::{Combinations, PartialSearch, Removed, TailQuery};

use super::divide::{code, codes, counts, deciding, unreadable};
use super::rolled::Rolled;

impl Rolled<'_> {
    /// The last combinations of some sides of parts, in the order of their codes.
    pub(super) fn last_of(
        &self,
        pieces: &PartialSearch<'_>,
        asked: &[TailQuery],
    ) -> Result<Vec<Combinations>, Failure> {
        let (quasi, width) = self.widths();
        let mut columns: Vec<(String, Vec<u32>)> =
            ["o", "k", "i", "m"].iter().map(|name| (name.to_string(), Vec::new())).collect();
        columns.extend((0..width).map(|s| (format!("s{s}"), Vec::new())));
        for (i, of) in (0u32..).zip(asked) {
            let turn_of = &self.parts.borrow().turn_of[of.column];
            for &code in &of.codes {
                let most = u32::try_from(of.most).unwrap_or(u32::MAX);
                let values = (0..width).map(|s| pieces.whole().sensitive_code(of.sensitive, s));
                let row = [of.part, turn_of[code as usize], i, most].into_iter().chain(values);
                columns.iter_mut().zip(row).for_each(|(column, cell)| column.1.push(cell));
            }
        }
        self.numbers("asked", columns)?;
        let (mut order, mut joins) = (Vec::new(), String::new());
        for (q, turn_of) in self.parts.borrow().turn_of.iter().enumerate() {
            if turn_of.is_sorted() {
                order.push(format!("s.r{q} DESC"));
            } else {
                joins += &format!(" JOIN turns{q} ON s.r{q} = turns{q}.g");
                order.push(format!("turns{q}.v DESC"));
            }
        }
        let turns: Vec<String> = (0..quasi).map(|q| format!("r{q}")).collect();
        let own: Vec<String> = (0..quasi).map(|q| format!("s.r{q} AS r{q}")).collect();
        let values: String = (0..width).map(|s| format!(" AND s.s{s} = asked.s{s}")).collect();
        let key = deciding(asked.iter().map(|of| (of.column, of.part)));
        let batches = self.place.run(&format!(
            "SELECT i, {}, n FROM (SELECT asked.i AS i, asked.m AS m, {}, s.n AS n, row_number() OVER (PARTITION BY asked.i \
             ORDER BY {}) AS z FROM s JOIN asked ON s.p = asked.o AND {key} = asked.k{values}{joins}) AS l WHERE z <= m",
            turns.join(", "),
            own.join(", "),
            order.join(", ")
        ))?;
        let mut found = vec![Vec::new(); asked.len()];
        for batch in &batches {
            for (row, rows) in counts(batch, 1 + quasi)?.into_iter().enumerate() {
                let tuple: Result<Vec<u32>, Failure> =
                    (0..quasi).map(|q| code(pieces, q, codes(batch, 1 + q)?.value(row))).collect();
                let to = found.get_mut(codes(batch, 0)?.value(row) as usize).ok_or_else(unreadable)?;
                to.push((tuple?, rows));
            }
        }
        found.iter_mut().for_each(|of| of.sort_unstable_by(|a, b| b.cmp(a)));
        Ok(found)
    }

    /// The end of a statement about `s` that leaves some combinations out.
    pub(super) fn without(&self, pieces: &PartialSearch<'_>, gone: &[Removed]) -> Result<String, Failure> {
        if gone.is_empty() {
            return Ok(String::new());
        }
        let (quasi, width) = self.widths();
        let mut columns = vec![("o".to_string(), gone.iter().map(|g| g.part).collect())];
        let mut on = vec!["s.p = gone.o".to_string()];
        for q in 0..quasi {
            let turn_of = &self.parts.borrow().turn_of[q];
            columns.push((format!("r{q}"), gone.iter().map(|g| turn_of[g.codes[q] as usize]).collect()));
            on.push(format!("s.r{q} = gone.r{q}"));
        }
        for s in 0..width {
            let code = |g: &Removed| pieces.whole().sensitive_code(g.sensitive, s);
            columns.push((format!("s{s}"), gone.iter().map(code).collect()));
            on.push(format!("s.s{s} = gone.s{s}"));
        }
        self.numbers("gone", columns)?;
        Ok(format!(" LEFT JOIN gone ON {} WHERE gone.o IS NULL", on.join(" AND ")))
    }
}
