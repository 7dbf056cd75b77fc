//! amidst-io
