//! A part of the page: one directory.

use std::path::Path;

use super::markup::{Html, slug};
use super::source::{Kind, Source};
use super::{ReportError, figure, picture, run, sweep};
use crate::reproduce::Claim;
use isinglass_chart::{ChartError, Figure};

/// One directory, as HTML.
#[derive(Debug)]
pub(super) struct Section {
    pub id: String,
    pub title: String,
    /// What it is called for short.
    pub name: String,
    pub kind: Kind,
    /// What is not as it should be, in a few words: `not finished`.
    pub remark: Option<String>,
    pub body: String,
    pub figures: usize,
    pub claims: Vec<Claim>,
    pub warnings: Vec<String>,
}

/// Reads a directory; `number` tells the sections of a page apart.
pub(super) fn read(source: &Source, number: usize) -> Result<Section, ReportError> {
    let writer = Writer::new(number);
    match source.kind {
        Kind::Figure => figure::read(&source.directory, writer),
        Kind::Sweep => sweep::read(&source.directory, writer),
        Kind::Run => run::read(&source.directory, writer),
    }
}

/// A section under construction.
#[derive(Debug)]
pub(super) struct Writer {
    number: usize,
    pub html: Html,
    figures: usize,
    pub claims: Vec<Claim>,
    warnings: Vec<String>,
}

impl Writer {
    fn new(number: usize) -> Self {
        Self { number, html: Html::default(), figures: 0, claims: Vec::new(), warnings: Vec::new() }
    }

    pub fn finish(self, kind: Kind, title: String, name: String, remark: Option<String>) -> Section {
        let id = format!("s{}-{}", self.number, slug(&name));
        let id = id.trim_end_matches('-').to_owned();
        Section {
            id,
            title,
            name,
            kind,
            remark,
            body: self.html.finish(),
            figures: self.figures,
            claims: self.claims,
            warnings: self.warnings,
        }
    }

    /// Says what is missing, here and to whoever makes the report.
    pub fn warn(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.html.element("p", &[("class", "notice")], &what);
        self.warnings.push(what);
    }

    /// A chart, or why it cannot be drawn.
    pub fn chart(&mut self, chart: Result<Figure, ChartError>, name: &str, caption: &str) {
        let svg = chart.and_then(|chart| chart.to_svg()).map_err(|error| error.to_string());
        if let Err(reason) = svg.and_then(|svg| self.picture(&svg, name, caption)) {
            self.warn(format!("{name} cannot be drawn: {reason}"));
        }
    }

    /// A picture with a caption below it, or why it is none. Its name is for those who cannot see it.
    pub fn picture(&mut self, svg: &str, name: &str, caption: &str) -> Result<(), String> {
        let prefix = format!("s{}p{}-", self.number, self.figures + 1);
        let picture = picture::inline(svg, &prefix, name)?;
        self.figures += 1;
        // As large as it was drawn where there is room; on a small screen never so small that it cannot be read.
        let style = format!("--drawn:{}px", picture.width);
        self.html.open("figure", &[("style", &style)]).open("div", &[("class", "card")]).raw(&picture.svg).close("div");
        if !caption.trim().is_empty() {
            self.html.open("figcaption", &[]).paragraphs(caption).close("figcaption");
        }
        self.html.close("figure");
        Ok(())
    }

    /// Names and what they stand for, in two columns. What is empty is left out.
    pub fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, String)>) {
        self.html.open("dl", &[]);
        for (name, value) in facts {
            if !value.is_empty() {
                self.html.element("dt", &[], name).element("dd", &[], &value);
            }
        }
        self.html.close("dl");
    }

    /// A file's text, folded.
    pub fn text_file(&mut self, heading: &str, text: &str) {
        self.html.folded(heading, false, |html| {
            html.element("pre", &[], text.trim_end());
        });
    }
}

/// A directory as the user wrote it.
pub(super) fn shown(directory: &Path) -> String {
    directory.display().to_string()
}
