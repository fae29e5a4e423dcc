use super::*;
use std::io::ErrorKind;

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_query_result_has_short_numbers_and_a_sample_keeps_the_point_of_a_real() {
    let reals = [Cell::Real64(20.0), Cell::Real64(0.5), Cell::Real64(f64::NEG_INFINITY)];
    assert_eq!(reals.each_ref().map(field), ["20", "0.5", "-Infinity"]);
    assert_eq!(
        reals.each_ref().map(|cell| metric(cell, &CsvDialect::default())),
        ["20.0", "0.5", "-Infinity"]
    );
    assert_eq!(metric(&Cell::Text("=1+1".into()), &CsvDialect::default()), "'=1+1");
}

#[test]
fn the_error_of_the_output_comes_through_the_library() {
    let mut csv = Csv::new(Full, CsvDialect::default());
    csv.row(&[Cell::Int(1)]).unwrap();
    assert_eq!(RowWriter::finish(&mut csv).unwrap_err().kind(), ErrorKind::BrokenPipe);
    let long: Vec<_> = (0..10_000).map(|_| Cell::Text("0123456789".into())).collect();
    assert_eq!(Csv::new(Full, CsvDialect::default()).row(&long).unwrap_err().kind(), ErrorKind::BrokenPipe);
}
