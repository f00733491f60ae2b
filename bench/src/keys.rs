//! Compares the key table with the standard library's map: `bench keys`.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use jird::hooks::event::KeyTable;

/// Lookups for each figure.
const LOOKUPS: usize = 1 << 15;

/// The best of this many runs counts.
const RUNS: usize = 60;

/// Sets of keys: of columns, of log events, of tweets, and many similar keys.
fn sets() -> [(&'static str, Vec<String>); 4] {
    let words = |words: &str| words.split(' ').map(str::to_owned).collect();
    [
        (
            "stop times (10)",
            words(
                "trip_id arrival_time departure_time stop_id stop_sequence stop_headsign pickup_type drop_off_type \
                 shape_dist_traveled timepoint",
            ),
        ),
        (
            "log events (12)",
            words("@t @l @m @mt @x Elapsed Message RequestId SourceContext StatusCode UserId MachineName"),
        ),
        (
            "tweets (42)",
            words(
                "created_at id id_str text source truncated in_reply_to_status_id in_reply_to_status_id_str \
                 in_reply_to_user_id user geo coordinates place contributors retweet_count favorite_count entities \
                 favorited retweeted lang metadata name screen_name location description url protected \
                 followers_count friends_count listed_count favourites_count utc_offset time_zone geo_enabled \
                 verified statuses_count following follow_request_sent notifications hashtags symbols indices",
            ),
        ),
        (
            "alike (200)",
            (0..200)
                .map(|index| format!("{}{}", ["k", "col_", "field", "a.b.c."][index % 4], index * 7919 % 1000))
                .collect(),
        ),
    ]
}

/// A text with the keys one after the other, and their places.
struct Laid {
    text: String,
    places: Vec<(usize, usize)>,
}

impl Laid {
    fn out(keys: &[String], order: impl Iterator<Item = usize>) -> Self {
        let mut laid = Self { text: String::new(), places: Vec::new() };
        for index in order {
            laid.text.push('"');
            let start = laid.text.len();
            laid.text += &keys[index];
            laid.places.push((start, laid.text.len()));
            laid.text += "\":1,";
        }
        laid
    }

    /// The nanoseconds for a lookup, and the sum of the results.
    fn measure(&self, mut find: impl FnMut(&str) -> u32) -> (f64, u64) {
        let mut best = f64::MAX;
        let mut sum = 0;
        for _ in 0..RUNS {
            let started = Instant::now();
            sum = black_box(&self.places).iter().map(|&(start, end)| u64::from(find(&self.text[start..end]))).sum();
            best = best.min(started.elapsed().as_secs_f64());
        }
        (best * 1e9 / self.places.len() as f64, black_box(sum))
    }
}

/// Prints the table.
pub(crate) fn run() {
    println!("ns for a lookup, the best of {RUNS} runs of {LOOKUPS}, the loop included\n");
    println!("  keys              random: HashMap  get          in rows: HashMap  get          get_near");
    for (name, keys) in sets() {
        let (mut table, mut map) = (KeyTable::new(), HashMap::new());
        for (number, key) in (0..).zip(&keys) {
            assert_eq!(table.insert(key), number);
            map.insert(key.clone(), number);
        }
        let mut state = 1_u64;
        let random = (0..LOOKUPS).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % keys.len()
        });
        let random = Laid::out(&keys, random);
        let rows = Laid::out(&keys, (0..LOOKUPS).map(|index| index % keys.len()));
        let get = |key: &str| table.get(key).unwrap_or(u32::MAX);
        let mut guess = 0;
        let near = |key: &str| {
            let number = table.get_near(key, guess).unwrap_or(u32::MAX);
            guess = if number as usize + 1 == keys.len() { 0 } else { number + 1 };
            number
        };
        let (map_any, table_any) = (random.measure(|key| map[key]), random.measure(get));
        let (map_rows, table_rows, table_near) = (rows.measure(|key| map[key]), rows.measure(get), rows.measure(near));
        let same = map_any.1 == table_any.1 && map_rows.1 == table_rows.1 && table_rows.1 == table_near.1;
        assert!(same, "other numbers");
        println!(
            "  {name:16} {:16.1} {:4.1} ({:3.1} ×) {:17.1} {:4.1} ({:3.1} ×) {:5.1} ({:3.1} ×)",
            map_any.0,
            table_any.0,
            map_any.0 / table_any.0,
            map_rows.0,
            table_rows.0,
            map_rows.0 / table_rows.0,
            table_near.0,
            map_rows.0 / table_near.0
        );
    }
}
