//! `approx_percentile_cont` of groups: the t-digests of DataFusion (Dunning and Ertl, "Computing Extremely Accurate
//! Quantiles Using t-Digests", 2019), which here take the values of a group by the thousand. DataFusion's groups take those of a
//! batch: it copies, sorts and merges a few hundred at a time.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Float64Builder, ListBuilder, UInt64Array};
use arrow::datatypes::{DataType, Float64Type, UInt64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::expressions::Literal;
use datafusion_functions_aggregate_common::tdigest::{Centroid, DEFAULT_MAX_SIZE, TDigest};
use std::sync::Arc;

/// A digest takes so many values at once.
const FULL: usize = 4096;

/// The digests of all groups.
#[derive(Debug)]
pub(super) struct Digests {
    groups: Vec<Group>,
    percentile: f64,
    /// What the groups hold in addition to their own size.
    bytes: usize,
    /// A sorted part of a group, for the digest.
    sorted: Vec<f64>,
}

#[derive(Debug, Default)]
struct Group {
    /// Values that are not in the digest, as integers of the same order.
    recent: Vec<i64>,
    digest: Option<Box<TDigest>>,
}

impl Digests {
    /// The accumulator of a call, if it is one of doubles with a valid percentile and nothing more.
    pub(super) fn of(args: &AccumulatorArgs<'_>) -> Option<Self> {
        let [_, percentile] = args.exprs else { return None };
        let literal = percentile.downcast_ref::<Literal>().map(Literal::value);
        let Some(ScalarValue::Float64(Some(percentile))) = literal else { return None };
        let is_of_doubles = *args.expr_fields[0].data_type() == DataType::Float64;
        (is_of_doubles && !args.is_distinct && (0.0..=1.0).contains(percentile)).then_some(())?;
        let descends = args.order_bys.first().is_some_and(|key| key.options.descending);
        let percentile = if descends { 1.0 - percentile } else { *percentile };
        Some(Self { groups: Vec::new(), percentile, bytes: 0, sorted: Vec::new() })
    }

    #[inline]
    fn add(&mut self, group: usize, value: f64) {
        let recent = &mut self.groups[group].recent;
        if recent.len() == recent.capacity() {
            let before = recent.capacity();
            recent.reserve(1);
            self.bytes += (recent.capacity() - before) * size_of::<i64>();
        }
        recent.push(ordered(value.to_bits().cast_signed()));
        if recent.len() == FULL {
            self.digest(group);
        }
    }

    /// Moves the recent values of a group into its digest.
    fn digest(&mut self, group: usize) {
        let Self { groups, bytes, sorted, .. } = self;
        let Group { recent, digest } = &mut groups[group];
        if recent.is_empty() {
            return;
        }
        recent.sort_unstable();
        sorted.clear();
        sorted.extend(recent.drain(..).map(|value| f64::from_bits(ordered(value).cast_unsigned())));
        let before = digest.as_ref().map_or(0, |digest| digest.size());
        let merged = match &digest {
            Some(digest) => digest.merge_sorted_f64(sorted),
            None => TDigest::new(DEFAULT_MAX_SIZE).merge_sorted_f64(sorted),
        };
        *bytes = *bytes + merged.size() - before;
        *digest = Some(Box::new(merged));
    }

    /// Takes out the digests of some groups.
    fn take(&mut self, emit: EmitTo) -> Vec<Option<Box<TDigest>>> {
        let count = match emit {
            EmitTo::All => self.groups.len(),
            EmitTo::First(count) => count,
        };
        (0..count).for_each(|group| self.digest(group));
        let taken = emit.take_needed(&mut self.groups);
        let digests = taken.into_iter().map(|Group { recent, digest }| {
            self.bytes -= recent.capacity() * size_of::<i64>() + digest.as_ref().map_or(0, |digest| digest.size());
            digest
        });
        digests.collect()
    }
}

/// The bits of a double as an integer, in the order of [`f64::total_cmp`]; and back.
fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl GroupsAccumulator for Digests {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.groups.resize_with(count, Group::default);
        let values = values[0].as_primitive::<Float64Type>();
        let is_wanted = |row: &usize| filter.is_none_or(|filter| filter.is_valid(*row) && filter.value(*row));
        let doubles = values.values();
        match values.nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => {
                nulls.valid_indices().filter(is_wanted).for_each(|row| self.add(groups[row], doubles[row]));
            }
            None => (0..doubles.len()).filter(is_wanted).for_each(|row| self.add(groups[row], doubles[row])),
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.groups.resize_with(count, Group::default);
        let max_sizes = states[0].as_primitive::<UInt64Type>();
        let [sums, counts, greatest, least] = [1, 2, 3, 4].map(|part| states[part].as_primitive::<Float64Type>());
        let centroids = states[5].as_list::<i32>();
        for (row, &group) in groups.iter().enumerate() {
            let of_row = centroids.value(row);
            let (pairs, _) = of_row.as_primitive::<Float64Type>().values().as_chunks::<2>();
            if pairs.is_empty() {
                continue;
            }
            let other = TDigest::try_from_parts(
                usize::try_from(max_sizes.value(row)).unwrap_or(DEFAULT_MAX_SIZE),
                sums.value(row),
                counts.value(row),
                greatest.value(row),
                least.value(row),
                pairs.iter().map(|[mean, weight]| Centroid::new(*mean, *weight)).collect(),
            )?;
            self.digest(group);
            let digest = &mut self.groups[group].digest;
            let before = digest.as_ref().map_or(0, |digest| digest.size());
            let merged = match &digest {
                Some(digest) => TDigest::merge_digests([&**digest, &other]),
                None => other,
            };
            self.bytes = self.bytes + merged.size() - before;
            *digest = Some(Box::new(merged));
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let percentile = self.percentile;
        let values = self.take(emit).into_iter().map(|digest| Some(digest?.estimate_quantile(percentile)));
        Ok(Arc::new(values.collect::<Float64Array>()))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let empty = TDigest::new(DEFAULT_MAX_SIZE);
        let digests = self.take(emit);
        let digests: Vec<&TDigest> = digests.iter().map(|digest| digest.as_deref().unwrap_or(&empty)).collect();
        let each = |of: fn(&TDigest) -> f64| -> ArrayRef {
            Arc::new(digests.iter().map(|digest| Some(of(digest))).collect::<Float64Array>())
        };
        let mut centroids = ListBuilder::new(Float64Builder::new());
        for digest in &digests {
            digest.centroids().iter().for_each(|centroid| {
                centroids.values().append_slice(&[centroid.mean(), centroid.weight()]);
            });
            centroids.append(true);
        }
        let max_sizes = digests.iter().map(|digest| Some(digest.max_size() as u64)).collect::<UInt64Array>();
        Ok(vec![
            Arc::new(max_sizes),
            each(TDigest::sum),
            each(TDigest::count),
            each(TDigest::max),
            each(TDigest::min),
            Arc::new(centroids.finish()),
        ])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let mut each = Self { groups: Vec::new(), percentile: self.percentile, bytes: 0, sorted: Vec::new() };
        each.update_batch(values, &(0..rows).collect::<Vec<_>>(), filter, rows)?;
        each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<Group>() + self.sorted.capacity() * size_of::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(percentile: f64) -> Digests {
        Digests { groups: Vec::new(), percentile, bytes: 0, sorted: Vec::new() }
    }

    #[test]
    fn integers_have_the_order_of_their_doubles() {
        let doubles = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::MAX, f64::INFINITY];
        let integers = doubles.map(|double| ordered(double.to_bits().cast_signed()));
        assert!(integers.is_sorted());
        assert_eq!(
            integers.map(|integer| f64::from_bits(ordered(integer).cast_unsigned()).to_bits()),
            doubles.map(f64::to_bits)
        );
    }

    #[test]
    fn percentiles_are_near_those_of_all_values() {
        let count = 100_000;
        // Of group 0 a permutation of 0 to 99,999, and of group 1 its negative; of group 2 only null.
        let values: Vec<Option<f64>> = (0..count).map(|row| Some(f64::from(row * 7919 % count))).collect();
        for (percentile, near) in [(0.0, 0.0), (0.05, 4999.95), (0.5, 49_999.5), (0.999, 99_899.0), (1.0, 99_999.0)] {
            let [mut whole, mut first, mut second] = [percentile; 3].map(digests);
            for (part, values) in values.chunks(1000).enumerate() {
                let negative = values.iter().map(|value| value.map(|value| -value));
                let column: ArrayRef =
                    Arc::new(values.iter().copied().chain(negative).chain([None]).collect::<Float64Array>());
                let groups: Vec<usize> = (0..column.len()).map(|row| row / 1000).collect();
                let half = if part % 3 == 0 { &mut first } else { &mut second };
                for digests in [&mut whole, half] {
                    digests.update_batch(&[Arc::clone(&column)], &groups, None, 3).expect("they are doubles");
                }
            }
            let states = second.state(EmitTo::All).expect("it has a state");
            first.merge_batch(&states, &[0, 1, 2], 3).expect("it is one of digests");
            assert!(second.bytes == 0 && whole.bytes > 0);
            for digests in [&mut whole, &mut first] {
                let found = digests.evaluate(EmitTo::First(1)).expect("there are groups");
                let others = digests.evaluate(EmitTo::All).expect("there are groups");
                let (found, others) = (found.as_primitive::<Float64Type>(), others.as_primitive::<Float64Type>());
                assert!((found.value(0) - near).abs() < 300.0, "{percentile}: {found:?}");
                assert!((others.value(0) + f64::from(count - 1) - near).abs() < 300.0, "{percentile}: {others:?}");
                assert!(others.len() == 2 && others.is_null(1) && digests.bytes == 0);
            }
        }
    }

    #[test]
    fn forged_states_are_refused() {
        let mut of_one = digests(0.5);
        let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
        of_one.update_batch(&[column], &[0, 0], None, 1).expect("they are doubles");
        let mut states = of_one.state(EmitTo::All).expect("it has a state");
        let mut weights = ListBuilder::new(Float64Builder::new());
        weights.values().append_slice(&[1.0, 0.0]);
        weights.append(true);
        states[5] = Arc::new(weights.finish());
        assert!(digests(0.5).merge_batch(&states, &[0], 1).is_err());
    }
}
