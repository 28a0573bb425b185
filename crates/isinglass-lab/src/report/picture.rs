//! SVG files as parts of a page.
//!
//! A picture is taken apart and written anew: only elements and attributes that charts are made of come through, so that no file can bring a script or load anything.
//! Its ids get a prefix, since those of a page are shared by all its pictures.

use roxmltree::{Document, Node, ParsingOptions};

use super::markup::push_escaped;

/// Far more than charts need; what is beyond is no chart, or meant to do harm.
const MAX_NESTING: usize = 100;
const MAX_NAMESPACES: usize = 100;
const MAX_NODES: u32 = 10_000_000;

const ELEMENTS: [&str; 19] = [
    "circle",
    "clipPath",
    "defs",
    "desc",
    "ellipse",
    "g",
    "image",
    "line",
    "linearGradient",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "rect",
    "stop",
    "svg",
    "text",
    "title",
    "tspan",
];

const ATTRIBUTES: [&str; 52] = [
    "class",
    "clip-path",
    "clip-rule",
    "clipPathUnits",
    "cx",
    "cy",
    "d",
    "dominant-baseline",
    "dx",
    "dy",
    "fill",
    "fill-opacity",
    "fill-rule",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "gradientTransform",
    "gradientUnits",
    "height",
    "id",
    "image-rendering",
    "offset",
    "opacity",
    "patternTransform",
    "patternUnits",
    "pointer-events",
    "points",
    "preserveAspectRatio",
    "r",
    "rx",
    "ry",
    "stop-color",
    "stop-opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "textLength",
    "transform",
    "viewBox",
    "visibility",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];

/// A picture ready to be put into a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inline {
    /// The `svg` element, without a size of its own.
    pub svg: String,
    /// How wide it was drawn, in pixels.
    pub width: f64,
}

/// Takes an SVG over, with `prefix` before all its ids and `name` for those who cannot see it.
///
/// # Errors
///
/// A sentence, if it is no SVG, has no size, or is nested deeper than any chart.
pub(super) fn inline(svg: &str, prefix: &str, name: &str) -> Result<Inline, String> {
    // Namespaces are copied from parent to child, so that many of them would take any amount of memory.
    if svg.matches("xmlns").count() > MAX_NAMESPACES {
        return Err(format!("an SVG with more than {MAX_NAMESPACES} namespaces"));
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(svg, options).map_err(|error| format!("no SVG ({error})"))?;
    let root = document.root_element();
    if root.tag_name().name() != "svg" {
        return Err(format!("no SVG, but a document of <{}>", root.tag_name().name()));
    }
    let length =
        |name: &str| root.attribute(name).and_then(|text| text.trim_end_matches("px").parse::<f64>().ok()).filter(|length| *length > 0.0);
    let sizes = root.attribute("viewBox").map(|text| text.split([' ', ',']).filter_map(|part| part.parse().ok()).collect::<Vec<f64>>());
    let (width, view) = match (sizes.as_deref(), length("width"), length("height")) {
        (Some([x, y, w, h]), _, _) if *w > 0.0 && *h > 0.0 => (*w, format!("{x} {y} {w} {h}")),
        (_, Some(w), Some(h)) => (w, format!("0 0 {w} {h}")),
        _ => return Err("an SVG without a size".to_owned()),
    };
    let mut out = String::with_capacity(svg.len());
    out.push_str("<svg");
    for (attribute, value) in [("viewBox", view.as_str()), ("role", "img"), ("aria-label", name)] {
        push_attribute(&mut out, attribute, value);
    }
    for attribute in root.attributes().filter(|attribute| matches!(attribute.name(), "font-family" | "font-size")) {
        push_attribute(&mut out, attribute.name(), attribute.value());
    }
    out.push('>');
    // The title of the whole would be shown wherever the pointer is; the name says the same.
    for child in root.children().filter(|child| child.tag_name().name() != "title") {
        push_node(&mut out, child, prefix, MAX_NESTING)?;
    }
    out.push_str("</svg>\n");
    Ok(Inline { svg: out, width })
}

/// Writes a node that may have `depth` levels of elements below it.
fn push_node(out: &mut String, node: Node<'_, '_>, prefix: &str, depth: usize) -> Result<(), String> {
    if let Some(text) = node.text().filter(|_| node.is_text()) {
        push_escaped(out, text);
        return Ok(());
    }
    let name = node.tag_name().name();
    if !node.is_element() || !ELEMENTS.contains(&name) {
        return Ok(());
    }
    let Some(below) = depth.checked_sub(1) else {
        return Err(format!("an SVG with elements nested more than {MAX_NESTING} deep"));
    };
    out.push('<');
    out.push_str(name);
    for attribute in node.attributes() {
        let value = attribute.value();
        match attribute.name() {
            // Of an image: its bytes, and never an address.
            "href" if name == "image" && value.starts_with("data:image/png;base64,") => push_attribute(out, "href", value),
            // The one that charts have; styles could do anything.
            "style" if value == "image-rendering:pixelated" => push_attribute(out, "style", value),
            "id" => push_attribute(out, "id", &format!("{prefix}{value}")),
            known if ATTRIBUTES.contains(&known) => {
                if let Some(value) = local(value, prefix) {
                    push_attribute(out, known, &value);
                }
            }
            _ => {}
        }
    }
    if node.has_children() {
        out.push('>');
        for child in node.children() {
            push_node(out, child, prefix, below)?;
        }
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    } else {
        out.push_str("/>");
    }
    Ok(())
}

/// A value in which every reference is to something in the same picture; `None` if one is not.
fn local(value: &str, prefix: &str) -> Option<String> {
    let is_local = value.to_ascii_lowercase().matches("url").count() == value.matches("url(#").count();
    is_local.then(|| value.replace("url(#", &format!("url(#{prefix}")))
}

fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use isinglass_chart::{Axis, Figure, HeatMap, Panel, Region};

    fn hinted() -> String {
        let map = HeatMap::new((0.0, 1.0), (0.0, 1.0), 2, 1, vec![0.0, 1.0]).unwrap().hints(vec!["<a>\nb".into(), "c".into()]);
        let panel = Panel::new(Axis::linear("x"), Axis::linear("σ_m^2")).heat_map(map).region(Region::right_of(0.5));
        Figure::new().title("A & B").panel(panel).to_svg().unwrap()
    }

    #[test]
    fn a_chart_comes_through_whole() {
        let svg = hinted();
        let inline = inline(&svg, "p1-", "A \"name\"").unwrap();
        assert_eq!(inline.width, 720.0);
        assert!(inline.svg.starts_with("<svg viewBox=\"0 0 720 480\" role=\"img\" aria-label=\"A &quot;name&quot;\""), "{}", inline.svg);
        let (before, after) = (Document::parse(&svg).unwrap(), Document::parse(&inline.svg).unwrap());
        let elements = |document: &Document<'_>| document.descendants().filter(Node::is_element).count();
        assert_eq!(elements(&after), elements(&before) - 1, "all but the title");
        // Every reference has its target, and no id is left as it was.
        let ids: Vec<&str> = after.descendants().filter_map(|node| node.attribute("id")).collect();
        assert!(!ids.is_empty() && ids.iter().all(|id| id.starts_with("p1-")));
        for value in after.descendants().flat_map(|node| node.attributes()).map(|attribute| attribute.value()) {
            if let Some(id) = value.strip_prefix("url(#") {
                assert!(ids.contains(&id.trim_end_matches(')')), "{value}");
            }
        }
        assert!(!inline.svg.contains("http"));
    }

    #[test]
    fn nothing_that_runs_or_loads_comes_through() {
        let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="5" onload="a()"><script>b()</script>
            <style>@import url(http://c)</style><foreignObject><p>d</p></foreignObject><rect width="1" onclick="e()" fill="url(http://f)" style="background:url(//g)" stroke="URL( //k )"/>
            <image xlink:href="http://h/i.png"/><a xlink:href="javascript:j()"><text>kept out</text></a><text>kept</text></svg>"##;
        let inline = inline(svg, "p-", "").unwrap();
        for bad in ["script", "http", "on", "@import", "//g", "//k", "foreign", "kept out"] {
            assert!(!inline.svg.replace("xlink", "").contains(bad) || bad == "on" && !inline.svg.contains(" on"), "{bad}: {}", inline.svg);
        }
        assert!(inline.svg.contains("<text>kept</text>") && inline.svg.contains("viewBox=\"0 0 10 5\""));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels: usize| {
            let (open, close) = ("<g>".repeat(levels), "</g>".repeat(levels));
            inline(&format!("<svg width='9' height='9'>{open}<text>deep</text>{close}</svg>"), "", "")
        };
        assert!(nested(MAX_NESTING - 1).unwrap().svg.contains("<text>deep</text>"));
        // On a stack as small as those of threads: neither the parser nor this module may recurse with the depth.
        let deep = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
            for levels in [MAX_NESTING, 20_000, 1_000_000] {
                assert!(nested(levels).unwrap_err().contains("nested more than 100 deep"), "{levels}");
            }
            // Never closed, and inside what is left out.
            assert!(inline(&format!("<svg width='9' height='9'>{}", "<g>".repeat(1_000_000)), "", "").unwrap_err().contains("no SVG"));
            let (open, close) = ("<a>".repeat(1_000_000), "</a>".repeat(1_000_000));
            assert!(inline(&format!("<svg width='9' height='9'>{open}{close}</svg>"), "", "").is_ok());
        });
        deep.unwrap().join().unwrap();
    }

    #[test]
    fn entities_and_namespaces_cannot_grow() {
        let laughs = "<!DOCTYPE svg [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><svg width='9' height='9'><text>&b;</text></svg>";
        assert!(inline(laughs, "", "").unwrap_err().contains("no SVG"));
        let names: String = (0..50_000).map(|i| format!(" xmlns:n{i}='urn:{i}'")).collect();
        assert!(inline(&format!("<svg{names} width='9' height='9'/>"), "", "").unwrap_err().contains("namespaces"));
    }

    #[test]
    fn what_is_no_picture_is_said() {
        for (text, reason) in [("", "no SVG"), ("<html/>", "<html>"), ("<svg/>", "size"), ("<svg width='1'>", "no SVG")] {
            assert!(inline(text, "", "").unwrap_err().contains(reason), "{text}");
        }
    }
}
