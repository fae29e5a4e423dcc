use super::*;
use crate::input::{Finding, RecordedSeries};
use oasis_wire::{
    batch::{Batch, Sample},
    schema::MetricType,
    value::Value,
};
use std::{collections::BTreeMap, io::Cursor, path::Path};

const T: u64 = 1_700_000_000_000_000_000;

type Instances = BTreeMap<String, (RecordedSeries, Vec<Sample>)>;

fn read_with(text: &[u8], options: &InputOptions) -> Result<(Instances, Report), InputError> {
    let mut all = Instances::new();
    let mut content = Cursor::new(text);
    let mut file = InputFile { path: Path::new("drive.csv"), content: &mut content };
    let report = read(&mut file, options, &mut |recorded, batch| {
        let name = recorded.instance.to_string();
        let (_, samples) = all.entry(name).or_insert_with(|| (recorded.clone(), Vec::new()));
        samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
        Ok(())
    })?;
    Ok((all, report))
}

fn samples(text: &str) -> (RecordedSeries, Vec<Sample>) {
    read_with(text.as_bytes(), &InputOptions::default()).unwrap().0.remove("drive").unwrap()
}

fn texts(report: &Report) -> Vec<String> {
    report.findings.iter().map(Finding::to_string).collect()
}

#[test]
fn each_column_has_the_type_of_its_values() {
    let (recorded, samples) = samples(
        "time,x,big,on,text\n1700000000.000000001,1.5,9007199254740993,true,a b\n1700000000.5,NaN,-1,FALSE,\"c,d\"\n1700000000.5,-inf,7,true,007x\n",
    );
    let types: Vec<_> =
        recorded.probe_type.metrics.iter().map(|of| (of.name.as_str(), of.kind.clone())).collect();
    let expected = [
        ("x", MetricType::Real64),
        ("big", MetricType::Int64),
        ("on", MetricType::Boolean),
        ("text", MetricType::String),
    ];
    assert_eq!(types, expected);
    assert_eq!(samples.iter().map(|of| of.time - T).collect::<Vec<_>>(), [1, 500_000_000, 500_000_000]);
    assert_eq!(samples.iter().map(|of| of.sequence).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(samples[0].values[1], Value::Int(9_007_199_254_740_993));
    assert!(matches!(samples[1].values[0], Value::Real64(real) if real.is_nan()));
    assert_eq!(samples[2].values[0], Value::Real64(f64::NEG_INFINITY));
    assert_eq!(samples[1].values[3], Value::String("c,d".into()));
}

#[test]
fn absent_values_stay_absent() {
    let text = "time,x,n,s\n1700000000,,18446744073709551615,a\n1700000001,NA,,\n";
    let (all, report) = read_with(text.as_bytes(), &InputOptions::default()).unwrap();
    let (recorded, samples) = &all["drive"];
    assert_eq!(
        recorded.probe_type.metrics.iter().map(|of| &of.name[..]).collect::<Vec<_>>(),
        ["x", "n", "s", "oasis.absent"]
    );
    assert_eq!(samples[0].values[2], Value::String("a".into()));
    let absent = Value::Vector(["n", "s"].map(|name| Value::String(name.into())).to_vec());
    assert_eq!(samples[1].values.last(), Some(&absent));
    assert!(report.is_complete(), "{:?}", texts(&report));
}

#[test]
fn a_defective_line_refuses_the_file_or_is_counted() {
    let text = "time,x\n1700000000,1\n1700000001\nsoon,3\n1700000002,5\n-5,4\n";
    let error = read_with(text.as_bytes(), &InputOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "line 3: 1 fields, expected 2: correct it, or import the rest with --partial");
    let partial = InputOptions { is_partial: true, ..InputOptions::default() };
    let (all, report) = read_with(text.as_bytes(), &partial).unwrap();
    assert_eq!(all["drive"].1.len(), 2);
    let losses: Vec<_> =
        report.findings.iter().filter(|of| of.is_loss).map(|of| (of.count, of.to_string())).collect();
    assert_eq!(losses.len(), 3, "{losses:?}");
    assert!(
        losses.iter().any(|(_, text)| text.contains("before 1970") && text.contains("line 6")),
        "{losses:?}"
    );
}

#[test]
fn decimal_commas_semicolons_and_german_dates() {
    let (recorded, samples) =
        samples("Zeit;Druck [bar];Zustand\n14.11.2023 22:13:20,5;1,25;auf\n14.11.2023 22:13:21,5;-3;zu\n");
    assert_eq!(samples[0].time, T + 500_000_000);
    assert_eq!(samples[0].values[0], Value::Real64(1.25));
    assert_eq!(recorded.probe_type.metrics[0].unit.as_deref(), Some("bar"));
}

#[test]
fn the_long_form_has_an_instance_for_each_name() {
    let text =
        "time,signal,value,unit\n1700000000,speed,1.5,m/s\n1700000000,state,auto,\n1700000001,speed,2,m/s\n";
    let (all, _) = read_with(text.as_bytes(), &InputOptions::default()).unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["speed", "state"]);
    assert_eq!(all["speed"].0.probe_type.metrics[0].unit.as_deref(), Some("m/s"));
    assert_eq!(all["state"].1[0].values, [Value::String("auto".into())]);
}

#[test]
fn a_rate_and_a_start_replace_times() {
    let options = InputOptions { rate: Some(4.0), start: Some(T), ..InputOptions::default() };
    let (all, _) = read_with(b"x,y\n1,2\n3,4\n", &options).unwrap();
    assert_eq!(all["drive"].1.iter().map(|of| of.time - T).collect::<Vec<_>>(), [0, 250_000_000]);
}

#[test]
fn text_that_is_not_utf_8_is_kept_and_counted() {
    let (all, report) = read_with(b"time,s\n1700000000,K\xf6ln\n", &InputOptions::default()).unwrap();
    assert_eq!(all["drive"].1[0].values, [Value::String("K\u{fffd}ln".into())]);
    assert!(texts(&report).iter().any(|text| text.contains("1 texts are not UTF-8")));
}

#[test]
fn an_open_quotation_mark_reads_no_file_to_its_end() {
    let mut text = b"time,s\n1700000000,a\n1700000001,\"".to_vec();
    text.resize(20_000_000, b'x');
    let error = read_with(&text, &InputOptions::default()).unwrap_err().to_string();
    assert!(error.contains("close the quotation mark"), "{error}");
}

#[test]
fn tables_of_spreadsheets_are_read_as_their_locale_writes_them() {
    let german = b"sep=;\r\nZeit;Temperatur [\xb0C];Ort\r\n14.11.2023 22:13:20;21,5;D\xfcren\r\n14.11.2023 22:13:21;22;K\xf6ln\r\n";
    let (mut all, report) = read_with(german, &InputOptions::default()).unwrap();
    assert!(texts(&report).iter().any(|text| text.contains("iconv -f WINDOWS-1252")), "{report:?}");
    assert_eq!(report.findings.iter().find(|finding| finding.is_loss).unwrap().count, 2);
    let (recorded, samples) = all.remove("drive").unwrap();
    assert_eq!(recorded.probe_type.metrics[0].unit.as_deref(), Some("Cel"));
    assert_eq!(samples[1].values, [Value::Real64(22.0), Value::String("K\u{fffd}ln".into())]);
    let american = "Time,x\n11/14/2023 10:13:20 PM,1\n11/14/2023 10:13:21\u{202f}PM,2\n";
    let (_, samples) = self::samples(american);
    assert_eq!(samples.iter().map(|of| of.time - T).collect::<Vec<_>>(), [0, 1_000_000_000]);
}

#[test]
fn a_day_and_a_time_of_the_day_are_one_time() {
    let (mut all, report) = read_with(
        b"Date,Time,x\n2023/11/14,22:13:20.000,1.5\n2023/11/14,22:13:20.100,1.6\n",
        &InputOptions::default(),
    )
    .unwrap();
    assert_eq!(texts(&report), ["times are in the columns \"Date\" and \"Time\": dates, the year first"]);
    let (recorded, samples) = all.remove("drive").unwrap();
    assert_eq!(recorded.probe_type.metrics.len(), 1);
    assert_eq!(samples.iter().map(|of| of.time - T).collect::<Vec<_>>(), [0, 100_000_000]);
}

#[test]
fn rows_that_are_kept_from_the_survey_are_those_of_the_file() {
    // The test keeps 1,000 values.
    let row = |at: u64, value: &str| format!("{},{value},{at}\n", T / 1_000_000_000 + at);
    let rows = |count: u64| (0..count).map(|at| row(at, "1.5")).collect::<String>();
    for (text, count, lost) in [
        (rows(400), 400, 0),
        (rows(500), 500, 0),
        (rows(2_000), 2_000, 0),
        (rows(600) + "7\n" + &rows(3), 603, 1),
        (rows(3) + "\n7\n" + &rows(3), 6, 1),
        ("7\n".to_owned() + &rows(3), 3, 1),
        (rows(3) + "soon,1,1\n" + &rows(900), 903, 1),
        (rows(300) + &row(1, "NA") + &row(2, "") + &rows(300), 602, 0),
        (rows(300) + &row(1, "a text") + &rows(300), 601, 0),
    ] {
        let options = InputOptions { is_partial: true, ..InputOptions::default() };
        let (all, report) = read_with(("time,x,n\n".to_owned() + &text).as_bytes(), &options).unwrap();
        let samples = &all["drive"].1;
        assert_eq!(samples.len(), count, "{:?}", texts(&report));
        let losses = report.findings.iter().filter(|of| of.is_loss).map(|of| of.count).sum::<u64>();
        assert_eq!(losses, lost, "{:?}", texts(&report));
        for sample in samples {
            let seconds = (sample.time - T) / 1_000_000_000;
            assert_eq!(sample.values[1], Value::Real64(seconds as f64));
        }
        assert!(samples.iter().map(|sample| sample.sequence).eq(1..=count as u64));
    }
}

#[test]
fn a_column_of_words_alone_is_one_of_texts() {
    let (recorded, samples) = samples("time,x,s\n1700000000,1,NA\n1700000001,2,NA\n");
    assert_eq!(recorded.probe_type.metrics[1].kind, MetricType::String);
    assert_eq!(samples[1].values[1], Value::String("NA".into()));
}

#[test]
fn numbers_have_thousands_separators_if_these_are_clear_or_chosen() {
    let read = |text: &str, thousands| {
        let options = InputOptions { thousands, ..InputOptions::default() };
        let (all, report) = read_with(text.as_bytes(), &options).unwrap();
        let values: Vec<Value> = all["drive"].1.iter().map(|sample| sample.values[0].clone()).collect();
        (values, texts(&report).join("\n"))
    };
    let expected = [Value::Real64(1_234.5), Value::Real64(12.0)];
    for text in [
        "time,x\n1700000000,\"1,234.5\"\n1700000001,12\n",
        "time;x\n1700000000;1.234,5\n1700000001;12\n",
        "time;x\n1700000000;1\u{a0}234,5\n1700000001;12\n",
        "time;x\n1700000000;1'234.5\n1700000001;12\n",
    ] {
        let (values, report) = read(text, None);
        assert_eq!(values, expected, "{text}");
        assert!(report.contains("numbers have thousands separators"), "{report}");
    }
    let doubtful = "time,x\n1700000000,\"1,234\"\n1700000001,12\n";
    let (values, report) = read(doubtful, None);
    assert_eq!(values, [Value::String("1,234".into()), Value::String("12".into())]);
    assert!(report.contains("--thousands comma"), "{report}");
    assert_eq!(read(doubtful, Some(Thousands::Comma)).0, [Value::Real64(1_234.0), Value::Real64(12.0)]);
}

#[test]
fn a_defect_has_its_line_whatever_ends_the_lines() {
    for text in [
        "time,x\r\n1700000000,1\r\n1700000001\r\n",
        "time,x\n\n1700000001\n",
        "time,x\r1700000000,1\r1700000001\r",
    ] {
        let error = read_with(text.as_bytes(), &InputOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("line 3: 1 fields, expected 2"), "{text:?}: {error}");
    }
}

/// The values of the wide form by rows, and the report.
fn rows_of(text: &[u8], options: &InputOptions) -> (Vec<Vec<Value>>, String) {
    let (all, report) = read_with(text, options).unwrap();
    let rows = all["drive"].1.iter().map(|sample| sample.values.clone()).collect();
    (rows, texts(&report).join("\n"))
}

fn text(of: &str) -> Value {
    Value::String(of.into())
}

#[test]
fn an_address_or_a_color_shows_no_thousands_separators() {
    let (rows, report) = rows_of(
        b"time;ip;temp\n1700000000;192.168.100.101;21.500\n1700000001;192.168.100.102;21.625\n",
        &InputOptions::default(),
    );
    assert_eq!(rows[0], [text("192.168.100.101"), Value::Real64(21.5)], "{report}");
    let (rows, report) = rows_of(
        b"time;rgb;temp\n1700000000;255,128,100;21,500\n1700000001;255,128,101;21,625\n",
        &InputOptions::default(),
    );
    assert_eq!(rows[1], [text("255,128,101"), Value::Real64(21.625)], "{report}");
}

#[test]
fn columns_without_a_decimal_mark_are_named_beside_one_with_separators() {
    let table = b"time;power;ip;version;count;pieces\n1700000000;1.234,5;192.168.100.101;2.100.345;1.234;1.234.567\n1700000001;7,5;192.168.100.102;2.100.346;2.345;12\n";
    let (rows, report) = rows_of(table, &InputOptions::default());
    let expected = [
        Value::Real64(1_234.5),
        text("192.168.100.101"),
        text("2.100.345"),
        Value::Real64(1_234.0),
        Value::Real64(1_234_567.0),
    ];
    assert_eq!(rows[0], expected, "{report}");
    assert!(report.contains("count: \"1.234\" is read with a thousands separator"), "{report}");
    assert!(
        report.contains("version: texts such as \"2.100.345\" may be numbers: --thousands point"),
        "{report}"
    );
    assert_eq!(report.matches("192.168.100.101").count(), 1, "{report}");
    // An option is no guess.
    let options = InputOptions { thousands: Some(Thousands::Point), ..InputOptions::default() };
    let (rows, report) = rows_of(table, &options);
    assert_eq!(rows[0][2], Value::Real64(2_100_345.0));
    assert!(!report.contains("is read with"), "{report}");
}

#[test]
fn telephone_numbers_are_no_numbers_with_spaces() {
    let table = b"time;phone\n1700000000;600 123 456\n1700000001;600 123 457\n";
    let (rows, report) = rows_of(table, &InputOptions::default());
    assert_eq!(rows[0], [text("600 123 456")], "{report}");
    assert!(
        report.contains("phone: texts such as \"600 123 456\" may be numbers: --thousands space"),
        "{report}"
    );
    let beside = b"time;x;phone\n1700000000;1 234,5;600 123 456\n1700000001;7;600 123 457\n";
    let (rows, report) = rows_of(beside, &InputOptions::default());
    assert_eq!(rows[0], [Value::Real64(1_234.5), text("600 123 456")], "{report}");
    assert!(report.contains("phone: texts such as"), "{report}");
}

#[test]
fn a_time_with_a_thousands_separator_is_refused() {
    let table = b"Zeit;Druck\n998;1.013,2\n999;1.013,3\n1.000;1.013,1\n";
    let error = read_with(table, &InputOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("line 4, \"1.000\": the time is not a number of seconds"), "{error}");
}

#[test]
fn thousands_separators_in_windows_1252_are_those_of_numbers() {
    for table in [
        &b"time;x;s\n1700000000;1\xa0234,5;K\xf6ln\n1700000001;7,5;a\n"[..],
        b"time;x;s\n1700000000;1\x92234,5;K\xf6ln\n1700000001;7,5;a\n",
    ] {
        let (rows, report) = rows_of(table, &InputOptions::default());
        assert_eq!(rows[0], [Value::Real64(1_234.5), text("K\u{fffd}ln")], "{report}");
        assert!(report.contains("1 texts are not UTF-8"), "{report}");
    }
}

#[test]
fn days_of_a_spreadsheet_and_times_of_the_day_are_one_time() {
    let (_, samples) = samples("Date;Clock;x\n45244;22:13:20;1\n45244;22:13:21,5;2\n");
    assert_eq!(samples.iter().map(|of| of.time - T).collect::<Vec<_>>(), [0, 1_500_000_000]);
    assert_eq!(samples[0].values, [Value::Real64(1.0)]);
}

#[test]
fn short_rows_before_longer_ones_are_no_lines_of_a_logger() {
    let table = b"# time,a,b,c\n1700000000,5,,\n1700000001,1,2,3\n1700000002,1,2,3\n";
    let (rows, report) = rows_of(table, &InputOptions::default());
    assert_eq!((rows.len(), &rows[0][0]), (3, &Value::Real64(5.0)), "{report}");
}

#[test]
fn lines_that_end_in_a_carriage_return_show_the_dialect_alone() {
    let table = "time,x\r".to_owned() + &"1700000000,1\r".repeat(20_000);
    let beginning = read_beginning(&mut Cursor::new(table.as_bytes())).unwrap();
    assert_eq!(beginning.len(), DETECT_BYTES);
}

#[test]
fn the_offset_in_a_header_moves_times_without_a_zone() {
    let table = b"time (UTC+2),x\n2023-11-15 00:13:20,1\n2023-11-14T22:13:21Z,2\n";
    let (all, report) = read_with(table, &InputOptions::default()).unwrap();
    let times: Vec<_> = all["drive"].1.iter().map(|of| of.time - T).collect();
    assert_eq!(times, [0, 1_000_000_000]);
    let report = texts(&report).join("\n");
    assert!(report.contains("times without a zone are +02:00 from UTC, by the header"), "{report}");
    let table = b"Date,Time (UTC-05:00),x\n14.11.2023,17:13:20,1\n";
    let (all, _) = read_with(table, &InputOptions::default()).unwrap();
    assert_eq!(all["drive"].1[0].time, T);
}

#[test]
fn a_defective_time_of_the_day_refuses_its_row() {
    for cell in ["??", "24:00:00", "", "-"] {
        let table =
            format!("Date,Time,x\n14.11.2023,22:13:20,1\n14.11.2023,22:13:21,2\n14.11.2023,{cell},3\n");
        let error = read_with(table.as_bytes(), &InputOptions::default()).unwrap_err().to_string();
        let place = format!("line 4, {:?}: the time is not", format!("14.11.2023 {cell}").trim());
        assert!(error.starts_with(&place) && error.ends_with("import the rest with --partial"), "{error}");
        let partial = InputOptions { is_partial: true, ..InputOptions::default() };
        let (all, report) = read_with(table.as_bytes(), &partial).unwrap();
        let times: Vec<_> = all["drive"].1.iter().map(|of| of.time - T).collect();
        assert_eq!(times, [0, 1_000_000_000], "{cell}");
        assert!(texts(&report).iter().any(|text| text.starts_with("1 lines skipped")), "{cell}");
    }
}

#[test]
fn a_series_of_the_long_form_has_one_unit() {
    let changed = b"time,name,value,unit\n1700000000,u,1.5,V\n1700000001,u,1500,mV\n";
    let error = read_with(changed, &InputOptions::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("line 3: \"u\" has the unit \"mV\" here, and \"V\" in a line before"),
        "{error}"
    );
    assert!(error.contains("convert its values to one unit"), "{error}");
    let same =
        "time,name,value,unit\n1700000000,n,1,\n1700000001,n,2,rpm\n1700000002,n,2,1/min\n1700000003,n,2,\n";
    let (all, _) = read_with(same.as_bytes(), &InputOptions::default()).unwrap();
    assert_eq!(all["n"].0.probe_type.metrics[0].unit.as_deref(), Some("/min"));
}

#[test]
fn a_few_texts_in_a_column_of_numbers_are_reported() {
    let lines = |texts: &[&str]| {
        let numbers = (0..9).map(|at| format!("{};{at},5\n", 1_700_000_000 + at)).collect::<String>();
        let texts = texts.iter().map(|text| format!("1700000010;{text}\n")).collect::<String>();
        format!("time;x\n{numbers}{texts}")
    };
    let report = |texts_of: &[&str]| {
        let (_, report) = read_with(lines(texts_of).as_bytes(), &InputOptions::default()).unwrap();
        texts(&report).join("\n")
    };
    let few = report(&["err", "7,5", ""]);
    let expected = "x: is text: 1 of 11 values are no numbers, the first is \"err\" in line 11.";
    assert!(few.contains(expected) && few.contains("--thousands"), "{few}");
    let many = report(&["err", "bad"]);
    assert!(!many.contains("are no numbers"), "{many}");
}

#[test]
fn lines_that_are_too_long_are_named() {
    let table = format!("time,x\n1700000000,{}\n", "a".repeat(MAX_MESSAGE + 1));
    let error = read_with(table.as_bytes(), &InputOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("the first lines have more than 8388608 bytes"), "{error}");
}
