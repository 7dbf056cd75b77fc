//! What the commands of `amidst series` print.

use std::fs;

use serde_json::{Value, json};

use crate::Failure;
use crate::folder::CERTIFICATE;
use crate::json::{number, on};
use crate::series::{
    Applied, Chain, ColumnAudit, ColumnExposure, Extended, Links, LogBatch, LogVersion, Mode, Plan, Planned, Published,
    RequirementAudit, Series, SeriesAudit, SeriesLog, Undone,
};

impl Applied {
    /// What the command prints with `--json`.
    pub fn to_json(&self) -> Value {
        json!({
            "batch": self.batch, "inserted": self.inserted, "deleted": self.deleted,
            "rows_dropped_missing": self.dropped, "rows": self.rows,
            "maintained_classes": (self.maintained.classes > 0).then_some(self.maintained.classes),
            "dissolved": self.maintained.dissolved, "moved": self.maintained.moved, "splits": self.maintained.splits,
            "information_loss": number(self.maintained.loss),
        })
    }
}

impl Undone {
    /// What `amidst series undo --json` prints.
    pub fn to_json(&self) -> Value {
        json!({ "batch": self.batch, "inserted": self.inserted, "deleted": self.deleted, "rows": self.rows })
    }
}

impl Extended {
    /// What `amidst series extend --json` prints.
    pub fn to_json(&self) -> Value {
        json!({ "columns": self.columns })
    }
}

impl Published {
    /// What `amidst series publish --json` prints.
    pub fn to_json(&self) -> Value {
        json!({
            "summary": self.leading, "version": self.version, "mode": self.mode.name(), "mode_reason": self.chosen,
            "rows": self.rows, "counterfeits": self.counterfeits, "safe": self.repair.is_some(),
            "safe_since": self.safe_before.or_else(|| self.repair.map(|_| self.version)),
            "held_back": self.repair.unwrap_or_default().held_back, "kept_classes": self.repair.map(|r| r.kept),
            "joined": self.repair.map(|r| r.joined), "new_classes": self.repair.map(|r| r.apart),
            "classes": self.judged.class_count(), "requirements": self.judged.requirements,
            "first_splits": (self.version == 1 && self.mode == Mode::Maintain).then_some(self.splits),
            "unique_rows": self.unique.to_json(), "metrics": self.judged.metrics_json(),
            "leaks": self.audit.finds_leaks(), "audit": self.audit.to_json(),
            "outputs": {
                "release": self.release, "certificate": self.folder.join("certificate.json"),
                "report": self.folder.join("report.html"), "policy": self.folder.join("policy.toml"),
                "internal_report": self.internal.join("report.html"),
                "internal_policy": self.internal.join("policy.toml"),
            },
        })
    }
}

impl Plan {
    /// The plan as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "mode": self.mode.name(), "last_version": self.last, "rows": self.rows, "rows_in": self.rows_in,
            "rows_out": self.rows_out, "changed": self.next.is_some(), "publishable": self.publishable(),
            "version": self.next.as_ref().map(|_| self.last + 1), "next": self.next.as_ref().map(Planned::to_json),
            "safe": self.safe.as_ref().map(Planned::to_json), "safe_since": self.safe_since,
        })
    }
}

impl Planned {
    /// The planned version as JSON.
    pub fn to_json(&self) -> Value {
        let [loss, gcp] = self.loss.map(|loss| loss.map_or(Value::Null, number));
        let repair = self.repair.unwrap_or_default();
        json!({
            "rows": self.rows, "held_back": repair.held_back, "counterfeits": self.counterfeits,
            "classes": self.classes, "kept_classes": self.repair.map(|r| r.kept), "joined": self.repair.map(|r| r.joined),
            "new_classes": self.repair.map(|r| r.apart), "information_loss": loss, "gcp": gcp, "satisfies": self.satisfies,
            "leaks": self.audit.finds_leaks(), "audit": self.audit.to_json(),
        })
    }
}

impl SeriesAudit {
    /// What `amidst series audit --json` prints.
    pub fn to_json(&self) -> Value {
        let worst = |w: &ColumnExposure| {
            json!({
                "persons": w.persons, "count": w.count, "versions": w.versions, "values": w.values,
                "shares": w.shares, "exact": w.exact, "below": w.below, "why": w.why,
            })
        };
        let column = |c: &ColumnAudit| {
            let f = &c.findings;
            json!({
                "column": c.column, "promised": c.promised, "persons": self.persons, "narrowed": f.narrowed,
                "fewest_candidates": f.fewest, "contradicted": self.contradicted, "exposed": f.exposed,
                "differences": f.groups, "certain": f.certain, "unproven": f.unproven,
                "worst": c.worst.iter().map(worst).collect::<Vec<_>>(),
            })
        };
        let requirement = |r: &RequirementAudit| {
            json!({
                "model": r.model, "on": on(&r.on), "applied": r.applied, "below": r.below,
                "unproven": r.unproven,
            })
        };
        json!({
            "versions": self.versions, "leaks": self.finds_leaks(), "persons": self.persons, "exact": self.exact,
            "bound": self.bound, "exposed": self.exposed, "exposed_before": self.before,
            "requirements": self.requirements.iter().map(requirement).collect::<Vec<_>>(),
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "linked": self.links.iter().map(Links::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Links {
    /// What the commands print with `--json`.
    pub fn to_json(&self) -> Value {
        json!({ "versions": self.versions, "rows": self.rows, "of": self.of, "columns": self.columns })
    }
}

impl Chain {
    /// What `amidst series audit --json` prints of it.
    pub fn to_json(&self) -> Value {
        json!({ "linked": self.linked, "problems": self.problems, "not_checked": self.not_checked })
    }
}

impl SeriesLog {
    /// What `amidst series log --json` prints.
    pub fn to_json(&self) -> Value {
        let batch = |b: &LogBatch| {
            json!({
                "batch": b.batch, "inserted": b.inserted, "deleted": b.deleted,
                "maintained_classes": (b.classes > 0).then_some(b.classes),
            })
        };
        json!({
            "batches": self.batches.iter().map(batch).collect::<Vec<_>>(),
            "versions": self.versions.iter().map(LogVersion::to_json).collect::<Vec<_>>(),
        })
    }
}

impl LogVersion {
    /// The version as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "version": self.version, "batch": self.batch, "rows": self.rows, "classes": self.classes,
            "counterfeits": self.counterfeits, "held_back": self.held_back, "leaks": self.leaks,
        })
    }
}

impl Series {
    /// One version: what the log knows of it, and its certificate as its folder has it.
    ///
    /// # Errors
    /// When there is no such version, or its certificate cannot be read.
    pub fn show(&self, version: u64) -> Result<(LogVersion, Value), Failure> {
        let found = self.logged(version)?;
        let path = self.version_folder(version).join(CERTIFICATE);
        let text =
            fs::read_to_string(&path).map_err(|e| Failure::Io(format!("cannot read {}: {e}", path.display())))?;
        let certificate =
            serde_json::from_str(&text).map_err(|e| Failure::Io(format!("{} is damaged: {e}", path.display())))?;
        Ok((found, certificate))
    }
}
