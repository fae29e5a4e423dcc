//! Functions about tables and the session.

use super::relation::{Catalogue, Session};
use crate::functions::{Define, argument_text};
use oasis_query::OwnedSqlValue as Value;
use rusqlite::{Connection, Result, functions::Context, types::ValueRef};
use std::sync::Arc;

/// Types by number: name in `pg_type`, and name in SQL.
pub const TYPES: &[(i64, &str, &str)] = &[
    (16, "bool", "boolean"),
    (17, "bytea", "bytea"),
    (18, "char", "\"char\""),
    (19, "name", "name"),
    (20, "int8", "bigint"),
    (21, "int2", "smallint"),
    (23, "int4", "integer"),
    (25, "text", "text"),
    (26, "oid", "oid"),
    (114, "json", "json"),
    (700, "float4", "real"),
    (701, "float8", "double precision"),
    (705, "unknown", "unknown"),
    (1042, "bpchar", "character"),
    (1043, "varchar", "character varying"),
    (1082, "date", "date"),
    (1083, "time", "time without time zone"),
    (1114, "timestamp", "timestamp without time zone"),
    (1184, "timestamptz", "timestamp with time zone"),
    (1186, "interval", "interval"),
    (1700, "numeric", "numeric"),
    (2205, "regclass", "regclass"),
    (2206, "regtype", "regtype"),
    (2249, "record", "record"),
    (2278, "void", "void"),
    (2950, "uuid", "uuid"),
    (3802, "jsonb", "jsonb"),
];
/// Tables of the catalogue whose numbers clients ask for.
pub const SYSTEM_TABLES: &[(i64, &str)] = &[
    (1247, "pg_type"),
    (1249, "pg_attribute"),
    (1255, "pg_proc"),
    (1259, "pg_class"),
    (1262, "pg_database"),
    (2606, "pg_constraint"),
    (2615, "pg_namespace"),
    (3079, "pg_extension"),
    (1260, "pg_authid"),
    (1213, "pg_tablespace"),
];
/// Numbers of schemas.
pub const SCHEMAS: &[(i64, &str)] = &[(11, "pg_catalog"), (2_200, "public"), (13_000, "information_schema")];
/// Numbers of array types begin after those of tables.
pub const FIRST_ARRAY_OID: i64 = 1_000_000;
/// Number of the owner of everything.
pub const OWNER_OID: i64 = 10;

/// Functions whose answer is always that everything is visible and permitted.
const ALWAYS: &[(&str, &[i32])] = &[
    ("pg_table_is_visible", &[1]),
    ("pg_type_is_visible", &[1]),
    ("pg_function_is_visible", &[1]),
    ("pg_operator_is_visible", &[1]),
    ("pg_opclass_is_visible", &[1]),
    ("pg_opfamily_is_visible", &[1]),
    ("pg_ts_config_is_visible", &[1]),
    ("pg_ts_dict_is_visible", &[1]),
    ("pg_ts_parser_is_visible", &[1]),
    ("pg_ts_template_is_visible", &[1]),
    ("pg_collation_is_visible", &[1]),
    ("pg_conversion_is_visible", &[1]),
    ("pg_statistics_obj_is_visible", &[1]),
    ("has_schema_privilege", &[2, 3]),
    ("has_table_privilege", &[2, 3]),
    ("has_any_column_privilege", &[2, 3]),
    ("has_column_privilege", &[3, 4]),
    ("has_database_privilege", &[2, 3]),
    ("has_function_privilege", &[2, 3]),
    ("has_sequence_privilege", &[2, 3]),
    ("has_tablespace_privilege", &[2, 3]),
    ("has_type_privilege", &[2, 3]),
    ("pg_has_role", &[2, 3]),
];
/// Functions of what is not there: they return NULL.
const ABSENT: &[(&str, &[i32])] = &[
    ("pg_get_expr", &[2, 3]),
    ("pg_get_constraintdef", &[1, 2]),
    ("pg_get_indexdef", &[1, 3]),
    ("pg_get_viewdef", &[1, 2]),
    ("pg_get_ruledef", &[1, 2]),
    ("pg_get_triggerdef", &[1, 2]),
    ("pg_get_partkeydef", &[1]),
    ("pg_get_partition_constraintdef", &[1]),
    ("pg_get_statisticsobjdef", &[1]),
    ("pg_get_statisticsobjdef_columns", &[1]),
    ("pg_get_functiondef", &[1]),
    ("pg_get_function_arguments", &[1]),
    ("pg_get_function_identity_arguments", &[1]),
    ("pg_get_function_result", &[1]),
    ("pg_get_function_sqlbody", &[1]),
    ("pg_get_serial_sequence", &[2]),
    ("shobj_description", &[2]),
    ("pg_options_to_table", &[1]),
    ("aclexplode", &[1]),
    ("acldefault", &[2]),
    ("pg_get_keywords", &[0]),
    ("inet_server_addr", &[0]),
    ("inet_client_addr", &[0]),
    ("inet_server_port", &[0]),
    ("pg_tablespace_location", &[1]),
    ("pg_partition_ancestors", &[1]),
    ("_pg_expandarray", &[1]),
    ("pg_relation_filepath", &[1]),
    ("pg_collation_for", &[1]),
];
/// Numbers that are always 0.
const ZERO: &[(&str, &[i32])] = &[
    ("pg_is_in_recovery", &[0]),
    ("pg_is_other_temp_schema", &[1]),
    ("pg_my_temp_schema", &[0]),
    ("pg_relation_is_publishable", &[1]),
    ("pg_relation_size", &[1, 2]),
    ("pg_table_size", &[1]),
    ("pg_indexes_size", &[1]),
    ("pg_total_relation_size", &[1]),
    ("pg_database_size", &[1]),
    ("pg_tablespace_size", &[1]),
    ("pg_stat_get_numscans", &[1]),
    ("pg_regother", &[1]),
    ("pg_try_advisory_lock", &[1, 2]),
    ("txid_current", &[0]),
];

/// Defines the functions.
pub fn define(connection: &Connection, catalogue: &Catalogue, session: &Session) -> Result<()> {
    let define = Define(connection);
    for (name, arguments) in ALWAYS {
        define.constant(name, arguments, 1)?;
    }
    for (name, arguments) in ABSENT {
        define.constant(name, arguments, Value::Null)?;
    }
    for (name, arguments) in ZERO {
        define.constant(name, arguments, 0)?;
    }
    of_session(&define, session)?;
    of_names(&define, catalogue)?;
    descriptions(&define, catalogue)
}

fn of_session(define: &Define<'_>, session: &Session) -> Result<()> {
    let software = format!("PostgreSQL {} ({}, read only)", crate::settings::VERSION, oasis_dac::SOFTWARE);
    define.constant("version", &[0], software)?;
    define.constant("current_database", &[0], session.database.clone())?;
    define.constant("current_schema", &[0], "public".to_owned())?;
    for name in ["current_user", "session_user"] {
        define.constant(name, &[0], session.user.clone())?;
    }
    define.constant("pg_backend_pid", &[0], i64::from(session.process))?;
    define.constant("pg_client_encoding", &[0], "UTF8".to_owned())?;
    define.constant("getdatabaseencoding", &[0], "UTF8".to_owned())?;
    define.constant("pg_encoding_to_char", &[1], "UTF8".to_owned())?;
    define.constant("pg_char_to_encoding", &[1], 6)?;
    define.constant("pg_size_pretty", &[1], "0 bytes".to_owned())?;
    define.constant("pg_typeof", &[1], "unknown".to_owned())?;
    let user = session.user.clone();
    define.function("pg_get_userbyid", &[1], move |context| {
        let name = if context.get_raw(0) == ValueRef::Integer(OWNER_OID) { "oasis" } else { user.as_str() };
        Ok(Value::Text(name.to_owned()))
    })?;
    define.function("current_schemas", &[1], |context| {
        let with_implicit = context.get_raw(0) != ValueRef::Integer(0);
        Ok(Value::Text(if with_implicit { "{pg_catalog,public}" } else { "{public}" }.to_owned()))
    })?;
    let settings = session.settings.clone();
    define.function("current_setting", &[1, 2], move |context| {
        let name = argument_text(context, 0).unwrap_or_default();
        let found = settings.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
        let is_quiet = context.len() > 1;
        match found {
            Some((_, value)) => Ok(Value::Text(value.clone())),
            None if is_quiet => Ok(Value::Null),
            None => Err(rusqlite::Error::UserFunctionError("unrecognized configuration parameter".into())),
        }
    })?;
    define.function("set_config", &[3], |context| {
        Ok(argument_text(context, 1).map_or(Value::Null, |value| Value::Text(value.into_owned())))
    })
}

/// A table with its number, by either; names may have quotes and a schema.
fn of_names(define: &Define<'_>, catalogue: &Catalogue) -> Result<()> {
    let relations: Arc<Vec<(i64, String)>> = Arc::new(
        catalogue
            .0
            .iter()
            .map(|relation| (relation.oid, relation.name.clone()))
            .chain(SYSTEM_TABLES.iter().map(|(oid, name)| (*oid, (*name).to_owned())))
            .collect(),
    );
    let types: Arc<Vec<(i64, String)>> = Arc::new(
        TYPES
            .iter()
            .flat_map(|(oid, name, of_sql)| [(*oid, (*of_sql).to_owned()), (*oid, (*name).to_owned())])
            .collect(),
    );
    let schemas: Arc<Vec<(i64, String)>> =
        Arc::new(SCHEMAS.iter().map(|(oid, name)| (*oid, (*name).to_owned())).collect());
    let owner = Arc::new(vec![(OWNER_OID, "oasis".to_owned())]);
    for (function, quiet, known) in [
        ("pg_regclass", "to_regclass", relations),
        ("pg_regtype", "to_regtype", types),
        ("pg_regnamespace", "to_regnamespace", schemas),
        ("pg_regrole", "to_regrole", owner),
    ] {
        let also = known.clone();
        define.function(function, &[1], move |context| named(context, &known, true))?;
        define.function(quiet, &[1], move |context| named(context, &also, false))?;
    }
    define.function("format_type", &[2], |context| {
        let ValueRef::Integer(oid) = context.get_raw(0) else { return Ok(Value::Null) };
        let element = usize::try_from(oid - FIRST_ARRAY_OID).ok().and_then(|at| TYPES.get(at));
        if let Some((.., of_sql)) = element {
            return Ok(Value::Text(format!("{of_sql}[]")));
        }
        let found = TYPES.iter().find(|(known, ..)| *known == oid);
        Ok(Value::Text(found.map_or("???", |(.., of_sql)| of_sql).to_owned()))
    })
}

/// The number of a name, or the name of a number.
fn named(context: &Context<'_>, known: &[(i64, String)], must_exist: bool) -> Result<Value> {
    let number = match context.get_raw(0) {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Integer(number) => {
            let found = known.iter().find(|(oid, _)| *oid == number);
            return Ok(Value::Text(found.map_or_else(|| number.to_string(), |(_, name)| name.clone())));
        }
        _ => argument_text(context, 0).unwrap_or_default().parse::<i64>().ok(),
    };
    if let Some(number) = number {
        return Ok(Value::Integer(number));
    }
    let text = argument_text(context, 0).unwrap_or_default();
    let name = text.rsplit('.').next().unwrap_or_default().trim_matches('"');
    let found =
        known.iter().find(|(_, known)| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(&text));
    match found {
        Some((oid, _)) => Ok(Value::Integer(*oid)),
        None if must_exist => {
            let shown: String = text.chars().take(100).collect();
            Err(rusqlite::Error::UserFunctionError(format!("{shown:?} does not exist").into()))
        }
        None => Ok(Value::Null),
    }
}

/// Defines functions for the meaning of tables and columns.
fn descriptions(define: &Define<'_>, catalogue: &Catalogue) -> Result<()> {
    let all = catalogue.0.clone();
    define.function("obj_description", &[1, 2], move |context| {
        let ValueRef::Integer(oid) = context.get_raw(0) else { return Ok(Value::Null) };
        let found = all.iter().find(|relation| relation.oid == oid);
        Ok(found.map_or(Value::Null, |relation| Value::Text(relation.about.clone())))
    })?;
    let all = catalogue.0.clone();
    define.function("col_description", &[2], move |context| {
        let (ValueRef::Integer(oid), ValueRef::Integer(number)) = (context.get_raw(0), context.get_raw(1))
        else {
            return Ok(Value::Null);
        };
        let relation = all.iter().find(|relation| relation.oid == oid);
        let column = usize::try_from(number - 1).ok().and_then(|at| relation?.columns.get(at));
        let unit = column.and_then(|column| column.unit.as_ref());
        Ok(unit.map_or(Value::Null, |unit| Value::Text(format!("unit: {unit}"))))
    })
}
