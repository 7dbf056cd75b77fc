//! amidst
