//! Sorting and finding, each compiled once: the library's would be compiled anew for every kind of item.

use std::cmp::Ordering;

use super::compare::cost;
use super::fault::Fault;
use super::value::{Limits, Value};

/// The indices of values in their order: a merge sort, which keeps equals as they stand, and which a comparison
/// that contradicts itself cannot stop.
pub(super) fn sorted<'v>(
    length: usize,
    value: &dyn Fn(usize) -> &'v Value,
    compare: &dyn Fn(&Value, &Value) -> Ordering,
    limits: &mut Limits,
) -> Result<Vec<usize>, Fault> {
    limits.take(length * size_of::<usize>())?;
    let mut from: Vec<usize> = (0..length).collect();
    let mut width = 1;
    while width < length {
        let mut merged = Vec::with_capacity(length);
        for run in from.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some((first, lefts)), Some((second, rights))) =
                (left.split_first(), right.split_first())
            {
                let (one, other) = (value(*first), value(*second));
                limits.step(1 + cost(one, other))?;
                if compare(one, other).is_le() {
                    merged.push(*first);
                    left = lefts;
                } else {
                    merged.push(*second);
                    right = rights;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        from = merged;
        width *= 2;
    }
    Ok(from)
}

/// Where a text holds another.
#[inline(never)]
pub(super) fn find(text: &str, part: &str) -> Option<usize> {
    text.find(part)
}
