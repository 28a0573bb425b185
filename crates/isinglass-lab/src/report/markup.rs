//! A small HTML writer: elements, attributes, escaping.

/// HTML under construction. What is written as text or as an attribute's value is escaped; names of elements and attributes are ours.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// Opens an element.
    pub fn open(&mut self, name: &str, attributes: &[(&str, &str)]) -> &mut Self {
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in attributes {
            self.out.push(' ');
            self.out.push_str(attribute);
            self.out.push_str("=\"");
            push_escaped(&mut self.out, value);
            self.out.push('"');
        }
        self.out.push('>');
        self
    }

    /// Closes an element. Each block is a line of its own, so that the page can be read as text.
    pub fn close(&mut self, name: &str) -> &mut Self {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
        if !matches!(name, "a" | "b" | "code" | "span" | "td" | "th" | "dt" | "pre" | "summary") {
            self.out.push('\n');
        }
        self
    }

    /// Text. Indices of symbols, as in `σ_m²` and `ξ_c`, are lowered.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while let Some((before, index, after)) = next_index(rest) {
            push_escaped(&mut self.out, before);
            self.out.push_str("<sub>");
            push_escaped(&mut self.out, index);
            self.out.push_str("</sub>");
            rest = after;
        }
        push_escaped(&mut self.out, rest);
        self
    }

    /// An element with nothing but text in it.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) -> &mut Self {
        self.open(name, attributes);
        if name == "title" {
            // There are no elements in the title of a page.
            push_escaped(&mut self.out, text);
        } else {
            self.text(text);
        }
        self.close(name)
    }

    /// Paragraphs of plain text, separated by blank lines.
    pub fn paragraphs(&mut self, text: &str) -> &mut Self {
        for paragraph in text.replace("\r\n", "\n").split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
            self.element("p", &[], paragraph);
        }
        self
    }

    /// Text behind a heading that opens it. Those `shown` are open at once, the others when the page is printed, too.
    pub fn folded(&mut self, heading: &str, shown: bool, content: impl FnOnce(&mut Self)) -> &mut Self {
        let attributes: &[(&str, &str)] = if shown { &[("open", "")] } else { &[] };
        self.open("details", attributes).element("summary", &[], heading);
        content(self);
        self.close("details")
    }

    /// Something that is HTML already: our own, or checked.
    pub fn raw(&mut self, html: &str) -> &mut Self {
        self.out.push_str(html);
        self
    }

    pub fn finish(self) -> String {
        self.out
    }
}

/// What stands before the first index of a Greek letter, the index, and what comes after it.
fn next_index(text: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in text.match_indices('_') {
        let is_symbol = text[..at].chars().next_back().is_some_and(|c| ('α'..='ω').contains(&c));
        let index = &text[at + 1..];
        let length = index.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(index.len());
        if is_symbol && (1..=2).contains(&length) {
            return Some((&text[..at], &index[..length], &index[length..]));
        }
    }
    None
}

/// For text and for values in double quotes.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(c),
            // HTML has no place for other controls.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// What of a text can be part of an `id` and of a link to it.
pub(super) fn slug(text: &str) -> String {
    let kept = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let mut slug = String::new();
    for c in kept {
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    slug.trim_matches('-').chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_html_reserves_is_escaped() {
        let mut html = Html::default();
        html.open("p", &[("title", "\"a\" <b>")]).text("<script>alert('&')</script>\u{1}\r").close("p");
        let want = "<p title=\"&quot;a&quot; &lt;b&gt;\">&lt;script&gt;alert('&amp;')&lt;/script&gt;\u{fffd}\u{fffd}</p>\n";
        assert_eq!(html.finish(), want);
    }

    #[test]
    fn indices_of_symbols_are_lowered() {
        let text = |text: &str| {
            let mut html = Html::default();
            html.text(text);
            html.finish()
        };
        assert_eq!(text("σ_m² < 1, ξ_c"), "σ<sub>m</sub>² &lt; 1, ξ<sub>c</sub>");
        for plain in ["run_seconds", "σ_", "σ_long", "_m", "a_b"] {
            assert_eq!(text(plain), plain);
        }
    }

    #[test]
    fn blank_lines_separate_paragraphs() {
        let mut html = Html::default();
        html.paragraphs("one\nline\n\n\n\ntwo\r\n\r\nthree");
        assert_eq!(html.finish(), "<p>one\nline</p>\n<p>two</p>\n<p>three</p>\n");
    }

    #[test]
    fn ids_are_plain() {
        assert_eq!(slug("sweeps/A  b_<σ>2"), "sweeps-a-b-2");
        assert_eq!(slug("///"), "");
    }
}
