//! The content of messages of a type, in the order of their bytes, and its metrics.

use super::{
    definitions::{BadText, Count, Definitions, Field, full_name},
    extensibility::Extensibility,
    idl,
};
use crate::{
    input::{FieldBudget, infer, json::fields::AbsentColumns},
    table::ABSENT,
    visible::shortened,
};
use oasis_wire::schema::{InvalidType, MAX_DEPTH, MAX_MEMBERS, Metric, MetricType, StructType};

/// A schema that messages cannot be decoded with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLayout {
    /// Invalid text.
    #[error("invalid text: {0}")]
    Text(#[from] BadText),
    /// A message that the text does not define.
    #[error("the message {0:?} is not defined in it")]
    Undefined(String),
    /// A type that no metric can have.
    #[error("the type {0:?} is not supported")]
    Unsupported(String),
    /// Too deep, or a message within itself.
    #[error("messages are nested deeper than {MAX_DEPTH}")]
    Deep,
    /// Too many fields.
    #[error(
        "a message has more than {MAX_MEMBERS} fields, those of nested messages included, or too long names"
    )]
    Many,
    /// No probe type can have its metrics.
    #[error("invalid probe type: {0}")]
    Type(#[from] InvalidType),
    /// Another schema encoding.
    #[error("its encoding is {0:?}, and only ros2msg, ros2idl and omgidl are supported for CDR messages")]
    Encoding(String),
}

/// The fields of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub(super) fields: Fields,
    pub(super) ambiguities: Ambiguities,
    /// Fields, those of nested messages included: each takes memory, also without a value.
    pub count: usize,
    /// A metric for each field with a value, and [`ABSENT`] if messages can lack some.
    pub metrics: Vec<Metric>,
    /// The names of values that a message can lack; none if it has all.
    pub(super) absent: Option<AbsentColumns>,
}

/// Fields that implementations of CDR write in different ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ambiguities {
    /// Wide text: its characters take 2 or 4 bytes.
    pub(super) has_wide_text: bool,
    /// Arrays and sequences of enums: in XCDR2 a length precedes them, or none.
    pub(super) has_enum_elements: bool,
    /// Types without an annotation within one that has it: final for some IDL compilers, appendable for others.
    pub(super) has_unannotated_types: bool,
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A whole number of a size.
    Number(Size),
    /// A real number of a size.
    Real(Size),
    /// The number of an enum.
    Enum(Size),
    Boolean,
    Text,
    WideText,
    Message(Fields),
    Union(Box<Union>),
    Fixed(u32, Elements),
    Sequence(Elements),
}

/// The fields of a message. Without any it is a byte that means nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Fields {
    pub(super) members: Vec<Member>,
    /// None if the definition does not say it.
    pub(super) extensibility: Option<Extensibility>,
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) kind: Kind,
    /// Its number in a mutable type.
    pub(super) id: u32,
    pub(super) is_optional: bool,
    /// Whether it has a value in a sample.
    pub(super) has_value: bool,
}

/// A choice among fields, of which a message has at most one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Union {
    pub(super) discriminator: Kind,
    /// The fields, in the order of the definition.
    pub(super) cases: Vec<Member>,
    /// The place of the field for each number of the discriminator, in the order of the numbers.
    pub(super) labels: Vec<(u64, usize)>,
    /// The place of the field for all other numbers.
    pub(super) default: Option<usize>,
    pub(super) extensibility: Option<Extensibility>,
}

/// The content of the elements of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Elements {
    pub(super) of: Box<Kind>,
    /// Whether they have no value in a sample: messages of few bytes can have many arrays, and each asks.
    pub(super) are_nothing: bool,
}

/// Bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    One,
    Two,
    Four,
    Eight,
}

impl Size {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

impl Kind {
    /// Whether it has no value in a sample.
    pub(super) fn is_nothing(&self) -> bool {
        match self {
            Self::Number(_)
            | Self::Real(_)
            | Self::Enum(_)
            | Self::Boolean
            | Self::Text
            | Self::WideText
            | Self::Union(_) => false,
            Self::Message(fields) => fields.members.iter().all(|member| !member.has_value),
            Self::Fixed(_, elements) | Self::Sequence(elements) => elements.are_nothing,
        }
    }
}

impl Member {
    pub(super) fn new(kind: Kind, id: u32) -> Self {
        Self { has_value: !kind.is_nothing(), kind, id, is_optional: false }
    }
}

impl Union {
    /// The place of the field that a number of the discriminator chooses.
    pub(super) fn case(&self, number: u64) -> Option<usize> {
        match self.labels.binary_search_by_key(&number, |(label, _)| *label) {
            Ok(at) => self.labels.get(at).map(|(_, case)| *case),
            Err(_) => self.default,
        }
    }
}

impl Layout {
    /// Reads the text of a schema, `name` is that of its message.
    ///
    /// # Errors
    /// If it is invalid, incomplete, or beyond a bound.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, BadLayout> {
        Self::of(&Definitions::read(name, text)?, name)
    }

    /// Reads the text of a schema in IDL.
    ///
    /// # Errors
    /// As [`Layout::read`].
    pub fn read_idl(name: &str, text: &[u8]) -> Result<Self, BadLayout> {
        idl::read_layout(name, str::from_utf8(text).map_err(|_| BadText::NotText)?)
    }

    /// Reads the text of a schema of ROS 1.
    ///
    /// # Errors
    /// As [`Layout::read`].
    pub fn read_ros1(name: &str, text: &[u8]) -> Result<Self, BadLayout> {
        Self::of(&Definitions::read_ros1(name, text)?, name)
    }

    /// Returns the layout of a message that every installation of ROS 2 has.
    ///
    /// # Errors
    /// If it is none of those.
    pub fn known(name: &str) -> Result<Self, BadLayout> {
        Self::of(&Definitions::known()?, name)
    }

    /// Reads the definition of a service, whose events have this type: request and response, as `ros2 service` records them.
    ///
    /// # Errors
    /// As [`Layout::read`].
    pub fn of_service_event(name: &str, text: &str) -> Result<Self, BadLayout> {
        let service = full_name(name).replacen("/srv/", "/", 1);
        let service = service.strip_suffix("_Event").unwrap_or(&service);
        let (own, others) = text.split_once("\n===").unwrap_or((text, ""));
        let (request, response) =
            own.split_once("\n---").or_else(|| own.split_once("---")).unwrap_or((own, ""));
        let response = response.trim_start_matches('-');
        let event = format!(
            "service_msgs/ServiceEventInfo info\n{service}_Request[<=1] request\n{service}_Response[<=1] response\n===\nMSG: {service}_Request\n{request}\n===\nMSG: {service}_Response\n{response}\n===\nMSG: service_msgs/ServiceEventInfo\nuint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 sequence_number\n==={others}"
        );
        let event_name = format!("{service}_Event");
        Self::of(&Definitions::read(&event_name, event.as_bytes())?, &event_name)
    }

    fn of(all: &Definitions<'_>, name: &str) -> Result<Self, BadLayout> {
        let (full, fields) = all.find("", &full_name(name)).ok_or_else(|| undefined(name))?;
        let mut reading = Reading { all, budget: FieldBudget::new(), ambiguities: Ambiguities::default() };
        let (members, metrics) = reading.message(full, fields, 0)?;
        let fields = Fields { members, extensibility: None };
        let count = reading.budget.used();
        Ok(Self { fields, ambiguities: reading.ambiguities, count, metrics, absent: None })
    }

    /// Adds the metric that names the values which a message lacks.
    pub(super) fn with_absent_values(
        mut self,
        name: &str,
        mut budget: FieldBudget,
    ) -> Result<Self, BadLayout> {
        let mut absent = Metric::new(ABSENT, MetricType::Vector(Box::new(MetricType::String)));
        absent.doc = Some("Columns whose value is only a placeholder: the message did not have it.".into());
        self.metrics.push(absent);
        if !budget.take_paths(&self.metrics) {
            return Err(BadLayout::Many);
        }
        self.count = budget.used();
        let probe_type = infer::described(name, std::mem::take(&mut self.metrics));
        probe_type.validate()?;
        self.absent = AbsentColumns::new(&probe_type);
        self.metrics = probe_type.metrics;
        Ok(self)
    }
}

pub(super) fn undefined(name: &str) -> BadLayout {
    BadLayout::Undefined(shortened(name))
}

struct Reading<'a> {
    all: &'a Definitions<'a>,
    budget: FieldBudget,
    ambiguities: Ambiguities,
}

impl Reading<'_> {
    /// Fields of a message, and the metrics of those with a value.
    fn message(
        &mut self,
        name: &str,
        fields: &[Field<'_>],
        depth: usize,
    ) -> Result<(Vec<Member>, Vec<Metric>), BadLayout> {
        if depth > MAX_DEPTH {
            return Err(BadLayout::Deep);
        }
        if !fields.iter().all(|field| self.budget.take_field(field.name)) {
            return Err(BadLayout::Many);
        }
        let package = name.rsplit_once('/').map_or("", |(package, _)| package);
        let (mut members, mut metrics) = (Vec::new(), Vec::new());
        for (id, field) in (0..).zip(fields) {
            let (kind, of) = self.field(package, field, depth)?;
            let member = Member::new(kind, id);
            if member.has_value {
                metrics.push(Metric { unit: unit(name, field.name), ..Metric::new(field.name, of) });
            }
            members.push(member);
        }
        Ok((members, metrics))
    }

    fn field(
        &mut self,
        package: &str,
        field: &Field<'_>,
        depth: usize,
    ) -> Result<(Kind, MetricType), BadLayout> {
        let (kind, of) = match primitive(field.kind, self.all.is_ros1)? {
            Some(known) => known,
            None => {
                let found = self.all.find(package, field.kind);
                let (name, fields) = found.ok_or_else(|| undefined(field.kind))?;
                // An array is a level of its own.
                let within = depth + 1 + usize::from(field.count != Count::One);
                if !self.budget.take_name(name) {
                    return Err(BadLayout::Many);
                }
                let (fields, members) = self.message(name, fields, within)?;
                let of = StructType { name: name.replace('/', "::"), members };
                (Kind::Message(Fields { members: fields, extensibility: None }), MetricType::Struct(of))
            }
        };
        self.ambiguities.has_wide_text |= kind == Kind::WideText;
        if field.count == Count::One {
            return Ok((kind, of));
        }
        let elements = Elements { are_nothing: kind.is_nothing(), of: Box::new(kind) };
        let kind = match field.count {
            Count::Fixed(count) => Kind::Fixed(count, elements),
            Count::One | Count::Sequence => Kind::Sequence(elements),
        };
        Ok((kind, MetricType::Vector(Box::new(of))))
    }
}

/// Returns a type that is no message.
pub(super) fn primitive(name: &str, is_ros1: bool) -> Result<Option<(Kind, MetricType)>, BadLayout> {
    Ok(Some(match name {
        "bool" => (Kind::Boolean, MetricType::Boolean),
        "byte" if is_ros1 => (Kind::Number(Size::One), MetricType::Int8),
        "byte" | "char" | "uint8" => (Kind::Number(Size::One), MetricType::Uint8),
        "int8" => (Kind::Number(Size::One), MetricType::Int8),
        "int16" => (Kind::Number(Size::Two), MetricType::Int16),
        "uint16" => (Kind::Number(Size::Two), MetricType::Uint16),
        "int32" => (Kind::Number(Size::Four), MetricType::Int32),
        "uint32" => (Kind::Number(Size::Four), MetricType::Uint32),
        "int64" => (Kind::Number(Size::Eight), MetricType::Int64),
        "uint64" => (Kind::Number(Size::Eight), MetricType::Uint64),
        "float32" => (Kind::Real(Size::Four), MetricType::Real32),
        "float64" => (Kind::Real(Size::Eight), MetricType::Real64),
        "string" => (Kind::Text, MetricType::String),
        "wstring" if is_ros1 => return Err(BadLayout::Unsupported(name.into())),
        "wstring" => (Kind::WideText, MetricType::String),
        _ => return Ok(None),
    }))
}

/// The one unit that ROS 2 states in a type.
pub(super) fn unit(message: &str, field: &str) -> Option<String> {
    match (message, field) {
        ("builtin_interfaces/Time" | "builtin_interfaces/Duration", "sec") => Some("s".into()),
        ("builtin_interfaces/Time" | "builtin_interfaces/Duration", "nanosec") => Some("ns".into()),
        ("ros/Time" | "ros/Duration", "secs") => Some("s".into()),
        ("ros/Time" | "ros/Duration", "nsecs") => Some("ns".into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Layout, BadLayout> {
        Layout::read("a/msg/A", text.as_bytes())
    }

    #[test]
    fn fields_with_a_value_are_metrics() {
        let layout = read(
            "std_msgs/Header header\nEmpty[] nothing\nfloat64[2] pair\nEmpty none\n===\nMSG: a/Empty\n===\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n",
        )
        .unwrap();
        let names: Vec<_> = layout.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!((names, layout.fields.members.len()), (vec!["header", "pair"], 4));
        let MetricType::Struct(header) = &layout.metrics[0].kind else { panic!("{:?}", layout.metrics) };
        let MetricType::Struct(stamp) = &header.members[0].kind else { panic!("{header:?}") };
        assert_eq!((&*header.name, &*stamp.name), ("std_msgs::Header", "builtin_interfaces::Time"));
        assert_eq!(stamp.members[1].unit.as_deref(), Some("ns"));
        assert_eq!(layout.metrics[1].kind, MetricType::Vector(Box::new(MetricType::Real64)));
    }

    #[test]
    fn a_text_beyond_a_bound_is_refused() {
        assert_eq!(read("A[] again\nint8 x"), Err(BadLayout::Deep), "a message that contains itself");
        let of_ros1 = Layout::read_ros1("a/A", b"wstring x");
        assert_eq!(of_ros1, Err(BadLayout::Unsupported("wstring".into())));
        assert_eq!(read("b/Other x"), Err(BadLayout::Undefined("b/Other".into())));
        // A name of 100 KB that each of 1,000 fields repeats.
        let fields: String = (0..1_000).map(|field| format!("B f{field}\n")).collect();
        let name = "x".repeat(100_000);
        assert_eq!(read(&format!("{fields}===\nMSG: a/B\nint8 {name}\n")), Err(BadLayout::Many));
        // Each level has ten times the fields of the one below.
        let mut bomb = "L0 x\n".to_owned();
        for level in 0..9 {
            bomb += &format!("===\nMSG: a/L{level}\n");
            (0..10).for_each(|field| bomb += &format!("L{} f{field}\n", level + 1));
        }
        bomb += "===\nMSG: a/L9\nint8 x\n";
        assert_eq!(read(&bomb), Err(BadLayout::Many));
    }
}
