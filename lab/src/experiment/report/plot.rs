//! Draws curves over time as SVG.

use super::{super::outcome::Series, estimate::number};
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

/// Lowest value on a logarithmic axis.
const LOWEST: f64 = 0.01;

/// A curve; its repetitions have one color and one name.
#[derive(Debug)]
pub struct Curve {
    /// In the legend.
    pub name: String,
    /// One line each.
    pub repetitions: Vec<Series>,
}

/// Axes of a plot; they begin at zero, a logarithmic one at a hundredth.
#[derive(Debug)]
pub struct Axes {
    /// Horizontal.
    pub x: String,
    /// Vertical.
    pub y: String,
    /// Whether the vertical one is logarithmic.
    pub is_logarithmic: bool,
}

/// Draws curves.
pub fn plot(title: &str, axes: &Axes, curves: &[Curve]) -> anyhow::Result<String> {
    let mut svg = String::new();
    draw(&mut svg, title, axes, curves).map_err(|error| anyhow!("cannot draw {title}: {error}"))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    title: &str,
    axes: &Axes,
    curves: &[Curve],
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let height = |value: f64| if axes.is_logarithmic { value.max(LOWEST).log10() } else { value };
    let points = || curves.iter().flat_map(|curve| &curve.repetitions).flatten();
    let end = points().map(|(at, _)| *at).fold(1.0, f64::max);
    let bottom = height(0.0);
    let top = points().map(|(_, value)| height(*value)).fold(bottom, f64::max);
    // Room above the highest value; an axis needs a height.
    let top = if top > bottom { bottom + (top - bottom) * 1.1 } else { bottom + 1.0 };
    let mut chart = ChartBuilder::on(&area)
        .caption(title, FONT)
        .margin(6)
        .x_label_area_size(30)
        .y_label_area_size(54)
        .build_cartesian_2d(0.0..end, bottom..top)?;
    let label = |height: &f64| number(if axes.is_logarithmic { 10_f64.powf(*height) } else { *height });
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(&axes.x)
        .y_desc(&axes.y)
        .y_label_formatter(&label)
        .label_style(FONT)
        .x_labels(6)
        .y_labels(6)
        .draw()?;
    for (curve, color) in curves.iter().zip(COLORS.iter().cycle()) {
        for (index, series) in curve.repetitions.iter().enumerate() {
            let line = series.iter().map(|(at, value)| (*at, height(*value)));
            let drawn = chart.draw_series(LineSeries::new(line, color.stroke_width(1)))?;
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

    fn axes(is_logarithmic: bool) -> Axes {
        Axes { x: "seconds".into(), y: "ms".into(), is_logarithmic }
    }

    #[test]
    fn curves_have_names_in_the_legend() {
        let series = vec![(1.0, 2.0), (2.0, 4.0)];
        let curves = [Curve { name: "Tomcat 6".into(), repetitions: vec![series.clone(), series] }];
        for is_logarithmic in [false, true] {
            let svg = plot("1,000 connections", &axes(is_logarithmic), &curves).unwrap();
            assert!(svg.starts_with("<svg") && svg.contains("Tomcat 6") && svg.contains("polyline"));
        }
    }

    #[test]
    fn nothing_at_all_can_be_drawn() {
        assert!(plot("empty", &axes(true), &[]).is_ok());
    }
}
