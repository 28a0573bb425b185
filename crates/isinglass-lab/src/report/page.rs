//! The whole page: head, claims, contents, sections.

use super::markup::Html;
use super::section::Section;
use super::source::Kind;
use crate::reproduce::{Claim, Verdict};
use isinglass_chart::base64;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub(super) fn write(title: &str, sections: &[Section], warnings: &[String]) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n").open("html", &[("lang", "en")]).raw("\n").open("head", &[]).raw("\n<meta charset=\"utf-8\">\n");
    // By this a later report knows that it may replace this one.
    html.raw("<meta name=\"generator\" content=\"isinglass\">\n");
    // Nothing is loaded from anywhere, and no script runs but the one below, whatever is in the texts.
    let digest = base64::encode(&sha256(SCRIPT));
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    );
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]).raw("\n");
    html.raw(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    // An icon of nothing, or the browser would look for one.
    html.raw("<link rel=\"icon\" href=\"data:,\">\n").element("title", &[], title).raw("<style>\n").raw(STYLE).raw("</style>\n");
    html.close("head").open("body", &[]).raw("\n").open("main", &[]).raw("\n");
    html.open("header", &[]).element("h1", &[], title).element("p", &[("class", "summary")], &summary(sections)).close("header");
    if !warnings.is_empty() {
        html.open("div", &[("class", "notice")]).element("p", &[], "Not everything could be read:").open("ul", &[]);
        for warning in warnings {
            html.element("li", &[], warning);
        }
        html.close("ul").close("div");
    }
    write_all_claims(&mut html, sections);
    if sections.len() > 1 {
        write_contents(&mut html, sections);
    }
    for section in sections {
        html.open("section", &[("id", &section.id)]).element("h2", &[], &section.title).raw(&section.body).close("section");
    }
    html.close("main").raw("<script>").raw(SCRIPT).raw("</script>\n").close("body").close("html");
    html.finish()
}

fn sha256(text: &str) -> Vec<u8> {
    let digits = isinglass_data::sha256_of(text.as_bytes());
    digits.as_bytes().chunks(2).filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// `2 figures, 1 sweep. Of 3 claims, 2 hold and 1 is not decided.`
fn summary(sections: &[Section]) -> String {
    let counts: Vec<String> = [Kind::Figure, Kind::Sweep, Kind::Run]
        .into_iter()
        .filter_map(|kind| {
            let count = sections.iter().filter(|section| section.kind == kind).count();
            (count > 0).then(|| format!("{count} {}{}", kind.name(), if count == 1 { "" } else { "s" }))
        })
        .collect();
    let mut text = format!("{}.", counts.join(", "));
    let claims: Vec<&Claim> = sections.iter().flat_map(|section| &section.claims).collect();
    if !claims.is_empty() {
        let verdicts = Verdict::ALL.into_iter().filter_map(|verdict| {
            let count = claims.iter().filter(|claim| claim.verdict == verdict).count();
            (count > 0).then(|| format!("{count} {}", in_words(verdict, count)))
        });
        let plural = if claims.len() == 1 { "claim" } else { "claims" };
        text += &format!(" Of {} {plural}: {}.", claims.len(), verdicts.collect::<Vec<_>>().join(", "));
    }
    text
}

fn in_words(verdict: Verdict, count: usize) -> &'static str {
    match (verdict, count) {
        (Verdict::Holds, 1) => "holds",
        (Verdict::Holds, _) => "hold",
        (Verdict::HoldsInPart, 1) => "holds in part",
        (Verdict::HoldsInPart, _) => "hold in part",
        (Verdict::DoesNotHold, 1) => "does not hold",
        (Verdict::DoesNotHold, _) => "do not hold",
        (Verdict::NotDecided, 1) => "is not decided",
        (Verdict::NotDecided, _) => "are not decided",
    }
}

fn write_contents(html: &mut Html, sections: &[Section]) {
    html.open("nav", &[("aria-label", "Contents")]).element("h2", &[], "Contents").open("ol", &[]);
    for section in sections {
        html.open("li", &[]).element("a", &[("href", &format!("#{}", section.id))], &section.title);
        if let Some(remark) = &section.remark {
            html.text(" ").element("span", &[("class", "remark")], remark);
        }
        html.close("li");
    }
    html.close("ol").close("nav");
}

/// All claims of the page, each with the way to its figure.
fn write_all_claims(html: &mut Html, sections: &[Section]) {
    if sections.iter().all(|section| section.claims.is_empty()) {
        return;
    }
    html.open("section", &[("id", "claims")]).element("h2", &[], "Claims and verdicts");
    html.open("div", &[("class", "scroll whole")]).open("table", &[("class", "claims")]).open("thead", &[]).open("tr", &[]);
    for column in ["verdict", "claim", "shown in"] {
        html.element("th", &[], column);
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for section in sections {
        for claim in &section.claims {
            html.open("tr", &[]).open("td", &[]);
            write_verdict(html, claim.verdict);
            html.close("td").element("td", &[], &claim.claim).open("td", &[]);
            html.element("a", &[("href", &format!("#{}", section.id))], &section.name).close("td").close("tr");
        }
    }
    html.close("tbody").close("table").close("div").close("section");
}

/// The claims of one figure, with what was seen.
pub(super) fn write_claims(html: &mut Html, claims: &[Claim]) {
    html.open("div", &[("class", "scroll whole")]).open("table", &[("class", "claims")]).open("thead", &[]).open("tr", &[]);
    for column in ["verdict", "claim", "what was seen"] {
        html.element("th", &[], column);
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for claim in claims {
        html.open("tr", &[]).open("td", &[]);
        write_verdict(html, claim.verdict);
        html.close("td").element("td", &[], &claim.claim).element("td", &[], &claim.evidence).close("tr");
    }
    html.close("tbody").close("table").close("div");
}

/// A mark and the words: nobody has to tell colours apart.
fn write_verdict(html: &mut Html, verdict: Verdict) {
    let (class, mark) = match verdict {
        Verdict::Holds => ("holds", "✓"),
        Verdict::HoldsInPart => ("in-part", "◐"),
        Verdict::DoesNotHold => ("not", "✗"),
        Verdict::NotDecided => ("open", "?"),
    };
    html.open("span", &[("class", &format!("verdict {class}"))]);
    html.element("span", &[("aria-hidden", "true")], mark).text(" ").text(verdict.name()).close("span");
}
