//! The paper's figures, made again, and others that belong beside them.
//!
//! A [`Study`] has a directory, a [`Scale`] and a data set. A [`Subject`] is drawn from nothing but the theory and simulations, or from sweeps, which are run first: they lie in `sweeps/` of the same
//! directory, where several figures may share one, and are sweeps like any other. Every figure gets a directory with pictures (SVG and PNG), data (CSV) and a record, [`FigureRecord`],
//! that says what was claimed and what was seen, judged by fixed rules over several seeds.
//!
//! ```no_run
//! use isinglass_lab::reproduce::{Scale, Study, Subject, Verdict};
//!
//! let study = Study { directory: "figures".into(), scale: Scale::Quick, data: "digits".into(), data_dir: None, seed: 1, threads: 2 };
//! let record = study.draw(Subject::Fig1, &|_| {})?;
//! assert_eq!(record.claims[0].verdict, Verdict::Holds);
//! # Ok::<(), isinglass_lab::reproduce::ReproduceError>(())
//! ```

mod ablation;
mod accuracy_axis;
mod censored;
mod cost;
mod counterparts;
mod critical_lines;
mod depth_curve;
mod depth_scales;
mod depth_use;
mod dynamics;
mod epochs;
mod error;
mod grids;
mod initialisations;
mod interval;
mod judgement;
mod missing;
mod output;
mod plane;
mod propagation;
mod rank;
mod record;
mod results;
mod rules;
mod spread;
mod statements;
mod study;
mod trainability;

pub use cost::Cost;
pub use error::ReproduceError;
pub use grids::Plan;
pub use missing::Missing;
pub use record::{Claim, FIGURE, FigureFormat, FigureRecord, Picture, Table, Verdict};
pub use study::{Scale, Study, Subject};

/// Is told how much of a figure is done, from 0 to 1, from any thread.
pub type Progress<'a> = dyn Fn(f64) + Sync + 'a;

impl Study {
    /// Draws a figure from its sweeps, which have been run, and writes its directory.
    ///
    /// # Errors
    ///
    /// If a sweep is missing, the theory or a simulation fails, or a file cannot be written.
    pub fn draw(&self, subject: Subject, progress: &Progress<'_>) -> Result<FigureRecord, ReproduceError> {
        match subject {
            Subject::Fig1 => dynamics::make(self, progress),
            Subject::Fig2 => trainability::figure_2(self),
            Subject::Fig3 => critical_lines::make(self),
            Subject::Fig4 => depth_scales::make(self),
            Subject::Fig5 => trainability::figure_5(self),
            Subject::Fig6 => initialisations::make(self),
            Subject::Table => statements::make(self),
            Subject::Depth => depth_curve::make(self, progress),
            Subject::Ablation => ablation::make(self),
        }
    }
}
