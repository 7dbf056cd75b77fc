//! Reads Parquet and Arrow IPC through their crates. The files of a release are first checked
//! against the form of releases (`parquet`, `pages`, `arrow`).

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use rayon::prelude::*;

use super::coded::Coder;
use super::tally::Tally;
use super::{Fingerprint, Reading, arrow, fingerprint, pages, parquet, refused, unreadable};
use crate::content::{Content, Opened};
use crate::problem::Problem;

pub(crate) fn read_parquet(
    path: &Content,
    file: Opened,
    reading: Reading,
    total: &mut Tally,
) -> Result<(Vec<String>, Fingerprint), Problem> {
    let layout = match reading {
        Reading::Release => Some(parquet::layout(path).map_err(|what| refused(path, reading, &what))?),
        Reading::Source => None,
    };
    let broken = |e: ::parquet::errors::ParquetError| unreadable(path, &e.to_string());
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(broken)?;
    let header = names(builder.schema());
    if let Some(layout) = &layout {
        parquet_form(path, layout, builder.schema()).map_err(|what| refused(path, reading, &what))?;
    }
    total.open(path, &header)?;
    let groups = builder.metadata().num_row_groups();
    let sizes: Vec<u64> = builder.metadata().row_groups().iter().map(|g| g.num_rows().max(0) as u64).collect();
    drop(builder);
    // Clones of a file handle share their position, so every row group opens the file again.
    let group = |index: usize, first: u64, tally: &mut Tally| -> Result<u64, Problem> {
        let file = path.open().map_err(|e| unreadable(path, &e.to_string()))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(|b| b.with_row_groups(vec![index]).with_batch_size(8192).build())
            .map_err(broken)?;
        let mut coder = tally.coder(header.len());
        let mut rows = 0;
        for batch in reader {
            let batch = batch.map_err(|e| unreadable(path, &e.to_string()))?;
            rows += add(path, &batch, first + rows, &mut coder, tally)?;
        }
        Ok(rows)
    };
    let numbered = total.needs_row_numbers();
    let (print, counted) = rayon::join(
        || fingerprint(path),
        || -> Result<u64, Problem> {
            let before = total.rows_before();
            if numbered {
                let mut rows = 0;
                for index in 0..groups {
                    rows += group(index, before + rows, total)?;
                }
                return Ok(rows);
            }
            let shared: &Tally = total;
            let parts: Vec<(u64, Tally)> = (0..groups)
                .into_par_iter()
                .map(|index| {
                    let mut mine = shared.fork();
                    group(index, 0, &mut mine).map(|rows| (rows, mine))
                })
                .collect::<Result<_, Problem>>()?;
            let mut rows = 0;
            for (part, tally) in parts {
                rows += part;
                total.merge(tally).map_err(super::put_aside)?;
            }
            Ok(rows)
        },
    );
    let rows = counted?;
    if rows != sizes.iter().sum::<u64>() {
        return Err(unreadable(path, "it holds another number of rows than its footer says"));
    }
    total.advance(rows);
    Ok((header, print?))
}

/// Checks the schema and the pages of a release against its layout.
fn parquet_form(path: &Content, layout: &parquet::Layout, schema: &Schema) -> Result<(), String> {
    let said = schema.metadata().is_empty() && schema.fields().iter().all(|field| field.metadata().is_empty());
    let same = |text: &Vec<u8>| ::parquet::arrow::encode_arrow_schema(schema).as_bytes() == text.as_slice();
    if !said || !layout.arrow_schema.as_ref().is_none_or(same) {
        return Err("its footer carries notes beside the rows".into());
    }
    let groups: Vec<usize> = (0..layout.groups.len()).collect();
    groups.par_iter().try_for_each(|&index| {
        let broken = |e: ::parquet::errors::ParquetError| e.to_string();
        let file = path.open().map_err(|e| e.to_string())?;
        let reader = SerializedFileReader::new(file).map_err(broken)?;
        let group = reader.get_row_group(index).map_err(broken)?;
        for (column, (chunk, leaf)) in layout.groups[index].iter().zip(&layout.leaves).enumerate() {
            let mut source = group.get_column_page_reader(column).map_err(broken)?;
            let next = || source.get_next_page().map_err(broken).transpose();
            pages::check(chunk, leaf, std::iter::from_fn(next))
                .map_err(|what| format!("row group {}, column {}: {what}", index + 1, column + 1))?;
        }
        Ok(())
    })
}

pub(crate) fn read_arrow(
    path: &Content,
    mut file: Opened,
    reading: Reading,
    total: &mut Tally,
) -> Result<(Vec<String>, Fingerprint), Problem> {
    if reading == Reading::Release {
        arrow::walk(path).map_err(|what| refused(path, reading, &what))?;
    }
    let broken = |e: arrow_schema::ArrowError| unreadable(path, &e.to_string());
    let failed = |e: std::io::Error| unreadable(path, &e.to_string());
    let mut magic = Vec::new();
    (&mut file).take(6).read_to_end(&mut magic).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let file = std::io::BufReader::new(file);
    let (print, counted) = rayon::join(
        || fingerprint(path),
        || -> Result<Vec<String>, Problem> {
            if magic == b"ARROW1" {
                let reader = arrow_ipc::reader::FileReader::try_new(file, None).map_err(broken)?;
                let schema = reader.schema();
                let header = names(&schema);
                if reading == Reading::Source {
                    return batches(path, header, reader, total);
                }
                let wrong = |what: String| refused(path, reading, &what);
                let mut again = arrow::Rewriter::new(path, &schema).map_err(wrong)?;
                let mut fault = None;
                let both = reader.map(|batch| {
                    let batch = batch?;
                    again.write(&batch).map_err(|what| {
                        fault = Some(what.clone());
                        arrow_schema::ArrowError::IpcError(what)
                    })?;
                    Ok(batch)
                });
                let header = batches(path, header, both, total);
                match fault {
                    Some(what) => Err(wrong(what)),
                    None => header.and_then(|header| again.finish().map_err(wrong).map(|()| header)),
                }
            } else {
                let reader = arrow_ipc::reader::StreamReader::try_new(file, None).map_err(broken)?;
                let header = names(&reader.schema());
                batches(path, header, reader, total)
            }
        },
    );
    Ok((counted?, print?))
}

fn batches(
    path: &Path,
    header: Vec<String>,
    reader: impl Iterator<Item = Result<RecordBatch, arrow_schema::ArrowError>>,
    total: &mut Tally,
) -> Result<Vec<String>, Problem> {
    total.open(path, &header)?;
    let before = total.rows_before();
    let mut coder = total.coder(header.len());
    let mut rows = 0;
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(path, &e.to_string()))?;
        rows += add(path, &batch, before + rows, &mut coder, total)?;
    }
    total.advance(rows);
    Ok(header)
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|f| f.name().clone()).collect()
}

/// Rows that are counted at a time.
const ROWS: usize = 1024;

fn add(path: &Path, batch: &RecordBatch, first: u64, coder: &mut Coder, tally: &mut Tally) -> Result<u64, Problem> {
    let cells = coder.batch(batch, &tally.needed()).map_err(|what| unreadable(path, &what))?;
    let rows = batch.num_rows();
    for from in (0..rows).step_by(ROWS) {
        let number = first + from as u64;
        tally
            .add_all(number, &coder.rows(&cells, from..rows.min(from + ROWS)))
            .map_err(|(before, what)| unreadable(path, &format!("row {}: {what}", number + before + 1)))?;
    }
    Ok(rows as u64)
}
