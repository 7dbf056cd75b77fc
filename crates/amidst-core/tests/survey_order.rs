//! The order of the survey's Figure 1: at equal k, loss of k-anonymity ≤ simple ≤ complete ≤ general (α,k)-anonymity.

use amidst_core::control::Control;
use amidst_core::frequency::FrequencySet;
use amidst_core::metric::{self, Release};
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::Requirement;
use amidst_core::requirement::SensitiveDomain;
use amidst_core::search::{MaxSuppression, Search, Suppressed};
use amidst_core::{algorithm, model};
use amidst_testkit::adult;

const QUASI: [&str; 7] = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"];

#[test]
fn the_more_a_policy_asks_the_more_it_costs() {
    let Some(table) = adult::read("adult.csv", 1_500) else {
        println!("skipped: no Adult table");
        return;
    };
    let (quasi, generalizations) = adult::quasi(&table, "hierarchies_arx", &QUASI).unwrap();
    let sensitive = table.position("occupation").unwrap();
    let (set, _) = FrequencySet::count(&table, &quasi, &[sensitive], None);
    let domain =
        SensitiveDomain { dictionary: table.columns[sensitive].dictionary.clone(), ..SensitiveDomain::default() };
    let text = |t: &str| Value::Text(t.to_string());
    let bounds = ["Prof-specialty", "Craft-repair", "Exec-managerial"].map(|v| (v.to_string(), text("1/4")));
    for k in ["4", "8"] {
        let models = [
            ("k-anonymity", vec![("k", text(k))]),
            (
                "simple-alpha-k-anonymity",
                vec![("alpha", text("1/4")), ("value", text("Prof-specialty")), ("k", text(k))],
            ),
            ("complete-alpha-k-anonymity", vec![("alpha", Value::Table(bounds.to_vec())), ("k", text(k))]),
            ("general-alpha-k-anonymity", vec![("alpha", text("1/4")), ("k", text(k))]),
        ];
        let losses = models.map(|(id, parameters)| {
            let entry = model::find(id).unwrap();
            let on = if entry.sensitive == model::Sensitive::None { vec![] } else { vec![0] };
            let domains = std::slice::from_ref(&domain);
            let mut stated = Parameters::default();
            parameters.into_iter().for_each(|(key, value)| stated.set(key, value));
            let requirements = [Requirement::new(entry, stated, on, domains).unwrap()];
            let search = Search {
                set: &set,
                generalizations: &generalizations,
                requirements: &requirements,
                metric: metric::find("loss").unwrap(),
                max_suppression: MaxSuppression::Rows(0),
                suppressed: Suppressed::Drop,
                k: k.parse().unwrap(),
                options: &Parameters::default(),
                entry_of_row: None,
                seed: 1,
                control: Control::default(),
            };
            let found = algorithm::find("portfolio").unwrap().algorithm.search(&search).unwrap();
            let (groups, suppressed) = found.recoding.groups(&set);
            let recoding = &found.recoding;
            let release =
                Release { set: &set, generalizations: &generalizations, recoding, groups: &groups, suppressed, k: 1 };
            metric::find("gcp").unwrap().metric.loss(&release).unwrap()
        });
        assert!(losses.is_sorted(), "k = {k}: {losses:?}");
    }
}
