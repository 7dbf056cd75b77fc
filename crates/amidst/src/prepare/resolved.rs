//! The policy as it was understood: guesses and defaults written out.

use super::Prepared;
use crate::policy::{Policy, Role};

impl Policy {
    /// The policy with what was taken from the data: the types of quasi and sensitive columns, and a section for each
    /// quasi column that only the default speaks of.
    pub fn resolved(&self, prepared: &Prepared) -> Policy {
        let mut policy = self.clone();
        for (column, role) in prepared.table.columns.iter().zip(&prepared.roles) {
            if !matches!(role, Role::Quasi | Role::Sensitive) {
                continue;
            }
            if !policy.columns.iter().any(|c| c.name == column.name)
                && let Some(default) = &self.default
            {
                let mut own = default.clone();
                own.name = column.name.clone();
                policy.columns.push(own);
            }
            if let Some(own) = policy.columns.iter_mut().find(|c| c.name == column.name) {
                own.kind = Some(column.kind);
            }
        }
        policy
    }
}
