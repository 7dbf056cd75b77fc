//! Policies: the text of one, edited in place so that comments and order stay, and what is wrong with it.

use std::path::Path;

use amidst::Failure;
use amidst::policy::Policy;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::errors::{MADE_IN_CODE, raise};

/// A policy as a caller states it: its text, and the file that it was read from, if any.
#[derive(FromPyObject)]
pub struct Stated(String, Option<String>);

impl Stated {
    /// Reads it.
    pub fn policy(&self) -> Result<Policy, Failure> {
        Ok(Policy::parse(&self.0, Path::new(self.1.as_deref().unwrap_or(MADE_IN_CODE)))?)
    }
}

/// Fails with whatever is wrong with a policy by itself.
#[pyfunction]
pub fn check(py: Python<'_>, policy: Stated) -> PyResult<()> {
    policy.policy().map(drop).map_err(|failure| raise(py, &failure))
}

/// The text of a policy, to be looked at and edited by key.
#[pyclass(module = "amidst._amidst")]
pub struct Document {
    document: DocumentMut,
}

#[pymethods]
impl Document {
    #[new]
    fn new(py: Python<'_>, policy: Stated) -> PyResult<Document> {
        match policy.0.parse() {
            Ok(document) => Ok(Document { document }),
            // The library says what is wrong, and where.
            Err(_) => Err(match policy.policy() {
                Err(failure) => raise(py, &failure),
                Ok(_) => PyTypeError::new_err("the policy is no TOML"),
            }),
        }
    }

    /// The text.
    fn text(&self) -> String {
        self.document.to_string()
    }

    /// What stands at `keys`; nothing where there is nothing.
    fn get<'py>(&self, py: Python<'py>, keys: Vec<String>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.find(&keys).map(|item| shown(py, item)).transpose()
    }

    /// Puts a value at `keys`; tables on the way are made. Comments stay, where what they stand by does.
    fn set(&mut self, keys: Vec<String>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let item = match value.cast::<PyList>() {
            Ok(list)
                if !list.is_empty() && list.iter().all(|each| each.is_instance_of::<PyDict>()) && keys.len() == 1 =>
            {
                let before = self.find(&keys).and_then(Item::as_array_of_tables);
                Item::ArrayOfTables(tables(list, before)?)
            }
            _ => Item::Value(stated(value)?),
        };
        let Some((last, way)) = keys.split_last() else { return Err(PyTypeError::new_err("no key")) };
        let mut at = self.document.as_item_mut();
        for (depth, key) in way.iter().enumerate() {
            let fresh = || {
                let mut table = Table::new();
                // `[columns]` alone says nothing; `[columns.age]` does.
                table.set_implicit(depth + 1 < way.len());
                Item::Table(table)
            };
            let Some(like) = at.as_table_like_mut() else { return Err(not_a_table(key)) };
            at = like.entry(key).or_insert_with(fresh);
        }
        put(at.as_table_like_mut().ok_or_else(|| not_a_table(last))?, last, item);
        Ok(())
    }

    /// Takes what stands at `keys` out.
    fn remove(&mut self, keys: Vec<String>) {
        let Some((last, way)) = keys.split_last() else { return };
        let mut at = self.document.as_item_mut();
        for key in way {
            match at.as_table_like_mut().and_then(|like| like.get_mut(key)) {
                Some(next) => at = next,
                None => return,
            }
        }
        if let Some(like) = at.as_table_like_mut() {
            like.remove(last);
        }
    }

    /// The keys of the table at `keys`, in the order in which they stand.
    fn names(&self, keys: Vec<String>) -> Vec<String> {
        let table = self.find(&keys).and_then(Item::as_table_like);
        table.map(|like| like.iter().map(|(key, _)| key.to_string()).collect()).unwrap_or_default()
    }
}

impl Document {
    fn find(&self, keys: &[String]) -> Option<&Item> {
        keys.iter().try_fold(self.document.as_item(), |item, key| item.as_table_like()?.get(key))
    }
}

fn not_a_table(key: &str) -> PyErr {
    PyTypeError::new_err(format!("there is a value where a table with the key `{key}` belongs"))
}

/// What stands in a policy, as Python has it.
fn shown<'py>(py: Python<'py>, item: &Item) -> PyResult<Bound<'py, PyAny>> {
    Ok(match item {
        Item::None => py.None().into_bound(py),
        Item::Value(value) => return shown_value(py, value),
        Item::Table(table) => {
            let dict = PyDict::new(py);
            for (key, item) in table.iter() {
                dict.set_item(key, shown(py, item)?)?;
            }
            dict.into_any()
        }
        Item::ArrayOfTables(tables) => {
            let list = PyList::empty(py);
            for table in tables.iter() {
                list.append(shown(py, &Item::Table(table.clone()))?)?;
            }
            list.into_any()
        }
    })
}

fn shown_value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text.value()).into_any(),
        Value::Integer(number) => number.value().into_pyobject(py)?.into_any(),
        Value::Float(number) => number.value().into_pyobject(py)?.into_any(),
        Value::Boolean(flag) => PyBool::new(py, *flag.value()).to_owned().into_any(),
        Value::Datetime(date) => PyString::new(py, &date.value().to_string()).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items.iter() {
                list.append(shown_value(py, item)?)?;
            }
            list.into_any()
        }
        Value::InlineTable(table) => {
            let dict = PyDict::new(py);
            for (key, value) in table.iter() {
                dict.set_item(key, shown_value(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// What Python states, as a policy has it.
fn stated(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // A bool is an int to Python, so it is asked for first.
    if value.is_instance_of::<PyBool>() {
        Ok(Value::from(value.extract::<bool>()?))
    } else if value.is_instance_of::<PyInt>() {
        match value.extract::<i64>() {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => Ok(Value::from(value.str()?.to_string())),
        }
    } else if value.is_instance_of::<PyFloat>() {
        Ok(Value::from(value.extract::<f64>()?))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::from(text.to_string()))
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| stated(&item?)).collect::<PyResult<Array>>()?;
        Ok(Value::Array(items))
    } else if let Ok(dict) = value.cast::<PyDict>() {
        let mut table = InlineTable::new();
        for (key, value) in dict.iter() {
            table.insert(key.extract::<String>()?, stated(&value)?);
        }
        Ok(Value::InlineTable(table))
    } else {
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("a policy holds texts, numbers, truth values, lists and tables, not {kind}")))
    }
}

/// Puts an item into a table, beside the comments of the one that stood there.
fn put(table: &mut dyn TableLike, key: &str, mut item: Item) {
    match table.get_mut(key) {
        Some(before) => {
            if let (Item::Value(before), Item::Value(after)) = (&*before, &mut item) {
                *after.decor_mut() = before.decor().clone();
            }
            *before = item;
        }
        None => drop(table.insert(key, item)),
    }
}

/// A list of tables, such as requirements. One that stood there before keeps its comments and its place in the text;
/// one whose model did keeps the comments of its lines.
fn tables(list: &Bound<'_, PyList>, before: Option<&ArrayOfTables>) -> PyResult<ArrayOfTables> {
    let mut old: Vec<Option<&Table>> = before.into_iter().flat_map(ArrayOfTables::iter).map(Some).collect();
    let dicts: Vec<Bound<'_, PyDict>> =
        list.iter().map(|each| Ok(each.cast_into::<PyDict>()?)).collect::<PyResult<_>>()?;
    let mut made: Vec<Option<Table>> = Vec::new();
    for dict in &dicts {
        let mut same = None;
        for (at, table) in old.iter().enumerate() {
            if same.is_none() && table.map(|table| alike(table, dict)).transpose()? == Some(true) {
                same = Some(at);
            }
        }
        made.push(same.and_then(|at| old[at].take()).cloned());
    }
    let mut all = Vec::new();
    for (at, (dict, table)) in dicts.iter().zip(made).enumerate() {
        all.push(match (table, old.get_mut(at).and_then(Option::take)) {
            (Some(table), _) => table,
            (None, Some(before)) if same_model(before, dict)? => revised(before, dict)?,
            _ => table_of(dict)?,
        });
    }
    // Tables are shown in the order of their places.
    let mut places: Vec<isize> = all.iter().filter_map(Table::position).collect();
    places.sort_unstable();
    let stood = all.iter_mut().filter(|table| table.position().is_some());
    stood.zip(places).for_each(|(table, place)| table.set_position(Some(place)));
    Ok(all.into_iter().collect())
}

/// Whether a table says what Python states: the same values of the same types.
fn alike(table: &Table, dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    let before = shown(dict.py(), &Item::Table(table.clone()))?.cast_into::<PyDict>()?;
    if !before.eq(dict)? {
        return Ok(false);
    }
    for (key, value) in before.iter() {
        // To Python 1, 1.0 and True are equal.
        let other = dict.get_item(key)?;
        if !other.is_some_and(|other| other.get_type().is(value.get_type())) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_model(table: &Table, dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    let named = dict.get_item("model")?.and_then(|model| model.extract::<String>().ok());
    Ok(named.as_deref() == table.get("model").and_then(Item::as_str))
}

/// A table that says what Python states, made of the one that stood in its place.
fn revised(before: &Table, dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut table = before.clone();
    let names: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
    for name in names {
        if !dict.contains(&name)? {
            table.remove(&name);
        }
    }
    for (key, value) in dict.iter() {
        let (key, value) = (key.extract::<String>()?, Item::Value(stated(&value)?));
        let stands = table.get(&key).map(|item| shown(dict.py(), item)).transpose()?;
        let new = shown(dict.py(), &value)?;
        if !stands.is_some_and(|old| old.eq(&new).unwrap_or(false) && old.get_type().is(new.get_type())) {
            put(&mut table, &key, value);
        }
    }
    Ok(table)
}

fn table_of(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in dict.iter() {
        table.insert(&key.extract::<String>()?, Item::Value(stated(&value)?));
    }
    Ok(table)
}
