//! `isinglass train --recipe list`.

use isinglass_lab::recipe::Recipe;

use crate::cli::answer::{Answer, Record};
use crate::cli::{CliError, Format};

/// Prints all recipes. What each is compared with is too long for a table.
pub fn print(format: Format) -> Result<(), CliError> {
    let row = |recipe: &Recipe| {
        let mut row = Record::new();
        row.insert("name".into(), recipe.name().into());
        row.insert("data".into(), recipe.config().data.into());
        row.insert("network".into(), recipe.network().shape().into());
        row.insert("about".into(), recipe.about().into());
        if format != Format::Table {
            row.insert("published".into(), recipe.published().into());
            row.insert("draws".into(), recipe.draws().into());
        }
        row
    };
    let mut answer = Answer::default();
    answer.rows("recipes", Recipe::ALL.iter().map(row).collect());
    Ok(answer.print(format)?)
}
