//! Models that the program itself proposes or reasons about, under names of Rust instead of texts.
//!
//! What a model does is asked of its trait; these are for drafts of policies and for papers that speak of one
//! model.
//!
//! May use: the rest of `model`, and what those use.

use super::Entry;

/// See its file.
pub const DISTINCT_L_DIVERSITY: &Entry = &super::distinct_l_diversity::ENTRY;
/// See its file.
pub const ENTROPY_L_DIVERSITY: &Entry = &super::entropy_l_diversity::ENTRY;
/// See its file.
pub const GENERAL_ALPHA_K_ANONYMITY: &Entry = &super::general_alpha_k_anonymity::ENTRY;
/// See its file.
pub const K_ANONYMITY: &Entry = &super::k_anonymity::ENTRY;
/// See its file.
pub const M_INVARIANCE: &Entry = &super::m_invariance::ENTRY;
/// See its file.
pub const P_SENSITIVE_K_ANONYMITY: &Entry = &super::p_sensitive_k_anonymity::ENTRY;
/// See its file.
pub const RECURSIVE_C_L_DIVERSITY: &Entry = &super::recursive_c_l_diversity::ENTRY;
/// See its file.
pub const SIMPLE_ALPHA_K_ANONYMITY: &Entry = &super::simple_alpha_k_anonymity::ENTRY;
