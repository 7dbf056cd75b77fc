//! What the other crates of Amidst need of this one beside its interface. There is no promise about any of it: it is
//! not documented for others, and changes with any version.

/// Comparisons that verdicts hang on.
pub mod exact {
    pub use crate::exact::*;
}
/// Full-domain search.
pub mod lattice {
    pub use crate::lattice::*;
}
/// What local recoding algorithms share.
pub mod local {
    pub use crate::local::*;
}
/// Tables that stay with their engine.
pub mod partial {
    pub use crate::partial::*;
}
/// The seeded generator.
pub mod random {
    pub use crate::random::*;
}
/// Sensitive columns: domains, categories, beliefs.
pub mod sensitive {
    pub use crate::sensitive::*;
}
/// Tables that change.
pub mod series {
    pub use crate::series::*;
}
/// Several quasi-identifiers in one policy.
pub mod sets {
    pub use crate::sets::*;
}
/// How many rows share their cells.
pub mod row_groups {
    pub use crate::row_groups::*;
}
/// What several versions leave open about everybody.
pub mod worlds {
    pub use crate::worlds::*;
}
