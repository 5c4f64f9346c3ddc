#include "json/decode.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/arena.h"
#include "json/issues.h"
#include "json/layout.h"
#include "json/scanner.h"

namespace mindgate::json {
namespace {

// Steps of a path are looked up by key first: where a key and "*" stand side by side, what "*"
// wants must be below the key as well.
void Add(Projection::Node& node, const Projection::Path& path, size_t at) {
  if (at == path.size()) {
    node.whole = true;
    return;
  }
  auto& next = node.members[path[at]];
  if (next == nullptr) next = std::make_unique<Projection::Node>();
  Add(*next, path, at + 1);
  if (path[at] != "*") return;
  for (auto& [key, member] : node.members) {
    if (key != "*") Add(*member, path, at + 1);
  }
}

}  // namespace

Projection::Projection(const std::vector<Path>& paths) : paths_(paths) {
  // Those that name their keys come first, so that Add meets them when "*" comes.
  std::stable_sort(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) {
    return std::count(a.begin(), a.end(), "*") < std::count(b.begin(), b.end(), "*");
  });
  for (const Path& path : paths_) Add(root_, path, 0);
}

const Projection::Node* Projection::Node::Step(std::string_view key) const {
  auto found = members.find(key);
  if (found == members.end()) found = members.find("*");
  return found == members.end() ? nullptr : found->second.get();
}

Projection Projection::Below(const Path& above, const std::vector<Path>& besides) const {
  std::vector<Path> paths = besides;
  for (const Path& path : paths_) {
    Path longer = above;
    longer.insert(longer.end(), path.begin(), path.end());
    paths.push_back(std::move(longer));
  }
  return Projection(paths);
}

namespace {

static_assert(Text::kPadding >= simdjson::SIMDJSON_PADDING);

// Buffers for a text of this size are kept; the few larger texts get their own.
constexpr size_t kMaxKept = 256 * 1024;

// Rows of larger texts get their memory at once, as much as they can take: growing would need half
// as much again. No more than a text of 7 MiB may have; pages are taken as they are used.
constexpr size_t kMaxGrown = 64 * 1024;
constexpr size_t kMaxReserved = 512 * 1024;

// The rows of a text of 16 KB, about. Grows with the texts that come.
constexpr size_t kFirstBlock = 32 * 1024;

// How much a text may hold at most.
struct Bounds {
  size_t values = 1;   // each begins the text, or comes after ',', '[' or '{'
  size_t members = 0;  // each has a ':'
};

Bounds BoundsOf(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kLow = kOnes * 0x7F;
  // How many bytes are 0: each gives a one, and the product has their sum in its highest byte.
  const auto zeros = [](uint64_t bytes) {
    return static_cast<size_t>(((~(((bytes & kLow) + kLow) | bytes | kLow) >> 7) * kOnes) >> 56);
  };
  Bounds most;
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    static_assert(('[' | 0x20) == '{');
    most.values += zeros(bytes ^ (kOnes * ',')) + zeros((bytes | (kOnes * 0x20)) ^ (kOnes * '{'));
    most.members += zeros(bytes ^ (kOnes * ':'));
    text.remove_prefix(sizeof bytes);
  }
  most.values += text.size();
  most.members += text.size();
  return most;
}

}  // namespace

struct Decoder::Buffers {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  std::unique_ptr<char[]> unescaped;  // as large as the parser's capacity, and padding
  bool has_unescaped = false;         // the value has views of it
  std::string copy;                   // of the text, with room after it
  Arena arena{kFirstBlock};
  RowStack<Member> members;
  RowStack<Value> items;
  Value root;

  size_t capacity() const { return parser == nullptr ? 0 : parser->capacity(); }
  // For a text of this size. False when there is no memory for it.
  bool Reserve(size_t size) {
    if (parser != nullptr && size <= capacity()) return true;
    if (size <= kMaxKept) size = std::bit_ceil(size);
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(size, 1, parser)) {
      return false;
    }
    unescaped = std::make_unique_for_overwrite<char[]>(size + Text::kPadding);
    return true;
  }
  void Clear() {
    arena.Clear();
    members.Clear();
    items.Clear();
  }
};

Decoder::Decoder(const Limits& limits, std::string_view left_out)
    : limits_(limits), left_out_(left_out) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::Release() {
  if (buffers_ != nullptr && buffers_->capacity() > kMaxKept) buffers_.reset();
}

void Decoder::Finish() {
  if (buffers_ == nullptr) return;
  buffers_->parser.reset();
  if (!buffers_->has_unescaped) buffers_->unescaped.reset();
}

tl::expected<const Value*, Issue> Decoder::Decode(Text text) { return DecodeFrom(text, nullptr); }

tl::expected<const Value*, Issue> Decoder::Decode(Text text, const Projection& kept) {
  return DecodeFrom(text, &kept.root());
}

tl::expected<const Value*, Issue> Decoder::DecodeFrom(Text from, const Projection::Node* kept) {
  const std::string_view text = from.text();
  if (text.size() > limits_.bytes) {
    return tl::unexpected(Issue{{}, "", internal::TooLarge(limits_.bytes), "", true});
  }
  Limits limits = limits_;
  limits.elements = limits_.ElementsIn(text.size());
  // A value of a byte or two costs fifty while it is decoded, so a text of nothing else is refused
  // before.
  Limits all = limits;
  if (kept != nullptr) all.elements = limits_.ValuesIn(text.size());
  if (text.size() / 2 > all.elements && BoundsOf(text).values > all.elements) {
    if (auto issue = internal::CountValues(text, all)) return tl::unexpected(*std::move(issue));
  }
  if (LayOut(from, limits, kept)) return &buffers_->root;
  buffers_->Clear();
  if (auto issue = internal::Scan(text, limits, nullptr)) return tl::unexpected(*std::move(issue));
  return tl::unexpected(Issue{{}, "", "the text was refused", ""});
}

bool Decoder::LayOut(Text from, const Limits& limits, const Projection::Node* kept) {
  Release();
  if (buffers_ == nullptr) buffers_ = std::make_unique<Buffers>();
  buffers_->Clear();
  std::string_view content = internal::WithoutByteOrderMark(from.text());
  if (!from.in_place()) {
    std::string& copy = buffers_->copy;
    copy.reserve(content.size() + Text::kPadding);
    copy.assign(content);
    content = copy;
  }
  if (kept == nullptr && content.size() > kMaxGrown) {
    const Bounds most = BoundsOf(content);
    buffers_->members.Reserve(std::min(most.members, kMaxReserved));
    buffers_->items.Reserve(std::min(most.values, kMaxReserved));
  }
  if (!buffers_->Reserve(content.size())) return false;
  auto& parser = *buffers_->parser;
  if (parser.stage1(reinterpret_cast<const uint8_t*>(content.data()), content.size(),
                    simdjson::stage1_mode::regular)) {
    return false;
  }
  internal::Layout layout(
      content, parser, limits, left_out_,
      {buffers_->arena, buffers_->members, buffers_->items, buffers_->unescaped.get()});
  const bool is_fine = layout.Root(buffers_->root, kept);
  buffers_->has_unescaped = layout.has_unescaped();
  return is_fine;
}

Document::Document(const Json& tree) : Document() { SetRoot(ValueOf(tree, arena())); }

Document Document::CopyOf(const Value& value) {
  Document copy;
  copy.SetRoot(json::CopyOf(value, copy.arena()));
  return copy;
}

tl::expected<Document, Issue> Document::Decode(std::string_view text, const Limits& limits) {
  auto decoder = std::make_unique<Decoder>(limits);
  const auto root = decoder->Decode(text);
  if (!root) return tl::unexpected(root.error());
  Document document;
  decoder->Finish();
  document.decoder_ = std::move(decoder);
  document.root_ = *root;
  return document;
}

tl::expected<Json, Issue> Decode(std::string_view text, const Limits& limits) {
  Decoder decoder(limits);
  const auto root = decoder.Decode(text);
  if (!root) return tl::unexpected(root.error());
  return TreeOf(**root);
}

Positions PositionsOf(std::string_view text) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  constexpr size_t kMaxDepth = 1000;  // far beyond what Decode takes; every level costs memory
  Positions places;
  // The text was accepted before, so a fault can only mean that a caller passed another one.
  (void)internal::Scan(text, Limits{kAny, kMaxDepth, kAny}, &places);
  return places;
}

}  // namespace mindgate::json
