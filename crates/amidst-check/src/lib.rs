//! amidst-check
