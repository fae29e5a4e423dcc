//! The rows of the catalogue.

use super::{
    functions::{FIRST_ARRAY_OID, OWNER_OID, SCHEMAS, SYSTEM_TABLES, TYPES},
    relation::{Catalogue, PUBLIC_OID, Relation, Session},
};
use crate::value_type::ValueType;
use rusqlite::{Connection, Result, ToSql, params, params_from_iter};

/// Number of the database.
const DATABASE_OID: i64 = 16_000;
/// Number of the table space.
const TABLESPACE_OID: i64 = 1_663;

/// Fills the tables.
pub fn fill(connection: &Connection, catalogue: &Catalogue, session: &Session) -> Result<()> {
    connection.execute_batch("BEGIN")?;
    for (oid, name) in SCHEMAS {
        insert(connection, "pg_namespace", "oid nspname nspowner", &[oid, name, &OWNER_OID])?;
        let row: [&dyn ToSql; 3] = [&session.database, name, &"oasis"];
        insert(connection, "schemata", "catalog_name schema_name schema_owner", &row)?;
    }
    types(connection)?;
    people(connection, session)?;
    for (oid, name) in SYSTEM_TABLES {
        class(connection, *oid, name, 11, 0)?;
    }
    for relation in &*catalogue.0 {
        table(connection, relation, session)?;
    }
    connection.execute_batch("COMMIT")
}

/// Inserts a row into a table of either schema; the names of tables differ.
fn insert(connection: &Connection, table: &str, columns: &str, values: &[&dyn ToSql]) -> Result<()> {
    let schema = if table.starts_with("pg_") { "pg_catalog" } else { "information_schema" };
    let columns: Vec<_> = columns.split_whitespace().collect();
    let places = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT INTO {schema}.{table} ({}) VALUES ({places})", columns.join(", "));
    connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

fn types(connection: &Connection) -> Result<()> {
    const COLUMNS: &str = "oid typname typnamespace typowner typlen typbyval typtype typcategory typispreferred typisdefined typdelim typrelid typelem typarray typinput typoutput typnotnull typbasetype typtypmod typndims typcollation";
    for (at, (oid, name, _)) in TYPES.iter().enumerate() {
        let array = FIRST_ARRAY_OID + at as i64;
        let category = match *name {
            "bool" => "B",
            "date" | "time" | "timestamp" | "timestamptz" => "D",
            "interval" => "T",
            "int8" | "int2" | "int4" | "oid" | "float4" | "float8" | "numeric" | "regclass" | "regtype" => {
                "N"
            }
            "bpchar" | "varchar" | "text" | "name" | "char" => "S",
            "record" | "void" => "P",
            _ => "U",
        };
        let kind = if category == "P" { "p" } else { "b" };
        for (oid, name, category, element, array) in
            [(*oid, (*name).to_owned(), category, 0, array), (array, format!("_{name}"), "A", *oid, 0)]
        {
            let (input, output) = (format!("{name}in"), format!("{name}out"));
            let row: [&dyn ToSql; 21] = [
                &oid, &name, &11, &OWNER_OID, &-1, &false, &kind, &category, &false, &true, &",", &0,
                &element, &array, &input, &output, &false, &0, &-1, &0, &0,
            ];
            insert(connection, "pg_type", COLUMNS, &row)?;
        }
    }
    Ok(())
}

/// Database, roles, settings and what else there is one of.
fn people(connection: &Connection, session: &Session) -> Result<()> {
    let row: [&dyn ToSql; 13] = [
        &DATABASE_OID,
        &session.database,
        &OWNER_OID,
        &6,
        &"c",
        &false,
        &true,
        &-1,
        &0,
        &1,
        &TABLESPACE_OID,
        &"C",
        &"C",
    ];
    const DATABASE: &str = "oid datname datdba encoding datlocprovider datistemplate datallowconn datconnlimit datfrozenxid datminmxid dattablespace datcollate datctype";
    insert(connection, "pg_database", DATABASE, &row)?;
    let mut roles = vec![(OWNER_OID, "oasis")];
    if session.user != "oasis" {
        roles.push((OWNER_OID + 1, &session.user));
    }
    for (oid, name) in roles {
        const ROLE: &str = "oid rolname rolsuper rolinherit rolcreaterole rolcreatedb rolcanlogin rolreplication rolconnlimit rolbypassrls";
        let row: [&dyn ToSql; 10] = [&oid, &name, &false, &true, &false, &false, &true, &false, &-1, &false];
        insert(connection, "pg_roles", ROLE, &row)?;
        let row: [&dyn ToSql; 6] = [&name, &oid, &false, &false, &false, &false];
        insert(connection, "pg_user", "usename usesysid usecreatedb usesuper userepl usebypassrls", &row)?;
    }
    for (name, value) in &*session.settings {
        const SETTING: &str =
            "name setting category context vartype source boot_val reset_val pending_restart";
        let row: [&dyn ToSql; 9] = [name, value, &"", &"user", &"string", &"default", value, value, &false];
        insert(connection, "pg_settings", SETTING, &row)?;
    }
    insert(
        connection,
        "pg_am",
        "oid amname amhandler amtype",
        &[&2, &"heap", &"heap_tableam_handler", &"t"],
    )?;
    insert(
        connection,
        "pg_tablespace",
        "oid spcname spcowner",
        &[&TABLESPACE_OID, &"pg_default", &OWNER_OID],
    )?;
    insert(connection, "pg_collation", "oid collname collnamespace", &[&100, &"default", &11])?;
    insert(connection, "pg_language", "oid lanname lanowner", &[&14, &"sql", &OWNER_OID])?;
    insert(
        connection,
        "pg_timezone_names",
        "name abbrev utc_offset is_dst",
        &[&"UTC", &"UTC", &"00:00:00", &false],
    )
}

fn class(connection: &Connection, oid: i64, name: &str, schema: i64, columns: usize) -> Result<()> {
    const COLUMNS: &str = "oid relname relnamespace reltype reloftype relowner relam relfilenode reltablespace relpages reltuples relallvisible reltoastrelid relhasindex relisshared relpersistence relkind relnatts relchecks relhasrules relhastriggers relhassubclass relrowsecurity relforcerowsecurity relispopulated relreplident relispartition relrewrite relfrozenxid relminmxid";
    let columns = columns as i64;
    let row: [&dyn ToSql; 30] = [
        &oid, &name, &schema, &0, &0, &OWNER_OID, &2, &oid, &0, &0, &-1, &0, &0, &false, &false, &"p", &"r",
        &columns, &0, &false, &false, &false, &false, &false, &true, &"n", &false, &0, &0, &0,
    ];
    insert(connection, "pg_class", COLUMNS, &row)
}

fn table(connection: &Connection, relation: &Relation, session: &Session) -> Result<()> {
    let Relation { oid, name, about, columns } = relation;
    class(connection, *oid, name, PUBLIC_OID, columns.len())?;
    let row: [&dyn ToSql; 8] =
        [&"public", name, &"oasis", &Option::<String>::None, &false, &false, &false, &false];
    const TABLE: &str =
        "schemaname tablename tableowner tablespace hasindexes hasrules hastriggers rowsecurity";
    insert(connection, "pg_tables", TABLE, &row)?;
    let row: [&dyn ToSql; 6] = [&session.database, &"public", name, &"BASE TABLE", &"NO", &"NO"];
    const OF_SQL: &str = "table_catalog table_schema table_name table_type is_insertable_into is_typed";
    insert(connection, "tables", OF_SQL, &row)?;
    insert(connection, "pg_stat_user_tables", "relid schemaname relname", params![oid, "public", name])?;
    if !about.is_empty() {
        insert(
            connection,
            "pg_description",
            "objoid classoid objsubid description",
            params![oid, 1259, 0, about],
        )?;
    }
    for (number, column) in (1_i64..).zip(columns) {
        attribute(connection, relation, number, column.kind, session)?;
        if let Some(unit) = &column.unit {
            let about = format!("unit: {unit}");
            let row = params![oid, 1259, number, about];
            insert(connection, "pg_description", "objoid classoid objsubid description", row)?;
        }
    }
    Ok(())
}

fn attribute(
    connection: &Connection,
    relation: &Relation,
    number: i64,
    kind: ValueType,
    session: &Session,
) -> Result<()> {
    let name = &relation.columns[usize::try_from(number - 1).unwrap_or_default()].name;
    let type_oid = i64::from(kind.oid());
    let (udt, of_sql) =
        TYPES.iter().find(|(oid, ..)| *oid == type_oid).map_or(("text", "text"), |(_, a, b)| (*a, *b));
    const ATTRIBUTE: &str = "attrelid attname atttypid attstattarget attlen attnum attndims attcacheoff atttypmod attbyval attalign attstorage attcompression attnotnull atthasdef atthasmissing attidentity attgenerated attisdropped attislocal attinhcount attcollation";
    let row: [&dyn ToSql; 22] = [
        &relation.oid,
        name,
        &type_oid,
        &-1,
        &kind.length(),
        &number,
        &0,
        &-1,
        &-1,
        &false,
        &"d",
        &"p",
        &"",
        &false,
        &false,
        &false,
        &"",
        &"",
        &false,
        &true,
        &0,
        &0,
    ];
    insert(connection, "pg_attribute", ATTRIBUTE, &row)?;
    let (precision, of_time) = match kind {
        ValueType::Int8 => (Some(64), None),
        ValueType::Float8 => (Some(53), None),
        ValueType::Timestamptz => (None, Some(6)),
        _ => (None, None),
    };
    let radix = precision.map(|_| 2);
    let scale = (kind == ValueType::Int8).then_some(0);
    const COLUMN: &str = "table_catalog table_schema table_name column_name ordinal_position is_nullable data_type numeric_precision numeric_precision_radix numeric_scale datetime_precision udt_catalog udt_schema udt_name dtd_identifier is_self_referencing is_identity is_generated is_updatable";
    let row: [&dyn ToSql; 19] = [
        &session.database,
        &"public",
        &relation.name,
        name,
        &number,
        &"YES",
        &of_sql,
        &precision,
        &radix,
        &scale,
        &of_time,
        &session.database,
        &"pg_catalog",
        &udt,
        &number,
        &"NO",
        &"NO",
        &"NEVER",
        &"NO",
    ];
    insert(connection, "columns", COLUMN, &row)
}
