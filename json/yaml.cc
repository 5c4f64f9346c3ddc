#include "json/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/foreign_text.h"
#include "base/text.h"
#include "json/issues.h"
#include "json/scalars.h"
#include "json/scanner.h"
#include "json/yaml_reader.h"

namespace mindgate::json {
namespace {

using internal::IsMergeKey;
using internal::YamlNode;
using internal::YamlNodes;
using internal::YamlSchema;
using internal::YamlTag;

// What the aliases of a whole stream have pulled in so far: a stream of small documents must not
// expand each of them to the limit.
struct Expanded {
  size_t values = 0;
  size_t bytes = 0;
};

// Turns one document into a tree. Recursion is bounded by limits.depth.
class YamlTreeBuilder {
 public:
  YamlTreeBuilder(const YamlNodes& nodes, const Limits& limits, YamlSchema schema,
                  Expanded& expanded)
      : nodes_(nodes), limits_(limits), schema_(schema), expanded_(expanded) {}

  tl::expected<YamlDocument, Issue> Build() {
    YamlDocument document;
    document.line = nodes_.front().at.line;
    positions_.Set("", nodes_.front().at);
    if (!Value(0, {Positions::kRoot, 0, nullptr}, document.value)) {
      return tl::unexpected(*std::move(issue_));
    }
    document.positions = std::move(positions_);
    return document;
  }

 private:
  // Where a value goes.
  struct Target {
    size_t id;            // its number in positions_
    size_t depth;         // objects and lists around it
    const Position* via;  // the alias that pulled it in, if any: all within gets that place
  };

  // Each step returns false after it has noted a fault.
  bool Fault(Position at, std::string message, std::string hint = "") {
    issue_ = Issue{at, "", std::move(message), std::move(hint)};
    return false;
  }

  bool IsCollection(const YamlNode& node) const {
    return node.kind == YamlNode::Kind::kMapping || node.kind == YamlNode::Kind::kSequence;
  }

  Position PositionOf(const YamlNode& node, const Target& place) const {
    return place.via != nullptr ? *place.via : node.at;
  }

  // Counts a value and its text against the limits.
  bool Charge(const YamlNode& node, const Target& place) {
    if (++values_ > limits_.elements) {
      return Fault(PositionOf(node, place), internal::TooMany(limits_));
    }
    if (place.via == nullptr) return true;
    expanded_.bytes += node.text.size();
    if (++expanded_.values > limits_.elements || expanded_.bytes > limits_.bytes) {
      return Fault(*place.via, "aliases expand to more than " + std::to_string(limits_.elements) +
                                   " values or " + std::to_string(limits_.bytes) +
                                   " bytes of text");
    }
    return true;
  }

  bool Value(uint32_t index, Target place, Json& out) {
    if (nodes_[index].kind == YamlNode::Kind::kAlias) {
      if (place.via == nullptr) place.via = &nodes_[index].at;
      index = nodes_[index].target;  // never an alias itself
    }
    const YamlNode& node = nodes_[index];
    if (!Charge(node, place)) return false;
    if (!IsCollection(node)) return Scalar(node, place, out);
    if (place.depth >= limits_.depth) {
      return Fault(PositionOf(node, place), internal::TooDeep(limits_));
    }
    if (node.kind == YamlNode::Kind::kSequence) {
      out = Json::array();
      return Items(index, place, *out.get_ptr<Json::array_t*>());
    }
    out = Json::object();
    return Members(index, place, *out.get_ptr<Json::object_t*>(), /*merging=*/false);
  }

  bool Scalar(const YamlNode& node, const Target& place, Json& out) {
    if (node.tag != YamlTag::kNone) {
      auto value = internal::ResolveTagged(node.tag, node.text, schema_);
      if (!value) return Fault(PositionOf(node, place), std::move(value.error()));
      out = *std::move(value);
    } else {
      out = node.plain ? internal::ResolvePlain(node.text, schema_) : Json(node.text);
    }
    const auto* number = out.get_ptr<const Json::number_float_t*>();
    if (number == nullptr || std::isfinite(*number)) return true;
    return Fault(PositionOf(node, place), Quote(node.text) + " is a number that JSON cannot hold",
                 "quote it if it is meant as text");
  }

  bool Items(uint32_t index, const Target& place, Json::array_t& items) {
    for (uint32_t at = index + 1; at < nodes_[index].end; at = nodes_[at].end) {
      const Position where = PositionOf(nodes_[at], place);
      const size_t id = positions_.Add(place.id, std::to_string(items.size()), where);
      if (!Value(at, {id, place.depth + 1, place.via}, items.emplace_back())) return false;
    }
    return true;
  }

  // Adds the members of a mapping. When merging, those that the object has already are left out.
  bool Members(uint32_t index, const Target& place, Json::object_t& object, bool merging) {
    std::optional<uint32_t> merge;  // the value of "<<"
    std::set<std::string, std::less<>>
        own;  // keys of this mapping, where the object cannot show it
    for (uint32_t at = index + 1; at < nodes_[index].end;) {
      const YamlNode& key = nodes_[at];
      const uint32_t value = key.end;
      at = nodes_[value].end;
      if (IsMergeKey(key)) {
        if (merge) {
          return Fault(PositionOf(key, place), "key \"<<\" is written twice",
                       "merge several maps with a list: <<: [*a, *b]");
        }
        merge = value;
        continue;
      }
      std::string name;
      if (!KeyText(key, place, name)) return false;
      if (merging && !own.insert(name).second) return Twice(index, key, place, name);
      const auto [slot, fresh] = object.try_emplace(name);
      if (!fresh) {
        if (!merging) return Twice(index, key, place, name);
        if (!Charge(nodes_[value], place)) return false;
        continue;
      }
      const Position where = PositionOf(IsCollection(nodes_[value]) ? key : nodes_[value], place);
      const size_t id = positions_.Add(place.id, std::move(name), where);
      if (!Value(value, {id, place.depth + 1, place.via}, slot->second)) return false;
    }
    return !merge || Merge(*merge, place, object);
  }

  // The value of "<<": a map, an alias of one, or a list of these, of which the earlier win.
  bool Merge(uint32_t index, const Target& place, Json::object_t& object) {
    if (nodes_[index].kind != YamlNode::Kind::kSequence) return MergeOne(index, place, object);
    for (uint32_t at = index + 1; at < nodes_[index].end; at = nodes_[at].end) {
      if (!MergeOne(at, place, object)) return false;
    }
    return true;
  }

  bool MergeOne(uint32_t index, Target place, Json::object_t& object) {
    const Position written = PositionOf(nodes_[index], place);
    if (nodes_[index].kind == YamlNode::Kind::kAlias) {
      if (place.via == nullptr) place.via = &nodes_[index].at;
      index = nodes_[index].target;
    }
    if (nodes_[index].kind != YamlNode::Kind::kMapping) {
      return Fault(written, "only a map or a list of maps can be merged with \"<<\"");
    }
    if (!Charge(nodes_[index], place)) return false;
    // A map merged into a map that is merged: a chain of these is as long as the text allows.
    if (++merge_depth_ > limits_.depth) return Fault(written, internal::TooDeep(limits_));
    const bool fine = Members(index, place, object, /*merging=*/true);
    --merge_depth_;
    return fine;
  }

  bool Twice(uint32_t mapping, const YamlNode& key, const Target& place, const std::string& name) {
    std::string hint = "remove one";
    for (uint32_t at = mapping + 1; at < nodes_[mapping].end; at = nodes_[nodes_[at].end].end) {
      std::string other;
      if (IsMergeKey(nodes_[at]) || !KeyText(nodes_[at], place, other) || other != name) continue;
      hint += "; the first is on line " + std::to_string(nodes_[at].at.line);
      break;
    }
    return Fault(PositionOf(key, place), "key " + Quote(name) + " is written twice",
                 std::move(hint));
  }

  // Keys that are not strings become text, as sigs.k8s.io/yaml writes it.
  bool KeyText(const YamlNode& written, const Target& place, std::string& out) {
    Target key_place = place;
    const YamlNode* key = &written;
    if (key->kind == YamlNode::Kind::kAlias) {
      if (key_place.via == nullptr) key_place.via = &written.at;
      key = &nodes_[key->target];
    }
    const Position at = PositionOf(*key, key_place);
    if (IsCollection(*key)) return Fault(at, "a key must be a scalar, not a list or a map");
    if (key_place.via != nullptr && !ChargeKey(*key, *key_place.via)) return false;
    Json value;
    if (key->tag != YamlTag::kNone) {
      auto tagged = internal::ResolveTagged(key->tag, key->text, schema_);
      if (!tagged) return Fault(at, std::move(tagged.error()));
      value = *std::move(tagged);
    } else if (key->plain && schema_ == YamlSchema::kGoYaml) {
      value = ResolvePlainScalar(key->text);
    } else {
      out = key->text;
      return true;
    }
    if (auto* text = value.get_ptr<Json::string_t*>()) {
      out = std::move(*text);
    } else if (value.is_boolean()) {
      out = value.get<bool>() ? "true" : "false";
    } else if (value.is_number_float()) {
      out = internal::FloatKeyText(value.get<double>());
    } else if (value.is_number_integer() && !value.is_number_unsigned()) {
      out = std::to_string(value.get<int64_t>());
    } else {
      return Fault(at, Quote(key->text) + " cannot be a key", "quote it if it is meant as text");
    }
    return true;
  }

  bool ChargeKey(const YamlNode& key, Position via) {
    expanded_.bytes += key.text.size();
    if (expanded_.bytes <= limits_.bytes) return true;
    return Fault(via,
                 "aliases expand to more than " + std::to_string(limits_.bytes) + " bytes of text");
  }

  const YamlNodes& nodes_;
  const Limits& limits_;
  const YamlSchema schema_;
  Expanded& expanded_;
  Positions positions_;
  size_t values_ = 0;
  size_t merge_depth_ = 0;
  std::optional<Issue> issue_;
};

// The place of the first %TAG directive too many. libyaml compares each with all before it, which
// takes minutes for the millions that fit into a file; nobody needs more than a few.
std::optional<size_t> FindSurplusDirective(std::string_view text) {
  constexpr std::string_view kDirective = "%TAG";
  constexpr size_t kMax = 1000;
  size_t count = 0;
  for (size_t at = text.find(kDirective); at != std::string_view::npos;
       at = text.find(kDirective, at + 1)) {
    const bool begins_line = at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
    if (begins_line && ++count > kMax) return at;
  }
  return std::nullopt;
}

tl::expected<std::vector<YamlDocument>, Issue> Decode(std::string_view text, const Limits& limits,
                                                      YamlSchema schema) {
  text = internal::WithoutByteOrderMark(text);
  const size_t largest = std::max(limits.bytes, kLargestFile);
  if (text.size() > largest) {
    return tl::unexpected(
        Issue{{}, "", "the file is larger than " + std::to_string(largest) + " bytes", ""});
  }
  if (const size_t bad = internal::FindBadUtf8(text); bad != std::string_view::npos) {
    return tl::unexpected(internal::NotUtf8(text, bad));
  }
  if (const auto surplus = FindSurplusDirective(text)) {
    return tl::unexpected(
        Issue{internal::PositionAt(text, *surplus), "", "too many %TAG directives", ""});
  }
  std::vector<YamlDocument> documents;
  Expanded expanded;
  internal::YamlReader reader(text, limits);
  for (;;) {
    const auto nodes = reader.Next();
    if (!nodes) return tl::unexpected(nodes.error());
    if (nodes->empty()) return documents;
    auto document = YamlTreeBuilder(*nodes, limits, schema, expanded).Build();
    if (!document) return tl::unexpected(std::move(document.error()));
    documents.push_back(*std::move(document));
  }
}

}  // namespace

tl::expected<std::vector<YamlDocument>, Issue> DecodeYaml(std::string_view text,
                                                          const Limits& limits) {
  return Decode(text, limits, YamlSchema::kGoYaml);
}

tl::expected<std::vector<YamlDocument>, Issue> DecodeCoreYaml(std::string_view text,
                                                              const Limits& limits) {
  return Decode(text, limits, YamlSchema::kCore);
}

namespace {

int Append(void* out, unsigned char* bytes, size_t size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

// libyaml refuses what is not UTF-8, and so would every reader.
std::string Repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// Dates and times are strings to us, but not to every reader of YAML: quote them, as go-yaml does.
bool LooksLikeTime(std::string_view text) {
  return !text.empty() && (IsDigit(text[0]) || text[0] == '-' || text[0] == '+') &&
         text.find_first_of(":-", 1) != std::string_view::npos &&
         text.find_first_not_of("0123456789+-:._TtZz ") == std::string_view::npos;
}

// Whether a literal block gives this text back. It would turn other line ends into '\n', and a text
// that ends in empty lines needs an end-of-document mark.
bool FitsLiteral(std::string_view text) {
  return text.find('\n') != std::string_view::npos && !text.starts_with('\n') &&
         !text.starts_with(' ') && !text.ends_with("\n\n") &&
         text.find_first_of("\r\t") == std::string_view::npos &&
         text.find("\xC2\x85") == std::string_view::npos &&      // next line
         text.find("\xE2\x80\xA8") == std::string_view::npos &&  // line separator
         text.find("\xE2\x80\xA9") == std::string_view::npos;    // paragraph separator
}

class Emitter {
 public:
  Emitter(std::string& out, bool unicode, bool flow) : flow_(flow) {
    fine_ = yaml_emitter_initialize(&emitter_) == 1;
    if (!fine_) return;
    yaml_emitter_set_output(&emitter_, Append, &out);
    yaml_emitter_set_unicode(&emitter_, unicode ? 1 : 0);
    yaml_emitter_set_width(&emitter_, -1);
    yaml_emitter_set_indent(&emitter_, 2);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void Document(const Json& value) {
    yaml_event_t event;
    Emit(event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    Emit(event, yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1));
    Tree(value);
    Emit(event, yaml_document_end_event_initialize(&event, 1));
    Emit(event, yaml_stream_end_event_initialize(&event));
  }

 private:
  struct Open {
    const Json* value;
    Json::const_iterator next;
  };

  // yaml_emitter_emit takes the event over, also when it fails.
  void Emit(yaml_event_t& event, int initialized) {
    if (initialized != 1) {
      fine_ = false;
    } else if (fine_) {
      fine_ = yaml_emitter_emit(&emitter_, &event) == 1;
    } else {
      yaml_event_delete(&event);
    }
  }

  void Tree(const Json& root) {
    std::vector<Open> open;
    Value(root, open);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.value->cend()) {
        Close(*top.value);
        open.pop_back();
        continue;
      }
      const auto item = top.next++;
      if (top.value->is_object()) Text(item.key(), /*is_key=*/true);
      Value(*item, open);
    }
  }

  void Value(const Json& value, std::vector<Open>& open) {
    yaml_event_t event;
    if (value.is_object()) {
      Emit(event, yaml_mapping_start_event_initialize(
                      &event, nullptr, nullptr, 1,
                      flow_ ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
      open.push_back({&value, value.cbegin()});
    } else if (value.is_array()) {
      Emit(event, yaml_sequence_start_event_initialize(
                      &event, nullptr, nullptr, 1,
                      flow_ ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
      open.push_back({&value, value.cbegin()});
    } else if (value.is_string()) {
      Text(value.get_ref<const std::string&>(), /*is_key=*/false);
    } else {
      // Numbers, true, false and null read the same in YAML.
      Scalar(value.dump(), true, YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void Close(const Json& value) {
    yaml_event_t event;
    Emit(event, value.is_object() ? yaml_mapping_end_event_initialize(&event)
                                  : yaml_sequence_end_event_initialize(&event));
  }

  void Text(const std::string& text, bool is_key) {
    if (internal::FindBadUtf8(text) != std::string_view::npos) {
      return Text(Repaired(text), is_key);
    }
    const bool breaks = text.find_first_of("\r\n") != std::string::npos;
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    if (breaks) {
      style = !is_key && FitsLiteral(text) ? YAML_LITERAL_SCALAR_STYLE
                                           : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    }
    const bool plain = text != "<<" && !LooksLikeTime(text) && ResolvePlainScalar(text).is_string();
    Scalar(text, plain, style);
  }

  // libyaml falls back to quotes where the style does not fit the text or the place.
  void Scalar(const std::string& text, bool plain, yaml_scalar_style_t style) {
    yaml_event_t event;
    auto* bytes = reinterpret_cast<yaml_char_t*>(const_cast<char*>(text.data()));
    Emit(event,
         yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                      static_cast<int>(text.size()), plain ? 1 : 0, 1, style));
  }

  yaml_emitter_t emitter_ = {};
  const bool flow_;
  bool fine_ = false;
};

std::string Encode(const Json& value, bool flow) {
  std::string out;
  Emitter(out, /*unicode=*/true, flow).Document(value);
  if (!IsSafeText(out)) {
    // With all that is not ASCII as escapes in double quotes: libyaml has no choice in between.
    out.clear();
    Emitter(out, /*unicode=*/false, flow).Document(value);
  }
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace

std::string EncodeYaml(const Json& value) { return Encode(value, /*flow=*/false); }

std::string EncodeFlowYaml(const Json& value) {
  // As an item: libyaml has other rules for a scalar that is the whole document.
  const std::string list = Encode(Json::array({value}), /*flow=*/true);
  return list.substr(1, list.size() - 3);  // "[", "]" and the end of the line
}

}  // namespace mindgate::json
