//! A line thinned to what a screen can show: the smallest and the largest value of each of some equal spans of time.

/// The points of a line that are shown: all if there are at most two for each of `buckets`, else the least and the greatest value of each
/// bucket of the time from `from` to `to`, in their order. Every extreme of the line is one of its points; no value is made up. Points
/// outside, at most one on each side, stay. A bucket without a number keeps one gap.
pub fn thinned(points: Vec<(f64, f64)>, (from, to): (f64, f64), buckets: usize) -> (Vec<(f64, f64)>, bool) {
    if points.len() <= 2 * buckets {
        return (points, false);
    }
    let width = (to - from) / buckets as f64;
    let bucket = |t: f64| if t < from { -1 } else { (((t - from) / width) as i64).min(buckets as i64 - 1) };
    let mut kept = Vec::with_capacity(2 * buckets + 2);
    let mut rest = points.as_slice();
    while let Some(first) = rest.first() {
        let here = bucket(first.0);
        let end = rest.partition_point(|p| bucket(p.0) <= here);
        let (inside, after) = rest.split_at(end.max(1));
        let numbers = || inside.iter().enumerate().filter(|(_, p)| !p.1.is_nan());
        let least = numbers().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let greatest = numbers().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        match (least, greatest) {
            (Some((i, a)), Some((k, b))) if i < k => kept.extend([*a, *b]),
            (Some((i, a)), Some((k, b))) if i > k => kept.extend([*b, *a]),
            (Some((_, a)), _) => kept.push(*a),
            _ => kept.push(*first),
        }
        rest = after;
    }
    (kept, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), libm::sin(f64::from(i) / 50.0))).collect();
        points[4_321].1 = 9.0;
        points[4_322].1 = -7.0;
        points[9_999].1 = 11.0;
        let (kept, was) = thinned(points.clone(), (0.0, 10_000.0), 100);
        assert!(was && kept.len() <= 200);
        for wanted in [(4_321.0, 9.0), (4_322.0, -7.0), (9_999.0, 11.0)] {
            assert!(kept.contains(&wanted), "{wanted:?}");
        }
        assert!(kept.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(kept.iter().all(|p| points.contains(p)), "no value is made up");
    }

    #[test]
    fn what_fits_stays_and_gaps_are_seen() {
        let few: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), f64::from(i))).collect();
        assert_eq!(thinned(few.clone(), (0.0, 20.0), 10), (few, false));
        let gap: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), if i < 50 { f64::NAN } else { 1.0 })).collect();
        let (kept, _) = thinned(gap, (0.0, 100.0), 4);
        assert_eq!(kept.iter().map(|p| p.1.is_nan()).collect::<Vec<_>>(), [true, true, false, false, false, false]);
    }
}
