//! The tokens that a caller of [`Pull`](super::Pull) may look at, and which of them is the next.
//!
//! The engine reads the next token without a bounds check. That is sound because of one invariant, which only this
//! file can break: `limit` is zero, or [`AHEAD`] tokens stand at `limit` and after it. [`Shown::change`] lends the
//! tokens to be changed, and shows none of them until [`Shown::show`] is called. So if a source panics while more text
//! is read, no token is shown.

use super::Token;
use crate::scan::{SENTINELS, Tokens};
use core::cell::Cell;

/// The number of tokens that stand at `limit` and after it: the fourth of [`Shown::four`] is the last of them.
const AHEAD: usize = 3;

/// Tokens, and the position of the next one.
pub(super) struct Shown {
    tokens: Tokens,
    /// The index of the next token. It may be any number: a caller may step over the end.
    at: usize,
    /// Tokens from this index on are not shown. Invariant: zero, or `limit + AHEAD <= tokens.len()`.
    limit: usize,
}

impl Shown {
    /// Shows no tokens yet.
    pub(super) fn new(tokens: Tokens) -> Self {
        Self { tokens, at: 0, limit: 0 }
    }

    /// The next token.
    ///
    /// # Safety
    /// Not all shown tokens were stepped over, as [`is_used_up`](Self::is_used_up) tells; or [`settle`](Self::settle)
    /// was called last.
    #[inline(always)]
    pub(super) unsafe fn token(&self) -> Token {
        // SAFETY: either `at < limit`, and by the invariant three tokens stand at `limit` and after it, so `at + 3 <
        // tokens.len()`; or `settle` was called last and made `at + 3 < tokens.len()` true.
        let (kind, start, next) = unsafe { self.tokens.token_unchecked(self.at) };
        Token { kind, start: start as usize, next: next as usize }
    }

    /// The next token and the three after it: kinds and offsets.
    ///
    /// # Safety
    /// As for [`token`](Self::token).
    #[inline(always)]
    pub(super) unsafe fn four(&self) -> ([u8; 4], [usize; 4]) {
        // SAFETY: as in `token`.
        let (kinds, starts) = unsafe { self.tokens.four_unchecked(self.at) };
        (kinds, starts.map(|start| start as usize))
    }

    /// Makes sure that there is a next token and three after it, shown or not: steps back if there are too few after
    /// `at`, and adds sentinels if there are too few tokens at all.
    pub(super) fn settle(&mut self) {
        if self.tokens.len() <= AHEAD {
            let end = self.tokens.slices().1.last().map_or(0, |&end| end as usize);
            self.change().end_at(end);
        }
        self.at = self.at.min(self.tokens.len() - 1 - AHEAD);
    }

    /// Whether all shown tokens were stepped over.
    #[inline(always)]
    pub(super) fn is_used_up(&self) -> bool {
        self.at >= self.limit
    }

    /// Whether fewer than `count` shown tokens are left.
    #[inline(always)]
    pub(super) fn is_near_end(&self, count: usize) -> bool {
        self.at + count > self.limit
    }

    /// The index of the next token.
    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Steps over `count` tokens.
    #[inline(always)]
    pub(super) fn step_by(&mut self, count: usize) {
        self.at += count;
    }

    /// Goes to the token at `at`.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Goes back to the last token that is shown, if the caller has stepped over it.
    pub(super) fn stay_at_last(&mut self) {
        self.at = self.at.min(self.limit.saturating_sub(1));
    }

    /// Goes back to the first token that is not shown, if the caller has stepped over it.
    pub(super) fn stay_at_limit(&mut self) {
        self.at = self.at.min(self.limit);
    }

    /// All tokens, shown or not.
    #[inline(always)]
    pub(super) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The kinds of the tokens that are shown, from the next one on.
    #[inline(always)]
    pub(super) fn kinds(&self) -> &[u8] {
        self.tokens.slices().0.get(self.at..self.limit).unwrap_or_default()
    }

    /// Lends the tokens to be changed. None is shown from then on, until [`show`](Self::show) is called.
    pub(super) fn change(&mut self) -> &mut Tokens {
        self.limit = 0;
        &mut self.tokens
    }

    /// Shows the tokens that pass one has found. The last ones stay hidden, because the tokens after them are not
    /// known yet. At the end of the text the hidden ones are the sentinels except the first.
    pub(super) fn show(&mut self) {
        self.limit = self.tokens.len().saturating_sub(AHEAD);
    }

    /// Shows the tokens before the sentinels, but no sentinel: the tokens that will stand there are not known yet.
    pub(super) fn show_before_sentinels(&mut self) {
        const { assert!(SENTINELS >= AHEAD, "the invariant of `limit`") };
        self.limit = self.tokens.len().saturating_sub(SENTINELS);
    }

    /// Drops the tokens before `first`. None is shown until [`show`](Self::show) is called.
    pub(super) fn drop_before(&mut self, first: usize) {
        self.change().consume(first);
        self.at -= first;
    }
}

thread_local! {
    /// Unused token buffers, for the next text.
    static SPARE: Cell<Tokens> = const { Cell::new(Tokens::new()) };
}

/// No tokens, in buffers that the text before has used, if there was one.
#[inline(always)]
pub(super) fn spare_tokens() -> Tokens {
    let mut tokens = SPARE.try_with(Cell::take).unwrap_or_default();
    tokens.clear();
    tokens
}

/// This type borrows nothing, so that what a deserializer borrows may end before the deserializer does.
impl Drop for Shown {
    #[inline(always)]
    fn drop(&mut self) {
        let tokens = core::mem::take(self.change());
        // A thread that ends has no use for the buffers.
        let _ = SPARE.try_with(|spare| spare.set(tokens));
    }
}
