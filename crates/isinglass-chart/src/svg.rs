//! A small SVG writer: elements, attributes, escaping, short numbers.

/// An SVG document under construction.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    out: String,
}

impl Svg {
    /// Starts the tag `<name`; finish it with [`Tag::close`] or [`Tag::open`].
    pub(crate) fn tag(&mut self, name: &str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { svg: self }
    }

    /// A comment, complete with its delimiters.
    pub(crate) fn comment(&mut self, comment: &str) {
        self.out.push_str(comment);
    }

    /// Character data, escaped.
    pub(crate) fn text(&mut self, text: &str) {
        push_escaped(&mut self.out, text);
    }

    /// Character data of several lines, escaped.
    pub(crate) fn lines(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            if index > 0 {
                self.out.push('\n');
            }
            push_escaped(&mut self.out, line);
        }
    }

    /// Closes an element whose parent goes on in the same line.
    pub(crate) fn close_inline(&mut self, name: &str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    /// Closes an element left open by [`Tag::open`].
    pub(crate) fn end(&mut self, name: &str) {
        self.close_inline(name);
        // White space inside a text element is drawn, anywhere else it only
        // keeps the file readable.
        if name != "tspan" {
            self.out.push('\n');
        }
    }

    /// The document written so far.
    pub(crate) fn finish(self) -> String {
        self.out
    }
}

/// A start tag that still takes attributes.
pub(crate) struct Tag<'a> {
    svg: &'a mut Svg,
}

impl Tag<'_> {
    /// Adds a text attribute, escaped.
    pub(crate) fn attr(self, name: &str, value: &str) -> Self {
        let out = &mut self.svg.out;
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        push_escaped(out, value);
        out.push('"');
        self
    }

    /// Adds a number attribute, rounded to two decimals.
    pub(crate) fn num(self, name: &str, value: f64) -> Self {
        self.attr(name, &number(value))
    }

    /// Adds an attribute only if there is a value for it.
    pub(crate) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Ends the tag as an empty element.
    pub(crate) fn close(self) {
        self.svg.out.push_str("/>\n");
    }

    /// Ends the tag and leaves the element open for children.
    pub(crate) fn open(self) {
        self.svg.out.push('>');
    }
}

/// `value` with at most two decimals, and no sign on a zero. What is not a
/// number SVG knows, such as a line width of NaN, becomes zero.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let mut text = format!("{value:.2}");
    if text.contains('.') {
        let kept = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(kept);
    }
    if text == "-0" {
        text.remove(0);
    }
    text
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            // XML 1.0 has no way to write these at all, not even escaped.
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(100.0), "100");
        assert_eq!(number(1.256), "1.26");
        assert_eq!(number(1.201), "1.2");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(-3.5), "-3.5");
        assert_eq!(number(f64::NAN), "0");
    }

    #[test]
    fn what_xml_reserves_is_escaped() {
        let mut svg = Svg::default();
        svg.tag("g").attr("a", "\"<&>\u{1}").open();
        svg.text("1 < 2 & 3\n");
        svg.end("g");
        assert_eq!(svg.finish(), "<g a=\"&quot;&lt;&amp;&gt;\u{fffd}\">1 &lt; 2 &amp; 3 </g>\n");
    }
}
