//! Several files count as one.

use super::*;

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| name.to_string()).collect()
}

fn selection() -> Selection {
    Selection {
        key: Some(names(&["zip"])),
        views: vec![names(&["disease"])],
        unique_beside: vec![Vec::new(), names(&["zip"])],
        ..Selection::default()
    }
}

/// Files of CSV with some rows each.
fn files(sizes: &[usize]) -> Vec<Content> {
    let mut row = 0;
    let mut text = |rows: usize| {
        let mut text = "zip,disease\n".to_string();
        for _ in 0..rows {
            text += &format!("{},{}\n", row * row % 7, ["flu", "cold", "asthma"][row % 11 % 3]);
            row += 1;
        }
        text
    };
    let contents = sizes.iter().map(|&rows| text(rows)).collect::<Vec<_>>();
    contents.into_iter().enumerate().map(|(i, text)| Content::memory(&format!("{i}.csv"), text.into())).collect()
}

fn told(counted: &Counted) -> String {
    format!("{counted:?}")
}

#[test]
fn files_that_are_counted_at_once_count_as_one_file() {
    let (whole, _) = count(&files(&[95]), &selection(), Reading::Release).unwrap();
    for sizes in [&[95][..], &[40, 55], &[1, 0, 30, 30, 33, 1], &[13, 13, 13, 13, 13, 13, 17]] {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (counted, prints) = pool.install(|| count(&files(sizes), &selection(), Reading::Release)).unwrap();
            assert_eq!(told(&counted), told(&whole), "{sizes:?}, {threads} threads");
            let rows: Vec<u64> = prints.iter().map(|print| print.rows).collect();
            assert_eq!(rows, sizes.iter().map(|&rows| rows as u64).collect::<Vec<_>>());
        }
    }
}

#[test]
fn of_several_damaged_files_the_first_is_named() {
    let mut several = files(&[3, 3, 3, 3]);
    for place in [1, 2] {
        several[place] = Content::memory(&format!("{place}.csv"), "zip,disease\n1\n".into());
    }
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let problem = pool.install(|| count(&several, &selection(), Reading::Release)).unwrap_err();
        assert!(problem.message.starts_with("1.csv: row 1, line 2"), "{}", problem.message);
    }
    let mut other = files(&[3, 3, 3]);
    other[2] = Content::memory("2.csv", "disease,zip\nflu,1\n".into());
    let problem = count(&other, &selection(), Reading::Release).unwrap_err();
    assert!(problem.message.contains("2.csv: its columns differ"), "{}", problem.message);
}

#[test]
fn unique_rows_are_those_that_no_other_equals_however_they_are_found() {
    for extra in [false, true] {
        let row = |i: usize| (i * i % 23, ["flu", "cold", "asthma", "gout"][i % 13 % 4], i * 5 % 31);
        let rows: Vec<String> = (0..150)
            .map(|i| match (row(i), extra) {
                ((zip, disease, cost), true) => format!("{zip},{disease},{cost}"),
                ((zip, disease, _), false) => format!("{zip},{disease}"),
            })
            .collect();
        let header = if extra { "zip,disease,cost" } else { "zip,disease" };
        let text = format!("{header}\n{}\n", rows.join("\n"));
        let files = [Content::memory("t.csv", text.into())];
        let own = Selection { unique_beside: vec![Vec::new(), names(&["zip"]), names(&["cost"])], ..selection() };
        // Where no column is left but the key and the view, rows need not be compared.
        let told = own.view_of_unique(&[], &names(&header.split(',').collect::<Vec<_>>()));
        assert_eq!(told.is_some(), !extra);
        let brute = |kept: &dyn Fn(usize) -> bool| {
            let cut = |row: &String| {
                let cells = row.split(',').enumerate().filter(|(c, _)| kept(*c));
                cells.map(|(_, cell)| cell.to_string()).collect::<Vec<_>>()
            };
            let cut: Vec<_> = rows.iter().map(cut).collect();
            cut.iter().filter(|a| cut.iter().filter(|b| a == b).count() == 1).count() as u64
        };
        let (counted, _) = count(&files, &own, Reading::Release).unwrap();
        assert_eq!(counted.unique, [brute(&|_| true), brute(&|c| c > 0), brute(&|c| c < 2)], "{extra}");
        assert!(counted.unique[0] > 0);
    }
}
