//! A recoding whose tuples are too many for the driver, as tables to join with.
//!
//! The class of each tuple is in files that were written while the table was cut. A row's quasi values are looked up one
//! column at a time, which gives their turns; those together give the class, and the class its labels. Rows that are left
//! out or masked have a table of their own.

use std::path::Path;
use std::sync::Arc;

use amidst::Failure;
use amidst::core::hierarchy::TOP;
use amidst::core::recoding::SUPPRESSED;
use amidst::engine::Recoded;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};

use super::parted::{Placement, numbers};
use super::recode::{Joining, Values, numbered, write};
use super::session::broken;

impl Placement {
    /// Writes the tables of a recoding into `folder`, and tells how to join with them.
    pub async fn joining(&self, recoded: &Recoded<'_>, values: &Values, folder: &Path) -> Result<Joining, Failure> {
        let prepared = recoded.prepared;
        let quasi = prepared.quasi.len();
        let mut keys = prepared.quasi.clone();
        if !self.omitted.is_empty() {
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
        joining.tables.push(("placed".to_string(), self.files.clone()));
        let on: Vec<String> = (0..quasi).map(|q| format!("m{q}.g = placed.k{q}")).collect();
        joining.joins = format!(" JOIN placed ON {}", on.join(" AND "));
        let mut class = "placed.x".to_string();
        if !self.omitted.is_empty() {
            let file = folder.join("omitted.parquet");
            write(&self.left_out(quasi, prepared.sensitive.len())?, &file)?;
            joining.tables.push(("o".to_string(), vec![file]));
            let on: Vec<String> = (0..joining.keys.len()).map(|i| format!("m{i}.g = o.k{i}")).collect();
            joining.joins += &format!(" LEFT JOIN o ON {}", on.join(" AND "));
            match recoded.masked() {
                Some(_) => class = "coalesce(o.x, placed.x)".to_string(),
                None => joining.filter = Some("o.x IS NULL".to_string()),
            }
        }
        let file = folder.join("c.parquet");
        write(&self.labels(recoded)?, &file)?;
        joining.tables.push(("c".to_string(), vec![file]));
        joining.joins += &format!(" JOIN c ON {class} = c.x");
        Ok(joining)
    }

    /// The rows that are left out or masked: what they have, and the number that stands for their class.
    fn left_out(&self, quasi: usize, sensitive: usize) -> Result<RecordBatch, Failure> {
        let mut columns: Vec<(String, Vec<u32>)> = Vec::new();
        for q in 0..quasi {
            let turns = self.omitted.iter().map(|o| self.turn_of[q][o.codes[q] as usize]);
            columns.push((format!("k{q}"), turns.collect()));
        }
        for s in 0..sensitive {
            let codes = self.omitted.iter().map(|o| self.sensitive[o.sensitive as usize][s]);
            columns.push((format!("k{}", quasi + s), codes.collect()));
        }
        columns.push(("x".to_string(), vec![self.class_of.len() as u32; self.omitted.len()]));
        numbers(columns)
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
