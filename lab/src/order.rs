//! Orders to a measured process, one line each on its standard input. The end of the input ends the process.

use std::{
    fmt,
    io::{self, BufRead, Write},
    str::FromStr,
    time::Duration,
};

/// One order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A burst for every subscriber, at once.
    Round {
        /// Messages for each.
        burst: usize,
    },
    /// Single samples at a rate.
    Run {
        /// Samples a second.
        hertz: u32,
        /// Duration.
        length: Duration,
    },
}

impl fmt::Display for Order {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round { burst } => write!(out, "round {burst}"),
            Self::Run { hertz, length } => write!(out, "run {hertz} {}", length.as_millis()),
        }
    }
}

impl FromStr for Order {
    type Err = io::Error;

    fn from_str(line: &str) -> io::Result<Self> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().map_err(|_| unknown(line));
        match words.as_slice() {
            ["round", burst] => Ok(Self::Round { burst: number(burst)? as usize }),
            ["run", hertz, millis] => {
                Ok(Self::Run { hertz: number(hertz)?, length: Duration::from_millis(number(millis)?.into()) })
            }
            _ => Err(unknown(line)),
        }
    }
}

fn unknown(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no order: {line:?}"))
}

/// Prints the addresses of this process.
pub fn ready(places: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "ready {}", places.join(" "))?;
    out.flush()
}

/// Carries out orders until there are no more.
pub fn run_orders(mut each: impl FnMut(Order) -> anyhow::Result<()>) -> anyhow::Result<()> {
    for line in io::stdin().lock().lines() {
        each(line?.parse()?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_parsed_as_formatted() {
        for order in
            [Order::Round { burst: 16 }, Order::Run { hertz: 1_000, length: Duration::from_millis(2_500) }]
        {
            assert_eq!(order.to_string().parse::<Order>().unwrap(), order);
        }
        assert!("round".parse::<Order>().is_err());
    }
}
