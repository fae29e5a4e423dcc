//! Temperature, fan and other sensors of this host, from `/sys/class/hwmon` and `/sys/class/thermal`.

use crate::{CurrentProbe, FanProbe, HumidityProbe, PowerProbe, TemperatureProbe, VoltageProbe};
use oasis_ei_node::{Choice, ChoiceError, Parameter, ReadyMadeProbe};
use oasis_probe::{NodeBuilder, Probe, Sample};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The folder of the sensors.
pub const CLASSES: &str = "/sys/class";

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "sensors",
    measures: "temperature, fan, voltage, current, power, humidity",
    instances: "`sensors/coretemp/Core 0`, one for each sensor",
    parameters: &[Parameter { name: "chip", meaning: "only sensors of this chip, or `thermal`" }],
    types: &["TemperatureProbe", "FanProbe", "VoltageProbe", "CurrentProbe", "PowerProbe", "HumidityProbe"],
    add: add_sensors,
};

/// Adds one instance for each sensor: `sensors/coretemp/Core 0`.
fn add_sensors(node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
    let chip = choice.text("chip")?;
    let mut found = sensors(Path::new(CLASSES))?;
    found.retain(|_, place| chip.is_none_or(|chip| place.chip == chip));
    if found.is_empty() {
        return Err(ChoiceError::NothingToWatch {
            missing: "no such sensor is in /sys/class/hwmon or /sys/class/thermal",
            remedy: "load the driver of the chip, or remove the probe",
        });
    }
    for (name, place) in found {
        match place.quantity {
            Quantity::Temperature => {
                add_sensor(node, choice, &name, place, |temperature| TemperatureProbe { temperature })
            }
            Quantity::Fan => add_sensor(node, choice, &name, place, |speed| FanProbe { speed }),
            Quantity::Voltage => add_sensor(node, choice, &name, place, |voltage| VoltageProbe { voltage }),
            Quantity::Current => add_sensor(node, choice, &name, place, |current| CurrentProbe { current }),
            Quantity::Power => add_sensor(node, choice, &name, place, |power| PowerProbe { power }),
            Quantity::Humidity => {
                add_sensor(node, choice, &name, place, |humidity| HumidityProbe { humidity })
            }
        }?;
    }
    Ok(())
}

fn add_sensor<S: Sample + 'static>(
    node: &mut NodeBuilder,
    choice: &Choice<'_>,
    name: &str,
    place: SensorAddress,
    sample: fn(f64) -> S,
) -> Result<(), ChoiceError> {
    choice.periodic_of(node, "sensors", name, Sensor::new(place, sample))
}

/// Measured quantity of a sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Degrees Celsius.
    Temperature,
    /// Revolutions a minute.
    Fan,
    /// Volts.
    Voltage,
    /// Amperes.
    Current,
    /// Watts.
    Power,
    /// Per cent.
    Humidity,
}

impl Quantity {
    /// Documentation/hwmon/sysfs-interface.rst: beginning of the file's name, what is measured, steps in a unit.
    const HWMON: [(&str, Self, f64); 6] = [
        ("temp", Self::Temperature, 1_000.0),
        ("fan", Self::Fan, 1.0),
        ("in", Self::Voltage, 1_000.0),
        ("curr", Self::Current, 1_000.0),
        ("power", Self::Power, 1_000_000.0),
        ("humidity", Self::Humidity, 1_000.0),
    ];

    /// Returns the quantity and scale for a file such as `temp1_input`, or `temp` of a thermal zone.
    fn of(file: &str) -> Option<(Self, f64)> {
        let stem = file.strip_suffix("_input").unwrap_or(file).trim_end_matches(|c: char| c.is_ascii_digit());
        let of_file = |(beginning, quantity, steps)| (beginning == stem).then_some((quantity, steps));
        Self::HWMON.into_iter().find_map(of_file)
    }
}

/// One sensor. The kernel renumbers chips that are plugged in again, so the sensor is identified by its device.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorAddress {
    /// Name of the chip, or of the thermal zone.
    pub chip: String,
    /// The device of the chip, such as `0000:00:18.3`.
    pub device: String,
    /// The label of the sensor.
    pub label: String,
    /// The measured quantity.
    pub quantity: Quantity,
    file: String,
    path: PathBuf,
    classes: PathBuf,
}

impl SensorAddress {
    /// Reads the value in its unit. A chip that was plugged in again is found under its new number.
    fn read(&mut self) -> io::Result<f64> {
        let value = read(&self.path, &self.file);
        let moved = || list(&self.classes).ok()?.into_iter().find(|other| self.is(other));
        match value {
            Err(error) => match moved().filter(|other| other.path != self.path) {
                Some(other) => {
                    self.path = other.path;
                    read(&self.path, &self.file)
                }
                None => Err(error),
            },
            read => read,
        }
    }

    fn is(&self, other: &Self) -> bool {
        (&self.chip, &self.device, &self.file) == (&other.chip, &other.device, &other.file)
    }
}

/// A probe for a sensor, of the probe type of its quantity.
pub struct Sensor<S> {
    place: SensorAddress,
    sample: fn(f64) -> S,
}

impl<S> Sensor<S> {
    /// `sample` converts a value to a sample.
    pub fn new(place: SensorAddress, sample: fn(f64) -> S) -> Self {
        Self { place, sample }
    }
}

impl<S: Sample + 'static> Probe for Sensor<S> {
    type Sample = S;

    fn sample(&mut self) -> io::Result<S> {
        self.place.read().map(self.sample)
    }
}

/// All sensors below `classes`, by names that are unique: `coretemp/Core 0`.
pub fn sensors(classes: &Path) -> io::Result<BTreeMap<String, SensorAddress>> {
    let all = list(classes)?;
    let name = |place: &SensorAddress| format!("{}/{}", place.chip, place.label);
    let alone = |place: &SensorAddress| all.iter().filter(|other| name(other) == name(place)).count() == 1;
    let full = |place: &SensorAddress| format!("{}.{}/{}", place.chip, place.device, stem(&place.file));
    Ok(all
        .iter()
        .map(|place| (if alone(place) { name(place) } else { full(place) }, place.clone()))
        .collect())
}

fn list(classes: &Path) -> io::Result<Vec<SensorAddress>> {
    let mut places = Vec::new();
    for chip in folders(&classes.join("hwmon"))? {
        let name = text(&chip.join("name")).unwrap_or_else(|| "hwmon".into());
        let device = fs::read_link(chip.join("device")).ok().unwrap_or_else(|| chip.clone());
        for file in files(&chip) {
            let Some((quantity, _)) = Quantity::of(&file) else { continue };
            let stem = stem(&file);
            let label = text(&chip.join(format!("{stem}_label"))).unwrap_or_else(|| stem.into());
            places.push(SensorAddress {
                chip: name.clone(),
                device: last(&device),
                label,
                quantity,
                path: chip.join(&file),
                file,
                classes: classes.into(),
            });
        }
    }
    for zone in folders(&classes.join("thermal"))?.into_iter().filter(|zone| zone.join("temp").exists()) {
        places.push(SensorAddress {
            chip: "thermal".into(),
            device: last(&zone),
            label: text(&zone.join("type")).unwrap_or_else(|| last(&zone)),
            quantity: Quantity::Temperature,
            path: zone.join("temp"),
            file: "temp".into(),
            classes: classes.into(),
        });
    }
    Ok(places)
}

fn read(path: &Path, file: &str) -> io::Result<f64> {
    let named = |kind, what: &str| io::Error::new(kind, format!("{}: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| named(error.kind(), &error.to_string()))?;
    parse(&text, file).ok_or_else(|| named(io::ErrorKind::InvalidData, "not a whole number"))
}

fn parse(text: &str, file: &str) -> Option<f64> {
    let steps: i64 = text.trim().parse().ok()?;
    Some(steps as f64 / Quantity::of(file)?.1)
}

/// Sorted, so that names do not depend on the order in which the kernel lists them. Empty if this host does not have the class.
fn folders(class: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(class) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", class.display()))),
    };
    let mut folders: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    Ok(folders)
}

fn files(chip: &Path) -> Vec<String> {
    let names = fs::read_dir(chip).into_iter().flatten();
    let mut files: Vec<_> = names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with("_input"))
        .collect();
    files.sort();
    files
}

fn stem(file: &str) -> &str {
    file.trim_end_matches("_input")
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, content)| fs::write(folder.join(name), content).unwrap());
    }

    fn host() -> tempfile::TempDir {
        let classes = tempfile::tempdir().unwrap();
        let hwmon = classes.path().join("hwmon");
        put(
            &hwmon.join("hwmon0"),
            &[("name", "coretemp\n"), ("temp2_input", "41000\n"), ("temp2_label", "Core 0\n")],
        );
        put(&hwmon.join("hwmon1"), &[("name", "nvme\n"), ("temp1_input", "-5500\n")]);
        put(&hwmon.join("hwmon2"), &[("name", "nvme\n"), ("temp1_input", "38850\n")]);
        put(
            &hwmon.join("hwmon3"),
            &[
                ("name", "nct6775\n"),
                ("fan1_input", "1180\n"),
                ("in0_input", "896\n"),
                ("power1_input", "65000000\n"),
            ],
        );
        put(&classes.path().join("thermal/thermal_zone0"), &[("type", "acpitz\n"), ("temp", "27800\n")]);
        put(&classes.path().join("thermal/cooling_device0"), &[("type", "Processor\n")]);
        classes
    }

    #[test]
    fn each_sensor_has_a_name_a_quantity_and_a_value() {
        let classes = host();
        let mut found = sensors(classes.path()).unwrap();
        let names: Vec<_> = found.keys().map(String::as_str).collect();
        let expected = [
            "coretemp/Core 0",
            "nct6775/fan1",
            "nct6775/in0",
            "nct6775/power1",
            "nvme.hwmon1/temp1",
            "nvme.hwmon2/temp1",
            "thermal/acpitz",
        ];
        assert_eq!(names, expected);
        let values: Vec<_> = found.values_mut().map(|place| place.read().unwrap()).collect();
        assert_eq!(values, [41.0, 1180.0, 0.896, 65.0, -5.5, 38.85, 27.8]);
    }

    #[test]
    fn a_chip_that_is_unplugged_is_an_error_until_it_is_back_under_another_number() {
        let classes = host();
        let hwmon = classes.path().join("hwmon");
        let place = sensors(classes.path()).unwrap().remove("coretemp/Core 0").unwrap();
        let place = SensorAddress { device: "coretemp.0".into(), ..place };
        let mut probe = Sensor::new(place, |temperature| TemperatureProbe { temperature });
        assert_eq!(probe.sample().unwrap().temperature, 41.0);
        fs::remove_dir_all(hwmon.join("hwmon0")).unwrap();
        let error = probe.sample().unwrap_err().to_string();
        assert!(error.contains("hwmon0/temp2_input"), "{error}");
        put(&hwmon.join("hwmon7"), &[("name", "coretemp"), ("temp2_input", "50000")]);
        std::os::unix::fs::symlink("../../../coretemp.0", hwmon.join("hwmon7/device")).unwrap();
        assert_eq!(probe.sample().unwrap().temperature, 50.0);
    }

    #[test]
    fn a_host_without_sensors_has_none() {
        assert!(sensors(Path::new("/nowhere")).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(-|[0-9]{0,20}|\\PC){0,4}", file in "(temp|fan|in|[0-9]|_input|\\PC){0,4}") {
            parse(&text, &file);
        }
    }
}
