//! Writing the release: labels by joins, and an order that says nothing about the input.
//!
//! The order of the published rows is a function of what they publish: they are sorted by a digest of their cells and
//! the seed. With more than one part, groups of input files are first recoded and sorted each by itself, and then every
//! part takes its range of digests from all of them, so no part tells which file a row came from. Every job writes one
//! file under a name that does not depend on the attempt: a job that is done again after an executor died replaces what
//! it had written, and never adds to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst::Failure;
use amidst::engine::{Recoded, Written, of_parts};
use amidst::job::{Job, Stage};
use amidst::policy::Role;
use amidst::release::Released;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::prelude::SessionContext;
use rustc_hash::FxHashMap;

use super::count::rows_of;
use super::recode::{Joining, Tables};
use super::session::{Runner, broken, local, parquet, publishing, remote};
use super::typed::{Typed, Typing, kept};
use super::{Read, Settings, sql};

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
        let joinings = match &self.read.placement {
            Some(placement) => placement.joinings(self.recoded, &self.read.values, self.work).await?,
            None => vec![Tables::of(self.recoded).joining(self.recoded, &self.read.values, self.work).await?],
        };
        std::fs::create_dir_all(folder.join(self.recoded.name)).map_err(|e| Failure::Io(e.to_string()))?;

        let parts = rows.div_ceil(self.settings.part_rows.max(1)).clamp(1, 1 << 16) as usize;
        let persons = self.recoded.prepared.set.persons;
        let files: Vec<String> = (0..parts).map(|p| format!("{}/part-{p:05}.parquet", self.recoded.name)).collect();
        let tell = |share: f64| job.tell(Stage::Write, share);
        let mut groups: Vec<(&Joining, Vec<usize>)> = Vec::new();
        for joining in &joinings {
            groups.extend(self.groups(parts, joining.dealt).into_iter().map(|files| (joining, files)));
        }
        // Groups are jobs of their own, so a plan needs to be divided only where there are fewer groups than work.
        let width = self.read.partitions.div_ceil(groups.len()).max(1);
        let recoded = self.jobs(groups.len(), |i| self.recode(groups[i].0, &groups[i].1, i, width));
        recoded.await?;
        tell(0.4);
        let columns = self.types(groups.len(), &released).await?;
        tell(0.5);
        let columns: Vec<String> = columns.iter().map(Typed::written).collect();
        let columns = columns.join(", ");
        let sorted = self.jobs(parts, |p| self.sort(groups.len(), p, parts, folder.join(&files[p]), &columns));
        sorted.await?;
        tell(0.9);
        if persons {
            let side = self.work.join("persons");
            std::fs::create_dir_all(&side).map_err(|e| Failure::Io(e.to_string()))?;
            let place = |p: usize| side.join(format!("{p:05}.parquet"));
            let person = sql::name(PERSON);
            self.jobs(parts, |p| self.sort(groups.len(), p, parts, place(p), &person)).await?;
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

    /// Recodes a group of files into one file, sorted by digest.
    async fn recode(&self, joining: &Joining, files: &[usize], group: usize, width: usize) -> Result<(), Failure> {
        let context = remote(self.runner.scheduler, width).await?;
        self.read.source.register(&context, "t", files)?;
        for (name, files) in &joining.tables {
            match files.as_slice() {
                [file] => parquet(&context, name, file).await?,
                files => {
                    let urls: Vec<String> = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                    let frame = context.read_parquet(urls, Default::default()).await.map_err(broken)?;
                    context.register_table(name.as_str(), frame.into_view()).map_err(broken)?;
                }
            }
        }
        let to = self.work.join(format!("recoded-{group:05}.parquet"));
        let statement = format!(
            "COPY ({} ORDER BY {}) TO {} STORED AS PARQUET",
            self.select(joining),
            sql::name(DIGEST),
            sql::text(&to.to_string_lossy())
        );
        self.runner.run(&context, &statement).await.map(|_| ())
    }

    /// What a row becomes.
    fn select(&self, joining: &Joining) -> String {
        let prepared = self.recoded.prepared;
        let policy = self.recoded.policy;
        let mut published = Vec::new();
        let mut cells = vec![sql::text(&policy.search.seed.to_string())];
        for field in self.read.source.schema.fields() {
            let column = sql::name(field.name());
            let role = policy.column(field.name()).map_or(Role::Identifying, |c| c.role);
            let cell = match role {
                Role::Quasi => {
                    let q = prepared.generalizations.iter().position(|g| g.name == *field.name()).unwrap_or_default();
                    format!("c.l{q}")
                }
                Role::Sensitive | Role::Insensitive => kept(field, &format!("t.{column}")),
                _ => continue,
            };
            // Each with its length, so that no two rows are joined to one text.
            let text = format!("coalesce(CAST({cell} AS VARCHAR), '')");
            cells.extend([format!("CAST(character_length({text}) AS VARCHAR)"), text]);
            published.push(format!("{cell} AS {column}"));
        }
        let digest = format!("arrow_cast(substr(md5(concat_ws('|', {})), 1, 16), 'Utf8')", cells.join(", "));
        published.push(format!("{digest} AS {}", sql::name(DIGEST)));
        let key = prepared.key.filter(|_| prepared.set.persons).and_then(|k| prepared.table.columns.get(k));
        if let Some(key) = key {
            published.push(format!(
                "coalesce(CAST(t.{} AS VARCHAR), '') AS {}",
                sql::name(&key.name),
                sql::name(PERSON)
            ));
        }
        let names = |position: usize| sql::name(&prepared.table.columns[position].name);
        let number = |(i, &position): (usize, &usize)| {
            format!(" JOIN m{i} ON t.{} IS NOT DISTINCT FROM m{i}.v", names(position))
        };
        let mut numbers: String = joining.keys.iter().enumerate().map(number).collect();
        let known = sql::filter(&self.read.source.known(policy));
        let mut from = "t".to_string();
        let mut filter = known.clone();
        if joining.dealt {
            // Rows that agree are interchangeable; any fixed order of them will do, and that of the other columns is
            // one.
            let keys: Vec<String> = joining.keys.iter().map(|&k| format!("t.{}", names(k))).collect();
            let all = self
                .read
                .source
                .schema
                .fields()
                .iter()
                .filter(|f| policy.column(f.name()).is_some_and(|c| c.role != Role::Identifying));
            let order: Vec<String> = all.map(|f| format!("t.{}", sql::name(f.name()))).collect();
            let mut among = String::new();
            let mut found = String::new();
            if let Some(join) = &joining.among {
                // The numbers of the values are looked up once and travel on: a plan twice as deep is refused by the
                // scheduler.
                among = format!("{numbers}{join}");
                found = (0..joining.keys.len()).map(|i| format!(", m{i}.g AS {}{i}", Joining::FOUND)).collect();
                numbers = String::new();
            }
            from = format!(
                "(SELECT t.*{found}, row_number() OVER (PARTITION BY {} ORDER BY {}) AS __amidst_row FROM t{among}{known}) AS t",
                keys.join(", "),
                order.join(", ")
            );
            filter = String::new();
        }
        let joins = numbers + &joining.joins;
        if let Some(more) = &joining.filter {
            filter = if filter.is_empty() { format!(" WHERE {more}") } else { format!("{filter} AND {more}") };
        }
        format!("SELECT {} FROM {from}{joins}{filter}", published.join(", "))
    }

    /// Makes the recoded rows known as `r`, and tells their columns.
    async fn gathered(&self, context: &SessionContext, groups: usize) -> Result<SchemaRef, Failure> {
        let union = (0..groups).map(|g| self.work.join(format!("recoded-{g:05}.parquet")));
        let urls: Vec<String> = union.map(|path| path.to_string_lossy().into_owned()).collect();
        let frame = context.read_parquet(urls, Default::default()).await.map_err(broken)?;
        let schema = Arc::clone(frame.schema().inner());
        context.register_table("r", frame.into_view()).map_err(broken)?;
        Ok(schema)
    }

    /// The types of the published columns.
    async fn types(&self, groups: usize, released: &Released) -> Result<Vec<Typed>, Failure> {
        let context = remote(self.runner.scheduler, self.read.partitions).await?;
        let schema = self.gathered(&context, groups).await?;
        let published = |name: &str| !matches!(name, DIGEST | PERSON);
        let typing = Typing::new(self.recoded.policy, released, &schema, published);
        let answer = match typing.question("r") {
            Some(question) => self.runner.run(&context, &question).await?,
            None => Vec::new(),
        };
        typing.answered(&answer)
    }

    /// Writes some columns of a part: the rows of its range of digests, from all groups.
    async fn sort(&self, groups: usize, part: usize, parts: usize, to: PathBuf, columns: &str) -> Result<(), Failure> {
        let context = publishing(self.runner.scheduler).await?;
        let schema = self.gathered(&context, groups).await?;
        let digest = sql::name(DIGEST);
        let order = match schema.column_with_name(PERSON).is_some() {
            true => format!("{digest}, {}", sql::name(PERSON)),
            false => digest.clone(),
        };
        let mut range = Vec::new();
        if part > 0 {
            range.push(format!("{digest} >= '{}'", bound(part, parts)));
        }
        if part + 1 < parts {
            range.push(format!("{digest} < '{}'", bound(part + 1, parts)));
        }
        let statement = format!(
            "COPY (SELECT {columns} FROM r{} ORDER BY {order}) TO {} STORED AS PARQUET",
            sql::filter(&range),
            sql::text(&to.to_string_lossy())
        );
        self.runner.run(&context, &statement).await.map(|_| ())
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
