// yyjson, over the sources that the crate `yyjson-sys` bundles: reading from constant text (it copies inside the
// timing) and in situ (the padded copy is refreshed outside the timing). A fresh document per parse, as its API has it.

#include <yyjson.h>

#include "peer.h"

namespace {

using bench::Fold;
using bench::Padded;
using bench::Text;

struct Yyjson {
  std::vector<Padded> documents, copies;
  yyjson_read_err error;
  // Reused by all writing.
  yyjson_alc *allocator = yyjson_alc_dyn_new();
  char *minified = nullptr;
  Text text;
  ~Yyjson() { yyjson_alc_dyn_free(allocator); }
};

void visit(yyjson_val *value, Fold &fold) {
  switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_OBJ: {
      yyjson_obj_iter members = yyjson_obj_iter_with(value);
      while (yyjson_val *key = yyjson_obj_iter_next(&members)) {
        fold.string(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
        visit(yyjson_obj_iter_get_val(key), fold);
      }
      fold.container(unsafe_yyjson_get_len(value));
      break;
    }
    case YYJSON_TYPE_ARR: {
      yyjson_arr_iter elements = yyjson_arr_iter_with(value);
      while (yyjson_val *element = yyjson_arr_iter_next(&elements)) visit(element, fold);
      fold.container(unsafe_yyjson_get_len(value));
      break;
    }
    case YYJSON_TYPE_STR: fold.string(unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value)); break;
    case YYJSON_TYPE_NUM:
      switch (unsafe_yyjson_get_subtype(value)) {
        case YYJSON_SUBTYPE_UINT: fold.integer(unsafe_yyjson_get_uint(value)); break;
        case YYJSON_SUBTYPE_SINT: fold.integer(unsafe_yyjson_get_sint(value)); break;
        default: fold.real(unsafe_yyjson_get_real(value)); break;
      }
      break;
    case YYJSON_TYPE_BOOL: fold.literal(unsafe_yyjson_get_bool(value) ? 2 : 1); break;
    default: fold.literal(0); break;
  }
}

struct Document {
  yyjson_doc *raw;
  ~Document() { yyjson_doc_free(raw); }
};

template <bool IN_SITU>
Document read(Yyjson &self, size_t index, yyjson_read_flag extra = YYJSON_READ_NOFLAG) {
  Padded &text = IN_SITU ? self.copies[index] : self.documents[index];
  yyjson_read_flag flags = IN_SITU ? YYJSON_READ_INSITU : YYJSON_READ_NOFLAG;
  return {yyjson_read_opts((char *)text.bytes.get(), text.length, flags | extra, nullptr, &self.error)};
}

const char *failure(const Yyjson &self) { return self.error.msg ? self.error.msg : "failed"; }

template <bool IN_SITU>
const char *dom(void *pointer, size_t index, bench_fold *answer) {
  auto &self = *static_cast<Yyjson *>(pointer);
  Document document = read<IN_SITU>(self, index);
  if (!document.raw) return failure(self);
  Fold fold;
  visit(yyjson_doc_get_root(document.raw), fold);
  *answer = fold;
  return nullptr;
}

template <bool IN_SITU>
const char *parse(void *pointer, size_t index) {
  auto &self = *static_cast<Yyjson *>(pointer);
  Document document = read<IN_SITU>(self, index);
  return document.raw ? nullptr : failure(self);
}

void fold_string(yyjson_val *value, Fold &fold) { fold.string(yyjson_get_str(value), yyjson_get_len(value)); }

void fold_integer(yyjson_val *value, Fold &fold) { fold.integer(yyjson_get_sint(value)); }

template <bool IN_SITU>
const char *partial(void *pointer, size_t index, bench_fold *answer) {
  auto &self = *static_cast<Yyjson *>(pointer);
  Document document = read<IN_SITU>(self, index);
  if (!document.raw) return failure(self);
  Fold fold;
  yyjson_val *tweets = yyjson_obj_get(yyjson_doc_get_root(document.raw), "statuses");
  yyjson_arr_iter elements = yyjson_arr_iter_with(tweets);
  while (yyjson_val *tweet = yyjson_arr_iter_next(&elements)) {
    // The iterator searches on from the last member found: yyjson's advice for several keys of one object.
    yyjson_obj_iter members = yyjson_obj_iter_with(tweet);
    fold_string(yyjson_obj_iter_get(&members, "created_at"), fold);
    fold_integer(yyjson_obj_iter_get(&members, "id"), fold);
    fold_string(yyjson_obj_iter_get(&members, "text"), fold);
    yyjson_obj_iter user = yyjson_obj_iter_with(yyjson_obj_iter_get(&members, "user"));
    fold_integer(yyjson_obj_iter_get(&user, "id"), fold);
    fold_string(yyjson_obj_iter_get(&user, "screen_name"), fold);
    fold_integer(yyjson_obj_iter_get(&user, "followers_count"), fold);
    fold_integer(yyjson_obj_iter_get(&members, "retweet_count"), fold);
    fold_integer(yyjson_obj_iter_get(&members, "favorite_count"), fold);
  }
  *answer = fold;
  return nullptr;
}

template <bool IN_SITU>
const char *users(void *pointer, size_t index, bench_fold *answer) {
  auto &self = *static_cast<Yyjson *>(pointer);
  Document document = read<IN_SITU>(self, index);
  if (!document.raw) return failure(self);
  Fold fold;
  std::vector<uint64_t> ids;
  yyjson_arr_iter elements = yyjson_arr_iter_with(yyjson_obj_get(yyjson_doc_get_root(document.raw), "statuses"));
  while (yyjson_val *tweet = yyjson_arr_iter_next(&elements)) {
    yyjson_obj_iter members = yyjson_obj_iter_with(tweet);
    ids.push_back(yyjson_get_uint(yyjson_obj_get(yyjson_obj_iter_get(&members, "user"), "id")));
    if (yyjson_val *original = yyjson_obj_iter_get(&members, "retweeted_status")) {
      ids.push_back(yyjson_get_uint(yyjson_obj_get(yyjson_obj_get(original, "user"), "id")));
    }
  }
  bench::fold_distinct(ids, fold);
  *answer = fold;
  return nullptr;
}

template <bool IN_SITU>
const char *two(void *pointer, size_t index, bench_fold *answer) {
  auto &self = *static_cast<Yyjson *>(pointer);
  Document document = read<IN_SITU>(self, index);
  if (!document.raw) return failure(self);
  Fold fold;
  yyjson_obj_iter members = yyjson_obj_iter_with(yyjson_doc_get_root(document.raw));
  fold_string(yyjson_obj_iter_get(&members, "Message"), fold);
  fold.real(yyjson_get_num(yyjson_obj_iter_get(&members, "Elapsed")));
  *answer = fold;
  return nullptr;
}

// Numbers keep their text, which is the fastest way through.
template <bool IN_SITU>
const char *minify(void *pointer, size_t index, size_t *length) {
  auto &self = *static_cast<Yyjson *>(pointer);
  if (self.minified) self.allocator->free(self.allocator->ctx, self.minified);
  self.minified = nullptr;
  self.text = Text();
  Document document = read<IN_SITU>(self, index, YYJSON_READ_NUMBER_AS_RAW);
  if (!document.raw) return failure(self);
  self.minified = yyjson_write_opts(document.raw, YYJSON_WRITE_NOFLAG, self.allocator, length, nullptr);
  if (!self.minified) return "not written";
  self.text = {self.minified, *length};
  return nullptr;
}

void *make() { return new Yyjson{}; }

template <bool IN_SITU>
void load(void *pointer, const uint8_t *text, size_t length) {
  auto &self = *static_cast<Yyjson *>(pointer);
  self.documents.emplace_back(text, length);
  if (IN_SITU) self.copies.emplace_back(text, length);
}

void refresh(void *pointer, size_t index) {
  auto &self = *static_cast<Yyjson *>(pointer);
  if (!self.copies.empty()) self.copies[index].restore(self.documents[index]);
}

void drop(void *pointer) { delete static_cast<Yyjson *>(pointer); }

size_t version(uint8_t *into, size_t capacity) {
  return Text{YYJSON_VERSION_STRING, strlen(YYJSON_VERSION_STRING)}.copy(into, capacity);
}

}  // namespace

extern "C" {

extern const bench_peer bench_yyjson = {
    version, make, load<false>, refresh, dom<false>, parse<false>, parse<false>, partial<false>,
    users<false>, two<false>, minify<false>, bench::minified<Yyjson>, nullptr, drop,
};

extern const bench_peer bench_yyjson_insitu = {
    version, make, load<true>, refresh, dom<true>, parse<true>, parse<true>, partial<true>,
    users<true>, two<true>, minify<true>, bench::minified<Yyjson>, nullptr, drop,
};
}
