//! The series as a library: batches, versions, crashes.
