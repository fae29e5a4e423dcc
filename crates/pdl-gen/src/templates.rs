//! Templates, set up alike for every language.

use minijinja::{AutoEscape, Environment, Error, syntax::SyntaxConfig};

/// Returns the environment that renders these templates, each with its name.
pub fn environment(templates: &[(&'static str, &'static str)]) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    // The default would escape values by the extension of the template's name.
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    for (name, source) in templates {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}
