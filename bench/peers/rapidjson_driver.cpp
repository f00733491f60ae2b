// RapidJSON in situ, over Debian's headers: full-precision numbers and UTF-8 validation asked for, so that the work
// is the same as everyone's; the copy that it overwrites is refreshed outside the timing.

#define RAPIDJSON_SSE42 1
#define RAPIDJSON_HAS_STDSTRING 0
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <rapidjson/writer.h>

#include "peer.h"

namespace {

using bench::Fold;
using bench::Padded;
using bench::Text;

constexpr unsigned FLAGS = rapidjson::kParseInsituFlag | rapidjson::kParseFullPrecisionFlag |
                           rapidjson::kParseValidateEncodingFlag;

struct RapidJson {
  std::vector<Padded> documents, copies;
  rapidjson::StringBuffer minified;
  Text text;
};

void visit(const rapidjson::Value &value, Fold &fold) {
  switch (value.GetType()) {
    case rapidjson::kObjectType:
      for (const auto &member : value.GetObject()) {
        fold.string(member.name.GetString(), member.name.GetStringLength());
        visit(member.value, fold);
      }
      fold.container(value.MemberCount());
      break;
    case rapidjson::kArrayType:
      for (const auto &element : value.GetArray()) visit(element, fold);
      fold.container(value.Size());
      break;
    case rapidjson::kStringType: fold.string(value.GetString(), value.GetStringLength()); break;
    case rapidjson::kNumberType:
      if (value.IsInt64()) {
        fold.integer(int64_t(value.GetInt64()));
      } else if (value.IsUint64()) {
        fold.integer(uint64_t(value.GetUint64()));
      } else {
        fold.real(value.GetDouble());
      }
      break;
    case rapidjson::kTrueType: fold.literal(2); break;
    case rapidjson::kFalseType: fold.literal(1); break;
    default: fold.literal(0); break;
  }
}

const char *read(void *pointer, size_t index, rapidjson::Document &document) {
  auto &self = *static_cast<RapidJson *>(pointer);
  document.ParseInsitu<FLAGS>((char *)self.copies[index].bytes.get());
  return document.HasParseError() ? rapidjson::GetParseError_En(document.GetParseError()) : nullptr;
}

const char *dom(void *pointer, size_t index, bench_fold *answer) {
  rapidjson::Document document;
  if (const char *reason = read(pointer, index, document)) return reason;
  Fold fold;
  visit(document, fold);
  *answer = fold;
  return nullptr;
}

const char *parse(void *pointer, size_t index) {
  rapidjson::Document document;
  return read(pointer, index, document);
}

void fold_string(const rapidjson::Value &value, Fold &fold) { fold.string(value.GetString(), value.GetStringLength()); }

const char *partial(void *pointer, size_t index, bench_fold *answer) {
  rapidjson::Document document;
  if (const char *reason = read(pointer, index, document)) return reason;
  Fold fold;
  for (const auto &tweet : document["statuses"].GetArray()) {
    const auto &user = tweet["user"];
    fold_string(tweet["created_at"], fold);
    fold.integer(int64_t(tweet["id"].GetInt64()));
    fold_string(tweet["text"], fold);
    fold.integer(int64_t(user["id"].GetInt64()));
    fold_string(user["screen_name"], fold);
    fold.integer(int64_t(user["followers_count"].GetInt64()));
    fold.integer(int64_t(tweet["retweet_count"].GetInt64()));
    fold.integer(int64_t(tweet["favorite_count"].GetInt64()));
  }
  *answer = fold;
  return nullptr;
}

const char *users(void *pointer, size_t index, bench_fold *answer) {
  rapidjson::Document document;
  if (const char *reason = read(pointer, index, document)) return reason;
  Fold fold;
  std::vector<uint64_t> ids;
  for (const auto &tweet : document["statuses"].GetArray()) {
    ids.push_back(tweet["user"]["id"].GetUint64());
    auto original = tweet.FindMember("retweeted_status");
    if (original != tweet.MemberEnd()) ids.push_back(original->value["user"]["id"].GetUint64());
  }
  bench::fold_distinct(ids, fold);
  *answer = fold;
  return nullptr;
}

const char *two(void *pointer, size_t index, bench_fold *answer) {
  rapidjson::Document document;
  if (const char *reason = read(pointer, index, document)) return reason;
  Fold fold;
  fold_string(document["Message"], fold);
  fold.real(document["Elapsed"].GetDouble());
  *answer = fold;
  return nullptr;
}

// Writes a number as it stood; RapidJSON's own writer would put it into quotes.
struct Rewriter : rapidjson::Writer<rapidjson::StringBuffer> {
  using Writer::Writer;
  bool RawNumber(const char *text, rapidjson::SizeType length, bool) {
    return RawValue(text, length, rapidjson::kNumberType);
  }
};

// From the events of its reader, without a document in between.
const char *minify(void *pointer, size_t index, size_t *length) {
  auto &self = *static_cast<RapidJson *>(pointer);
  self.text = Text();
  self.minified.Clear();
  rapidjson::Reader reader;
  rapidjson::InsituStringStream stream((char *)self.copies[index].bytes.get());
  Rewriter writer(self.minified);
  if (!reader.Parse<FLAGS | rapidjson::kParseNumbersAsStringsFlag>(stream, writer)) {
    return rapidjson::GetParseError_En(reader.GetParseErrorCode());
  }
  self.text = {self.minified.GetString(), self.minified.GetSize()};
  *length = self.text.length;
  return nullptr;
}

void *make() { return new RapidJson; }

void load(void *pointer, const uint8_t *text, size_t length) {
  auto &self = *static_cast<RapidJson *>(pointer);
  self.documents.emplace_back(text, length);
  self.copies.emplace_back(text, length);
}

void refresh(void *pointer, size_t index) {
  auto &self = *static_cast<RapidJson *>(pointer);
  self.copies[index].restore(self.documents[index]);
}

void drop(void *pointer) { delete static_cast<RapidJson *>(pointer); }

size_t version(uint8_t *into, size_t capacity) {
  return Text{RAPIDJSON_VERSION_STRING, strlen(RAPIDJSON_VERSION_STRING)}.copy(into, capacity);
}

}  // namespace

extern "C" {

extern const bench_peer bench_rapidjson = {
    version, make, load, refresh, dom, parse, parse, partial, users, two, minify,
    bench::minified<RapidJson>, nullptr, drop,
};
}
