//! How the release was made, so that it can be made again: method, policy, digests.

use maud::{Markup, html};

use super::Page;
use crate::report::loss_bound::LossBound;

impl Page<'_> {
    pub(super) fn method(&self) -> Option<Markup> {
        let method = self.report.method.as_ref()?;
        let proof = match (method.optimal, method.gap) {
            _ if method.bound.is_some() => {
                let words = method.bound.as_ref().map(LossBound::words).unwrap_or_default();
                format!("{words}, as is proven from the values of the input")
            }
            (true, _) => "proven to be the best of its kind".to_string(),
            (false, Some(_)) => {
                "a time limit ended the search; the gap says how far it may be from the best".to_string()
            }
            (false, None) => "a good release, not proven to be the best".to_string(),
        };
        Some(html! {
            div.scroll { table { tbody {
                tr { th scope="row" { "algorithm" } td.wide { (method.algorithm) ": " (method.definition) " " (method.citation) "." } }
                tr { th scope="row" { "recoding" } td { (method.recoding) } }
                tr { th scope="row" { "what best means" } td { (method.metric) } }
                tr { th scope="row" { "result" } td.wide { (proof) } }
                @if method.bound.is_some() {
                    tr { th scope="row" { "least loss possible" } td { (self.figure("/method/bound/least_loss")) } }
                }
                @if method.gap.is_some() { tr { th scope="row" { "gap" } td { (self.figure("/method/gap")) } } }
                tr { th scope="row" { "seed" } td { (self.figure("/method/seed")) } }
                tr { th scope="row" { "version" } td { (self.report.tool) } }
            } } }
            @for note in &method.notes { p.soft { (note) } }
        })
    }

    pub(super) fn policy(&self) -> Option<Markup> {
        let policy = &self.report.policy;
        (!policy.is_empty()).then(|| self.aside("The whole policy", html! { pre tabindex="0" { code { (policy) } } }))
    }

    /// Room for the one who answers for it.
    pub(super) fn signature(&self) -> Markup {
        let failing = self.report.requirements.iter().any(|r| !r.holds);
        html! {
            p { @if failing { "At least one requirement fails: this table should not be published as it is." }
                @else if self.of_release() { "I have read this report. The release may be published for the stated purpose." }
                @else { "I have read this report." } }
            div.sign { div { "name and office" } div { "signature" } div { "date" } }
        }
    }

    pub(super) fn digests(&self) -> Option<Markup> {
        let digests = &self.report.digests;
        (!digests.is_empty()).then(|| {
            html! {
                p { "SHA-256. The certificate holds the digests of all files, this report's included; "
                    code { "amidst verify" } " compares them and recomputes every requirement." }
                div.scroll { table { tbody { @for digest in digests {
                    tr { th scope="row" { (digest.of) } td.wide { code { (digest.sha256) } } }
                } } } }
            }
        })
    }
}
