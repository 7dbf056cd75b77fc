//! Policies: the text of one, edited in place so that comments and order stay, and what is wrong with it.

use std::path::Path;

use amidst::Failure;
use amidst::policy::Policy;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::errors::raise;

/// What errors call a policy that was made in code: whoever looks there finds the lines that they tell. Its paths start
/// here.
pub const NAME: &str = "policy.to_toml()";

/// A policy as a caller states it: its text, and the file that it was read from, if any.
#[derive(FromPyObject)]
pub struct Stated(String, Option<String>);

impl Stated {
    /// Reads it.
    pub fn policy(&self) -> Result<Policy, Failure> {
        Ok(Policy::parse(&self.0, Path::new(self.1.as_deref().unwrap_or(NAME)))?)
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

    /// Puts a value at `keys`; tables on the way are made.
    fn set(&mut self, keys: Vec<String>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let item = match value.cast::<PyList>() {
            Ok(list)
                if !list.is_empty() && list.iter().all(|each| each.is_instance_of::<PyDict>()) && keys.len() == 1 =>
            {
                let mut tables = ArrayOfTables::new();
                for each in list.iter() {
                    tables.push(table(&each.cast_into::<PyDict>()?)?);
                }
                Item::ArrayOfTables(tables)
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
        match at.as_table_like_mut() {
            Some(like) => like.insert(last, item),
            None => return Err(not_a_table(last)),
        };
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

fn table(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in dict.iter() {
        table.insert(&key.extract::<String>()?, Item::Value(stated(&value)?));
    }
    Ok(table)
}
