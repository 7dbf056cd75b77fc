//! The experiments, one file each, in the order of the page.
//!
//! May use: `data`, `experiment`, `trial`, and what those use.

use amidst::{Failure, nearest};

use crate::experiment::{Experiment, Paper};

mod article_examples;
mod article_figures_10_12;
mod article_figures_13_14;
mod article_figures_15_18;
mod article_figures_19_20;
mod article_figures_9_11;
mod classes;
mod clustering_comparison;
mod clustering_tables;
mod diversity;
mod homogeneity;
mod l_alpha_figure_4;
mod l_alpha_figure_5;
mod l_alpha_models;
mod l_alpha_similarity;
mod l_alpha_tables;
mod survey_figures_1_2;
mod survey_tables;
mod update_figure_1;
mod update_figure_2;
mod update_run;
mod update_tables;

/// Every experiment.
pub const EXPERIMENTS: &[Experiment] = &[
    article_examples::EXPERIMENT,
    article_figures_9_11::EXPERIMENT,
    article_figures_10_12::EXPERIMENT,
    article_figures_13_14::EXPERIMENT,
    article_figures_15_18::EXPERIMENT,
    article_figures_19_20::EXPERIMENT,
    survey_tables::EXPERIMENT,
    survey_figures_1_2::EXPERIMENT,
    l_alpha_tables::EXPERIMENT,
    l_alpha_similarity::EXPERIMENT,
    l_alpha_figure_4::EXPERIMENT,
    l_alpha_figure_5::EXPERIMENT,
    update_tables::EXPERIMENT,
    update_figure_1::EXPERIMENT,
    update_figure_2::EXPERIMENT,
    clustering_tables::EXPERIMENT,
    clustering_comparison::EXPERIMENT,
];

/// The experiments with these names, each of a paper or of an experiment; all experiments if there are no names.
///
/// # Errors
/// When a name is unknown.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let known = || Paper::ALL.into_iter().map(Paper::id).chain(EXPERIMENTS.iter().map(|e| e.id));
    if let Some(unknown) = names.iter().find(|name| !known().any(|k| k == name.as_str())) {
        let hint = nearest(unknown, known()).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        let all: Vec<&str> = known().collect();
        return Err(Failure::Usage(format!(
            "there is no paper or experiment `{unknown}`{hint} There are {}",
            all.join(", ")
        )));
    }
    let asked = |e: &&Experiment| names.is_empty() || names.iter().any(|n| n == e.id || n == e.paper.id());
    Ok(EXPERIMENTS.iter().filter(asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_found_by_paper_and_by_name() {
        assert_eq!(chosen(&[]).unwrap().len(), EXPERIMENTS.len());
        let survey = chosen(&["survey".to_string()]).unwrap();
        assert!(!survey.is_empty() && survey.iter().all(|e| e.paper == Paper::Survey));
        let one = chosen(&["article-figures-9-11".to_string()]).unwrap();
        assert_eq!(one.iter().map(|e| e.id).collect::<Vec<_>>(), ["article-figures-9-11"]);
        let wrong = chosen(&["artcle".to_string()]).unwrap_err().to_string();
        assert!(wrong.contains("did you mean `article`"), "{wrong}");
    }

    #[test]
    fn an_experiment_is_a_file_of_its_name_and_says_all_that_it_must() {
        let mut ids: Vec<&str> = EXPERIMENTS.iter().map(|e| e.id).collect();
        for e in EXPERIMENTS {
            let file = format!("{}/src/experiments/{}.rs", env!("CARGO_MANIFEST_DIR"), e.id.replace('-', "_"));
            assert!(std::path::Path::new(&file).exists(), "{file}");
            assert!(e.id.starts_with(e.paper.id()), "{}", e.id);
            assert!([e.place, e.title, e.claim, e.measured].iter().all(|text| !text.is_empty()), "{}", e.id);
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), EXPERIMENTS.len());
    }
}
