//! Templates, set up alike for every language.

use minijinja::{AutoEscape, Environment, Error, syntax::SyntaxConfig};

/// What makes code of these templates, each with its name.
pub fn environment(templates: &[(&'static str, &'static str)]) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    // By the ending of the name it would quote what it fills in.
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    for (name, source) in templates {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}
