//! `digits`: ten digits in many hands, drawn by this library, so that nothing has to be downloaded.
//!
//! An image is 28 × 28 grey values, 0 for paper and up to 255 for ink. It is made as a hand would make it:
//!
//! 1. one of three or four ways of writing the digit is chosen, a few pen strokes through control points;
//! 2. the points wobble, and the paper is bent, slanted, turned, scaled and shifted, a little differently for every image;
//! 3. a pen of varying width and pressure follows a smooth curve through the points, with soft edges;
//! 4. specks of dirt are added, gaps are rubbed out, and grain is laid over all of it.
//!
//! Image `i` is a digit `i mod 10`, so that any beginning of a split is balanced. There is no seed: the set is fixed once and for all, to the bit and on every
//! machine. Image `i` depends on nothing but its split and `i`, through whole numbers and floating point operations that IEEE 754 defines exactly
//! (+ − × ÷ √, no library functions).
//!
//! A linear classifier does not solve it; `docs/data.md` has the numbers.
//!
//! ```
//! use isinglass_data::digits::{self, Part, SIDE};
//!
//! // The middle of a 3, where its bows meet.
//! let three = digits::image(Part::Train, 13);
//! assert_eq!(three[14 * SIDE..][10..18], [0, 7, 10, 172, 192, 180, 191, 186]);
//! ```

mod draw;
mod random;
mod strokes;

use draw::Canvas;
use random::Random;
use strokes::{DIGITS, Point};

use crate::{Dataset, Pixels, Split};

/// Height and width of an image.
pub const SIDE: usize = 28;

/// Number of training images.
pub const TRAIN: usize = 20_000;

/// Number of test images.
pub const TEST: usize = 5_000;

/// The two parts of the set, which share no image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// For training.
    Train,
    /// For testing.
    Test,
}

/// The whole set: 20 000 training and 5 000 test images.
pub fn dataset() -> Dataset {
    let split = |part, n| {
        let mut pixels = vec![0; n * SIDE * SIDE];
        for (index, image) in pixels.chunks_exact_mut(SIDE * SIDE).enumerate() {
            draw(part, index, image);
        }
        Split::new(SIDE, SIDE, Pixels::Bytes(pixels), (0..n).map(label).collect()).expect("whole images with a label each")
    };
    Dataset::with_classes("digits", DIGITS.len(), split(Part::Train, TRAIN), split(Part::Test, TEST)).expect("labels below 10")
}

/// One image, row after row. Its label is `index % 10`.
pub fn image(part: Part, index: usize) -> [u8; SIDE * SIDE] {
    let mut image = [0; SIDE * SIDE];
    draw(part, index, &mut image);
    image
}

fn label(index: usize) -> u8 {
    (index % DIGITS.len()) as u8
}

fn draw(part: Part, index: usize, image: &mut [u8]) {
    let stream = match part {
        Part::Train => 1,
        Part::Test => 2,
    };
    let mut random = Random::new(stream, index as u64);
    let hand = Hand::new(&mut random);
    let ways = DIGITS[usize::from(label(index))];
    let way = ways[random.below(ways.len())];
    let mut canvas = Canvas::new();
    let mut points: Vec<Point> = Vec::new();
    for stroke in way {
        points.clear();
        for (i, &point) in stroke.iter().enumerate() {
            // A corner, which is a point given twice, moves as one.
            let moved = if i > 0 && stroke[i - 1] == point { points[i - 1] } else { hand.place(point, &mut random) };
            points.push(moved);
        }
        let (start, end) = (hand.radius * random.between(0.75, 1.2), hand.radius * random.between(0.75, 1.2));
        canvas.stroke(&points, start, end);
    }
    add_specks(&mut canvas, &mut random);
    let gaps = gaps(&mut random);
    let dark = random.between(170.0, 255.0);
    let softness = random.between(0.9, 1.8);
    let grain = random.between(4.0, 30.0);
    for ((pixel, ink), gap) in image.iter_mut().zip(canvas.ink(softness)).zip(gaps.ink(1.0)) {
        let grey = dark * ink * (1.0 - gap) + grain * random.bell();
        *pixel = (grey + 0.5).clamp(0.0, 255.0) as u8;
    }
}

/// Up to three specks of dirt anywhere.
fn add_specks(canvas: &mut Canvas, random: &mut Random) {
    for _ in 0..random.below(4) {
        let from = (random.between(0.0, SIDE as f32), random.between(0.0, SIDE as f32));
        let to = (from.0 + random.between(-1.5, 1.5), from.1 + random.between(-1.5, 1.5));
        canvas.piece(from, to, random.between(0.2, 0.8));
    }
}

/// Up to three places where ink is missing.
fn gaps(random: &mut Random) -> Canvas {
    let mut canvas = Canvas::new();
    for _ in 0..random.below(4) {
        let at = (random.between(4.0, SIDE as f32 - 4.0), random.between(4.0, SIDE as f32 - 4.0));
        canvas.piece(at, at, random.between(0.3, 1.1));
    }
    canvas
}

/// How one image holds its paper and its pen.
struct Hand {
    /// Where a step across and a step down the strokes' box of size 1 lead on the paper, in pixels.
    across: Point,
    down: Point,
    /// Where the middle of the box is, in pixels.
    centre: Point,
    /// How the paper is bent: parabolas along both axes, and shears that grow along the other.
    bend: [f32; 4],
    /// How far points stray, in units of the box.
    wobble: f32,
    /// Of the pen, in pixels.
    radius: f32,
}

impl Hand {
    fn new(random: &mut Random) -> Self {
        let height = random.between(15.0, 22.0);
        let width = height * random.between(0.8, 1.15);
        let slant = 0.12 + 0.18 * random.bell();
        // A rotation without sine and cosine: t is the tangent of half the angle.
        let t = 0.075 * random.bell();
        let (cos, sin) = ((1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t));
        let middle = 0.5 * SIDE as f32;
        Self {
            across: (cos * width, sin * width),
            down: (-sin * height - slant * height * cos, cos * height - slant * height * sin),
            centre: (middle + random.between(-2.2, 2.2), middle + random.between(-2.2, 2.2)),
            bend: std::array::from_fn(|_| 0.1 * random.bell()),
            wobble: random.between(0.01, 0.035),
            radius: random.between(0.8, 1.7),
        }
    }

    /// Where the pen goes for a point of a stroke.
    fn place(&self, (x, y): Point, random: &mut Random) -> Point {
        let (x, y) = (x - 0.5 + self.wobble * random.bell(), y - 0.5 + self.wobble * random.bell());
        let [a, b, c, d] = self.bend;
        // The constants keep the middle of a digit where it was.
        let (x, y) = (x + a * (4.0 * y * y - 0.5) + b * 2.0 * x * y, y + c * (4.0 * x * x - 0.2) + d * 2.0 * x * y);
        (self.centre.0 + x * self.across.0 + y * self.down.0, self.centre.1 + x * self.across.1 + y * self.down.1)
    }
}
