//! The nearest name by spelling, for messages about unknown names.

/// The known name that is most similar to `name`, if one is similar enough to be meant.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Two transposed letters of `Message` are one mistake; of `id`, they make another word, unless only the case differs.
    let most = (name.chars().count() / 3).min(3);
    let lower = name.to_lowercase();
    let rated = known.into_iter().filter(|known| *known != name).filter_map(|known| {
        let distance = strsim::osa_distance(&lower, &known.to_lowercase());
        (distance <= most).then_some((distance, known))
    });
    rated.min().map(|(_, known)| known)
}

/// Some of many names.
pub(crate) fn some<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut some: Vec<_> = names.by_ref().take(10).collect();
    if names.next().is_some() {
        some.push("others");
    }
    some.join(", ")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelled_name_has_a_nearest_one() {
        let known = ["Message", "Elapsed", "id", "ID", "@t"];
        for (name, expected) in [
            ("Mesage", Some("Message")),
            ("message", Some("Message")),
            ("Elpased", Some("Elapsed")),
            ("Id", Some("ID")),
            ("Application", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }
}
