//! What most programs need: `use amidst::prelude::*`.

pub use amidst_core::parameter::Rational;
pub use amidst_core::table::Table;

pub use crate::Failure;
pub use crate::anonymize::{
    Anonymized, Options, Release, anonymize, anonymize_batches, anonymize_input, anonymize_source, anonymize_table,
};
pub use crate::job::{Job, Stage};
pub use crate::policy::{
    Policy, distinct_l_diversity, entropy_l_diversity, intervals, k_anonymity, mask, recursive_c_l_diversity, suppress,
    t_closeness,
};
pub use crate::prepare::Prepared;
