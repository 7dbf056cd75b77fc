//! A recoding whose tuples are too many for the driver, as tables to join with.
//!
//! The class of each tuple is in files that were written while the table was cut. A row's quasi values are looked up
//! one column at a time, which gives their turns; those together give the class, and the class its labels. Rows that
//! are left out or masked have a table of their own. So have combinations that do not go where their tuple goes: their
//! rows are numbered and dealt out, by a job of its own.

use std::path::Path;
use std::sync::Arc;

use amidst::Failure;
use amidst::core::hierarchy::TOP;
use amidst::core::ids::SensitiveId;
use amidst::core::recoding::SUPPRESSED;
use amidst::engine::Recoded;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use rustc_hash::FxHashSet;

use super::divide::numbers;
use super::placement::Placement;
use super::recode::{Joining, Placed, Values, classes, numbered, write};
use super::session::broken;

/// The number of a class that no row is published in.
const NOWHERE: u32 = u32::MAX;

impl Placement {
    /// Writes the tables of a recoding into `folder`, and tells how to join with them; a second time for rows that are
    /// dealt out, where there are some.
    pub async fn joinings(
        &self,
        recoded: &Recoded<'_>,
        values: &Values,
        folder: &Path,
    ) -> Result<Vec<Joining>, Failure> {
        let prepared = recoded.prepared;
        let quasi = prepared.quasi.len();
        let mut keys = prepared.quasi.clone();
        let apart = !self.omitted.is_empty() || !self.dealt.is_empty();
        if apart {
            keys.extend(&prepared.sensitive);
        }
        let mut joining = Joining { keys, ..Joining::default() };
        for (i, &position) in joining.keys.iter().enumerate() {
            let column = &prepared.table.columns[position];
            let (values, texts) = values.of(&column.name).await?;
            let number = |code: u32| match self.turn_of.get(i) {
                Some(turns) => turns.get(code as usize).copied(),
                None => Some(code),
            };
            let found: Vec<Option<u32>> =
                texts.iter().map(|text| column.dictionary.code(text).and_then(number)).collect();
            let file = folder.join(format!("m{i}.parquet"));
            write(&numbered(&values, &found)?, &file)?;
            joining.tables.push((format!("m{i}"), vec![file]));
        }
        let mut joinings = Vec::new();
        let keys = joining.keys.len();
        let on = |table: &str| {
            let on: Vec<String> = (0..keys).map(|i| format!("m{i}.g = {table}.k{i}")).collect();
            on.join(" AND ")
        };
        if !self.dealt.is_empty() {
            let mut dealt =
                Joining { keys: joining.keys.clone(), tables: joining.tables.clone(), ..Joining::default() };
            for (name, batch) in [("dealt", self.dealt(recoded)?), ("among", self.apart(quasi, None)?)] {
                let file = folder.join(format!("{name}.parquet"));
                write(&batch, &file)?;
                dealt.tables.push((if name == "dealt" { "c" } else { name }.to_string(), vec![file]));
            }
            dealt.among = Some(format!(" JOIN among ON {}", on("among")));
            let on: Vec<String> = (0..keys).map(|i| format!("t.{}{i} = c.k{i}", Joining::FOUND)).collect();
            dealt.joins = format!(" JOIN c ON {}", on.join(" AND "));
            dealt.dealt = true;
            joinings.push(dealt);
        }
        joining.tables.push(("placed".to_string(), self.files.clone()));
        let on_tuple: Vec<String> = (0..quasi).map(|q| format!("m{q}.g = placed.k{q}")).collect();
        let mut joins = format!(" JOIN placed ON {}", on_tuple.join(" AND "));
        let mut class = "placed.x";
        if apart {
            let file = folder.join("omitted.parquet");
            let masked = recoded.masked().map_or(NOWHERE, |_| self.class_of.len() as u32);
            write(&self.apart(quasi, Some(masked))?, &file)?;
            joining.tables.push(("o".to_string(), vec![file]));
            joins += &format!(" LEFT JOIN o ON {}", on("o"));
            class = "coalesce(o.x, placed.x)";
        }
        let file = folder.join("c.parquet");
        write(&self.labels(recoded)?, &file)?;
        joining.tables.push(("c".to_string(), vec![file]));
        joining.joins = format!("{joins} JOIN c ON {class} = c.x");
        joinings.insert(0, joining);
        Ok(joinings)
    }

    /// The codes of a sensitive tuple.
    fn values(&self, sensitive: SensitiveId) -> &[u32] {
        self.sensitive.get(sensitive.index()).map_or(&[], Vec::as_slice)
    }

    /// The combinations that do not go where their tuple goes: what they have, and the number that stands for their
    /// class. With `omitted`, the number for rows that are left out or masked, these too.
    fn apart(&self, quasi: usize, omitted: Option<u32>) -> Result<RecordBatch, Failure> {
        let mut rows: Vec<(&[u32], SensitiveId, u32)> =
            self.dealt.iter().map(|dealt| (dealt.codes.as_slice(), dealt.sensitive, NOWHERE)).collect();
        if let Some(number) = omitted {
            let dealt: FxHashSet<(&[u32], SensitiveId)> = rows.iter().map(|row| (row.0, row.1)).collect();
            let own = self.omitted.iter().map(|o| (o.codes.as_slice(), o.sensitive));
            rows.extend(own.filter(|o| !dealt.contains(o)).map(|o| (o.0, o.1, number)));
        }
        let mut columns: Vec<(String, Vec<u32>)> = Vec::new();
        for q in 0..quasi {
            let turns = rows.iter().map(|row| self.turn_of[q][row.0[q] as usize]);
            columns.push((format!("k{q}"), turns.collect()));
        }
        for s in 0..self.sensitive.first().map_or(0, Vec::len) {
            columns.push((format!("k{}", quasi + s), rows.iter().map(|row| self.values(row.1)[s]).collect()));
        }
        columns.push(("x".to_string(), rows.iter().map(|row| row.2).collect()));
        numbers(columns)
    }

    /// The combinations whose rows are dealt out, run by run, with the labels of the class that the run goes to.
    fn dealt(&self, recoded: &Recoded<'_>) -> Result<RecordBatch, Failure> {
        let mut rows: Vec<Placed> = Vec::new();
        for dealt in &self.dealt {
            let turns = dealt.codes.iter().zip(&self.turn_of).map(|(&code, turns)| turns[code as usize]);
            let key: Vec<u32> = turns.chain(self.values(dealt.sensitive).iter().copied()).collect();
            let mut after = 0;
            for &(class, count) in &dealt.runs {
                rows.push(Placed { key: key.clone(), class, after, upto: after + count });
                after += count;
            }
        }
        let width = self.turn_of.len() + self.sensitive.first().map_or(0, Vec::len);
        classes(recoded, &rows, width, true)
    }

    /// The labels of each class that was placed; after them those of masked rows.
    fn labels(&self, recoded: &Recoded<'_>) -> Result<RecordBatch, Failure> {
        let numbered = (0u32..).zip(&self.class_of).filter(|(_, class)| **class != SUPPRESSED);
        let mut classes: Vec<(u32, u32)> = numbered.map(|(x, &class)| (x, class)).collect();
        let masked = recoded.masked();
        classes.extend(masked.map(|class| (self.class_of.len() as u32, class)));
        let mut fields = vec![Field::new("x", DataType::UInt32, true)];
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from_iter_values(classes.iter().map(|c| c.0)))];
        for (q, generalization) in recoded.prepared.generalizations.iter().enumerate() {
            let label = |&(_, class): &(u32, u32)| match masked {
                Some(masked) if masked == class => TOP.to_string(),
                _ => generalization.label(&recoded.recoding.classes[class as usize][q]).to_string(),
            };
            fields.push(Field::new(format!("l{q}"), DataType::Utf8, true));
            arrays.push(Arc::new(StringArray::from_iter_values(classes.iter().map(label))));
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| broken(e.into()))
    }
}
