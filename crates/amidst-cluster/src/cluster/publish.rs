//! Writing the release: labels, and an order that says nothing about the input.
//!
//! The order of the published rows is a function of what they publish: they are sorted by a digest of their cells and
//! the seed. Where counted combinations tell the release, they are digested and sorted in one file, and every part
//! becomes as many rows of its range of digests as were counted. Otherwise groups of input files are first recoded by
//! joins and sorted each by itself, and then every part takes its range from all of them, so no part tells which file
//! a row came from.
//! Every job writes one file under a name that does not depend on the attempt: a job that is done again after an
//! executor died replaces what it had written, and never adds to it.

mod select;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst::Failure;
use amidst::engine::{Recoded, Written, of_parts};
use amidst::job::{Job, Stage};
use amidst::release::Released;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::prelude::SessionContext;
use rustc_hash::FxHashMap;

use super::alias::Aliases;
use super::count::{ROWS, rows_of};
use super::recode::{Joining, Tables, published, write_all};
use super::session::{Runner, broken, local, parquet, publishing, remote};
use super::typed::{Typed, Typing};
use super::{Read, Settings, sql};
use select::{Unit, expanded};

/// The digest that rows are sorted by. No column of a table is called that.
const DIGEST: &str = "__amidst_digest";
/// The person of a row, for the checker alone.
const PERSON: &str = "__amidst_person";

/// Everything that writing needs.
pub struct Publishing<'a> {
    pub settings: &'a Settings,
    pub recoded: &'a Recoded<'a>,
    pub read: &'a Read,
    pub runner: Runner<'a>,
    /// The folder for intermediate data.
    pub work: &'a Path,
}

impl Publishing<'_> {
    /// Writes the release into `folder`.
    pub async fn publish(&self, folder: &Path, job: &Job<'_>) -> Result<Written, Failure> {
        let mut released = of_parts(self.recoded);
        let rows = released.rows();
        std::fs::create_dir_all(folder.join(self.recoded.name)).map_err(|e| Failure::Io(e.to_string()))?;

        let parts = rows.div_ceil(self.settings.part_rows.max(1)).clamp(1, 1 << 16) as usize;
        let persons = self.recoded.prepared.set.persons;
        let files: Vec<String> = (0..parts).map(|p| format!("{}/part-{p:05}.parquet", self.recoded.name)).collect();
        let tell = |share: f64| job.tell(Stage::Write, share);
        let unit = self.unit();
        let recoded = match unit {
            Unit::Rows => self.recode_rows(&self.joinings().await?, parts).await?,
            Unit::Combinations => vec![self.recode_combinations(&self.joinings().await?).await?],
            Unit::Published => vec![self.recode_published().await?],
        };
        tell(0.4);
        let columns = self.types(&recoded, &released).await?;
        tell(0.5);
        let written: Vec<String> = columns.iter().map(Typed::written).collect();
        let names: Vec<String> = columns.iter().map(|column| sql::name(&column.name)).collect();
        let (written, names) = (written.join(", "), names.join(", "));
        let part = |p: usize| match unit {
            Unit::Rows => self.sorted(&written, p, parts),
            Unit::Combinations | Unit::Published => expanded(&written, &names, &format!("r{}", range(p, parts))),
        };
        self.jobs(parts, |p| self.write(part(p), &recoded, folder.join(&files[p]))).await?;
        tell(0.9);
        if persons {
            let side = self.work.join("persons");
            std::fs::create_dir_all(&side).map_err(|e| Failure::Io(e.to_string()))?;
            let place = |p: usize| side.join(format!("{p:05}.parquet"));
            let person = sql::name(PERSON);
            self.jobs(parts, |p| self.write(self.sorted(&person, p, parts), &recoded, place(p))).await?;
            let mut people = Vec::with_capacity(rows as usize);
            let mut number = FxHashMap::default();
            for p in 0..parts {
                persons_of(&place(p), &mut number, &mut people).await?;
            }
            released.people = Some(Arc::new(people));
        }
        let files = self.keep_complete_parts(folder, files, rows)?;
        tell(1.0);
        Ok(Written { files, released })
    }

    /// Some jobs, as many at a time as the cluster has hands for.
    async fn jobs<F: Future<Output = Result<(), Failure>>>(
        &self,
        count: usize,
        job: impl Fn(usize) -> F,
    ) -> Result<(), Failure> {
        use futures::stream::{StreamExt, TryStreamExt};
        let at_a_time = self.read.partitions.max(1);
        futures::stream::iter((0..count).map(job)).buffer_unordered(at_a_time).try_collect::<()>().await
    }

    /// The input files in groups of about the same size, each the work of a job.
    fn groups(&self, parts: usize, together: bool) -> Vec<Vec<usize>> {
        let files = &self.read.source.files;
        // Rows that are dealt out are numbered over the whole table.
        let count = if together { 1 } else { files.len().min(parts.max(self.read.partitions)) };
        let mut groups = vec![(0u64, Vec::new()); count.max(1)];
        for (i, (_, bytes)) in files.iter().enumerate() {
            if let Some(least) = groups.iter_mut().min_by_key(|(sum, _)| *sum) {
                least.0 += bytes;
                least.1.push(i);
            }
        }
        groups.into_iter().map(|(_, files)| files).filter(|files| !files.is_empty()).collect()
    }

    /// Recodes the rows, each group of files into one file that is sorted by digest.
    async fn recode_rows(&self, joinings: &[Joining], parts: usize) -> Result<Vec<PathBuf>, Failure> {
        let mut groups: Vec<(&Joining, Vec<usize>)> = Vec::new();
        for joining in joinings {
            groups.extend(self.groups(parts, joining.dealt).into_iter().map(|files| (joining, files)));
        }
        let prepared = self.recoded.prepared;
        let sensitive = prepared.sensitive.iter().copied();
        let aliases = Aliases::of(&prepared.table, sensitive, &self.read.values, self.work).await?;
        // Groups are jobs of their own, so a plan needs to be divided only where there are fewer groups than work.
        let width = self.read.partitions.div_ceil(groups.len()).max(1);
        let recode = async |i: usize| {
            let (joining, files) = &groups[i];
            let context = remote(self.runner.scheduler, width).await?;
            self.read.source.register(&context, "t", files)?;
            aliases.register(&context).await?;
            self.tables(&context, joining).await?;
            self.copy(&context, &self.recoded_rows(joining, &aliases), &self.group_file(i)).await
        };
        self.jobs(groups.len(), recode).await?;
        Ok((0..groups.len()).map(|i| self.group_file(i)).collect())
    }

    /// Recodes the counted combinations into one file that is sorted by digest. Rows are made of them in the order of
    /// that file.
    async fn recode_combinations(&self, joinings: &[Joining]) -> Result<PathBuf, Failure> {
        let width = self.read.partitions.div_ceil(joinings.len()).max(1);
        let recode = async |i: usize| {
            let context = remote(self.runner.scheduler, width).await?;
            parquet(&context, "t", &self.read.frequencies).await?;
            self.tables(&context, &joinings[i]).await?;
            let merged = self.merged(&self.recoded_combinations(&joinings[i], Unit::Combinations));
            let statement = if joinings.len() == 1 { self.chunks(&merged) } else { merged };
            self.copy(&context, &statement, &self.group_file(i)).await
        };
        self.jobs(joinings.len(), recode).await?;
        if joinings.len() == 1 {
            return Ok(self.group_file(0));
        }
        let apart: Vec<PathBuf> = (0..joinings.len()).map(|i| self.group_file(i)).collect();
        let context = remote(self.runner.scheduler, self.read.partitions).await?;
        self.gathered(&context, &apart).await?;
        let together = self.group_file(joinings.len());
        self.copy(&context, &self.chunks(&self.merged("SELECT * FROM r")), &together).await?;
        Ok(together)
    }

    /// Puts the published combinations, as this process knows them, into one file that is sorted by digest.
    async fn recode_published(&self) -> Result<PathBuf, Failure> {
        let known = self.work.join("published.parquet");
        write_all(&published(self.recoded, &self.read.values).await?, &known)?;
        let context = remote(self.runner.scheduler, self.read.partitions).await?;
        parquet(&context, "t", &known).await?;
        let to = self.group_file(0);
        let distinct = self.recoded_combinations(&Joining::default(), Unit::Published);
        self.copy(&context, &self.chunks(&distinct), &to).await?;
        Ok(to)
    }

    /// How rows or combinations are joined with the recoding.
    async fn joinings(&self) -> Result<Vec<Joining>, Failure> {
        match &self.read.placement {
            Some(placement) => placement.joinings(self.recoded, &self.read.values, self.work).await,
            None => {
                let tables = Tables::of(self.recoded);
                Ok(vec![tables.joining(self.recoded, &self.read.values, self.work).await?])
            }
        }
    }

    /// The file of a group of recoded rows or combinations.
    fn group_file(&self, group: usize) -> PathBuf {
        self.work.join(format!("recoded-{group:05}.parquet"))
    }

    /// Makes the tables to join with known.
    async fn tables(&self, context: &SessionContext, joining: &Joining) -> Result<(), Failure> {
        for (name, files) in &joining.tables {
            match files.as_slice() {
                [file] => parquet(context, name, file).await?,
                files => {
                    let urls: Vec<String> = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                    let frame = context.read_parquet(urls, Default::default()).await.map_err(broken)?;
                    context.register_table(name.as_str(), frame.into_view()).map_err(broken)?;
                }
            }
        }
        Ok(())
    }

    /// Writes what a statement selects into a file.
    async fn copy(&self, context: &SessionContext, select: &str, to: &Path) -> Result<(), Failure> {
        let statement = format!("COPY ({select}) TO {} STORED AS PARQUET", sql::text(&to.to_string_lossy()));
        self.runner.run(context, &statement).await.map(|_| ())
    }

    /// Makes recoded rows known as `r`, and tells their columns.
    async fn gathered(&self, context: &SessionContext, recoded: &[PathBuf]) -> Result<SchemaRef, Failure> {
        let urls: Vec<String> = recoded.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let frame = context.read_parquet(urls, Default::default()).await.map_err(broken)?;
        let schema = Arc::clone(frame.schema().inner());
        context.register_table("r", frame.into_view()).map_err(broken)?;
        Ok(schema)
    }

    /// The types of the published columns.
    async fn types(&self, recoded: &[PathBuf], released: &Released) -> Result<Vec<Typed>, Failure> {
        let context = remote(self.runner.scheduler, self.read.partitions).await?;
        let schema = self.gathered(&context, recoded).await?;
        let published = |name: &str| !matches!(name, DIGEST | PERSON | ROWS);
        let typing = Typing::new(self.recoded.policy, released, &schema, published);
        let answer = match typing.question("r") {
            Some(question) => self.runner.run(&context, &question).await?,
            None => Vec::new(),
        };
        typing.answered(&answer)
    }

    /// Some columns of the rows of a part: those of its range of digests, from all groups.
    fn sorted(&self, columns: &str, part: usize, parts: usize) -> String {
        let digest = sql::name(DIGEST);
        let order = match self.recoded.prepared.set.persons {
            true => format!("{digest}, {}", sql::name(PERSON)),
            false => digest,
        };
        format!("SELECT {columns} FROM r{} ORDER BY {order}", range(part, parts))
    }

    /// Writes what a statement selects from recoded rows into one file.
    async fn write(&self, statement: String, recoded: &[PathBuf], to: PathBuf) -> Result<(), Failure> {
        let context = publishing(self.runner.scheduler).await?;
        self.gathered(&context, recoded).await?;
        self.copy(&context, &statement, &to).await
    }

    /// Nothing but the parts is in the folder, and they have all the rows.
    fn keep_complete_parts(&self, folder: &Path, files: Vec<String>, expected: u64) -> Result<Vec<String>, Failure> {
        let failed = |e: std::io::Error| Failure::Io(e.to_string());
        let mut kept = Vec::new();
        let mut rows = 0;
        for file in files {
            let path = folder.join(&file);
            match rows_of(&path)? {
                0 if expected > 0 => std::fs::remove_file(&path).map_err(failed)?,
                n => {
                    rows += n;
                    kept.push(file);
                }
            }
        }
        if rows != expected {
            return Err(Failure::Io(format!("the cluster wrote {rows} rows instead of {expected}")));
        }
        // What an executor had begun before it died.
        for entry in std::fs::read_dir(folder.join(self.recoded.name)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{}/{}", self.recoded.name, entry.file_name().to_string_lossy());
            if !kept.contains(&name) {
                std::fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(kept)
    }
}

/// The condition that a row or combination is in a part.
fn range(part: usize, parts: usize) -> String {
    let digest = sql::name(DIGEST);
    let from = (part > 0).then(|| format!("{digest} >= '{}'", bound(part, parts)));
    let upto = (part + 1 < parts).then(|| format!("{digest} < '{}'", bound(part + 1, parts)));
    sql::filter(&from.into_iter().chain(upto).collect::<Vec<String>>())
}

/// The lowest digest of a part, in hexadecimal.
fn bound(part: usize, parts: usize) -> String {
    let lowest = ((part as u128) << 64) / parts.max(1) as u128;
    format!("{lowest:016x}")
}

/// The persons of a part, in the order of its rows, numbered by first appearance.
async fn persons_of(file: &Path, number: &mut FxHashMap<String, u64>, people: &mut Vec<u64>) -> Result<(), Failure> {
    let context = local()?;
    parquet(&context, "p", file).await?;
    let frame = context.sql(&format!("SELECT {} FROM p", sql::name(PERSON))).await.map_err(broken)?;
    for batch in frame.collect().await.map_err(broken)? {
        for name in batch.column(0).as_string::<i32>() {
            let next = number.len() as u64;
            people.push(*number.entry(name.unwrap_or_default().to_string()).or_insert(next));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_divide_the_digests_evenly() {
        assert_eq!(bound(1, 2), "8000000000000000");
        assert_eq!(bound(3, 4), "c000000000000000");
        assert!(bound(1, 3) < bound(2, 3));
    }
}
