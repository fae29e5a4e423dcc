use super::*;
use oasis_wire::quantity::Hertz;
use std::fs;

fn memory() -> Settings {
    Settings::new(mpsc::unbounded_channel().0)
}

fn on_disk(directory: &Path) -> Settings {
    let settings = memory();
    settings.open(directory).unwrap();
    settings
}

fn hertz(hertz: f64) -> SettingValue {
    SettingValue::Hertz(Hertz::new(hertz).unwrap())
}

fn by_ada(value: SettingValue) -> KeptSetting {
    KeptSetting {
        value,
        by: "person:ada".into(),
        at: Nanos(7),
        applied: Some(Uuid::from_u128(1)),
        problem: None,
    }
}

fn label(
    settings: &Settings,
    of: (&str, Option<&str>),
    labels: &[(&str, Option<&str>)],
) -> Result<(), SettingsError> {
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
    settings.label(of, &labels, ("person:ada", Nanos(7)))
}

#[test]
fn what_is_kept_outlives_the_process_whatever_the_names_are() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["plant", "../../etc/passwd", "<script>", "Prüfstand 7/ä", "a\\b"];
    let settings = on_disk(directory.path());
    for node in names {
        settings.keep((node, "engine"), SettingName::Rate, by_ada(hertz(5.0))).unwrap();
        settings
            .keep((node, "engine"), SettingName::Deadband("t".into()), by_ada(SettingValue::Deadband(None)))
            .unwrap();
        label(&settings, (node, None), &[("site", Some("graz"))]).unwrap();
        label(&settings, (node, Some("engine")), &[("unit", Some("=1, \"2\""))]).unwrap();
    }
    let files = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, names.len(), "a file for each node, and nothing outside");
    assert_eq!(on_disk(directory.path()).all(), settings.all());
}

#[test]
fn nothing_stays_of_what_was_reset_and_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let settings = on_disk(directory.path());
    settings.keep(("plant", "engine"), SettingName::Rate, by_ada(hertz(5.0))).unwrap();
    settings.keep(("plant", "engine"), SettingName::Enabled, by_ada(SettingValue::Enabled(false))).unwrap();
    label(&settings, ("plant", Some("pump")), &[("site", Some("graz"))]).unwrap();
    settings.reset(("plant", "engine"), Some(&SettingName::Rate)).unwrap();
    assert_eq!(settings.of_node("plant").unwrap().instances["engine"].kept.len(), 1);
    settings.reset(("plant", "engine"), None).unwrap();
    assert!(!settings.of_node("plant").unwrap().instances.contains_key("engine"));
    label(&settings, ("plant", Some("pump")), &[("site", None)]).unwrap();
    assert_eq!(settings.of_node("plant"), None);
    label(&settings, ("plant", None), &[("site", Some("graz"))]).unwrap();
    settings.forget("plant", None).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    assert_eq!(settings.book().size, Size::default(), "the room is free again");
}

#[test]
fn a_damaged_file_is_set_aside_and_the_others_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let settings = on_disk(directory.path());
    label(&settings, ("a", None), &[("site", Some("graz"))]).unwrap();
    label(&settings, ("b", None), &[("site", Some("graz"))]).unwrap();
    let file_of_a = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let file_of_a =
        file_of_a.into_iter().find(|path| fs::read_to_string(path).unwrap().contains("\"a\"")).unwrap();
    // Files as a crash leaves them, and a file that a disk has damaged.
    fs::write(directory.path().join("half.tmp"), "{\"node\"").unwrap();
    fs::write(&file_of_a, "{\"node\": \"a\", \"lab").unwrap();
    let again = on_disk(directory.path());
    assert_eq!(again.all().into_iter().map(|(node, _)| node).collect::<Vec<_>>(), ["b".into()]);
    assert!(file_of_a.with_extension("damaged").exists());
    label(&again, ("a", None), &[("site", Some("wien"))]).unwrap();
    assert_eq!(on_disk(directory.path()).all().len(), 2);
}

#[test]
fn what_somebody_has_edited_into_a_file_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    let settings = on_disk(directory.path());
    settings.keep(("plant", "engine"), SettingName::Rate, by_ada(hertz(5.0))).unwrap();
    label(&settings, ("plant", None), &[("site", Some("graz"))]).unwrap();
    let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    let edited =
        text.replace("\"hertz\": 5.0", "\"enabled\": true").replace("\"graz\"", "\"gr\\u001b[31maz\"");
    fs::write(&path, edited).unwrap();
    let again = on_disk(directory.path());
    let of = again.of_node("plant").unwrap();
    assert!(of.labels.is_empty() && of.instances["engine"].kept.is_empty(), "{of:?}");
}

#[test]
fn labels_of_one_thing_are_bounded_and_a_refused_change_changes_nothing() {
    let settings = memory();
    let keys: Vec<String> = (0..=MOST_LABELS).map(|number| format!("k{number}")).collect();
    let all: Vec<(&str, Option<&str>)> = keys.iter().map(|key| (&**key, Some("v"))).collect();
    label(&settings, ("plant", None), &all[..MOST_LABELS]).unwrap();
    let before = settings.all();
    for (labels, words) in
        [(&all[MOST_LABELS..], "at most 32"), (&[("ok", Some("v")), ("a=b", Some("v"))], "key of a label")]
    {
        let refused = label(&settings, ("plant", None), labels).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
        assert_eq!(settings.all(), before);
    }
    // One of another value in place of one, and one more for one less.
    label(&settings, ("plant", None), &[("k0", Some("w"))]).unwrap();
    label(&settings, ("plant", None), &[("k0", None), ("new", Some("w"))]).unwrap();
}

#[test]
fn settings_of_one_instance_and_of_all_are_bounded_and_what_is_there_can_be_changed() {
    let settings = memory();
    let deadband = |number: usize| SettingName::Deadband(format!("m{number}"));
    for number in 0..MOST_OF_INSTANCE {
        settings.keep(("plant", "engine"), deadband(number), by_ada(SettingValue::Deadband(None))).unwrap();
    }
    let one_more = settings.keep(("plant", "engine"), deadband(64), by_ada(SettingValue::Deadband(None)));
    assert!(matches!(one_more, Err(SettingsError::TooMany)));
    settings.book().size.bytes = MOST_BYTES;
    let full = settings.keep(("other", "engine"), SettingName::Rate, by_ada(hertz(5.0)));
    assert!(matches!(full, Err(SettingsError::Full)));
    settings.keep(("plant", "engine"), deadband(0), by_ada(SettingValue::Deadband(Some(1.0)))).unwrap();
    settings.reset(("plant", "engine"), Some(&deadband(0))).unwrap();
}

#[test]
fn a_change_that_cannot_be_written_is_not_seen() {
    let directory = tempfile::tempdir().unwrap();
    let settings = on_disk(directory.path());
    label(&settings, ("plant", None), &[("site", Some("graz"))]).unwrap();
    fs::remove_dir_all(directory.path()).unwrap();
    let failed = label(&settings, ("plant", None), &[("site", Some("wien"))]).unwrap_err().to_string();
    assert!(failed.contains("channel.settings_dir"), "{failed}");
    assert_eq!(settings.of_node("plant").unwrap().labels["site"].value, "graz");
}

#[test]
fn a_result_belongs_to_the_value_that_was_sent() {
    let settings = memory();
    let of = ("plant", "engine");
    settings.keep(of, SettingName::Rate, by_ada(hertz(5.0))).unwrap();
    let note = |value, result| {
        settings.note_applied("plant", &[("engine".into(), SettingName::Rate, value, result)]).unwrap();
        settings.of_node("plant").unwrap().instances["engine"].kept[&SettingName::Rate].clone()
    };
    let run = Uuid::from_u128(2);
    assert_eq!(
        note(hertz(4.0), Ok(run)).applied,
        Some(Uuid::from_u128(1)),
        "somebody has kept 5 Hz meanwhile"
    );
    assert!(note(hertz(5.0), Err(Failure::new("no", "no"))).problem.is_some());
    let applied = note(hertz(5.0), Ok(run));
    assert_eq!((applied.applied, applied.problem), (Some(run), None));
}
