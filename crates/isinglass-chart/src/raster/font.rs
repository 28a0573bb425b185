//! The outlines of DejaVu Sans, read from the TrueType file that is compiled in.
//!
//! Four tables are enough (OpenType 1.9): `cmap` says which glyph is a character's, `loca` where the glyph is in `glyf`, and `head` how `loca` is written.

use std::sync::LazyLock;

use tiny_skia::PathBuilder;

static FONT: LazyLock<Font> = LazyLock::new(|| Font::new(dejavu::sans::regular()).expect("the font compiled in has all tables"));

/// Units of coordinates to the size of the text.
const UNITS_PER_EM: f32 = 2048.0;

/// How deep glyphs may be made of glyphs that are made of others.
const MAX_NESTING: u8 = 8;

struct Font {
    /// Groups of characters with consecutive glyphs: first character, last character, first glyph.
    groups: Vec<(u32, u32, u32)>,
    /// Where each glyph begins and the one before it ends.
    places: Vec<usize>,
    glyphs: &'static [u8],
}

/// A point of an outline, and whether the curve goes through it.
#[derive(Clone, Copy)]
struct Node {
    x: f32,
    y: f32,
    on_curve: bool,
}

type Contour = Vec<Node>;

/// Adds the outline of a character, or a box if the font has none, with its origin at the place given.
pub(super) fn push_outline(path: &mut PathBuilder, c: char, (x, y): (f32, f32), size: f32) {
    let scale = size / UNITS_PER_EM;
    let contours = FONT.contours(FONT.glyph(c), MAX_NESTING).unwrap_or_default();
    for contour in contours {
        let nodes: Vec<Node> = contour.iter().map(|node| Node { x: x + scale * node.x, y: y - scale * node.y, ..*node }).collect();
        push_contour(path, &nodes);
    }
}

/// A closed outline of quadratic curves. Between two nodes that are off the curve lies one on it, which is not stored.
fn push_contour(path: &mut PathBuilder, nodes: &[Node]) {
    let middle = |a: Node, b: Node| Node { x: 0.5 * (a.x + b.x), y: 0.5 * (a.y + b.y), on_curve: true };
    let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
    let start = match (first.on_curve, last.on_curve) {
        (true, _) => first,
        (false, true) => last,
        (false, false) => middle(last, first),
    };
    path.move_to(start.x, start.y);
    for (index, &node) in nodes.iter().enumerate() {
        if node.on_curve {
            path.line_to(node.x, node.y);
            continue;
        }
        let next = nodes.get(index + 1).copied().unwrap_or(start);
        let end = if next.on_curve { next } else { middle(node, next) };
        path.quad_to(node.x, node.y, end.x, end.y);
    }
    path.close();
}

impl Font {
    fn new(data: &'static [u8]) -> Option<Self> {
        let table = |tag| table(data, tag);
        let long = Reader(table(b"head")?.get(50..)?).u16()? == 1;
        let mut places = Vec::new();
        let mut index = Reader(table(b"loca")?);
        while let Some(place) = if long { index.u32() } else { index.u16().map(|half| 2 * u32::from(half)) } {
            places.push(place as usize);
        }
        Some(Self { groups: groups(table(b"cmap")?)?, places, glyphs: table(b"glyf")? })
    }

    /// The glyph of a character; 0, a box, if the font has none.
    fn glyph(&self, c: char) -> u32 {
        let c = u32::from(c);
        let after = self.groups.partition_point(|(first, ..)| *first <= c);
        let group = after.checked_sub(1).map(|index| self.groups[index]);
        group.filter(|(_, last, _)| c <= *last).map_or(0, |(first, _, glyph)| glyph + c - first)
    }

    fn contours(&self, glyph: u32, nesting: u8) -> Option<Vec<Contour>> {
        let glyph = glyph as usize;
        let mut data = Reader(self.glyphs.get(*self.places.get(glyph)?..*self.places.get(glyph + 1)?)?);
        if data.0.is_empty() {
            // A space.
            return Some(Vec::new());
        }
        let count = data.i16()?;
        data.skip(8)?; // The box around it.
        match usize::try_from(count) {
            Ok(count) => simple(data, count),
            Err(_) => self.composite(data, nesting.checked_sub(1)?),
        }
    }

    /// A glyph made of others, each moved and perhaps scaled.
    fn composite(&self, mut data: Reader, nesting: u8) -> Option<Vec<Contour>> {
        const WORDS: u16 = 1 << 0;
        const OFFSETS: u16 = 1 << 1;
        const SCALE: u16 = 1 << 3;
        const MORE: u16 = 1 << 5;
        const TWO_SCALES: u16 = 1 << 6;
        const MATRIX: u16 = 1 << 7;
        let mut contours = Vec::new();
        loop {
            let flags = data.u16()?;
            let part = data.u16()?;
            let (dx, dy) = if flags & WORDS != 0 { (data.i16()?, data.i16()?) } else { (data.i8()?, data.i8()?) };
            // The other way to place a part, by points that coincide, is not in use.
            if flags & OFFSETS == 0 {
                return None;
            }
            let (mut xx, mut xy, mut yx, mut yy) = (1.0, 0.0, 0.0, 1.0);
            if flags & SCALE != 0 {
                xx = data.fraction()?;
                yy = xx;
            } else if flags & TWO_SCALES != 0 {
                (xx, yy) = (data.fraction()?, data.fraction()?);
            } else if flags & MATRIX != 0 {
                (xx, xy, yx, yy) = (data.fraction()?, data.fraction()?, data.fraction()?, data.fraction()?);
            }
            for mut contour in self.contours(part.into(), nesting)? {
                for node in &mut contour {
                    (node.x, node.y) = (xx * node.x + yx * node.y + f32::from(dx), xy * node.x + yy * node.y + f32::from(dy));
                }
                contours.push(contour);
            }
            if flags & MORE == 0 {
                return Some(contours);
            }
        }
    }
}

/// A glyph of its own: the last node of each contour, a flag for each node, then all x and all y, each relative to the one before.
fn simple(mut data: Reader, contours: usize) -> Option<Vec<Contour>> {
    const ON_CURVE: u8 = 1 << 0;
    const REPEATED: u8 = 1 << 3;
    // For x and for y: whether the step is one byte, and if so its sign, otherwise whether it is zero.
    const SHORT: [u8; 2] = [1 << 1, 1 << 2];
    const SAME_OR_POSITIVE: [u8; 2] = [1 << 4, 1 << 5];
    let ends = (0..contours).map(|_| data.u16().map(usize::from)).collect::<Option<Vec<_>>>()?;
    let count = ends.last().map_or(0, |last| last + 1);
    let instructions = data.u16()?;
    data.skip(instructions.into())?;
    let mut flags = Vec::with_capacity(count);
    while flags.len() < count {
        let flag = data.u8()?;
        let times = if flag & REPEATED != 0 { data.u8()? } else { 0 };
        flags.extend((0..=times).map(|_| flag));
    }
    let mut coordinates = |axis: usize| {
        let mut at = 0_i16;
        let steps = flags[..count].iter().map(|flag| {
            let step = match (flag & SHORT[axis] != 0, flag & SAME_OR_POSITIVE[axis] != 0) {
                (true, true) => i16::from(data.u8()?),
                (true, false) => -i16::from(data.u8()?),
                (false, true) => 0,
                (false, false) => data.i16()?,
            };
            at = at.wrapping_add(step);
            Some(f32::from(at))
        });
        steps.collect::<Option<Vec<f32>>>()
    };
    let (x, y) = (coordinates(0)?, coordinates(1)?);
    let mut start = 0;
    let pieces = ends.into_iter().map(|end| {
        let nodes = start..end + 1;
        start = end + 1;
        nodes.map(|i| Some(Node { x: *x.get(i)?, y: *y.get(i)?, on_curve: flags.get(i)? & ON_CURVE != 0 })).collect()
    });
    pieces.collect()
}

/// The groups of the `cmap` for all of Unicode: format 12 of platform 3, encoding 10.
fn groups(cmap: &[u8]) -> Option<Vec<(u32, u32, u32)>> {
    let mut header = Reader(cmap.get(2..)?);
    for _ in 0..header.u16()? {
        let (platform, encoding, offset) = (header.u16()?, header.u16()?, header.u32()?);
        let mut data = Reader(cmap.get(offset as usize..)?);
        if (platform, encoding) == (3, 10) && data.u16()? == 12 {
            data.skip(10)?;
            let count = data.u32()?;
            return (0..count).map(|_| Some((data.u32()?, data.u32()?, data.u32()?))).collect();
        }
    }
    None
}

/// A table of the file.
fn table(data: &'static [u8], tag: &[u8; 4]) -> Option<&'static [u8]> {
    let mut directory = Reader(data.get(4..)?);
    let count = directory.u16()?;
    directory.skip(6)?;
    for _ in 0..count {
        let name = directory.u32()?;
        directory.skip(4)?;
        let (offset, length) = (directory.u32()? as usize, directory.u32()? as usize);
        if name == u32::from_be_bytes(*tag) {
            return data.get(offset..offset.checked_add(length)?);
        }
    }
    None
}

/// Numbers from the beginning of some bytes, high byte first.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_be_bytes)
    }

    fn i8(&mut self) -> Option<i16> {
        self.take().map(|byte| i8::from_be_bytes(byte).into())
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn i16(&mut self) -> Option<i16> {
        self.take().map(i16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// A number with 14 bits after the point.
    fn fraction(&mut self) -> Option<f32> {
        self.i16().map(|bits| f32::from(bits) / 16384.0)
    }
}

/// Every character of the font and its advance in units, for the test of the table of advances.
#[cfg(test)]
pub(crate) fn advances() -> Vec<(u32, u16)> {
    let data = dejavu::sans::regular();
    let last = usize::from(Reader(&table(data, b"hhea").unwrap()[34..]).u16().unwrap() - 1);
    let metrics = table(data, b"hmtx").unwrap();
    let advance = |glyph: u32| Reader(&metrics[4 * last.min(glyph as usize)..]).u16().unwrap();
    let characters = FONT.groups.iter().flat_map(|&(first, last, glyph)| (first..=last).map(move |c| (c, glyph + c - first)));
    characters.filter(|(_, glyph)| *glyph != 0).map(|(c, glyph)| (c, advance(glyph))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_of_the_font_is_read() {
        for glyph in 0..FONT.places.len() as u32 - 1 {
            assert!(FONT.contours(glyph, MAX_NESTING).is_some(), "{glyph}");
        }
        assert!(FONT.places.len() > 6000 && FONT.groups.len() > 100);
    }

    #[test]
    fn outlines_have_the_shapes_of_letters() {
        let contours = |c| FONT.contours(FONT.glyph(c), MAX_NESTING).unwrap();
        // Pieces and holes: a dot on the i, one hole in o, two in 8; ö is o with two dots.
        assert_eq!(['l', 'i', 'o', '8', 'ö', ' '].map(|c| contours(c).len()), [1, 2, 2, 3, 4, 0]);
        // A box for what the font does not have.
        assert_eq!((FONT.glyph('漢'), contours('漢').len()), (0, 2));
        let bounds = |c| {
            let mut path = PathBuilder::new();
            push_outline(&mut path, c, (100.0, 50.0), 2048.0);
            path.finish().unwrap().compute_tight_bounds().unwrap()
        };
        // An l of DejaVu Sans stands from the baseline to 1556 units above it.
        let l = bounds('l');
        assert_eq!((l.top(), l.bottom()), (50.0 - 1556.0, 50.0));
        // The curves of an o reach a little below the baseline.
        assert_eq!(bounds('o').bottom(), 50.0 + 29.0);
        assert!(bounds('ö').top() < bounds('o').top());
    }
}
