use super::*;
use oasis_wire::schema::{EnumType, Enumerator, Metric, MetricType, StructType};

fn probe_type(metrics: Vec<Metric>) -> ProbeType {
    let base =
        r#"{"name": "T", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
    ProbeType { metrics, ..serde_json::from_str(base).unwrap() }
}

fn structure(members: Vec<Metric>) -> MetricType {
    MetricType::Struct(StructType { name: "S".into(), members })
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| &column.name[..]).collect()
}

#[test]
fn structs_become_a_column_for_each_member_however_deep() {
    let inner = Metric::new(
        "inner",
        structure(vec![Metric::new("x", MetricType::Int8), Metric::new("y", MetricType::String)]),
    );
    let table = Table::new(&probe_type(vec![
        Metric::new("before", MetricType::Boolean),
        Metric::new("outer", structure(vec![inner, Metric::new("z", MetricType::Real64)])),
        Metric::new("nothing", structure(Vec::new())),
    ]));
    assert_eq!(names(&table), ["before", "outer.inner.x", "outer.inner.y", "outer.z"]);
    let inner = Value::Struct(vec![Value::Int(-1), Value::String("a".into())]);
    let values =
        [Value::Boolean(true), Value::Struct(vec![inner, Value::Real64(2.0)]), Value::Struct(Vec::new())];
    let cells: Vec<_> = table.cells(&values).collect();
    assert_eq!(cells, [Cell::Boolean(true), Cell::Int(-1), Cell::Text("a".into()), Cell::Real64(2.0)]);
}

#[test]
fn vectors_become_json() {
    let points = MetricType::Vector(Box::new(structure(vec![Metric::new("x", MetricType::Real32)])));
    let table = Table::new(&probe_type(vec![Metric::new("points", points)]));
    let point = |x| Value::Struct(vec![Value::Real32(x)]);
    let values = [Value::Vector(vec![point(0.5), point(f32::NAN)])];
    assert_eq!(table.cells(&values).collect::<Vec<_>>(), [Cell::Text(r#"[{"x":0.5},{"x":"NaN"}]"#.into())]);
}

#[test]
fn enums_become_names_and_numbers_beyond_them_stay_readable() {
    let values =
        [("OFF", -1), ("ON", 1)].map(|(name, value)| Enumerator { name: name.into(), value, doc: None });
    let enumeration = Some(EnumType { name: "Switch".into(), values: values.to_vec() });
    let table =
        Table::new(&probe_type(vec![Metric { enumeration, ..Metric::new("switch", MetricType::Int32) }]));
    for (number, text) in [(-1, "OFF"), (1, "ON"), (7, "7")] {
        assert_eq!(table.cells(&[Value::Int(number)]).collect::<Vec<_>>(), [Cell::Text(text.into())]);
    }
}

#[test]
fn no_metric_takes_the_name_of_another_column() {
    let metrics =
        ["time", "Level", "level", "level_2", "a.b"].map(|name| Metric::new(name, MetricType::Uint8));
    let mut metrics = metrics.to_vec();
    metrics.push(Metric::new("a", structure(vec![Metric::new("b", MetricType::Uint8)])));
    let table = Table::new(&probe_type(metrics));
    assert_eq!(names(&table), ["time_2", "Level", "level_2", "level_2_2", "a.b", "a.b_2"]);
}

#[test]
fn values_of_another_type_have_empty_cells() {
    let table = Table::new(&probe_type(vec![
        Metric::new("a", structure(vec![Metric::new("b", MetricType::Uint8)])),
        Metric::new("c", MetricType::Uint8),
    ]));
    assert_eq!(table.cells(&[Value::Boolean(true)]).collect::<Vec<_>>(), [Cell::Nothing, Cell::Nothing]);
}

#[test]
fn columns_that_are_named_as_absent_have_empty_cells() {
    let absent = MetricType::Vector(Box::new(MetricType::String));
    let table = Table::new(&probe_type(vec![
        Metric::new("on", MetricType::Boolean),
        Metric::new("p", structure(vec![Metric::new("k", MetricType::Int64)])),
        Metric::new(ABSENT, absent),
    ]));
    let values = |names: &[&str]| {
        let names = names.iter().map(|name| Value::String((*name).into())).collect();
        [Value::Boolean(false), Value::Struct(vec![Value::Int(0)]), Value::Vector(names)]
    };
    let cells =
        |values: &[Value]| -> Vec<String> { table.cells(values).map(|cell| cell.to_string()).collect() };
    assert_eq!(cells(&values(&[])), ["false", "0", "[]"]);
    assert_eq!(cells(&values(&["p.k"])), ["false", "", r#"["p.k"]"#]);
    assert_eq!(cells(&values(&["on", "p.k"])), ["", "", r#"["on","p.k"]"#]);
}
