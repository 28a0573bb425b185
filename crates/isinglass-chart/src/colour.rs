//! Colours: a palette for lines and two maps for values.
//!
//! Both maps are laid out in Oklab, a space in which equal distances look
//! about equally different, so that no step of a map stands out that is not
//! in the data.

use std::fmt;

/// An opaque colour: red, green and blue in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Blue of the Okabe–Ito palette.
    pub const BLUE: Self = Self(0x00, 0x72, 0xb2);
    /// Vermilion of the Okabe–Ito palette.
    pub const VERMILION: Self = Self(0xd5, 0x5e, 0x00);
    /// Bluish green of the Okabe–Ito palette.
    pub const GREEN: Self = Self(0x00, 0x9e, 0x73);
    /// Reddish purple of the Okabe–Ito palette.
    pub const PURPLE: Self = Self(0xcc, 0x79, 0xa7);
    /// Orange of the Okabe–Ito palette.
    pub const ORANGE: Self = Self(0xe6, 0x9f, 0x00);
    /// Sky blue of the Okabe–Ito palette.
    pub const SKY: Self = Self(0x56, 0xb4, 0xe9);
    /// Black.
    pub const BLACK: Self = Self(0, 0, 0);
    /// Dark grey, for references that are not data.
    pub const GREY: Self = Self(0x55, 0x55, 0x55);
    /// White.
    pub const WHITE: Self = Self(0xff, 0xff, 0xff);
    /// Text and frames.
    pub(crate) const INK: Self = Self(0x22, 0x22, 0x22);
    /// Grid lines.
    pub(crate) const GRID: Self = Self(0xe3, 0xe3, 0xe3);
    /// Heat map cells without a value.
    pub(crate) const MASK: Self = Self(0xc8, 0xc8, 0xc8);

    /// The colour at the given place in Oklab, as near as sRGB comes to it.
    fn from_oklab([l, a, b]: Lab) -> Self {
        let cube = |x: f64| x * x * x;
        let l_ = cube(l + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
        let m_ = cube(l - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
        let s_ = cube(l - 0.089_484_177_5 * a - 1.291_485_548_0 * b);
        let encode = |linear: f64| {
            let v = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
            (v.clamp(0.0, 1.0) * 255.0).round() as u8
        };
        Self(
            encode(4.076_741_662_1 * l_ - 3.307_711_591_3 * m_ + 0.230_969_929_2 * s_),
            encode(-1.268_438_004_6 * l_ + 2.609_757_401_1 * m_ - 0.341_319_396_5 * s_),
            encode(-0.004_196_086_3 * l_ - 0.703_418_614_7 * m_ + 1.707_614_701_0 * s_),
        )
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The colours series take in turn: those of Okabe and Ito that stand out
/// from white, told apart with every common colour vision deficiency.
pub const PALETTE: [Colour; 7] =
    [Colour::BLUE, Colour::VERMILION, Colour::GREEN, Colour::PURPLE, Colour::ORANGE, Colour::SKY, Colour::BLACK];

/// How the values of a [`HeatMap`](super::HeatMap) become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ColourMap {
    /// From dark violet over green to yellow, for values that only grow.
    #[default]
    Sequential,
    /// White at the centre, blue below it, red above it. Each side is spread
    /// over its own part of the limits.
    Diverging {
        /// The value that is white.
        centre: f64,
    },
}

/// How many colours a map is divided into. Odd, so that one is the centre.
pub(crate) const LEVELS: usize = 255;

impl ColourMap {
    /// The colours from the lowest to the highest value.
    pub(crate) fn colours(self) -> [Colour; LEVELS] {
        match self {
            Self::Sequential => sample(&SEQUENTIAL.map(oklab)),
            Self::Diverging { .. } => {
                let low = sample::<{ LEVELS / 2 + 1 }>(&BLUES.map(oklab));
                let high = sample::<{ LEVELS / 2 + 1 }>(&REDS.map(oklab));
                std::array::from_fn(|i| match i.checked_sub(LEVELS / 2) {
                    Some(above) => high[above],
                    None => low[LEVELS / 2 - i],
                })
            }
        }
    }
}

/// Lightness and the two colour axes of Oklab.
type Lab = [f64; 3];

/// Waypoints as lightness, chroma and hue in degrees.
type Lch = [f64; 3];

const SEQUENTIAL: [Lch; 7] = [
    [0.26, 0.115, 305.0],
    [0.37, 0.120, 285.0],
    [0.48, 0.095, 250.0],
    [0.59, 0.095, 205.0],
    [0.70, 0.125, 165.0],
    [0.81, 0.170, 132.0],
    [0.92, 0.185, 106.0],
];

const BLUES: [Lch; 4] = [[1.00, 0.000, 250.0], [0.82, 0.075, 245.0], [0.58, 0.135, 250.0], [0.33, 0.105, 260.0]];

const REDS: [Lch; 4] = [[1.00, 0.000, 45.0], [0.82, 0.090, 45.0], [0.58, 0.175, 30.0], [0.33, 0.125, 22.0]];

fn oklab([l, chroma, hue]: Lch) -> Lab {
    let (sin, cos) = hue.to_radians().sin_cos();
    [l, chroma * cos, chroma * sin]
}

/// `N` colours at equal distances along the path through the waypoints.
fn sample<const N: usize>(waypoints: &[Lab]) -> [Colour; N] {
    // A finely divided smooth path, and the length of it up to each point.
    const PARTS: usize = 64;
    let segments = waypoints.len() - 1;
    let mut path: Vec<(f64, Lab)> = vec![(0.0, waypoints[0])];
    for i in 0..segments * PARTS {
        let t = (i + 1) as f64 / PARTS as f64;
        let point = spline(waypoints, t);
        let (length, last) = path[i];
        path.push((length + distance(last, point), point));
    }
    let total = path[path.len() - 1].0;
    std::array::from_fn(|i| {
        let along = total * i as f64 / (N - 1) as f64;
        let next = path.partition_point(|(length, _)| *length < along);
        let Some(before) = next.checked_sub(1) else {
            return Colour::from_oklab(path[0].1);
        };
        let ((a, p), (b, q)) = (path[before], path[next.min(path.len() - 1)]);
        let t = if b > a { (along - a) / (b - a) } else { 0.0 };
        Colour::from_oklab(std::array::from_fn(|k| p[k] + t * (q[k] - p[k])))
    })
}

/// The Catmull–Rom curve through the points, the `i`-th at `t = i`.
fn spline(points: &[Lab], t: f64) -> Lab {
    let last = points.len() - 1;
    let i = (t as usize).min(last - 1);
    let t = t - i as f64;
    let (p1, p2) = (points[i], points[i + 1]);
    let p0 = if i > 0 { points[i - 1] } else { p1 };
    let p3 = if i + 2 <= last { points[i + 2] } else { p2 };
    std::array::from_fn(|k| {
        let (m1, m2) = (0.5 * (p2[k] - p0[k]), 0.5 * (p3[k] - p1[k]));
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * p1[k] + (t3 - 2.0 * t2 + t) * m1 + (3.0 * t2 - 2.0 * t3) * p2[k] + (t3 - t2) * m2
    })
}

fn distance(a: Lab, b: Lab) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, from the definition of sRGB.
    fn luminance(c: Colour) -> f64 {
        let decode = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * decode(c.0) + 0.7152 * decode(c.1) + 0.0722 * decode(c.2)
    }

    #[test]
    fn oklab_white_and_black_are_white_and_black() {
        assert_eq!(Colour::from_oklab([1.0, 0.0, 0.0]), Colour::WHITE);
        assert_eq!(Colour::from_oklab([0.0, 0.0, 0.0]), Colour::BLACK);
        // Red, from the reference values of the space.
        let red = Colour::from_oklab([0.627_955, 0.224_863, 0.125_846]);
        assert_eq!(red, Colour(255, 0, 0));
    }

    #[test]
    fn the_sequential_map_only_gets_lighter() {
        let colours = ColourMap::Sequential.colours();
        // Eight bits per channel leave room for a step back of one part in 255.
        for pair in colours.windows(6) {
            assert!(luminance(pair[5]) > luminance(pair[0]), "{pair:?}");
        }
        assert!(luminance(colours[0]) < 0.05);
        assert!(luminance(colours[LEVELS - 1]) > 0.7);
    }

    #[test]
    fn the_diverging_map_is_blue_white_red() {
        let colours = ColourMap::Diverging { centre: 1.0 }.colours();
        assert_eq!(colours[LEVELS / 2], Colour::WHITE);
        let (low, high) = (colours[0], colours[LEVELS - 1]);
        assert!(low.2 > low.0 && high.0 > high.2, "{low} {high}");
        for i in 0..LEVELS / 2 - 6 {
            assert!(luminance(colours[i]) < luminance(colours[i + 6]));
            let j = LEVELS - 1 - i;
            assert!(luminance(colours[j]) < luminance(colours[j - 6]));
        }
    }
}
