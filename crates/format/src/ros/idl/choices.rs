//! Unions: a struct of the discriminator and of all members, of which a message has at most one.

use super::{
    super::layout::{self, BadLayout, Kind, Size},
    Content, Reading,
    declarations::{Case, Label, Type, Union},
    without_msg,
};
use crate::{ros::extensibility::Extensibility, visible::shortened};
use oasis_wire::schema::{Metric, MetricType, StructType};

/// The metric of a discriminator, unless a member has that name.
const DISCRIMINATOR: &str = "discriminator";

impl Reading<'_> {
    /// Returns the content of a union.
    pub(super) fn choice(&mut self, full: &str, of: &Union, depth: usize) -> Result<Content, BadLayout> {
        if of.extensibility == Some(Extensibility::Mutable) {
            return Err(BadLayout::Unsupported(format!("the @mutable union {}", shortened(full))));
        }
        self.has_absent_values = true;
        let module = full.rsplit_once("::").map_or("", |(module, _)| module);
        let discriminator = self.content(module, &of.discriminator, depth)?;
        let size = discriminator_size(&discriminator.kind).ok_or_else(|| {
            BadLayout::Unsupported(format!("the discriminator of the union {}", shortened(full)))
        })?;
        let has_fields = of.cases.iter().all(|case| self.budget.take_field(&case.member.name));
        if !(has_fields && self.budget.take_field(DISCRIMINATOR) && self.budget.take_name(full)) {
            return Err(BadLayout::Many);
        }
        let mut union = layout::Union {
            discriminator: discriminator.kind.clone(),
            cases: Vec::new(),
            labels: self.labels(module, of, &discriminator, size)?,
            default: of.cases.iter().position(|case| case.is_default),
            extensibility: of.extensibility,
        };
        let Content { of: kind, enumeration, doc, .. } = discriminator;
        let mut members =
            vec![Metric { enumeration, doc, ..Metric::new(discriminator_name(&of.cases), kind) }];
        for Case { member, .. } in &of.cases {
            let (kind, metric) = self.content(module, &member.of, depth)?.metric(full, member);
            let case = layout::Member::new(kind, 0);
            if case.has_value {
                members.push(metric);
            }
            union.cases.push(case);
        }
        let of = StructType { name: without_msg(full, "::"), members };
        Ok(Content::new(Kind::Union(Box::new(union)), MetricType::Struct(of)))
    }

    /// The place of the member of each label, in the order of the labels.
    fn labels(
        &self,
        module: &str,
        of: &Union,
        discriminator: &Content,
        size: Size,
    ) -> Result<Vec<(u64, usize)>, BadLayout> {
        // The discriminator is read as bytes.
        let mask = u64::MAX >> (64 - 8 * size.bytes());
        let mut all = Vec::new();
        for (at, case) in of.cases.iter().enumerate() {
            for label in &case.labels {
                let number = self
                    .label(module, of, discriminator, label)
                    .ok_or_else(|| BadLayout::Unsupported(format!("the label {label:?} of a union")))?;
                all.push((number.cast_unsigned() & mask, at));
            }
        }
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(BadLayout::Unsupported(format!("the label {} of a union twice", pair[0].0))),
            None => Ok(all),
        }
    }

    /// The number of a label. Values of an enum may have its name in front.
    fn label(&self, module: &str, of: &Union, discriminator: &Content, label: &Label) -> Option<i64> {
        let name = match label {
            Label::Number(number) => return Some(*number),
            Label::Name(name) => name,
        };
        let last = name.rsplit("::").next().unwrap_or(name);
        let values = discriminator.enumeration.iter().flat_map(|of| &of.values);
        let of_enum = values.into_iter().find(|value| value.name == last).map(|value| value.value);
        let around = match &of.discriminator {
            Type::Named { module, .. } => module,
            _ => module,
        };
        of_enum.or_else(|| self.all.constant(module, name)).or_else(|| self.all.constant(around, name))
    }
}

/// The size of a discriminator; none of a type that cannot be one.
fn discriminator_size(kind: &Kind) -> Option<Size> {
    match kind {
        Kind::Number(size) | Kind::Enum(size) => Some(*size),
        Kind::Boolean => Some(Size::One),
        _ => None,
    }
}

fn discriminator_name(cases: &[Case]) -> String {
    let mut name = DISCRIMINATOR.to_owned();
    while cases.iter().any(|case| case.member.name == name) {
        name.push('_');
    }
    name
}
