//! A recoding as small tables to join with: what each value counts as, and what each combination becomes.
//!
//! A row's values are looked up one column at a time, which gives a number each; the numbers together are looked up in
//! the table of classes, which gives the published labels. Rows that find no class are suppressed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst::Failure;
use amidst::core::hierarchy::{Cell, TOP};
use amidst::core::ids::{ClassId, SensitiveId};
use amidst::core::recoding::Part;
use amidst::core::table::Column;
use amidst::engine::Recoded;
use amidst::io::{Format, ReadOptions};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array};
use datafusion::arrow::compute::{concat_batches, filter_record_batch, take};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::parquet::arrow::ArrowWriter;
use rustc_hash::FxHashMap;

use super::count::ROWS;
use super::session::{broken, local, parquet};
use super::sql;

/// What decides about the class of a row, beside its quasi values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Nothing.
    Quasi,
    /// Its sensitive values.
    Sensitive,
    /// Also its person.
    Person,
}

/// Rows that agree in what decides, and their class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placed {
    /// What they have, in numbers.
    pub key: Vec<u32>,
    /// Their class.
    pub class: u32,
    /// The run of them that goes there: those after `after` and up to `upto`, where they are dealt out.
    pub after: u64,
    /// See `after`.
    pub upto: u64,
}

/// A recoding, ready to be joined with.
pub struct Tables {
    /// The columns whose values decide: positions in the prepared table.
    keys: Vec<usize>,
    /// The number that each code of those columns counts as; its own when absent.
    groups: Vec<Option<Vec<u32>>>,
    /// The combinations that are published.
    rows: Vec<Placed>,
    /// Whether rows that agree in everything are dealt out to several classes.
    dealt: bool,
}

/// Tables to join rows with so that they find their labels, which the table `c` has.
#[derive(Debug, Default)]
pub struct Joining {
    /// The files of each table. Those called `mN` have the numbers `g` of the values `v` of the deciding columns.
    pub tables: Vec<(String, Vec<PathBuf>)>,
    /// The deciding columns: positions in the prepared table.
    pub keys: Vec<usize>,
    /// The joins after those with the tables `mN`.
    pub joins: String,
    /// Whether rows that agree in everything are dealt out to several classes: those numbered after `c.after` and up to
    /// `c.upto`. Then the numbers of the deciding columns are columns of the rows, and `joins` takes them from there.
    pub dealt: bool,
    /// A join that lets only the rows pass that are dealt out, where the others are published elsewhere.
    pub among: Option<String>,
}

impl Joining {
    /// How columns with the numbers of values begin. No column of a table is called that.
    pub const FOUND: &'static str = "__amidst_g";
}

impl Tables {
    /// Writes the tables into `folder`, and tells how to join with them.
    pub async fn joining(self, recoded: &Recoded<'_>, values: &Values, folder: &Path) -> Result<Joining, Failure> {
        self.write_maps(recoded, values, folder).await?;
        write(&classes(recoded, &self.rows, self.keys.len(), self.dealt)?, &folder.join("c.parquet"))?;
        let names = (0..self.keys.len()).map(|i| format!("m{i}")).chain(["c".to_string()]);
        let number = |i: usize| if self.dealt { format!("t.{}{i}", Joining::FOUND) } else { format!("m{i}.g") };
        let on: Vec<String> = (0..self.keys.len()).map(|i| format!("{} = c.k{i}", number(i))).collect();
        Ok(Joining {
            tables: names.map(|name| (name.clone(), vec![folder.join(format!("{name}.parquet"))])).collect(),
            joins: format!(" JOIN c ON {}", on.join(" AND ")),
            keys: self.keys,
            dealt: self.dealt,
            among: None,
        })
    }

    /// The tables of a recoding, with as few columns to look at as decide it.
    pub fn of(recoded: &Recoded<'_>) -> Tables {
        let prepared = recoded.prepared;
        let groups: Vec<Option<Vec<u32>>> = match &recoded.recoding.levels {
            Some(levels) => {
                prepared.generalizations.iter().zip(levels).map(|(g, &l)| Some(g.levels[l].of.clone())).collect()
            }
            None => vec![None; prepared.quasi.len()],
        };
        let depths = [Depth::Quasi, Depth::Sensitive, Depth::Person];
        let deepest = if prepared.set.persons { Depth::Person } else { Depth::Sensitive };
        for depth in depths.into_iter().filter(|&d| d <= deepest) {
            if let Some(rows) = whole(recoded, &groups, depth) {
                return Tables::new(recoded, groups, depth, rows, false);
            }
        }
        let rows = dealt(recoded, &groups, deepest);
        Tables::new(recoded, groups, deepest, rows, true)
    }

    fn new(
        recoded: &Recoded<'_>,
        mut groups: Vec<Option<Vec<u32>>>,
        depth: Depth,
        mut rows: Vec<Placed>,
        dealt: bool,
    ) -> Tables {
        let prepared = recoded.prepared;
        let mut keys = prepared.quasi.clone();
        if depth >= Depth::Sensitive {
            keys.extend(&prepared.sensitive);
        }
        if depth == Depth::Person {
            keys.extend(prepared.key);
        }
        groups.resize(keys.len(), None);
        rows.sort_unstable();
        Tables { keys, groups, rows, dealt }
    }

    /// Writes for each deciding column the table `mN`: its values and the numbers that they count as.
    async fn write_maps(&self, recoded: &Recoded<'_>, values: &Values, folder: &Path) -> Result<(), Failure> {
        for (i, &position) in self.keys.iter().enumerate() {
            let column = &recoded.prepared.table.columns[position];
            let (values, texts) = values.of(&column.name).await?;
            let number = |code: u32| match &self.groups[i] {
                Some(of) => of.get(code as usize).copied(),
                None => Some(code),
            };
            let numbers: Vec<Option<u32>> =
                texts.iter().map(|text| column.dictionary.code(text).and_then(number)).collect();
            write(&numbered(&values, &numbers)?, &folder.join(format!("m{i}.parquet")))?;
        }
        Ok(())
    }
}

/// The table `c`: combinations of `width` numbers, their runs where they are dealt out, and the labels that they are
/// published with.
pub fn classes(recoded: &Recoded<'_>, rows: &[Placed], width: usize, dealt: bool) -> Result<RecordBatch, Failure> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for i in 0..width {
        fields.push(Field::new(format!("k{i}"), DataType::UInt32, true));
        arrays.push(Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.key[i]))));
    }
    if dealt {
        let after = Int64Array::from_iter_values(rows.iter().map(|row| row.after as i64));
        let upto = Int64Array::from_iter_values(rows.iter().map(|row| row.upto as i64));
        for (name, ends) in [("after", after), ("upto", upto)] {
            fields.push(Field::new(name, DataType::Int64, true));
            arrays.push(Arc::new(ends));
        }
    }
    for q in 0..recoded.prepared.generalizations.len() {
        let labels = labels(recoded, q);
        fields.push(Field::new(format!("l{q}"), DataType::Utf8, true));
        let of_row = rows.iter().map(|row| labels.get(row.class as usize).map_or("", String::as_str));
        arrays.push(Arc::new(StringArray::from_iter_values(of_row)));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| broken(e.into()))
}

/// How the columns with the labels of quasi columns begin in [`published`]. No column of a table is called that.
pub const LABEL: &str = "__amidst_l";

/// Rows of [`published`] that are written at a time: the texts of an array have a limit together.
const SLICE: usize = 1 << 16;

/// The distinct combinations of published cells, and the number of rows of each: what a release without other columns
/// is, where the counted table was gathered.
pub async fn published(recoded: &Recoded<'_>, values: &Values) -> Result<Vec<RecordBatch>, Failure> {
    let prepared = recoded.prepared;
    let labels: Vec<Vec<String>> = (0..prepared.generalizations.len()).map(|q| labels(recoded, q)).collect();
    let alike = alike(&labels, recoded.recoding.classes.len());
    let mut counts: FxHashMap<(u32, SensitiveId), u64> = FxHashMap::default();
    recoded.recoding.for_each_part(&prepared.set, |part| {
        if let Some(class) = part.class {
            *counts.entry((alike[class.index()], part.entry.sensitive)).or_default() += part.entry.rows;
        }
    });
    let mut rows: Vec<((u32, SensitiveId), u64)> = counts.into_iter().collect();
    rows.sort_unstable();
    let mut sensitive = Vec::new();
    for &position in &prepared.sensitive {
        let column = &prepared.table.columns[position];
        let (values, texts) = values.of(&column.name).await?;
        sensitive.push((column.name.clone(), Arc::clone(values.column(0)), places(column, &texts)));
    }
    let batch = |rows: &[((u32, SensitiveId), u64)]| {
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for (q, labels) in labels.iter().enumerate() {
            let of_row = rows.iter().map(|((class, _), _)| labels.get(*class as usize).map_or("", String::as_str));
            columns.push((format!("{LABEL}{q}"), Arc::new(StringArray::from_iter_values(of_row))));
        }
        for (s, (name, values, place)) in sensitive.iter().enumerate() {
            let gone = || Failure::Io(format!("a value of column `{name}` is gone"));
            let at = |((_, id), _): &((u32, SensitiveId), u64)| {
                place.get(&prepared.set.sensitive_code(*id, s)).copied().ok_or_else(gone)
            };
            let places: Vec<u32> = rows.iter().map(at).collect::<Result<_, Failure>>()?;
            let taken = take(values, &UInt32Array::from(places), None).map_err(|e| broken(e.into()))?;
            columns.push((name.clone(), taken));
        }
        let counts = Int64Array::from_iter_values(rows.iter().map(|(_, rows)| *rows as i64));
        columns.push((ROWS.to_string(), Arc::new(counts)));
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
            .map_err(|e| broken(e.into()))
    };
    // At least one, which tells the columns.
    (0..rows.len().div_ceil(SLICE).max(1)).map(|i| batch(&rows[i * SLICE..rows.len().min((i + 1) * SLICE)])).collect()
}

/// For each code of a column, the place in `texts` of the cell that takes the place of all with that code: one that is
/// written as the code is.
pub fn places(column: &Column, texts: &[String]) -> FxHashMap<u32, u32> {
    let mut places: FxHashMap<u32, u32> = FxHashMap::default();
    let other = |text: &str, code: u32| (column.dictionary.value(code) != text, text.to_string());
    for (at, text) in (0u32..).zip(texts) {
        let Some(code) = column.dictionary.code(text) else { continue };
        let known = places.entry(code).or_insert(at);
        if other(text, code) < other(&texts[*known as usize], code) {
            *known = at;
        }
    }
    places
}

/// For each of some classes, the first with the same labels: what is counted must not tell of dividing them.
fn alike(labels: &[Vec<String>], classes: usize) -> Vec<u32> {
    let mut first: FxHashMap<Vec<&str>, u32> = FxHashMap::default();
    let of_class = |class: u32| labels.iter().map(|of| of.get(class as usize).map_or("", String::as_str)).collect();
    (0..classes as u32).map(|class| *first.entry(of_class(class)).or_insert(class)).collect()
}

/// The label of each class in a quasi column.
fn labels(recoded: &Recoded<'_>, q: usize) -> Vec<String> {
    let masked = recoded.masked();
    let label = |(class, cells): (usize, &Vec<Cell>)| match masked {
        Some(masked) if masked as usize == class => TOP.to_string(),
        _ => recoded.prepared.generalizations[q].label(&cells[q]).to_string(),
    };
    recoded.recoding.classes.iter().enumerate().map(label).collect()
}

/// The numbers of a part, and its class.
fn numbers(recoded: &Recoded<'_>, groups: &[Option<Vec<u32>>], depth: Depth, part: &Part) -> Vec<u32> {
    let set = &recoded.prepared.set;
    let quasi = set.tuple(part.tuple.index()).iter().zip(groups);
    let mut key: Vec<u32> = quasi.map(|(&code, of)| of.as_ref().map_or(code, |of| of[code as usize])).collect();
    if depth >= Depth::Sensitive {
        key.extend((0..set.sensitive_width).map(|s| set.sensitive_code(part.entry.sensitive, s)));
    }
    if depth == Depth::Person {
        key.push(part.entry.person);
    }
    key
}

/// The class of every combination, if rows that agree in it stay together; none if some do not.
fn whole(recoded: &Recoded<'_>, groups: &[Option<Vec<u32>>], depth: Depth) -> Option<Vec<Placed>> {
    let mut class_of: FxHashMap<Vec<u32>, Option<ClassId>> = FxHashMap::default();
    let mut together = true;
    recoded.recoding.for_each_part(&recoded.prepared.set, |part| {
        if together {
            let class = *class_of.entry(numbers(recoded, groups, depth, &part)).or_insert(part.class);
            together = class == part.class;
        }
    });
    let published = class_of.into_iter().filter_map(|(key, class)| Some((key, class?)));
    together.then(|| published.map(|(key, class)| Placed { key, class: class.0, after: 0, upto: 0 }).collect())
}

/// The rows of every combination in runs, each of which goes to one class.
fn dealt(recoded: &Recoded<'_>, groups: &[Option<Vec<u32>>], depth: Depth) -> Vec<Placed> {
    let mut dealt: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
    let mut rows = Vec::new();
    recoded.recoding.for_each_part(&recoded.prepared.set, |part| {
        let key = numbers(recoded, groups, depth, &part);
        let after = dealt.entry(key.clone()).or_default();
        let upto = *after + part.entry.rows;
        if let Some(class) = part.class {
            rows.push(Placed { key, class: class.0, after: *after, upto });
        }
        *after = upto;
    });
    rows
}

/// Where the distinct values of the counted columns are.
pub enum Values {
    /// In the file of the combinations.
    Combined(PathBuf),
    /// In a file for each column, called `v` there.
    Listed(Vec<(String, PathBuf)>),
}

impl Values {
    /// The distinct values of a column, and their texts.
    pub async fn of(&self, column: &str) -> Result<(RecordBatch, Vec<String>), Failure> {
        let name = sql::name(column);
        let (file, statement) = match self {
            Values::Combined(file) => (file, format!("SELECT DISTINCT {name} AS v FROM f")),
            Values::Listed(files) => {
                let found = files.iter().find(|(listed, _)| listed == column);
                let gone = || Failure::Io(format!("the values of column `{column}` are gone"));
                (&found.ok_or_else(gone)?.1, "SELECT v FROM f".to_string())
            }
        };
        let context = local()?;
        parquet(&context, "f", file).await?;
        let frame = context.sql(&statement).await.map_err(broken)?;
        let schema = Arc::clone(frame.schema().inner());
        let batches = frame.collect().await.map_err(broken)?;
        let values = concat_batches(&schema, &batches).map_err(|e| broken(e.into()))?;
        let texts = as_texts(&values)?;
        Ok((values, texts))
    }
}

/// Values with the numbers that they count as; those without one lead nowhere and are left out.
pub fn numbered(values: &RecordBatch, numbers: &[Option<u32>]) -> Result<RecordBatch, Failure> {
    let keep: BooleanArray = numbers.iter().map(|n| Some(n.is_some())).collect();
    let mut fields: Vec<Arc<Field>> = values.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("g", DataType::UInt32, true)));
    let numbers: UInt32Array = numbers.iter().copied().collect();
    let arrays = vec![Arc::clone(values.column(0)), Arc::new(numbers) as ArrayRef];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .and_then(|batch| filter_record_batch(&batch, &keep))
        .map_err(|e| broken(e.into()))
}

/// The texts of a column, as the local engine would read them.
fn as_texts(values: &RecordBatch) -> Result<Vec<String>, Failure> {
    let failed = |e: String| Failure::Io(format!("cannot read values back: {e}"));
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &values.schema()).map_err(|e| failed(e.to_string()))?;
    writer.write(values).and_then(|()| writer.finish()).map_err(|e| failed(e.to_string()))?;
    drop(writer);
    let options = ReadOptions::default();
    let input = amidst::io::read_from(bytes.as_slice(), Path::new("values"), Format::Arrow, &options)
        .map_err(|e| failed(e.to_string()))?;
    let column = input.table.columns.first().ok_or_else(|| failed("they are gone".to_string()))?;
    Ok((0..input.table.rows).map(|row| column.dictionary.value(column.codes.get(row)).to_string()).collect())
}

/// Writes a small table.
pub fn write(batch: &RecordBatch, to: &Path) -> Result<(), Failure> {
    write_all(std::slice::from_ref(batch), to)
}

/// Writes a table in pieces, of which there is at least one.
pub fn write_all(batches: &[RecordBatch], to: &Path) -> Result<(), Failure> {
    let failed = |e: String| Failure::Io(format!("cannot write into the work folder: {e}"));
    let file = std::fs::File::create(to).map_err(|e| failed(e.to_string()))?;
    let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    let mut writer = ArrowWriter::try_new(file, schema, None).map_err(|e| failed(e.to_string()))?;
    batches.iter().try_for_each(|batch| writer.write(batch)).map_err(|e| failed(e.to_string()))?;
    writer.close().map(|_| ()).map_err(|e| failed(e.to_string()))
}
