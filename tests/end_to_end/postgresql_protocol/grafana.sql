-- Queries that the PostgreSQL data source of Grafana 12 sends: its health check, and those of its query builder.

-- the health check
SELECT 1;

-- the configuration page
SELECT current_setting('server_version_num')::int/100 as version;

SELECT current_setting('server_version_num')::int / 100 AS version, extversion AS timescaledb_version
FROM pg_extension WHERE extname = 'timescaledb';

SELECT extversion FROM pg_extension WHERE extname = 'timescaledb';

-- schemas
SELECT schema_name AS "name" FROM information_schema.schemata
WHERE schema_name NOT IN ('information_schema', 'pg_catalog', 'pg_toast', 'timescaledb_information') ORDER BY schema_name;

-- tables of the search path
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache')
  AND quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(
      array_lower(string_to_array(current_setting('search_path'),','),1),
      array_upper(string_to_array(current_setting('search_path'),','),1)
    ) as i, string_to_array(current_setting('search_path'),',') s);

-- tables, those of the search path first
SELECT CASE WHEN quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(
      array_lower(string_to_array(current_setting('search_path'),','),1),
      array_upper(string_to_array(current_setting('search_path'),','),1)
    ) as i, string_to_array(current_setting('search_path'),',') s)
  THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache') ORDER BY 1;

-- columns of a table
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE CASE WHEN array_length(parse_ident('beat'),1) = 2
  THEN quote_ident(table_schema) = (parse_ident('beat'))[1] AND quote_ident(table_name) = (parse_ident('beat'))[2]
  ELSE quote_ident(table_name) = 'beat' AND quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(
      array_lower(string_to_array(current_setting('search_path'),','),1),
      array_upper(string_to_array(current_setting('search_path'),','),1)
    ) as i, string_to_array(current_setting('search_path'),',') s) END;

-- panels: $__timeFilter, $__timeGroupAlias, $__time, $__unixEpochNanoFilter, $__timeGroup with TimescaleDB
SELECT floor(extract(epoch from time)/60)*60 AS "time", node AS metric, count(sequence) AS samples
FROM beat WHERE time BETWEEN '2026-05-04T11:00:00Z' AND '2026-05-04T13:00:00.5Z' GROUP BY 1, 2 ORDER BY 1;

SELECT time AS "time", sequence FROM public.beat
WHERE time BETWEEN '2026-05-04T11:00:00Z' AND '2026-05-04T13:00:00Z' ORDER BY time LIMIT 50;

SELECT extract(epoch from time) as "time", avg(sequence) OVER (ORDER BY time) FROM "beat"
WHERE time_ns >= 1777892400000000000 AND time_ns <= 1777899600000000000;

SELECT time_bucket('60.000s',time) AS "time", max(sequence) FROM beat GROUP BY 1 ORDER BY 1;

-- a variable
SELECT DISTINCT node FROM instances WHERE node ~ '^a' OR node = ANY ('{a,b}') ORDER BY 1;
