//! A simulated camera: 10 images of 100 kB a second. Start a DAC in another terminal, then this:
//!
//! ```text
//! cargo run -p camera
//! ```

mod png;

use oasis_probe::{Hertz, NodeBuilder, NodeConfig, Probe, TcpConnector};
use std::{error::Error, io};

/// Generated from `camera.pdl`.
mod probes {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
use probes::plant::Camera;

/// Pixels of an image; each takes a byte.
const WIDTH: usize = 400;
const HEIGHT: usize = 250;
/// Pixels between two parts on the belt.
const DISTANCE: usize = 90;

fn main() -> Result<(), Box<dyn Error>> {
    let dac = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7071".into());
    let mut builder = NodeBuilder::new("plant-7", NodeConfig::default());
    builder.periodic("camera", Hertz::new(10.0)?, Belt { moved: 0 })?;
    let _node = builder.start(TcpConnector::new(dac))?;
    println!("The camera takes 10 images a second. Enter or Ctrl-C stops it.");
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// A belt with round parts.
struct Belt {
    /// Pixels that it has moved.
    moved: usize,
}

impl Belt {
    fn brightness(&self, x: usize, y: usize) -> u8 {
        let across = ((x + self.moved) % DISTANCE) as i64 - DISTANCE as i64 / 2;
        let along = y as i64 - HEIGHT as i64 / 2;
        let distance = across * across + along * along;
        // A part is brighter towards its middle; the belt has a slight pattern.
        if distance < 1_000 { 240 - (distance / 10) as u8 } else { 40 + ((x + self.moved + y) % 16) as u8 }
    }
}

impl Probe for Belt {
    type Sample = Camera;

    fn sample(&mut self) -> io::Result<Camera> {
        self.moved += 4;
        let pixels: Vec<u8> = (0..HEIGHT)
            .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
            .map(|(x, y)| self.brightness(x, y))
            .collect();
        let sum: u32 = pixels.iter().map(|pixel| u32::from(*pixel)).sum();
        let brightness = 100.0 * sum as f32 / (255.0 * pixels.len() as f32);
        Ok(Camera { image: png::gray(WIDTH, &pixels), brightness })
    }
}
