use super::*;
use proptest::prelude::*;

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..10_u64, (0..10_u64).prop_map(|early| u64::MAX - early)]
}

proptest! {
    /// Times come from requests and from clocks, so they can be arbitrary.
    #[test]
    fn any_time_span_has_at_most_the_requested_points(
        from in time(), to in time(), points in 1..20_u32,
        level in prop::sample::select(&[Level::Raw, Level::Second, Level::Minute, Level::Hour][..]), is_open: bool, last in time(),
    ) {
        let mut of = Points::new(Span { from, to, is_open, points }, level);
        let span = of.cells.span();
        prop_assert!((span.end - span.start).div_ceil(of.cells.step()) <= points.into());
        prop_assert_eq!(of.cells.step().checked_rem(level.width()).filter(|_| of.cells.step() < u64::MAX).unwrap_or(0), 0);
        prop_assert!(span.start <= from && to <= span.end);
        of.cells.extend_to(last);
        prop_assert!(of.cells.span().end >= last);
    }

    #[test]
    fn there_are_at_least_half_of_the_requested_points(
        from in 0..1_u64 << 61, length in 1..1_u64 << 55, points in 1..10_000_u32,
    ) {
        let span = Span { from, to: from + length.max(points.into()), is_open: false, points };
        let level = Level::for_step(span.step());
        let cells = Points::new(span, level).cells;
        let (covered, step) = (cells.span(), cells.step());
        prop_assert!(covered.start <= span.from && span.to <= covered.end);
        prop_assert_eq!(step % level.width(), 0);
        let count = (covered.end - covered.start) / step;
        prop_assert!(count <= points.into() && 2 * count + 1 >= points.into(), "{count} of {points}: {level:?} {step}");
    }
}
