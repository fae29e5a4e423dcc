//! The messages of a probe type for encodings whose names are identifiers: those of ROS 2 and Protocol Buffers.
//!
//! A struct is a message of its own. A vector of vectors is a vector of messages with the field `data`, because neither
//! encoding nests vectors. Structs without members have no values, and no field. The last field is the state of the probe.

mod names;

use names::{UniqueNames, camel_case, package_of, snake_case};
use oasis_wire::schema::{EnumType, Metric, MetricType, ProbeType, StructType};
use std::collections::HashMap;

/// The field with the state of the probe.
pub const STATE: &str = "oasis_state";
/// The field with the elements of a vector within a vector.
const ELEMENTS: &str = "data";

/// The messages of a probe type.
#[derive(Debug)]
pub struct MessageTypes {
    /// The package of all, in lower case.
    pub package: String,
    /// The message of a sample first.
    pub all: Vec<MessageType>,
    /// The enums of fields.
    pub enums: Vec<EnumNames>,
}

/// A message.
#[derive(Debug)]
pub struct MessageType {
    /// A name such as `RobotArm`.
    pub name: String,
    pub fields: Vec<MessageField>,
}

/// A field of a message.
#[derive(Debug)]
pub struct MessageField {
    /// A name such as `user_time`.
    pub name: String,
    pub kind: FieldKind,
    pub is_repeated: bool,
    /// The place of its enum.
    pub enumeration: Option<usize>,
    pub unit: Option<String>,
}

/// The type of a field, or of its elements.
#[derive(Debug)]
pub enum FieldKind {
    /// A number, a boolean or a text.
    Scalar(MetricType),
    /// The message in this place.
    Message(usize),
}

/// The names of an enum's values.
#[derive(Debug)]
pub struct EnumNames {
    /// A name such as `Mode`.
    pub name: String,
    /// Names such as `MODE_IDLE`, unique in the package.
    pub values: Vec<(String, i64)>,
}

impl MessageTypes {
    /// Makes the messages of a type whose schema was [validated](ProbeType::validate).
    pub fn of(probe_type: &ProbeType) -> Self {
        let (package, name) = package_of(&probe_type.name);
        let mut building = Building {
            types: Self { package, all: Vec::new(), enums: Vec::new() },
            names: UniqueNames::default(),
            values: UniqueNames::default(),
            structs: HashMap::new(),
            known_enums: HashMap::new(),
        };
        let state = Metric::new(STATE, MetricType::Uint16);
        building.message(&name, probe_type.metrics.iter().chain([&state]));
        building.types
    }

    /// The full name of a message, with this text between package and name.
    pub fn full_name(&self, at: usize, between: &str) -> String {
        let name = self.all.get(at).map_or("", |message| message.name.as_str());
        format!("{}{between}{name}", self.package)
    }
}

/// Whether values of a type have no content: a struct without members, or of such structs.
pub fn is_empty(kind: &MetricType) -> bool {
    matches!(kind, MetricType::Struct(of) if of.members.iter().all(|member| is_empty(&member.kind)))
}

struct Building {
    types: MessageTypes,
    names: UniqueNames,
    values: UniqueNames,
    /// Messages of structs, and enums, by their JSON.
    structs: HashMap<String, usize>,
    known_enums: HashMap<String, usize>,
}

impl Building {
    fn message<'m>(&mut self, name: &str, members: impl Iterator<Item = &'m Metric>) -> usize {
        let name = self.names.unique(&camel_case(name), "");
        let at = self.types.all.len();
        self.types.all.push(MessageType { name, fields: Vec::new() });
        let mut names = UniqueNames::default();
        let mut fields = Vec::new();
        for member in members.filter(|member| !is_empty(&member.kind)) {
            let name = names.unique(&snake_case(&member.name), "_");
            fields.push(self.field(name, member));
        }
        if let Some(message) = self.types.all.get_mut(at) {
            message.fields = fields;
        }
        at
    }

    fn field(&mut self, name: String, member: &Metric) -> MessageField {
        let (kind, is_repeated) = match &member.kind {
            MetricType::Vector(element) => (self.element(element, &member.name), true),
            single => (self.single(single), false),
        };
        // The numbers of elements within further vectors have no names.
        let enumeration = member
            .enumeration
            .as_ref()
            .filter(|_| matches!(&kind, FieldKind::Scalar(scalar) if scalar.is_integer()));
        let enumeration = enumeration.map(|of| self.enumeration(of));
        MessageField { name, kind, is_repeated, enumeration, unit: member.unit.clone() }
    }

    fn element(&mut self, element: &MetricType, name: &str) -> FieldKind {
        match element {
            MetricType::Vector(_) => {
                let elements = Metric::new(ELEMENTS, element.clone());
                FieldKind::Message(self.message(&format!("{}Row", camel_case(name)), [&elements].into_iter()))
            }
            single => self.single(single),
        }
    }

    fn single(&mut self, kind: &MetricType) -> FieldKind {
        match kind {
            MetricType::Struct(of) => FieldKind::Message(self.of_struct(of)),
            scalar => FieldKind::Scalar(scalar.clone()),
        }
    }

    fn of_struct(&mut self, of: &StructType) -> usize {
        let key = serde_json::to_string(of).unwrap_or_default();
        if let Some(at) = self.structs.get(&key) {
            return *at;
        }
        let at = self.message(&of.name, of.members.iter());
        self.structs.insert(key, at);
        at
    }

    fn enumeration(&mut self, of: &EnumType) -> usize {
        let key = serde_json::to_string(of).unwrap_or_default();
        if let Some(at) = self.known_enums.get(&key) {
            return *at;
        }
        let name = self.names.unique(&camel_case(&of.name), "");
        let prefix = snake_case(&name);
        let mut values: Vec<(String, i64)> = Vec::new();
        for value in &of.values {
            if values.iter().all(|(_, known)| *known != value.value) {
                let name = format!("{prefix}_{}", snake_case(&value.name)).to_uppercase();
                values.push((self.values.unique(&name, "_"), value.value));
            }
        }
        self.types.enums.push(EnumNames { name, values });
        self.known_enums.insert(key, self.types.enums.len() - 1);
        self.types.enums.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_vectors_of_vectors_and_enums_are_types_with_unique_names() {
        let mode =
            r#"{"name": "Mode", "values": [{"name": "idle", "value": 0}, {"name": "IDLE", "value": 5}]}"#;
        let point = r#"{"struct": {"name": "point", "members": [{"name": "x", "type": "real32"}, {"name": "none", "type": {"struct": {"name": "None", "members": []}}}]}}"#;
        let probe_type = format!(
            r#"{{"name": "Plant::Hall::tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
                {{"name": "userTime", "type": "int8", "enum": {mode}}}, {{"name": "user.time", "type": {point}}},
                {{"name": "grid", "type": {{"vector": {{"vector": "real64"}}}}}}, {{"name": "path", "type": {{"vector": {point}}}}}]}}"#
        );
        let types = MessageTypes::of(&serde_json::from_str(&probe_type).unwrap());
        let shown: Vec<_> = types
            .all
            .iter()
            .map(|message| {
                let fields: Vec<_> =
                    message.fields.iter().map(|of| (of.name.as_str(), of.is_repeated)).collect();
                (message.name.as_str(), fields)
            })
            .collect();
        assert_eq!(types.full_name(0, "/msg/"), "plant_hall/msg/Tank");
        assert_eq!(
            shown,
            [
                (
                    "Tank",
                    vec![
                        ("user_time", false),
                        ("user_time_2", false),
                        ("grid", true),
                        ("path", true),
                        (STATE, false)
                    ]
                ),
                ("Point", vec![("x", false)]),
                ("GridRow", vec![("data", true)]),
            ]
        );
        assert_eq!(types.enums[0].values, [("MODE_IDLE".to_owned(), 0), ("MODE_IDLE_2".to_owned(), 5)]);
    }
}
