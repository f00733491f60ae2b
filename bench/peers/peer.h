// What every C++ peer shares with the Rust side: the table of functions and the fold.
//
// `bench/src/fold.rs` holds the same fold, word for word; `bench/src/peers/foreign.rs` the same table.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <vector>

// What a visit computed. Sums, so that the order of an object's members does not matter.
struct bench_fold {
  uint64_t exact;  // strings, keys, integers, literals, containers
  uint64_t reals;  // the bits of every float
  double sum;      // the floats' absolute values, for peers whose last bit is off
};

// Every function that returns `const char *` answers null for "done", or the reason in static storage. The Rust side
// looks only at whether it is null: it reads no address that a peer returns. Text goes the other way: the Rust side owns
// a buffer, and the peer copies into it what fits and returns the length of all it has.
// A null entry means that the peer does not do that task.
struct bench_peer {
  size_t (*version)(uint8_t *into, size_t capacity);
  void *(*make)();
  void (*load)(void *self, const uint8_t *text, size_t length);  // appends one document
  void (*refresh)(void *self, size_t index);                     // untimed, before each run over a document
  const char *(*dom)(void *self, size_t index, bench_fold *fold);
  const char *(*parse)(void *self, size_t index);
  const char *(*validate)(void *self, size_t index);
  const char *(*partial)(void *self, size_t index, bench_fold *fold);
  const char *(*users)(void *self, size_t index, bench_fold *fold);
  const char *(*two)(void *self, size_t index, bench_fold *fold);
  const char *(*minify)(void *self, size_t index, size_t *length);        // the text stays with the peer
  size_t (*minified)(void *self, uint8_t *into, size_t capacity);         // untimed: what `minify` wrote last
  const char *(*scan)(void *self, size_t index, uint64_t *answer);
  void (*free)(void *self);
};

namespace bench {

constexpr uint64_t MULTIPLIER = 0x9E3779B97F4A7C15;
constexpr uint64_t STRING = 0x5354, INTEGER = 0x494E, REAL = 0x5245, LITERAL = 0x4C49, CONTAINER = 0x434F;

template <class T>
inline T load(const uint8_t *at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

inline uint64_t rotated(uint64_t word, int by) { return word << by | word >> (64 - by); }

inline uint64_t joined(uint64_t state, uint64_t word) { return rotated(state, 7) ^ word; }

inline uint64_t word(const uint8_t *at) { return load<uint64_t>(at); }

inline uint64_t two(const uint8_t *at) { return word(at) ^ rotated(word(at + 8), 16); }

inline uint64_t four(const uint8_t *at) { return two(at) ^ rotated(two(at + 16), 32); }

// Loops only above 32 bytes: the exit of a loop over a short text is mispredicted once per text, which costs more than
// the text's parsing. The chain is one rotation and one exclusive-or per 32 bytes, so that no compiler turns it into
// vectors.
inline uint64_t words(const uint8_t *at, size_t length) {
  uint64_t state = length;
  const uint8_t *end = at + length;
  if (length > 32) {
    for (; at < end - 32; at += 32) state = joined(state, four(at));
    return joined(state, four(end - 32));
  }
  if (length > 16) return joined(state ^ two(at), two(end - 16));
  if (length >= 8) return joined(state ^ word(at), word(end - 8));
  if (length >= 4) return state ^ (uint64_t(load<uint32_t>(at)) << 32 | load<uint32_t>(end - 4));
  if (length > 0) return state ^ (uint64_t(at[0]) << 32 | uint64_t(at[length / 2]) << 16 | at[length - 1]) << 8;
  return state;
}

inline uint64_t mix(uint64_t word, uint64_t tag) {
  uint64_t product = (word ^ tag) * MULTIPLIER;
  return product ^ product >> 29;
}

struct Fold : bench_fold {
  Fold() : bench_fold{0, 0, 0} {}
  void string(const char *at, size_t length) { exact += mix(words((const uint8_t *)at, length), STRING); }
  void integer(int64_t value) { exact += mix(uint64_t(value), INTEGER); }
  void integer(uint64_t value) { exact += mix(value, INTEGER); }
  void real(double value) {
    if (value == 0) return integer(uint64_t(0));
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    reals += mix(bits, REAL);
    sum += fabs(value);
  }
  void literal(uint64_t which) { exact += mix(which, LITERAL); }  // 0 null, 1 false, 2 true
  void container(uint64_t members) { exact += mix(members, CONTAINER); }
};

// The distinct numbers: sorted, each folded once.
inline void fold_distinct(std::vector<uint64_t> &ids, Fold &fold) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (uint64_t id : ids) fold.integer(id);
}

// A document in a buffer of its own with readable (and writable) bytes behind it.
struct Padded {
  static constexpr size_t PADDING = 64;
  std::unique_ptr<uint8_t[]> bytes;
  size_t length;
  Padded(const uint8_t *text, size_t length) : bytes(new uint8_t[length + PADDING]()), length(length) {
    memcpy(bytes.get(), text, length);
  }
  // For in-situ parsers: undoes what the last parse wrote.
  void restore(const Padded &original) { memcpy(bytes.get(), original.bytes.get(), length + PADDING); }
};

// Text in memory of the peer's.
struct Text {
  const void *at = nullptr;
  size_t length = 0;
  // What fits. Returns the length of the whole text.
  size_t copy(uint8_t *into, size_t capacity) const {
    if (length > 0) memcpy(into, at, std::min(length, capacity));
    return length;
  }
};

// `minified` of a peer whose `minify` leaves its text in `self.text`.
template <class Self>
size_t minified(void *self, uint8_t *into, size_t capacity) {
  return static_cast<Self *>(self)->text.copy(into, capacity);
}

}  // namespace bench
