#include "json/yaml_reader.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "json/issues.h"
#include "json/scanner.h"

namespace mindgate::json::internal {
namespace {

struct Event {
  Event() = default;
  ~Event() { yaml_event_delete(&raw); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  yaml_event_t raw = {};
};

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text));
}

// Whether the line that begins with the offset is indented as no line before it.
bool IsIndentedAlone(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const size_t indent = offset - start;
  if (indent == 0 || before.find_first_not_of(' ', start) != std::string_view::npos) return false;
  for (size_t at = 0; at < start;) {
    const size_t end = before.find('\n', at);
    // A key may follow the dash of a list.
    const size_t first = before.find_first_not_of(' ', at);
    const size_t key = before.find_first_not_of(" -", at);
    if (first < end && (first - at == indent || (key < end && key - at == indent))) return false;
    at = end + 1;
  }
  return true;
}

// Whether the line before that of the offset ends in the sign of a block scalar, which got no text.
bool FollowsBlockScalar(std::string_view text, size_t offset) {
  const size_t start = text.substr(0, offset).rfind('\n');
  if (start == std::string_view::npos) return false;
  std::string_view line = text.substr(0, start);
  line = line.substr(line.rfind('\n') + 1);
  line = Trim(line.substr(0, line.find(" #")));
  return line.ends_with(": |") || line.ends_with(": >") || line.ends_with(": |-") ||
         line.ends_with(": >-");
}

// libyaml counts characters, we count bytes.
class ByteOffsets {
 public:
  explicit ByteOffsets(std::string_view text) : text_(text) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) return;
    size_t characters = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      if (IsTail(text[at])) continue;
      if (characters++ % kStep == 0) known_.push_back(at);
    }
  }

  size_t At(size_t index) const {
    if (known_.empty()) return std::min(index, text_.size());
    if (index / kStep >= known_.size()) return text_.size();
    size_t at = known_[index / kStep];
    for (size_t left = index % kStep; left > 0 && at < text_.size(); --left) {
      ++at;
      while (at < text_.size() && IsTail(text_[at])) ++at;
    }
    return at;
  }

 private:
  static constexpr size_t kStep = 16;
  static bool IsTail(char c) { return (c & 0xC0) == 0x80; }

  std::string_view text_;
  std::vector<size_t> known_;  // offset of every kStep-th character; empty for ASCII
};

std::optional<YamlTag> ParseTag(std::string_view tag) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "!") return YamlTag::kNone;
  if (!tag.starts_with(kPrefix)) return std::nullopt;
  tag.remove_prefix(kPrefix.size());
  constexpr std::pair<std::string_view, YamlTag> kTags[] = {
      {"str", YamlTag::kStr},   {"int", YamlTag::kInt},     {"float", YamlTag::kFloat},
      {"bool", YamlTag::kBool}, {"null", YamlTag::kNull},   {"map", YamlTag::kMap},
      {"seq", YamlTag::kSeq},   {"merge", YamlTag::kMerge}, {"binary", YamlTag::kBinary}};
  for (const auto& [name, value] : kTags) {
    if (tag == name) return value;
  }
  return std::nullopt;
}

}  // namespace

bool IsMergeKey(const YamlNode& key) {
  return key.kind == YamlNode::Kind::kScalar && key.text == "<<" &&
         (key.tag == YamlTag::kMerge || (key.tag == YamlTag::kNone && key.plain));
}

class YamlReader::Stream {
 public:
  Stream(std::string_view text, const Limits& limits)
      : text_(text), limits_(limits), offsets_(text), lines_(text) {
    fine_ = yaml_parser_initialize(&parser_) == 1;
    if (!fine_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Stream() {
    if (fine_) yaml_parser_delete(&parser_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  tl::expected<YamlNodes, Issue> Next() {
    if (!fine_) return tl::unexpected(Issue{{}, "", "out of memory", ""});
    while (!ended_ && !issue_) {
      Event event;
      if (yaml_parser_parse(&parser_, &event.raw) != 1) {
        issue_ = SyntaxFault();
      } else if (Take(event.raw) && !issue_ && HasContent()) {
        return std::exchange(nodes_, {});
      }
    }
    if (issue_) return tl::unexpected(*issue_);
    return YamlNodes();
  }

 private:
  struct Open {
    uint32_t node;
    bool mapping;
    bool key_next;
    uint32_t last;  // of the nodes in it; itself while there is none
  };

  // True when a document is complete.
  bool Take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
        return false;
      case YAML_STREAM_END_EVENT:
        ended_ = true;
        return false;
      case YAML_DOCUMENT_START_EVENT:
        nodes_.clear();
        anchors_.clear();
        values_ = 0;
        document_start_ = offsets_.At(event.start_mark.index);
        return false;
      case YAML_DOCUMENT_END_EVENT:
        return IsSmallEnough(offsets_.At(event.start_mark.index), nodes_.back().at);
      case YAML_ALIAS_EVENT:
        Alias(event);
        return false;
      case YAML_SCALAR_EVENT:
        Scalar(event);
        return false;
      case YAML_SEQUENCE_START_EVENT:
        Collection(event, YamlNode::Kind::kSequence, event.data.sequence_start.anchor,
                   event.data.sequence_start.tag);
        return false;
      case YAML_MAPPING_START_EVENT:
        Collection(event, YamlNode::Kind::kMapping, event.data.mapping_start.anchor,
                   event.data.mapping_start.tag);
        return false;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        Close(event);
        return false;
    }
    return false;
  }

  // Documents that hold nothing but comments are one empty plain scalar.
  bool HasContent() const {
    const YamlNode& root = nodes_.front();
    return root.kind != YamlNode::Kind::kScalar || !root.text.empty() || !root.plain ||
           root.tag != YamlTag::kNone || !anchors_.empty();
  }

  void Fault(Position at, std::string message, std::string hint = "") {
    issue_ = Issue{at, "", std::move(message), std::move(hint)};
  }

  Position PositionOf(const yaml_mark_t& mark) const { return lines_.At(offsets_.At(mark.index)); }

  // False after a fault: the document is too large up to `end`.
  bool IsSmallEnough(size_t end, Position at) {
    if (end - document_start_ <= limits_.bytes) return true;
    Fault(at, TooLarge(limits_.bytes));
    return false;
  }

  // Adds a node where the text is; null after a fault.
  YamlNode* Add(const yaml_event_t& event, YamlNode::Kind kind) {
    const size_t offset = offsets_.At(event.start_mark.index);
    const Position at = lines_.At(offset);
    if (!IsSmallEnough(offset, at)) return nullptr;
    bool is_key = false;
    if (!open_.empty() && open_.back().mapping) {
      is_key = open_.back().key_next;
      open_.back().key_next = !is_key;
    }
    if (is_key && (kind == YamlNode::Kind::kMapping || kind == YamlNode::Kind::kSequence)) {
      Fault(at, "a key must be a scalar, not a list or a map",
            "quote the text if it begins with a bracket or a brace");
      return nullptr;
    }
    if (!is_key && ++values_ > limits_.elements) {
      Fault(at, TooMany(limits_));
      return nullptr;
    }
    if (!open_.empty()) open_.back().last = static_cast<uint32_t>(nodes_.size());
    YamlNode& node = nodes_.emplace_back();
    node.kind = kind;
    node.at = at;
    node.end = static_cast<uint32_t>(nodes_.size());
    node.first_byte = static_cast<uint32_t>(offset);
    node.end_byte = static_cast<uint32_t>(offsets_.At(event.end_mark.index));
    return &node;
  }

  void Alias(const yaml_event_t& event) {
    YamlNode* node = Add(event, YamlNode::Kind::kAlias);
    if (node == nullptr) return;
    const std::string_view name = View(event.data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      return Fault(node->at, "alias *" + std::string(name) + " has no anchor before it");
    }
    if (nodes_[found->second].end == 0) {
      return Fault(node->at, "alias *" + std::string(name) + " is inside its own anchor");
    }
    node->target = found->second;
  }

  // False after a fault.
  bool SetTag(YamlNode& node, const yaml_char_t* raw, YamlTag other_fit) {
    const std::string_view tag = View(raw);
    const auto known = ParseTag(tag);
    if (!known) {
      constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
      const std::string name = tag.starts_with(kPrefix)
                                   ? "!!" + std::string(tag.substr(kPrefix.size()))
                                   : std::string(tag);
      Fault(node.at, "tag " + Quote(name) + " is not supported", "remove the tag");
      return false;
    }
    const bool is_collection_tag = *known == YamlTag::kMap || *known == YamlTag::kSeq;
    const bool fits = *known == YamlTag::kNone || *known == other_fit ||
                      (other_fit == YamlTag::kNone && !is_collection_tag);
    if (!fits) {
      Fault(node.at, "tag " + Quote(YamlTagName(*known)) + " does not fit the value after it",
            "remove the tag");
      return false;
    }
    node.tag = *known;
    return true;
  }

  void SetAnchor(const yaml_char_t* name, uint32_t index) {
    if (name != nullptr) anchors_.insert_or_assign(std::string(View(name)), index);
  }

  // The tag "!" makes a string of any scalar; libyaml drops it and says "plain".
  bool IsMarkedString(const yaml_event_t& event) const {
    if (event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return true;
    if (event.start_mark.index == event.end_mark.index) return false;  // nothing there
    const size_t begin = offsets_.At(event.start_mark.index);
    std::string_view written = text_.substr(begin);
    if (written.starts_with('&')) {  // an anchor
      written = written.substr(0, offsets_.At(event.end_mark.index) - begin);
      constexpr std::string_view kSpace = " \t\r\n";
      written.remove_prefix(std::min(written.find_first_of(kSpace), written.size()));
      written.remove_prefix(std::min(written.find_first_not_of(kSpace), written.size()));
    }
    return written.starts_with('!');
  }

  void Scalar(const yaml_event_t& event) {
    YamlNode* node = Add(event, YamlNode::Kind::kScalar);
    if (node == nullptr || !SetTag(*node, event.data.scalar.tag, YamlTag::kNone)) return;
    node->plain = event.data.scalar.plain_implicit != 0 && !IsMarkedString(event);
    node->text.assign(reinterpret_cast<const char*>(event.data.scalar.value),
                      event.data.scalar.length);
    SetAnchor(event.data.scalar.anchor, static_cast<uint32_t>(nodes_.size() - 1));
  }

  void Collection(const yaml_event_t& event, YamlNode::Kind kind, const yaml_char_t* anchor,
                  const yaml_char_t* tag) {
    YamlNode* node = Add(event, kind);
    const bool mapping = kind == YamlNode::Kind::kMapping;
    if (node == nullptr || !SetTag(*node, tag, mapping ? YamlTag::kMap : YamlTag::kSeq)) return;
    if (open_.size() >= limits_.depth) return Fault(node->at, TooDeep(limits_));
    node->end = 0;
    node->flow = mapping ? event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                         : event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    const auto index = static_cast<uint32_t>(nodes_.size() - 1);
    SetAnchor(anchor, index);
    open_.push_back({index, mapping, true, index});
  }

  void Close(const yaml_event_t& event) {
    const Open& closed = open_.back();
    YamlNode& node = nodes_[closed.node];
    node.end = static_cast<uint32_t>(nodes_.size());
    node.end_byte = nodes_[closed.last].end_byte;
    if (node.flow) {
      node.end_byte =
          std::max(node.end_byte, static_cast<uint32_t>(offsets_.At(event.end_mark.index)));
    }
    open_.pop_back();
  }

  Issue SyntaxFault() const {
    const std::string problem = parser_.problem == nullptr ? "unreadable YAML" : parser_.problem;
    if (parser_.error == YAML_MEMORY_ERROR) return Issue{{}, "", "out of memory", ""};
    if (parser_.error == YAML_READER_ERROR) {
      return Issue{lines_.At(std::min(parser_.problem_offset, text_.size())), "", problem, ""};
    }
    const size_t offset = offsets_.At(parser_.problem_mark.index);
    std::string message = problem;
    if (parser_.context != nullptr) {
      message += " " + std::string(parser_.context);
      const Position context = PositionOf(parser_.context_mark);
      if (context.line != lines_.At(offset).line) {
        message += " that begins on line " + std::to_string(context.line);
      }
    }
    return Issue{lines_.At(offset), "", std::move(message), HintAt(offset, problem)};
  }

  // What such a fault most often comes from, where the lines show it.
  std::string HintAt(size_t offset, std::string_view problem) const {
    if (offset < text_.size() && text_[offset] == '\t') {
      return "YAML is indented with spaces, not with tabs";
    }
    const bool ends_too_early =
        problem == "did not find expected key" || problem == "did not find expected '-' indicator";
    if (ends_too_early && IsIndentedAlone(text_, offset)) {
      const auto spaces = static_cast<int64_t>(lines_.At(offset).column) - 1;
      return "no line above is indented by " + Counted(spaces, "space") +
             ": write as many as before the key that it stands beside";
    }
    if (problem == "could not find expected ':'" && parser_.context != nullptr &&
        FollowsBlockScalar(text_, offsets_.At(parser_.context_mark.index))) {
      return "indent the text that belongs to | or > deeper than its key";
    }
    return "";
  }

  const std::string_view text_;
  const Limits& limits_;
  const ByteOffsets offsets_;
  const Lines lines_;
  yaml_parser_t parser_ = {};
  bool fine_ = false;
  bool ended_ = false;
  std::optional<Issue> issue_;
  YamlNodes nodes_;
  std::vector<Open> open_;
  std::map<std::string, uint32_t, std::less<>> anchors_;
  size_t values_ = 0;
  size_t document_start_ = 0;
};

YamlReader::YamlReader(std::string_view text, const Limits& limits)
    : stream_(std::make_unique<Stream>(text, limits)) {}

YamlReader::~YamlReader() = default;

tl::expected<YamlNodes, Issue> YamlReader::Next() { return stream_->Next(); }

}  // namespace mindgate::json::internal
