//! The table: Parquet files that every process of the cluster can reach.

use std::path::Path;
use std::sync::Arc;

use amidst::Failure;
use amidst::policy::{MissingRows, Policy, Role};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;

use super::session::broken;
use super::sql;
use super::typed::kept;

/// The files of a table and their columns.
#[derive(Debug, Clone)]
pub struct Source {
    /// The files, in the order of their names, with their sizes in bytes.
    pub files: Vec<(ListingTableUrl, u64)>,
    /// Their columns.
    pub schema: SchemaRef,
}

impl Source {
    /// Finds the files of `input`: a file, a folder or a pattern, on the file system or in an object store.
    pub async fn find(context: &SessionContext, input: &str) -> Result<Source, Failure> {
        if input == "-" {
            return Err(Failure::Usage("a cluster cannot read standard input; name files that all of it sees".into()));
        }
        let path = match input.contains("://") || Path::new(input).is_absolute() {
            true => input.to_string(),
            // Other processes have other working directories.
            false => std::path::absolute(input).map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
        };
        if !path.contains("://") && !path.contains(['*', '?', '[']) && !Path::new(&path).exists() {
            return Err(Failure::Usage(format!("there is no {path}")));
        }
        let place = ListingTableUrl::parse(&path).map_err(|e| Failure::Usage(format!("{input}: {e}")))?;
        let state = context.state();
        let store = context.runtime_env().object_store(&place).map_err(|e| Failure::Usage(format!("{input}: {e}")))?;
        let listed = place.list_all_files(&state, store.as_ref(), ".parquet").await.map_err(broken)?;
        let listed: Vec<_> = listed.try_collect().await.map_err(broken)?;
        let root = place.object_store();
        let mut files = Vec::with_capacity(listed.len());
        for file in listed.into_iter().filter(|file| file.size > 0) {
            let url = format!("{}/{}", root.as_str().trim_end_matches('/'), file.location);
            files.push((ListingTableUrl::parse(url).map_err(broken)?, file.size));
        }
        files.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
        if files.is_empty() {
            return Err(Failure::Usage(format!("{input} has no Parquet files, which is what a cluster reads")));
        }
        let urls: Vec<ListingTableUrl> = files.iter().map(|(url, _)| url.clone()).collect();
        let options = options();
        let mut schema: Option<SchemaRef> = None;
        for url in [urls.first(), urls.last()].into_iter().flatten() {
            let found = options.infer_schema(&state, url).await.map_err(broken)?;
            match &schema {
                Some(first) if first.fields() != found.fields() => {
                    return Err(Failure::Usage(format!("the files of {input} have different columns")));
                }
                _ => schema = Some(found),
            }
        }
        let schema = schema.ok_or_else(|| Failure::Usage(format!("{input} has no columns")))?;
        // Dictionaries are a matter of how a file is written, and so is the promise that nothing is null; plans are
        // simpler without them, and what is published does not depend on them.
        let plain = |field: &Arc<Field>| {
            let kind = match field.data_type() {
                DataType::Dictionary(_, values) => values.as_ref().clone(),
                kind => kind.clone(),
            };
            Arc::new(Field::new(field.name(), kind, true))
        };
        let schema = Arc::new(Schema::new(schema.fields().iter().map(plain).collect::<Vec<_>>()));
        Ok(Source { files, schema })
    }

    /// The names of the columns.
    pub fn header(&self) -> Vec<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    /// Makes some of the files known under a name.
    pub fn register(&self, context: &SessionContext, table: &str, files: &[usize]) -> Result<(), Failure> {
        let urls = files.iter().filter_map(|&i| self.files.get(i)).map(|(url, _)| url.clone()).collect();
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options())
            .with_schema(Arc::clone(&self.schema));
        let listing = ListingTable::try_new(config).map_err(broken)?;
        context.register_table(table, Arc::new(listing)).map(|_| ()).map_err(broken)
    }

    /// The conditions under which a row stays: no cell is null, or something that the policy calls unknown. Where the
    /// policy keeps unknown cells, only the key must be known, and must not be empty.
    pub fn known(&self, policy: &Policy) -> Vec<String> {
        let keep = policy.data.missing_rows == MissingRows::Keep;
        let looked_at = |name: &str| match policy.column(name).map(|c| c.role) {
            None | Some(Role::Identifying | Role::Consent) => false,
            Some(role) => !keep || role == Role::Key,
        };
        let mut unknown = policy.data.missing.clone();
        unknown.extend(keep.then(String::new));
        let fields = self.schema.fields().iter().filter(|f| looked_at(f.name()));
        fields.filter_map(|f| sql::known(f, &kept(f, &format!("t.{}", sql::name(f.name()))), &unknown)).collect()
    }

    /// A question about the rows `t` that counts those with a null, where nulls make the empty text mean unknown
    /// although the policy does not say so.
    pub fn nulls(&self, policy: &Policy) -> Option<String> {
        let stated = policy.data.missing.iter().any(String::is_empty);
        if policy.data.missing_rows != MissingRows::Keep || stated {
            return None;
        }
        let read = |name: &str| policy.column(name).is_some_and(|c| c.role != Role::Identifying);
        let fields = self.schema.fields().iter().filter(|f| read(f.name()));
        let null: Vec<String> = fields.map(|f| format!("t.{} IS NULL", sql::name(f.name()))).collect();
        (!null.is_empty()).then(|| format!("SELECT count(*) FROM t WHERE {}", null.join(" OR ")))
    }

    /// Columns that are read must have single values in their cells.
    pub fn single_valued(&self, policy: &Policy) -> Result<(), Failure> {
        for field in self.schema.fields() {
            let read = policy.column(field.name()).is_some_and(|c| c.role != Role::Identifying);
            if read && field.data_type().is_nested() {
                return Err(Failure::Usage(format!(
                    "the cells of column `{}` are not single values; give it the role identifying, or write it otherwise",
                    field.name()
                )));
            }
        }
        Ok(())
    }
}

fn options() -> ListingOptions {
    ListingOptions::new(Arc::new(ParquetFormat::default().with_force_view_types(false))).with_file_extension("")
}
