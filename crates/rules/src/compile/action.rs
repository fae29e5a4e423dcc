//! Commands to probes: whom they go to.

use super::{AlreadyReported, Compiled, expression::Typing};
use crate::{
    ast::{self, Kind, Name},
    code::{Code, Diagnostic},
    program::{ActionSpec, Target},
};
use oasis_pdl::nearest;

impl Typing<'_, '_> {
    /// The actions of the rule of this name, whose conditions have been compiled.
    pub(super) fn actions(&mut self, rule: &Name, actions: &[ast::Action]) -> Compiled<Vec<ActionSpec>> {
        actions.iter().map(|action| self.action(rule, action)).collect()
    }

    fn action(&mut self, rule: &Name, action: &ast::Action) -> Compiled<ActionSpec> {
        let target = match &action.target {
            ast::Target::Pattern(pattern) => {
                self.compiler.check_pattern(pattern)?;
                Target::Pattern(pattern.text.clone())
            }
            ast::Target::Input(input) => {
                self.check_source(rule, input)?;
                Target::Source
            }
        };
        Ok(ActionSpec { on: action.on, command: action.command, target })
    }

    /// A command can only go to the instance whose samples the rule has read.
    fn check_source(&mut self, rule: &Name, input: &Name) -> Compiled<()> {
        // A rule without a source is an error of its own.
        let Some((reads, _)) = self.reads else { return Err(AlreadyReported) };
        let read = self.compiler.program.inputs[reads.input].name.clone();
        if read == input.text {
            return Ok(());
        }
        let known = self.compiler.names.get(&*input.text);
        let declarations = self.compiler.declarations;
        let is_input = known.is_some_and(|&at| matches!(declarations[at].kind, Kind::Input(_)));
        let (code, message) = if is_input {
            (Code::WrongTarget, format!("`{}` does not read the input `{}`", rule.text, input.text))
        } else {
            (Code::UnknownName, format!("`{}` is not an input", input.text))
        };
        let help = match nearest(&input.text, [&*read].into_iter()) {
            Some(read) => format!("did you mean `{read}`?"),
            None => format!("write `{read}`, or the names of instances: `\"*/recorder\"`"),
        };
        Err(self.report(Diagnostic::new(code, input.span, message, "no target").help(help)))
    }
}
