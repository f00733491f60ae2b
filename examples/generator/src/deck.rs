//! Which event comes next: cards drawn from a deck that is shuffled and drawn to its end, again and again. So the shares
//! that benches quote hold in every thousand events, and not only in the long run.
use crate::random::Random;

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Database,
    Job,
    Order,
    SignIn,
    Cache,
    Exception,
}

/// One event to come.
#[derive(Clone, Copy)]
pub(crate) struct Card {
    pub(crate) kind: Kind,
    /// `Elapsed > 200`; kinds without a duration are never slow.
    pub(crate) slow: bool,
    /// `Message` holds `/api/customers`.
    pub(crate) customers: bool,
}

/// How often each card lies in the deck, in tenths of a percent: 310 are slow, and 180 are about customers.
const CARDS: [(usize, Kind, bool, bool); 13] = [
    // cards, kind, slow, customers
    (60, Kind::Request, true, true),
    (110, Kind::Request, false, true),
    (180, Kind::Request, true, false),
    (250, Kind::Request, false, false),
    (60, Kind::Database, true, false),
    (80, Kind::Database, false, false),
    (10, Kind::Job, true, false),
    (30, Kind::Job, false, false),
    (100, Kind::Order, false, false),
    (60, Kind::SignIn, false, false),
    (40, Kind::Cache, false, false),
    (10, Kind::Exception, false, true),
    (10, Kind::Exception, false, false),
];

/// Cards in [`CARDS`].
const SIZE: usize = 1000;

/// Gives out all its cards before it gives one a second time.
pub(crate) struct Deck {
    cards: Vec<Card>,
    drawn: usize,
}

impl Deck {
    pub(crate) fn new() -> Self {
        let cards = CARDS
            .iter()
            .flat_map(|&(times, kind, slow, customers)| std::iter::repeat_n(Card { kind, slow, customers }, times))
            .collect();
        Self { cards, drawn: SIZE }
    }

    pub(crate) fn draw(&mut self, random: &mut Random) -> Card {
        if self.drawn == SIZE {
            self.shuffle(random);
        }
        self.drawn += 1;
        self.cards[self.drawn - 1]
    }

    fn shuffle(&mut self, random: &mut Random) {
        for last in (1..SIZE).rev() {
            self.cards.swap(last, random.index(last + 1));
        }
        self.drawn = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deck_holds_the_promised_shares() {
        let deck = Deck::new();
        assert_eq!(deck.cards.len(), SIZE);
        assert_eq!(deck.cards.iter().filter(|card| card.slow).count(), 310);
        assert_eq!(deck.cards.iter().filter(|card| card.customers).count(), 180);
    }
}
