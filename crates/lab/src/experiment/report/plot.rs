//! Draws curves over time as SVG.

use super::super::outcome::Series;
use anyhow::anyhow;
use plotters::prelude::*;

const SIZE: (u32, u32) = (440, 280);
/// Colors that color-blind readers tell apart (Okabe and Ito), without yellow.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
const FONT: (&str, u32) = ("sans-serif", 12);

/// A curve; its repetitions have one color and one name.
#[derive(Debug)]
pub struct Curve<'a> {
    /// In the legend.
    pub name: String,
    /// One line each.
    pub repetitions: Vec<&'a Series>,
}

/// Draws curves; the axes begin at zero.
pub fn plot(title: &str, y: &str, curves: &[Curve<'_>]) -> anyhow::Result<String> {
    let mut svg = String::new();
    draw(&mut svg, title, y, curves).map_err(|error| anyhow!("cannot draw {title}: {error}"))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    title: &str,
    y: &str,
    curves: &[Curve<'_>],
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || curves.iter().flat_map(|curve| &curve.repetitions).flat_map(|series| series.iter());
    let end = points().map(|(at, _)| *at).fold(1.0, f64::max);
    let top = points().map(|(_, value)| *value).fold(0.0, f64::max);
    // Room above the highest value; an axis needs a height.
    let top = if top > 0.0 { top * 1.1 } else { 1.0 };
    let mut chart = ChartBuilder::on(&area)
        .caption(title, FONT)
        .margin(6)
        .x_label_area_size(30)
        .y_label_area_size(54)
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("seconds")
        .y_desc(y)
        .label_style(FONT)
        .x_labels(6)
        .y_labels(6)
        .draw()?;
    for (curve, color) in curves.iter().zip(COLORS.iter().cycle()) {
        for (index, series) in curve.repetitions.iter().enumerate() {
            let drawn = chart.draw_series(LineSeries::new(series.iter().copied(), color.stroke_width(1)))?;
            if index == 0 {
                drawn
                    .label(&curve.name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], color.stroke_width(2)));
            }
        }
    }
    let legend = SeriesLabelPosition::UpperRight;
    chart
        .configure_series_labels()
        .position(legend)
        .background_style(WHITE.mix(0.7))
        .label_font(FONT)
        .draw()?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_names_in_the_legend() {
        let series = vec![(1.0, 2.0), (2.0, 4.0)];
        let curves = [Curve { name: "Tomcat 6".into(), repetitions: vec![&series, &series] }];
        let svg = plot("1,000 connections", "ms", &curves).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("Tomcat 6") && svg.contains("polyline"));
    }

    #[test]
    fn nothing_at_all_can_be_drawn() {
        assert!(plot("empty", "ms", &[]).is_ok());
    }
}
