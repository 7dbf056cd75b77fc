//! Attacks on one table, with what the adversary knows beside it.
//!
//! May use: `audit`, `external`, `job`, `policy`, `prepare`, `series`, and what those use.

mod joined;
mod minimality;
mod versions;

use amidst_core::attack::{
    AttackError, Covering, Entry, External, Extra, Findings, Knowledge, PopulationKnowledge, Published, Target,
    labels_of_table,
};
use amidst_core::frequency;
use amidst_core::parameter::{Parameters, Value as Stated};
use amidst_core::table::Table;

use crate::external::{covers, read};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::{Failure, Remedy, json};

use joined::{LastJoined, Release};
use versions::Versions;
pub use versions::{attack_series, is_series};

/// Cells of classes with fewer persons than this are not told: the table may not be protected yet.
const SHOWN_FROM: u64 = 5;

/// What the adversary knows beside the table.
#[derive(Debug, Clone, Default)]
pub struct AdversaryTables {
    /// Tables of persons with some of the quasi columns: one, or for several versions one for each, the oldest first.
    pub external: Vec<String>,
    /// The column of such tables that tells who is who.
    pub person: Option<String>,
    /// Earlier versions of the table, the oldest first.
    pub earlier: Vec<String>,
    /// A table of a population with the quasi columns and the sensitive column, and optionally a column `count`.
    pub population: Option<String>,
    /// The table that the release was made from; the policy's input when absent.
    pub original: Option<String>,
    /// How many threads read these tables; all cores when 0.
    pub threads: usize,
}

/// What an attack learned about each sensitive column.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attacked {
    /// The attack.
    pub entry: &'static Entry,
    /// (column, findings, the worst classes with their cells and sizes).
    pub columns: Vec<(String, Findings, Vec<WorstClass>)>,
    /// (column, why the attack says nothing about it).
    pub skipped: Vec<(String, String)>,
}

/// A class that was hit hard.
#[derive(Debug, Clone)]
pub struct WorstClass {
    /// Its cells; none where the class is so small that they would point at someone.
    pub cells: Option<Vec<(String, String)>>,
    /// The persons in it.
    pub size: u64,
}

/// Runs `entry` on every sensitive column of a table that was loaded for an audit. `stated` is the policy as it was
/// written: its hierarchies tell what labels mean.
pub fn attack(
    entry: &'static Entry,
    stated: &Policy,
    prepared: &Prepared,
    beside: &AdversaryTables,
    parameters: &Parameters,
) -> Result<Attacked, Failure> {
    let labels = labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
    Adversary::new(stated, prepared, &targets(prepared, &labels), beside).attack(entry, parameters)
}

/// The sensitive columns of a table as attacks see them: counted once, for any number of attacks. `labels` are
/// [`labels_of_table`].
pub fn targets<'a>(prepared: &'a Prepared, labels: &'a Table) -> Vec<Target<'a>> {
    let published = Published::new(&prepared.set, &prepared.set.groups, &prepared.domains).with_labels(labels);
    (0..prepared.domains.len()).map(|column| Target::new(published, column)).collect()
}

/// An adversary who attacks a table in several ways, and reads and joins what is known beside it once for all of them.
pub struct Adversary<'a> {
    stated: &'a Policy,
    prepared: &'a Prepared,
    targets: &'a [Target<'a>],
    beside: &'a AdversaryTables,
    joined: LastJoined,
}

impl<'a> Adversary<'a> {
    /// An adversary who knows these tables `beside` the one that was `prepared` for an audit; `targets` are
    /// [`targets`], and `stated` is the policy as it was written.
    pub fn new(
        stated: &'a Policy,
        prepared: &'a Prepared,
        targets: &'a [Target<'a>],
        beside: &'a AdversaryTables,
    ) -> Self {
        Adversary { stated, prepared, targets, beside, joined: LastJoined::default() }
    }

    /// Runs `entry` on every sensitive column.
    ///
    /// # Errors
    /// When a table beside the release cannot be read, a parameter is wrong, or the attack applies to no column.
    pub fn attack(&mut self, entry: &'static Entry, parameters: &Parameters) -> Result<Attacked, Failure> {
        let targets = self.targets;
        if targets.is_empty() {
            return Err(Failure::Usage(format!("the {} attack is after a sensitive column; name one", entry.id)));
        }
        let mut attacked = Attacked { entry, columns: Vec::new(), skipped: Vec::new() };
        let versions = match entry.needs == Knowledge::Versions && !self.beside.earlier.is_empty() {
            true => Some(Versions::load(self.stated, self.prepared, self.beside)?),
            false => None,
        };
        for target in targets {
            let name = target.domain().map_or("", |domain| domain.name.as_str());
            let found = match &versions {
                None => self.one(entry, target, parameters)?,
                Some(versions) => {
                    let versions = versions.of_column(self.prepared, name)?;
                    entry.run(target, &Extra { versions: Some(&versions), ..Extra::default() }, parameters)
                }
            };
            match found {
                Err(error) => attacked.skipped.push((name.to_string(), failed(error)?)),
                Ok(findings) => {
                    let worst = findings.worst.iter().map(|&class| worst_class(&target.published, class)).collect();
                    attacked.columns.push((name.to_string(), findings, worst));
                }
            }
        }
        attacked.or_why()
    }

    fn one(
        &mut self,
        entry: &Entry,
        target: &Target<'_>,
        parameters: &Parameters,
    ) -> Result<Result<Findings, AttackError>, Failure> {
        let Adversary { stated, beside, joined, .. } = self;
        let release = Release { stated, published: target.published, threads: beside.threads };
        // What was published is what its policy made of its input.
        let input = stated.data.input.as_ref().filter(|i| i.as_str() != "-" && !stated.requirements.is_empty());
        let input = input.map(|i| stated.origin.resolve_source(i));
        let input = input.filter(|i| amidst_io::local_path(i).is_none_or(|path| path.exists()));
        let original = beside.original.clone().or(input.filter(|_| entry.needs == Knowledge::Original));
        match (entry.needs, beside.external.first(), &beside.population, &original) {
            (Knowledge::External, Some(file), ..) => {
                let table = read(file, &release.quasi(), beside.threads)?;
                let covers = covers(stated, &table)?;
                let external = External { table: &table, covers: &covers };
                Ok(entry.run(target, &Extra { external: Some(&external), ..Extra::default() }, parameters))
            }
            (Knowledge::Population, _, Some(file), _) => {
                let sensitive = target.domain().map_or("", |d| d.name.as_str());
                let joined = match joined.population(&release, file, sensitive)? {
                    Ok(joined) => joined,
                    Err(error) => return Ok(Err(error)),
                };
                let people = joined.people(target.domain());
                let known = PopulationKnowledge { people: &people, covered: Covering::Spread(&joined.fits) };
                Ok(entry.run(target, &Extra { population: Some(&known), ..Extra::default() }, parameters))
            }
            (Knowledge::Original, _, _, Some(file)) => match joined.original(&release, file)? {
                Ok(joined) => minimality::run(entry, stated, target, &joined.table, &joined.fits, parameters),
                Err(error) => Ok(Err(error)),
            },
            _ => Ok(entry.run(target, &Extra::default(), parameters)),
        }
    }
}

/// Why an attack says nothing about a column; a wrong parameter is wrong for all of them.
fn failed(error: AttackError) -> Result<String, Failure> {
    match error {
        AttackError::Parameter(_) => Err(Failure::Usage(error.to_string())),
        error => Ok(error.to_string()),
    }
}

fn worst_class(published: &Published<'_>, class: usize) -> WorstClass {
    let classes = published.classes;
    let size = if class < classes.len() { frequency::size(classes.get(class)) } else { 0 };
    let labels = published.labels.filter(|labels| size >= SHOWN_FROM && class < labels.rows);
    let cells = |labels: &Table| labels.columns.iter().map(|c| (c.name.clone(), c.value(class).to_string())).collect();
    WorstClass { cells: labels.map(cells), size }
}

impl Attacked {
    /// The findings, or why there are none.
    fn or_why(self) -> Result<Attacked, Failure> {
        match self.skipped.first() {
            Some((_, why)) if self.columns.is_empty() => Err(match self.entry.needs {
                Knowledge::Release => Failure::Usage(why.clone()),
                needs => Failure::usage(why.as_str(), Remedy::GiveKnowledge(needs)),
            }),
            _ => Ok(self),
        }
    }
}

/// A parameter as it is written on a command line: a number or fraction, true or false, a list as JSON, or a text.
pub fn parameter(text: &str) -> Stated {
    match text {
        "true" | "false" => Stated::Flag(text == "true"),
        list if list.starts_with('[') => json::listed(list).unwrap_or_else(|| Stated::Text(list.to_string())),
        other => match other.parse() {
            Ok(number) => Stated::Number(number),
            Err(_) => Stated::Text(other.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever an adversary knows may be in memory, too.
    #[test]
    fn a_lent_table_is_known_as_a_file_is() {
        use amidst_core::attack::find;
        use amidst_io::arrow_array::{ArrayRef, RecordBatch, StringArray};

        let rows = "age,disease\n21,flu\n22,hiv\n22,flu\n29,cold\n";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("people.csv").display().to_string();
        std::fs::write(&file, rows).unwrap();
        let column = |at: usize| -> ArrayRef {
            let cells: Vec<&str> = rows.lines().skip(1).filter_map(|line| line.split(',').nth(at)).collect();
            std::sync::Arc::new(StringArray::from(cells))
        };
        let batch = RecordBatch::try_from_iter([("age", column(0)), ("disease", column(1))]).unwrap();
        let lent = amidst_io::lend(batch.schema(), vec![batch]);
        let found = |data: &str| {
            let policy = Policy::for_audit(data, &["age".to_string()], &["disease".to_string()]);
            let (_, prepared) = crate::audit::load(&policy, data, &Default::default()).unwrap();
            let beside = AdversaryTables { external: vec![data.to_string()], ..AdversaryTables::default() };
            let linkage = find("linkage").unwrap();
            attack(linkage, &policy, &prepared, &beside, &Parameters::none()).unwrap().to_json()
        };
        assert_eq!(found(&lent.address()), found(&file));
        assert_eq!(found(&file)["persons"], 2);
    }

    #[test]
    fn parameters_are_read_as_they_look() {
        assert_eq!(parameter("1/3"), Stated::Number("1/3".parse().unwrap()));
        assert_eq!(parameter("true"), Stated::Flag(true));
        let lists = Stated::List(vec![Stated::List(vec![Stated::Text("HIV".into())])]);
        assert_eq!(parameter("[[\"HIV\"]]"), lists);
        let mixed = Stated::List(vec![Stated::Number(5.into()), Stated::Flag(true), Stated::Text("null".into())]);
        assert_eq!(parameter("[5, true, null]"), mixed);
        assert_eq!(parameter("[5"), Stated::Text("[5".into()));
        assert_eq!(parameter("Flu"), Stated::Text("Flu".into()));
    }
}
