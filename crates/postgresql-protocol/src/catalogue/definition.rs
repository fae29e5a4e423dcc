//! The tables of the catalogue: names and columns of PostgreSQL 15. Source: <https://www.postgresql.org/docs/15/catalogs.html>.

use crate::value_type::ValueType;
use rusqlite::{Connection, Result};

/// A table.
pub struct SystemTable {
    /// `pg_catalog` or `information_schema`
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its columns. A name that ends with `?` is a boolean, with `#` an integer; others are texts.
    columns: &'static str,
}

impl SystemTable {
    /// Creates it, empty.
    pub fn create(&self, connection: &Connection) -> Result<()> {
        let column = |column: &str| match column.trim_end_matches(['?', '#']) {
            text if text == column => format!("\"{text}\" TEXT"),
            number => format!("\"{number}\" INTEGER"),
        };
        let columns: Vec<_> = self.columns.split_whitespace().map(column).collect();
        let Self { schema, name, .. } = self;
        connection.execute_batch(&format!("CREATE TABLE {schema}.{name} ({})", columns.join(", ")))
    }
}

/// Declares the tables of a schema.
macro_rules! tables {
    ($($schema:literal { $($name:literal: $columns:literal,)* })*) => {
        /// All tables.
        pub const TABLES: &[SystemTable] =
            &[$($(SystemTable { schema: $schema, name: $name, columns: $columns },)*)*];
    };
}

tables! {
    "pg_catalog" {
        "pg_namespace": "oid# nspname nspowner# nspacl",
        "pg_class": "oid# relname relnamespace# reltype# reloftype# relowner# relam# relfilenode# reltablespace# relpages# reltuples# relallvisible# reltoastrelid# relhasindex? relisshared? relpersistence relkind relnatts# relchecks# relhasrules? relhastriggers? relhassubclass? relrowsecurity? relforcerowsecurity? relispopulated? relreplident relispartition? relrewrite# relfrozenxid# relminmxid# relacl reloptions relpartbound",
        "pg_attribute": "attrelid# attname atttypid# attstattarget# attlen# attnum# attndims# attcacheoff# atttypmod# attbyval? attalign attstorage attcompression attnotnull? atthasdef? atthasmissing? attidentity attgenerated attisdropped? attislocal? attinhcount# attcollation# attacl attoptions attfdwoptions attmissingval",
        "pg_type": "oid# typname typnamespace# typowner# typlen# typbyval? typtype typcategory typispreferred? typisdefined? typdelim typrelid# typsubscript# typelem# typarray# typinput typoutput typreceive typsend typmodin typmodout typanalyze typalign typstorage typnotnull? typbasetype# typtypmod# typndims# typcollation# typdefaultbin typdefault typacl",
        "pg_database": "oid# datname datdba# encoding# datlocprovider datistemplate? datallowconn? datconnlimit# datfrozenxid# datminmxid# dattablespace# datcollate datctype daticulocale datcollversion datacl",
        "pg_roles": "oid# rolname rolsuper? rolinherit? rolcreaterole? rolcreatedb? rolcanlogin? rolreplication? rolconnlimit# rolpassword rolvaliduntil rolbypassrls? rolconfig",
        "pg_user": "usename usesysid# usecreatedb? usesuper? userepl? usebypassrls? passwd valuntil useconfig",
        "pg_auth_members": "roleid# member# grantor# admin_option?",
        "pg_settings": "name setting unit category short_desc extra_desc context vartype source min_val max_val enumvals boot_val reset_val sourcefile sourceline# pending_restart?",
        "pg_description": "objoid# classoid# objsubid# description",
        "pg_shdescription": "objoid# classoid# description",
        "pg_tables": "schemaname tablename tableowner tablespace hasindexes? hasrules? hastriggers? rowsecurity?",
        "pg_views": "schemaname viewname viewowner definition",
        "pg_matviews": "schemaname matviewname matviewowner tablespace hasindexes? ispopulated? definition",
        "pg_indexes": "schemaname tablename indexname tablespace indexdef",
        "pg_am": "oid# amname amhandler amtype",
        "pg_tablespace": "oid# spcname spcowner# spcacl spcoptions",
        "pg_index": "indexrelid# indrelid# indnatts# indnkeyatts# indisunique? indnullsnotdistinct? indisprimary? indisexclusion? indimmediate? indisclustered? indisvalid? indcheckxmin? indisready? indislive? indisreplident? indkey indcollation indclass indoption indexprs indpred",
        "pg_constraint": "oid# conname connamespace# contype condeferrable? condeferred? convalidated? conrelid# contypid# conindid# conparentid# confrelid# confupdtype confdeltype confmatchtype conislocal? coninhcount# connoinherit? conkey confkey conpfeqop conppeqop conffeqop confdelsetcols conexclop conbin",
        "pg_attrdef": "oid# adrelid# adnum# adbin",
        "pg_proc": "oid# proname pronamespace# proowner# prolang# procost# prorows# provariadic# prosupport prokind prosecdef? proleakproof? proisstrict? proretset? provolatile proparallel pronargs# pronargdefaults# prorettype# proargtypes proallargtypes proargmodes proargnames proargdefaults protrftypes prosrc probin prosqlbody proconfig proacl",
        "pg_trigger": "oid# tgrelid# tgparentid# tgname tgfoid# tgtype# tgenabled tgisinternal? tgconstrrelid# tgconstrindid# tgconstraint# tgdeferrable? tginitdeferred? tgnargs# tgattr tgargs tgqual tgoldtable tgnewtable",
        "pg_inherits": "inhrelid# inhparent# inhseqno# inhdetachpending?",
        "pg_depend": "classid# objid# objsubid# refclassid# refobjid# refobjsubid# deptype",
        "pg_shdepend": "dbid# classid# objid# objsubid# refclassid# refobjid# deptype",
        "pg_enum": "oid# enumtypid# enumsortorder# enumlabel",
        "pg_range": "rngtypid# rngsubtype# rngmultitypid# rngcollation# rngsubopc# rngcanonical rngsubdiff",
        "pg_collation": "oid# collname collnamespace# collowner# collprovider collisdeterministic? collencoding# collcollate collctype colliculocale collversion",
        "pg_language": "oid# lanname lanowner# lanispl? lanpltrusted? lanplcallfoid# laninline# lanvalidator# lanacl",
        "pg_extension": "oid# extname extowner# extnamespace# extrelocatable? extversion extconfig extcondition",
        "pg_available_extensions": "name default_version installed_version comment",
        "pg_policy": "oid# polname polrelid# polcmd polpermissive? polroles polqual polwithcheck",
        "pg_policies": "schemaname tablename policyname permissive roles cmd qual with_check",
        "pg_publication": "oid# pubname pubowner# puballtables? pubinsert? pubupdate? pubdelete? pubtruncate? pubviaroot?",
        "pg_publication_rel": "oid# prpubid# prrelid# prqual prattrs",
        "pg_publication_namespace": "oid# pnpubid# pnnspid#",
        "pg_subscription": "oid# subdbid# subname subowner# subenabled? subbinary? substream? subtwophasestate subdisableonerr? subconninfo subslotname subsynccommit subpublications subskiplsn",
        "pg_statistic_ext": "oid# stxrelid# stxname stxnamespace# stxowner# stxstattarget# stxkeys stxkind stxexprs",
        "pg_rewrite": "oid# rulename ev_class# ev_type ev_enabled is_instead? ev_qual ev_action",
        "pg_rules": "schemaname tablename rulename definition",
        "pg_foreign_table": "ftrelid# ftserver# ftoptions",
        "pg_foreign_server": "oid# srvname srvowner# srvfdw# srvtype srvversion srvacl srvoptions",
        "pg_foreign_data_wrapper": "oid# fdwname fdwowner# fdwhandler# fdwvalidator# fdwacl fdwoptions",
        "pg_user_mappings": "umid# srvid# srvname umuser# usename umoptions",
        "pg_event_trigger": "oid# evtname evtevent evtowner# evtfoid# evtenabled evttags",
        "pg_operator": "oid# oprname oprnamespace# oprowner# oprkind oprcanmerge? oprcanhash? oprleft# oprright# oprresult# oprcom# oprnegate# oprcode oprrest oprjoin",
        "pg_opclass": "oid# opcmethod# opcname opcnamespace# opcowner# opcfamily# opcintype# opcdefault? opckeytype#",
        "pg_opfamily": "oid# opfmethod# opfname opfnamespace# opfowner#",
        "pg_aggregate": "aggfnoid aggkind aggnumdirectargs# aggtransfn aggfinalfn aggtranstype# agginitval",
        "pg_cast": "oid# castsource# casttarget# castfunc# castcontext castmethod",
        "pg_conversion": "oid# conname connamespace# conowner# conforencoding# contoencoding# conproc condefault?",
        "pg_sequence": "seqrelid# seqtypid# seqstart# seqincrement# seqmax# seqmin# seqcache# seqcycle?",
        "pg_sequences": "schemaname sequencename sequenceowner data_type start_value# min_value# max_value# increment_by# cycle? cache_size# last_value#",
        "pg_partitioned_table": "partrelid# partstrat partnatts# partdefid# partattrs partclass partcollation partexprs",
        "pg_stat_activity": "datid# datname pid# leader_pid# usesysid# usename application_name client_addr client_hostname client_port# backend_start xact_start query_start state_change wait_event_type wait_event state backend_xid# backend_xmin# query_id# query backend_type",
        "pg_stat_user_tables": "relid# schemaname relname seq_scan# idx_scan# n_live_tup# n_dead_tup#",
        "pg_locks": "locktype database# relation# pid# mode granted?",
        "pg_default_acl": "oid# defaclrole# defaclnamespace# defaclobjtype defaclacl",
        "pg_db_role_setting": "setdatabase# setrole# setconfig",
        "pg_largeobject_metadata": "oid# lomowner# lomacl",
        "pg_timezone_names": "name abbrev utc_offset is_dst?",
        "pg_ts_config": "oid# cfgname cfgnamespace# cfgowner# cfgparser#",
        "pg_ts_dict": "oid# dictname dictnamespace# dictowner# dicttemplate# dictinitoption",
        "pg_ts_parser": "oid# prsname prsnamespace#",
        "pg_ts_template": "oid# tmplname tmplnamespace#",
        "pg_seclabel": "objoid# classoid# objsubid# provider label",
    }
    "information_schema" {
        "tables": "table_catalog table_schema table_name table_type self_referencing_column_name reference_generation user_defined_type_catalog user_defined_type_schema user_defined_type_name is_insertable_into is_typed commit_action",
        "columns": "table_catalog table_schema table_name column_name ordinal_position# column_default is_nullable data_type character_maximum_length# character_octet_length# numeric_precision# numeric_precision_radix# numeric_scale# datetime_precision# interval_type interval_precision# character_set_catalog character_set_schema character_set_name collation_catalog collation_schema collation_name domain_catalog domain_schema domain_name udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality# dtd_identifier is_self_referencing is_identity identity_generation identity_start identity_increment identity_maximum identity_minimum identity_cycle is_generated generation_expression is_updatable",
        "schemata": "catalog_name schema_name schema_owner default_character_set_catalog default_character_set_schema default_character_set_name sql_path",
        "views": "table_catalog table_schema table_name view_definition check_option is_updatable is_insertable_into",
        "table_constraints": "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name constraint_type is_deferrable initially_deferred enforced",
        "key_column_usage": "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name column_name ordinal_position# position_in_unique_constraint#",
        "constraint_column_usage": "table_catalog table_schema table_name column_name constraint_catalog constraint_schema constraint_name",
        "referential_constraints": "constraint_catalog constraint_schema constraint_name unique_constraint_catalog unique_constraint_schema unique_constraint_name match_option update_rule delete_rule",
        "routines": "specific_catalog specific_schema specific_name routine_catalog routine_schema routine_name routine_type data_type",
        "sequences": "sequence_catalog sequence_schema sequence_name data_type start_value increment",
        "element_types": "object_catalog object_schema object_name object_type collection_type_identifier data_type udt_name",
        "character_sets": "character_set_catalog character_set_schema character_set_name character_repertoire form_of_use default_collate_catalog default_collate_schema default_collate_name",
    }
}

/// Booleans of the queries of known clients that are no columns.
const NAMED_BOOLEANS: &[&str] = &["relhasoids", "is_array", "is_identity", "nspacl_is_null"];

/// The type of a column, by its name.
pub fn type_of(column: &str) -> Option<ValueType> {
    if NAMED_BOOLEANS.contains(&column) {
        return Some(ValueType::Bool);
    }
    let all = TABLES.iter().flat_map(|table| table.columns.split_whitespace());
    let found = all.into_iter().find(|declared| declared.trim_end_matches(['?', '#']) == column)?;
    Some(match found.chars().last() {
        Some('?') => ValueType::Bool,
        Some('#') => ValueType::Int8,
        _ => ValueType::Text,
    })
}
