//! Lines over time: columns of tables, their rates, sums and counts.

use arrow_array::RecordBatch;
use elephan_record::TableData;
use serde_json::{Map, json};

use crate::ask::Ask;
use crate::column::{Values, Where, place, time_of, unit};
use crate::index::Shown;
use crate::open::{Open, table};
use crate::reply::{Reply, Trouble};
use crate::thin::thinned;
use crate::totals;

/// Lines of one request, and spans of time on a line.
const LINES_MAX: usize = 512;
const POINTS_MAX: u64 = 1 << 20;

/// What is asked of a column.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// The values of the rows.
    Value,
    /// The growth of a counter from row to row in a second; of bytes in bit/s.
    Rate,
    /// The values of the rows added up: of an instant, or of every span of `per` seconds.
    Sum,
    /// How many rows there are so far, or in every span of `per` seconds.
    Count,
}

pub fn series(open: &Open, ask: Ask<'_>) -> Result<Reply, Trouble> {
    lines(ask, open.end_ns(), &open.tables())
}

/// Answers the lines that `ask` names out of tables.
pub fn lines(ask: Ask<'_>, end_ns: i64, tables: &Shown) -> Result<Reply, Trouble> {
    let asked = ask.list("lines")?;
    if asked.len() > LINES_MAX {
        return Err(format!("{} lines; at most {LINES_MAX} in one request", asked.len()).into());
    }
    let (from, to) = (ask.maybe_ns("from_ns")?.unwrap_or(0), ask.maybe_ns("to_ns")?.unwrap_or(end_ns));
    let points = ask.maybe_u64("points")?.unwrap_or(1000).clamp(1, POINTS_MAX) as usize;
    let mut reply = Reply::default();
    let mut heads = Vec::new();
    for line in asked {
        let line = line.as_object().ok_or("lines: expected a list of tables")?;
        let line = match Line::of(Ask(line), tables) {
            Ok(line) => line,
            // The other lines of the picture are drawn all the same.
            Err(trouble) => {
                heads.push(json!({ "error": trouble.message, "count": 0 }));
                continue;
            }
        };
        let (kept, was) = thinned(line.points(tables, from, to), (from as f64, to.max(from + 1) as f64), points);
        heads.push(json!({
            "offset_t": reply.put_f64(kept.iter().map(|p| p.0)),
            "offset_y": reply.put_f64(kept.iter().map(|p| p.1)),
            "count": kept.len(), "unit": line.unit(), "name": line.name, "thinned": was,
        }));
    }
    reply.head = Map::from_iter([("lines".to_owned(), heads.into())]);
    Ok(reply)
}

struct Line<'a> {
    table: &'a TableData,
    column: Option<usize>,
    time: usize,
    chosen: Where,
    how: How,
    per_ns: Option<f64>,
    /// The column that tells counters apart, where the rate of all of them together is asked for.
    each: Option<usize>,
    name: String,
}

impl<'a> Line<'a> {
    fn of(ask: Ask<'_>, tables: &'a Shown) -> Result<Line<'a>, Trouble> {
        let table = table(tables, ask.text("table")?)?;
        let how = match ask.maybe_text("how")?.unwrap_or("value") {
            "value" => How::Value,
            "rate" => How::Rate,
            "sum" => How::Sum,
            "count" => How::Count,
            other => return Err(format!("how: {other:?} is none of value, rate, sum, count").into()),
        };
        let column = ask.maybe_text("column")?;
        if column.is_none() && how != How::Count {
            return Err("column is missing: a text".into());
        }
        let time = match ask.maybe_text("time")?.or(time_of(table)) {
            Some(time) => place(table, time)?,
            None => return Err(format!("{} has no column of times", table.name).into()),
        };
        let per = ask.maybe_f64("per")?;
        if per.is_some_and(|per| per.is_nan() || per < 1e-9) {
            return Err("per: expected seconds, at least 1e-9".into());
        }
        let each = ask.maybe_text("each")?;
        if each.is_some() && (how != How::Rate || per.is_some()) {
            return Err("each: only of the rate of counters, without per".into());
        }
        let name = ask.maybe_text("name")?.or(column).unwrap_or(table.name).to_owned();
        Ok(Line {
            column: column.map(|column| place(table, column)).transpose()?,
            chosen: Where::of(table, ask.table("where")?)?,
            per_ns: per.map(|per| per * 1e9),
            each: each.map(|each| place(table, each)).transpose()?,
            table,
            time,
            how,
            name,
        })
    }

    fn unit(&self) -> &str {
        let unit = self.column.map_or("", |column| unit(self.table, column));
        match (self.how, unit) {
            (How::Rate, "B") => "bit/s",
            (How::Rate, "") => "/s",
            (How::Rate, "ns") => "s/s",
            (How::Count, _) => "",
            _ => unit,
        }
    }

    /// The points from `from` to `to`, and the nearest on either side, in the order of time.
    fn points(&self, tables: &Shown, from: i64, to: i64) -> Vec<(f64, f64)> {
        let (from, to) = (from as f64, to as f64);
        if let Some(each) = self.each {
            let ends = totals::ends(tables, self.table, self.column.unwrap_or_default());
            return within(totals::rates(self.counters(tables, each), ends, self.scale()), from, to);
        }
        // A rate needs one instant more than its points; what counts from the beginning needs all rows.
        let (before, after) = match (self.how, self.per_ns) {
            (How::Value, _) | (How::Sum, None) => (1, 1),
            (How::Rate, None) => (2, 1),
            _ => (usize::MAX, usize::MAX),
        };
        let (rows, whole) = self.rows(tables, (from, before), (to, after));
        match (self.how, self.per_ns) {
            (How::Value, _) => within(rows, from, to),
            (How::Rate, per) => {
                let scale = self.scale();
                let rows = together(rows);
                let known = usize::from(!whole).min(rows.len());
                within(rates(&rows, known, per, scale), from, to)
            }
            (How::Sum, None) => within(together(rows), from, to),
            (How::Count, None) => within(counted(rows), from, to),
            (_, Some(per)) => within(spans(&rows, per), from, to),
        }
    }

    /// What the growth of a counter in a ns is multiplied with.
    fn scale(&self) -> f64 {
        match unit(self.table, self.column.unwrap_or_default()) {
            "B" => 8e9,
            "ns" => 1.0,
            _ => 1e9,
        }
    }

    /// Time, counter and value of all rows that are asked for, in the order of time.
    fn counters(&self, tables: &Shown, each: usize) -> Vec<(f64, f64, f64)> {
        let found = tables.rows(self.table, &self.chosen, self.time);
        let mut rows = Vec::new();
        let all = (f64::NEG_INFINITY, usize::MAX);
        found.near(self.table, self.time, all, (f64::INFINITY, usize::MAX), &mut |batch, of| {
            let [times, keys, values] =
                [self.time, each, self.column.unwrap_or_default()].map(|column| Values::of(batch.column(column)));
            let (Some(times), Some(keys), Some(values)) = (times, keys, values) else { return };
            let row = |&row: &u32| (times.number(row as usize), keys.number(row as usize), values.number(row as usize));
            rows.extend(of.iter().map(row));
        });
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows
    }

    /// Times and values of the rows that are asked for, in the order of time, from some instants before a time to some after another, and
    /// whether the first of all rows is among them. Of a count the values are 1.
    fn rows(&self, tables: &Shown, from: (f64, usize), to: (f64, usize)) -> (Vec<(f64, f64)>, bool) {
        let found = tables.rows(self.table, &self.chosen, self.time);
        let mut rows = Vec::new();
        let whole = found.near(self.table, self.time, from, to, &mut |batch, of| self.add(batch, of, &mut rows));
        if !found.in_order {
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        (rows, whole)
    }

    fn add(&self, batch: &RecordBatch, of: &[u32], rows: &mut Vec<(f64, f64)>) {
        let Some(times) = Values::of(batch.column(self.time)) else { return };
        let values = self.column.filter(|_| self.how != How::Count).map(|column| batch.column(column));
        let values = values.and_then(Values::of);
        let point = |&row: &u32| {
            let row = row as usize;
            (times.number(row), values.as_ref().map_or(1.0, |values| values.number(row)))
        };
        rows.extend(of.iter().map(point));
    }
}

/// The points from `from` to `to` with one more on each side, so that a line reaches the edge of the picture.
fn within(mut points: Vec<(f64, f64)>, from: f64, to: f64) -> Vec<(f64, f64)> {
    let first = points.partition_point(|p| p.0 < from).saturating_sub(1);
    let last = (points.partition_point(|p| p.0 <= to) + 1).min(points.len());
    points.truncate(last);
    points.drain(..first.min(last));
    points
}

/// Rows of one instant as one: their values are added.
fn together(rows: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = Vec::with_capacity(rows.len());
    for (time, value) in rows {
        match sums.last_mut() {
            Some(last) if last.0 == time => last.1 += value,
            _ => sums.push((time, value)),
        }
    }
    sums
}

fn counted(rows: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let times: Vec<f64> = rows.into_iter().map(|row| row.0).collect();
    let last_of_instant = |i: usize| times.get(i + 1).is_none_or(|next| *next > times[i]);
    (0..times.len()).filter(|&i| last_of_instant(i)).map(|i| (times[i], (i + 1) as f64)).collect()
}

/// The growth of a counter, that is 0 at the beginning, up to each row from number `first` on: since the row before, or since the last row that
/// is at least `per` ns older.
fn rates(rows: &[(f64, f64)], first: usize, per: Option<f64>, scale: f64) -> Vec<(f64, f64)> {
    let mut back = 0;
    let mut rates = Vec::with_capacity(rows.len());
    for (i, &(time, value)) in rows.iter().enumerate().skip(first) {
        while let Some(per) = per
            && back + 1 < i
            && rows[back + 1].0 <= time - per * (1.0 - 1e-9)
        {
            back += 1;
        }
        let before = match (per, i) {
            (_, 0) => (0.0, 0.0),
            (None, i) => rows[i - 1],
            (Some(per), _) if rows[back].0 > time - per * (1.0 - 1e-9) => (0.0, 0.0),
            (Some(_), _) => rows[back],
        };
        if time > before.0 {
            rates.push((time, (value - before.1) * scale / (time - before.0)));
        }
    }
    rates
}

/// Values added up in spans of `per` ns from the beginning; a point stands at the end of its span, also of an empty one between others.
fn spans(rows: &[(f64, f64)], per: f64) -> Vec<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    let mut number = 0.0;
    for &(time, value) in rows {
        let here = libm::floor(time / per);
        if sums.is_empty() || here > number {
            // The two spans next to a silence are enough to draw it.
            if !sums.is_empty() && here > number + 1.0 {
                sums.push(((number + 2.0) * per, 0.0));
                if here > number + 2.0 {
                    sums.push((here * per, 0.0));
                }
            }
            number = here;
            sums.push(((here + 1.0) * per, 0.0));
        }
        if let (Some(last), false) = (sums.last_mut(), value.is_nan()) {
            last.1 += value;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_a_counter() {
        // 1 000 bytes each ms are 8 Mb/s; nothing comes in the third.
        let rows: Vec<(f64, f64)> = [(1e6, 1000.0), (2e6, 2000.0), (3e6, 2000.0), (4e6, 3000.0)].to_vec();
        assert_eq!(rates(&rows, 0, None, 8e9), [(1e6, 8e6), (2e6, 8e6), (3e6, 0.0), (4e6, 8e6)]);
        assert_eq!(rates(&rows, 0, Some(2e6), 8e9), [(1e6, 8e6), (2e6, 8e6), (3e6, 4e6), (4e6, 4e6)]);
    }

    #[test]
    fn spans_of_events() {
        let rows = [(0.0, 1.0), (5.0, 1.0), (12.0, 1.0), (95.0, 1.0)];
        assert_eq!(spans(&rows, 10.0), [(10.0, 2.0), (20.0, 1.0), (30.0, 0.0), (90.0, 0.0), (100.0, 1.0)]);
        assert_eq!(counted(vec![(1.0, 1.0), (1.0, 1.0), (3.0, 1.0)]), [(1.0, 2.0), (3.0, 3.0)]);
        assert_eq!(together(vec![(1.0, 1.0), (1.0, 2.0), (3.0, 1.0)]), [(1.0, 3.0), (3.0, 1.0)]);
    }

    #[test]
    fn one_point_beyond_each_edge() {
        let points: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i), 0.0)).collect();
        let times = |from, to| within(points.clone(), from, to).iter().map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(times(2.5, 4.0), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(times(20.0, 30.0), [9.0]);
        assert_eq!(times(-5.0, -1.0), [0.0]);
    }
}
