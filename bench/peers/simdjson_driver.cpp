// simdjson, DOM and On-Demand, over the sources that the crate `simdjson-sys` bundles (one translation unit).
//
// The parser object and the padded copy of the text are made outside the timing.

#include <simdjson.h>
#include <simdjson.cpp>

#include "peer.h"

namespace {

using namespace simdjson;
using bench::Fold;
using bench::Padded;
using bench::Text;

#define TRY(expression)                                                  \
  if (error_code code = (expression); simdjson_unlikely(code != SUCCESS)) \
  return code

struct Dom {
  dom::parser parser;
  std::vector<Padded> documents;
  std::vector<uint8_t> minified;
  Text text;
};

void visit(dom::element element, Fold &fold) {
  switch (element.type()) {
    case dom::element_type::OBJECT: {
      dom::object object = element.get_object().value_unsafe();
      uint64_t members = 0;
      for (auto field : object) {
        fold.string(field.key.data(), field.key.size());
        visit(field.value, fold);
        members++;
      }
      fold.container(members);
      break;
    }
    case dom::element_type::ARRAY: {
      uint64_t members = 0;
      dom::array array = element.get_array().value_unsafe();
      for (dom::element child : array) {
        visit(child, fold);
        members++;
      }
      fold.container(members);
      break;
    }
    case dom::element_type::STRING: {
      std::string_view text = element.get_string().value_unsafe();
      fold.string(text.data(), text.size());
      break;
    }
    case dom::element_type::INT64: fold.integer(element.get_int64().value_unsafe()); break;
    case dom::element_type::UINT64: fold.integer(element.get_uint64().value_unsafe()); break;
    case dom::element_type::DOUBLE: fold.real(element.get_double().value_unsafe()); break;
    case dom::element_type::BOOL: fold.literal(element.get_bool().value_unsafe() ? 2 : 1); break;
    case dom::element_type::NULL_VALUE: fold.literal(0); break;
    default: break;  // BIGINT, off unless asked for
  }
}

error_code dom_parse(Dom &self, size_t index, dom::element &root) {
  const Padded &document = self.documents[index];
  return self.parser.parse(document.bytes.get(), document.length, false).get(root);
}

error_code tweet_fields(dom::element tweet, Fold &fold) {
  std::string_view text;
  int64_t number;
  dom::element user;
  TRY(tweet["created_at"].get(text));
  fold.string(text.data(), text.size());
  TRY(tweet["id"].get(number));
  fold.integer(number);
  TRY(tweet["text"].get(text));
  fold.string(text.data(), text.size());
  TRY(tweet["user"].get(user));
  TRY(user["id"].get(number));
  fold.integer(number);
  TRY(user["screen_name"].get(text));
  fold.string(text.data(), text.size());
  TRY(user["followers_count"].get(number));
  fold.integer(number);
  TRY(tweet["retweet_count"].get(number));
  fold.integer(number);
  TRY(tweet["favorite_count"].get(number));
  fold.integer(number);
  return SUCCESS;
}

error_code dom_partial(Dom &self, size_t index, Fold &fold) {
  dom::element root;
  TRY(dom_parse(self, index, root));
  dom::array tweets;
  TRY(root["statuses"].get(tweets));
  for (dom::element tweet : tweets) {
    TRY(tweet_fields(tweet, fold));
  }
  return SUCCESS;
}

error_code dom_users(Dom &self, size_t index, Fold &fold) {
  dom::element root;
  TRY(dom_parse(self, index, root));
  dom::array tweets;
  TRY(root["statuses"].get(tweets));
  std::vector<uint64_t> ids;
  for (dom::element tweet : tweets) {
    uint64_t id;
    TRY(tweet["user"]["id"].get(id));
    ids.push_back(id);
    dom::element original;
    if (tweet["retweeted_status"].get(original) == SUCCESS) {
      TRY(original["user"]["id"].get(id));
      ids.push_back(id);
    }
  }
  bench::fold_distinct(ids, fold);
  return SUCCESS;
}

error_code dom_two(Dom &self, size_t index, Fold &fold) {
  dom::element root;
  TRY(dom_parse(self, index, root));
  std::string_view text;
  double number;
  TRY(root["Message"].get(text));
  TRY(root["Elapsed"].get(number));
  fold.string(text.data(), text.size());
  fold.real(number);
  return SUCCESS;
}

error_code minify_only(Dom &self, size_t index, size_t &length) {
  self.text = Text();
  const Padded &document = self.documents[index];
  if (self.minified.size() < document.length) self.minified.resize(document.length + Padded::PADDING);
  TRY(simdjson::minify((const char *)document.bytes.get(), document.length, (char *)self.minified.data(), length));
  self.text = {self.minified.data(), length};
  return SUCCESS;
}

struct OnDemand {
  ondemand::parser parser;
  std::vector<Padded> documents;
};

error_code visit(ondemand::value value, Fold &fold) {
  ondemand::json_type type;
  TRY(value.type().get(type));
  switch (type) {
    case ondemand::json_type::object: {
      ondemand::object object;
      TRY(value.get_object().get(object));
      uint64_t members = 0;
      for (auto field_result : object) {
        ondemand::field field;
        TRY(std::move(field_result).get(field));
        std::string_view key;
        TRY(field.unescaped_key().get(key));
        fold.string(key.data(), key.size());
        TRY(visit(field.value(), fold));
        members++;
      }
      fold.container(members);
      break;
    }
    case ondemand::json_type::array: {
      ondemand::array array;
      TRY(value.get_array().get(array));
      uint64_t members = 0;
      for (auto child_result : array) {
        ondemand::value child;
        TRY(std::move(child_result).get(child));
        TRY(visit(child, fold));
        members++;
      }
      fold.container(members);
      break;
    }
    case ondemand::json_type::string: {
      std::string_view text;
      TRY(value.get_string().get(text));
      fold.string(text.data(), text.size());
      break;
    }
    case ondemand::json_type::number: {
      ondemand::number number;
      TRY(value.get_number().get(number));
      if (number.is_int64()) {
        fold.integer(number.get_int64());
      } else if (number.is_uint64()) {
        fold.integer(number.get_uint64());
      } else {
        fold.real(number.get_double());
      }
      break;
    }
    case ondemand::json_type::boolean: {
      bool truth;
      TRY(value.get_bool().get(truth));
      fold.literal(truth ? 2 : 1);
      break;
    }
    case ondemand::json_type::null: {
      bool null;
      TRY(value.is_null().get(null));
      fold.literal(0);
      break;
    }
    default: return TAPE_ERROR;
  }
  return SUCCESS;
}

error_code iterate(OnDemand &self, size_t index, ondemand::document &document) {
  const Padded &text = self.documents[index];
  return self.parser.iterate(text.bytes.get(), text.length, text.length + Padded::PADDING).get(document);
}

error_code ondemand_dom(OnDemand &self, size_t index, Fold &fold) {
  ondemand::document document;
  TRY(iterate(self, index, document));
  ondemand::value root;
  TRY(document.get_value().get(root));
  TRY(visit(root, fold));
  return document.at_end() ? SUCCESS : TRAILING_CONTENT;
}

// In the order in which the tweets have their members, which is On-Demand's best case.
error_code tweet_fields(ondemand::object tweet, Fold &fold) {
  std::string_view text;
  int64_t number;
  ondemand::object user;
  TRY(tweet["created_at"].get(text));
  fold.string(text.data(), text.size());
  TRY(tweet["id"].get(number));
  fold.integer(number);
  TRY(tweet["text"].get(text));
  fold.string(text.data(), text.size());
  TRY(tweet["user"].get(user));
  TRY(user["id"].get(number));
  fold.integer(number);
  TRY(user["screen_name"].get(text));
  fold.string(text.data(), text.size());
  TRY(user["followers_count"].get(number));
  fold.integer(number);
  TRY(tweet["retweet_count"].get(number));
  fold.integer(number);
  TRY(tweet["favorite_count"].get(number));
  fold.integer(number);
  return SUCCESS;
}

error_code ondemand_partial(OnDemand &self, size_t index, Fold &fold) {
  ondemand::document document;
  TRY(iterate(self, index, document));
  ondemand::array tweets;
  TRY(document["statuses"].get(tweets));
  for (auto tweet_result : tweets) {
    ondemand::object tweet;
    TRY(tweet_result.get_object().get(tweet));
    TRY(tweet_fields(tweet, fold));
  }
  return SUCCESS;
}

// As simdjson's own benchmark of this query does it: each member is looked for behind the one before.
error_code ondemand_users(OnDemand &self, size_t index, Fold &fold) {
  ondemand::document document;
  TRY(iterate(self, index, document));
  ondemand::array tweets;
  TRY(document.find_field("statuses").get(tweets));
  std::vector<uint64_t> ids;
  for (auto tweet_result : tweets) {
    ondemand::object tweet;
    uint64_t id;
    TRY(tweet_result.get_object().get(tweet));
    TRY(tweet.find_field("user").find_field("id").get(id));
    ids.push_back(id);
    auto original = tweet.find_field("retweeted_status");
    if (original.error() != NO_SUCH_FIELD) {
      TRY(original.find_field("user").find_field("id").get(id));
      ids.push_back(id);
    }
  }
  bench::fold_distinct(ids, fold);
  return SUCCESS;
}

error_code ondemand_two(OnDemand &self, size_t index, Fold &fold) {
  ondemand::document document;
  TRY(iterate(self, index, document));
  std::string_view text;
  double number;
  TRY(document["Message"].get(text));
  TRY(document["Elapsed"].get(number));
  fold.string(text.data(), text.size());
  fold.real(number);
  return SUCCESS;
}

// Stage 1 alone: the structural index with UTF-8 validation, no walk.
struct StageOne {
  std::unique_ptr<internal::dom_parser_implementation> implementation;
  std::vector<Padded> documents;
};

error_code stage_one(StageOne &self, size_t index, uint64_t &answer) {
  const Padded &text = self.documents[index];
  TRY(self.implementation->stage1(text.bytes.get(), text.length, stage1_mode::regular));
  answer = self.implementation->n_structural_indexes;
  return SUCCESS;
}

// A text of many lines, for `parse_many` and `iterate_many`. One thread; the copy with padding is made before the timing.
struct Lines {
  dom::parser dom;
  ondemand::parser lazy;
  Padded text;
  std::vector<uint8_t> message;
  Lines(const uint8_t *bytes, size_t length)
      : text(bytes, length), message(dom::DEFAULT_BATCH_SIZE + SIMDJSON_PADDING) {
#ifdef SIMDJSON_THREADS_ENABLED
    dom.threaded = lazy.threaded = false;
#endif
  }
};

// What is asked of the lines: only their number; or the messages of those whose `Elapsed` is over the bound, or whose
// message contains the needle.
struct Question {
  bool counts;
  double bound;
  std::string_view needle;

  bool asks_time() const { return needle.empty(); }
  bool wants(std::string_view found) const { return found.find(needle) != std::string_view::npos; }
};

struct LinesAnswer {
  uint64_t records = 0, hits = 0, bytes = 0;
  Fold fold;

  void add(std::string_view found) {
    hits++;
    bytes += found.size();
    fold.string(found.data(), found.size());
  }
};

// Whether there is a number; what is missing, or no number, is no error.
error_code is_over(error_code code, double number, double bound, bool &over) {
  over = code == SUCCESS && number > bound;
  return code == NO_SUCH_FIELD || code == INCORRECT_TYPE ? SUCCESS : code;
}

error_code parse_many(Lines &self, size_t length, const Question &question, LinesAnswer &answer) {
  dom::document_stream stream;
  TRY(self.dom.parse_many(self.text.bytes.get(), length, dom::DEFAULT_BATCH_SIZE).get(stream));
  for (auto result : stream) {
    dom::element event;
    TRY(result.get(event));
    answer.records++;
    if (question.counts) continue;
    std::string_view text;
    bool over = true;
    if (question.asks_time()) {
      double number = 0;
      error_code code = event["Elapsed"].get(number);
      TRY(is_over(code, number, question.bound, over));
    }
    if (!over) continue;
    TRY(event["Message"].get(text));
    if (question.asks_time() || question.wants(text)) answer.add(text);
  }
  return stream.truncated_bytes() == 0 ? SUCCESS : TAPE_ERROR;
}

// The message stands before `Elapsed` in nearly all events, so it is found first, and decoded only if it is wanted.
error_code iterate_many(Lines &self, size_t length, const Question &question, LinesAnswer &answer) {
  ondemand::document_stream stream;
  TRY(self.lazy.iterate_many(self.text.bytes.get(), length, dom::DEFAULT_BATCH_SIZE).get(stream));
  for (auto at = stream.begin(); at != stream.end(); ++at) {
    ondemand::document_reference event;
    TRY((*at).get(event));
    answer.records++;
    if (question.counts) continue;
    ondemand::raw_json_string raw;
    TRY(event["Message"].get_raw_json_string().get(raw));
    bool over = true;
    if (question.asks_time()) {
      double number = 0;
      error_code code = event["Elapsed"].get_double().get(number);
      TRY(is_over(code, number, question.bound, over));
    }
    if (!over) continue;
    std::string_view text;
    uint8_t *into = self.message.data();
    TRY(self.lazy.unescape(raw, into).get(text));
    if (question.asks_time() || question.wants(text)) answer.add(text);
  }
  return stream.truncated_bytes() == 0 ? SUCCESS : TAPE_ERROR;
}

const char *reason(error_code code) { return code == SUCCESS ? nullptr : error_message(code); }

template <class Self>
void *make() {
  return new Self;
}

template <class Self>
void drop(void *self) {
  delete static_cast<Self *>(self);
}

template <class Self>
void load(void *self, const uint8_t *text, size_t length) {
  static_cast<Self *>(self)->documents.emplace_back(text, length);
}

void load_stage_one(void *self, const uint8_t *text, size_t length) {
  auto &stage = *static_cast<StageOne *>(self);
  stage.documents.emplace_back(text, length);
  size_t longest = 0;
  for (const Padded &document : stage.documents) longest = std::max(longest, document.length);
  (void)get_active_implementation()->create_dom_parser_implementation(longest, 1024, stage.implementation);
}

void refresh(void *, size_t) {}

template <class Self, error_code (*run)(Self &, size_t, Fold &)>
const char *folded(void *self, size_t index, bench_fold *answer) {
  Fold fold;
  error_code code = run(*static_cast<Self *>(self), index, fold);
  *answer = fold;
  return reason(code);
}

error_code dom_dom(Dom &self, size_t index, Fold &fold) {
  dom::element root;
  TRY(dom_parse(self, index, root));
  visit(root, fold);
  return SUCCESS;
}

const char *dom_parse_only(void *self, size_t index) {
  dom::element root;
  return reason(dom_parse(*static_cast<Dom *>(self), index, root));
}

const char *dom_minify(void *self, size_t index, size_t *length) {
  return reason(minify_only(*static_cast<Dom *>(self), index, *length));
}

const char *stage_one_scan(void *self, size_t index, uint64_t *answer) {
  return reason(stage_one(*static_cast<StageOne *>(self), index, *answer));
}

// With the kernel that it chose on this machine.
size_t version(uint8_t *into, size_t capacity) {
  std::string text = SIMDJSON_VERSION " (" + get_active_implementation()->name() + ")";
  return Text{text.data(), text.size()}.copy(into, capacity);
}

}  // namespace

extern "C" {

extern const bench_peer bench_simdjson_dom = {
    version, make<Dom>, load<Dom>, refresh, folded<Dom, dom_dom>, dom_parse_only, dom_parse_only, folded<Dom, dom_partial>,
    folded<Dom, dom_users>, folded<Dom, dom_two>, dom_minify,
    bench::minified<Dom>, nullptr, drop<Dom>,
};

extern const bench_peer bench_simdjson_ondemand = {
    version, make<OnDemand>, load<OnDemand>, refresh, folded<OnDemand, ondemand_dom>, nullptr, nullptr,
    folded<OnDemand, ondemand_partial>, folded<OnDemand, ondemand_users>, folded<OnDemand, ondemand_two>, nullptr,
    nullptr, nullptr, drop<OnDemand>,
};

extern const bench_peer bench_simdjson_stage_one = {
    version, make<StageOne>, load_stage_one, refresh, nullptr, nullptr, nullptr, nullptr,
    nullptr, nullptr, nullptr, nullptr, stage_one_scan, drop<StageOne>,
};

// `bench/src/alone/readers/simdjson.rs` has the same declarations.
struct bench_lines_answer {
  uint64_t records, hits, bytes, exact;
};

void *bench_simdjson_lines_make(const uint8_t *text, size_t length) { return new Lines(text, length); }

// Reads the first `length` bytes of the text, which are whole lines. Without a needle, the bound is asked for. Returns 0 if all
// of them were read.
int bench_simdjson_lines_read(void *self, size_t length, int lazily, int counts, double bound, const uint8_t *needle,
                              size_t needle_length, bench_lines_answer *answer) {
  Question question{counts != 0, bound, {(const char *)needle, needle_length}};
  LinesAnswer found;
  Lines &lines = *static_cast<Lines *>(self);
  error_code code = lazily ? iterate_many(lines, length, question, found) : parse_many(lines, length, question, found);
  *answer = {found.records, found.hits, found.bytes, found.fold.exact};
  return code;
}

void bench_simdjson_lines_free(void *self) { delete static_cast<Lines *>(self); }
}
