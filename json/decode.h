#pragma once

#include <memory>
#include <string_view>
#include <tl/expected.hpp>

#include "json/issues.h"
#include "json/json.h"
#include "json/limits.h"
#include "json/positions.h"
#include "json/projection.h"

namespace mindgate::json {

// Strict JSON (RFC 8259, UTF-8, optional byte order mark) to a tree. Integers keep all 64 bits and
// floats stay floats. Refused, each with its place: syntax faults, bad UTF-8, duplicate keys,
// numbers out of range, text after the value, and anything beyond a limit. Never throws, whatever
// the bytes. Safe from many threads.
tl::expected<Json, Issue> Decode(std::string_view text, const Limits& limits = {});

// The same for many texts in turn, a third faster: it keeps its buffers, up to about 3 MB. Members
// named `left_out` (a view of text that outlives the decoder; empty: none) become null whatever
// they hold: the managedFields of an object are often half of it, and no decision reads them. One
// thread at a time.
class Decoder {
 public:
  explicit Decoder(const Limits& limits = {}, std::string_view left_out = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  tl::expected<Json, Issue> Decode(std::string_view text);
  // Only what `kept` names.
  tl::expected<Json, Issue> Decode(std::string_view text, const Projection& kept);

 private:
  struct Buffers;

  tl::expected<Json, Issue> DecodeFrom(std::string_view text, const Projection::Node* kept);

  Limits limits_;
  std::string_view left_out_;
  std::unique_ptr<Buffers> buffers_;
};

// Places of all values of a text that Decode accepted. Costs a second pass: ask only when there is
// something to report.
Positions Locate(std::string_view text);

}  // namespace mindgate::json
