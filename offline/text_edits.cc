#include "offline/text_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/splices.h"

namespace mindgate::offline {
namespace {

using json::Json;
using json::Outline;
using json::TextNode;

constexpr uint32_t kNone = SpliceWriter::kNoKey;

// A chain of merged maps longer than this is nobody's.
constexpr size_t kMaxMerges = 64;

// A node with what holds it.
struct Held {
  uint32_t node = 0;
  uint32_t key = kNone;     // in a mapping
  uint32_t holder = kNone;  // kNone: it is the root
};

// New parts of one mapping or sequence.
struct NewParts {
  Held of;
  size_t depth = 0;
  std::vector<size_t> edits;
};

class Planner {
 public:
  Planner(std::string_view text, const Outline& outline, TextFormat format,
          const std::vector<TextEdit>& edits)
      : outline_(outline), edits_(edits), writer_(text, outline, format) {}

  TextChanges Plan() {
    for (size_t i = 0; i < edits_.size(); ++i) Take(i);
    for (const auto& [node, parts] : new_parts_) AddParts(parts);
    changes_.splices = std::move(writer_).Take();
    return std::move(changes_);
  }

 private:
  void Refuse(size_t edit, std::string why, std::string instead) {
    changes_.refused.push_back({edit, std::move(why), std::move(instead)});
  }

  void RefuseUnknown(size_t edit) { changes_.refused.push_back(CannotChange(edit, edits_[edit])); }

  // Whether what stands below the node may change. `name`: the last key on the way to it.
  bool IsOwn(size_t edit, const TextNode& node, const std::string& name) {
    const std::string what = name.empty() ? "it" : name;
    if (node.kind == TextNode::Kind::kAlias) {
      Refuse(edit,
             what + " is the alias " + writer_.AliasOf(node) +
                 ", and a change at its anchor would change every place that uses it",
             "write out what the alias stands for, with " + EditText(edits_[edit]));
      return false;
    }
    if (node.shared) {
      Refuse(edit,
             what + " has the anchor " + writer_.AnchorOf(node) +
                 ", and an alias elsewhere would change with it",
             "write " + EditText(edits_[edit]) + " if it is right in both places");
      return false;
    }
    return true;
  }

  // The key of a mapping; kNone: it is not written there.
  uint32_t KeyOf(uint32_t mapping, const std::string& name) const {
    for (const uint32_t key : json::ChildrenOf(outline_, mapping)) {
      if (!outline_[key].merge && outline_[key].key == name) return key;
    }
    return kNone;
  }

  // Whether the maps that this one merges have the key.
  bool Merges(uint32_t mapping, const std::string& name) const {
    std::vector<uint32_t> open = {mapping};
    for (size_t steps = 0; !open.empty() && steps < kMaxMerges; ++steps) {
      const uint32_t of = open.back();
      open.pop_back();
      for (const uint32_t key : json::ChildrenOf(outline_, of)) {
        if (!outline_[key].merge) continue;
        const uint32_t value = outline_[key].next;
        std::vector<uint32_t> merged = {value};
        if (outline_[value].kind == TextNode::Kind::kSequence) {
          merged = json::ChildrenOf(outline_, value);
        }
        for (uint32_t map : merged) {
          if (outline_[map].kind == TextNode::Kind::kAlias) map = outline_[map].target;
          if (KeyOf(map, name) != kNone) return true;
          open.push_back(map);
        }
      }
    }
    return !open.empty();
  }

  void RefuseMerged(size_t edit, const std::string& name) {
    Refuse(edit, name + " comes from a map that \"<<\" merges",
           "write " + EditText(edits_[edit]) + " beside the \"<<\": own keys win");
  }

  void Take(size_t edit) {
    const auto tokens = json::Tokens(edits_[edit].pointer);
    if (!tokens || tokens->empty()) return RefuseUnknown(edit);
    Held held;
    std::string name;
    for (size_t depth = 0;; ++depth) {
      const TextNode& node = outline_[held.node];
      if (!IsOwn(edit, node, name)) return;
      const std::string& token = (*tokens)[depth];
      const bool last = depth + 1 == tokens->size();
      if (node.kind == TextNode::Kind::kMapping) {
        const uint32_t key = KeyOf(held.node, token);
        if (key == kNone && Merges(held.node, token)) return RefuseMerged(edit, token);
        if (key == kNone && last) return Add(edit, held, depth);
        if (key == kNone) return RefuseUnknown(edit);
        held = {outline_[key].next, key, held.node};
        name = token;
      } else if (node.kind == TextNode::Kind::kSequence) {
        if (token == "-" && last) return Add(edit, held, depth);
        const auto items = json::ChildrenOf(outline_, held.node);
        const auto index = json::ListIndex(token);
        if (!index || *index >= items.size()) return RefuseUnknown(edit);
        held = {items[*index], kNone, held.node};
      } else {
        return RefuseUnknown(edit);
      }
      if (last) break;
    }
    if (!IsOwn(edit, outline_[held.node], name)) return;
    Overwrite(edit, held, edits_[edit].value, tokens->size());
  }

  void Add(size_t edit, const Held& of, size_t depth) {
    NewParts& parts = new_parts_[of.node];
    parts.of = of;
    parts.depth = depth;
    parts.edits.push_back(edit);
  }

  void Overwrite(size_t edit, const Held& held, const Json& value, size_t depth) {
    const bool in_brackets = held.holder == kNone || outline_[held.holder].flow;
    if (!writer_.Overwrite(held.node, held.key, in_brackets, value, depth)) RefuseUnknown(edit);
  }

  // The new parts as one object or list.
  Json Joined(const NewParts& parts) const {
    const bool mapping = outline_[parts.of.node].kind == TextNode::Kind::kMapping;
    Json value = mapping ? Json::object() : Json::array();
    for (const size_t edit : parts.edits) {
      if (mapping) {
        value[json::Tokens(edits_[edit].pointer)->back()] = edits_[edit].value;
      } else {
        value.push_back(edits_[edit].value);
      }
    }
    return value;
  }

  void AddParts(const NewParts& parts) {
    const Json value = Joined(parts);
    if (json::ChildrenOf(outline_, parts.of.node).empty()) {
      Overwrite(parts.edits.front(), parts.of, value, parts.depth);
    } else {
      writer_.Append(parts.of.node, value, parts.depth);
    }
  }

  const Outline& outline_;
  const std::vector<TextEdit>& edits_;
  SpliceWriter writer_;
  std::map<uint32_t, NewParts> new_parts_;  // by mapping or sequence
  TextChanges changes_;
};

}  // namespace

TextChanges PlanEdits(std::string_view text, const Outline& outline, TextFormat format,
                      const std::vector<TextEdit>& edits) {
  return Planner(text, outline, format, edits).Plan();
}

RefusedEdit CannotChange(size_t number, const TextEdit& edit) {
  return {number, "the text there is written in a way that a program cannot change safely",
          "write " + EditText(edit)};
}

std::string EditText(const TextEdit& edit) {
  const auto tokens = json::Tokens(edit.pointer);
  const bool item = !tokens || tokens->empty() || tokens->back() == "-";
  if (item) return "the item " + json::EncodeFlowYaml(edit.value);
  const std::string text = json::EncodeFlowYaml(Json{{tokens->back(), edit.value}});
  return text.substr(1, text.size() - 2);
}

std::string Spliced(std::string_view text, std::vector<Splice> splices) {
  std::stable_sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) {
    return a.at != b.at ? a.at < b.at : a.depth > b.depth;
  });
  std::string out;
  size_t done = 0;
  for (const Splice& splice : splices) {
    if (splice.at < done || splice.at + splice.length > text.size()) continue;
    out += text.substr(done, splice.at - done);
    out += splice.text;
    done = splice.at + splice.length;
  }
  out += text.substr(done);
  return out;
}

}  // namespace mindgate::offline
