#include "offline/text_edits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "json/arena.h"
#include "json/decode.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/splices.h"

namespace mindgate::offline {
namespace {

using json::Json;
using json::Outline;
using json::TextNode;

// "fault-scheduling: force", "- name: a" is "{name: a}": what an edit writes, for people.
std::string EditText(const TextEdit& edit);

// Of an edit whose place is written in a way that is not known here.
RefusedEdit CannotChange(size_t number, const TextEdit& edit);

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

// The changes of `text` that make the edits, which are independent of each other: no pointer is
// part of another one. `outline` is that of the document, with offsets in `text`. Edits whose
// place is reached through an alias, comes from a merge, or is shared by an alias are refused. The
// result must be decoded and compared with what was intended: YAML has more ways to write a value
// than are known here.
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

}  // namespace

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

namespace {

using EditsByDocument = std::map<size_t, std::vector<TextEdit>>;

constexpr size_t kFirstBlock = 4 * 1024;
// Each try decodes the text. A text that needs more is refused from there on.
constexpr int kMostTries = 200;

// The outlines of the documents of a source, in their order.
struct Outlines {
  std::vector<json::Outline> of_documents;  // empty: of a text that cannot be changed
  TextFormat format = TextFormat::kYaml;
};

void Shift(json::Outline& outline, size_t by) {
  for (json::TextNode& node : outline) {
    node.first_byte += by;
    node.begin += by;
    node.end += by;
  }
}

Outlines OutlinesOf(const Source& source) {
  Outlines outlines;
  const std::string_view text = source.input.text;
  if (source.documents.empty()) return outlines;
  if (!source.documents.front().json_text.empty()) {
    outlines.format = TextFormat::kJson;
    for (const Document& document : source.documents) {
      json::Outline outline = json::OutlineJson(document.json_text);
      Shift(outline, static_cast<size_t>(document.json_text.data() - text.data()));
      outlines.of_documents.push_back(std::move(outline));
    }
    return outlines;
  }
  auto all = json::OutlineYaml(text);
  if (!all) return outlines;
  for (const Document& document : source.documents) {
    const auto number = static_cast<size_t>(document.number) - 1;
    if (number >= all->size()) return {};
    outlines.of_documents.push_back(std::move((*all)[number]));
  }
  return outlines;
}

// The root with the edits made, in `arena`; nothing when they do not fit it.
std::optional<json::Value> Intended(const json::Value& root, const std::vector<TextEdit>& edits,
                                    json::Arena& arena) {
  std::vector<json::Document> values;
  values.reserve(edits.size());
  std::vector<json::Operation> operations;
  for (const TextEdit& edit : edits) {
    const json::Value& value = values.emplace_back(edit.value).root();
    operations.push_back({json::Operation::Kind::kAdd, edit.pointer, value});
  }
  auto made = json::ApplyPatch(root, operations, arena);
  if (!made) return std::nullopt;
  return *made;
}

class CheckedEditor {
 public:
  CheckedEditor(const Source& source, const std::vector<DocumentEdit>& edits)
      : source_(source), edits_(edits), outlines_(OutlinesOf(source)) {}

  EditedText Run() {
    EditedText result;
    std::vector<size_t> planned;
    for (size_t document = 0; document < source_.documents.size(); ++document) {
      Plan(document, planned, result.refused);
    }
    std::sort(planned.begin(), planned.end());
    Keep(planned, result);
    result.text = source_.input.text;
    if (!result.done.empty()) result.text = TextWith(result.done);
    return result;
  }

 private:
  void Plan(size_t document, std::vector<size_t>& planned, std::vector<RefusedEdit>& refused) {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < edits_.size(); ++i) {
      if (edits_[i].document == document) numbers.push_back(i);
    }
    if (numbers.empty()) return;
    if (outlines_.of_documents.empty()) {
      for (const size_t number : numbers) refused.push_back(Spoiled(number));
      return;
    }
    std::vector<TextEdit> edits;
    for (const size_t number : numbers) edits.push_back(edits_[number].edit);
    std::vector<size_t> left = numbers;
    for (RefusedEdit& one : Changes(document, edits).refused) {
      one.edit = numbers[one.edit];
      std::erase(left, one.edit);
      refused.push_back(std::move(one));
    }
    planned.insert(planned.end(), left.begin(), left.end());
  }

  TextChanges Changes(size_t document, const std::vector<TextEdit>& edits) const {
    return PlanEdits(source_.input.text, outlines_.of_documents[document], outlines_.format, edits);
  }

  RefusedEdit Spoiled(size_t number) const { return CannotChange(number, edits_[number].edit); }

  EditsByDocument ByDocument(const std::vector<size_t>& numbers) const {
    EditsByDocument edits;
    for (const size_t number : numbers) {
      edits[edits_[number].document].push_back(edits_[number].edit);
    }
    return edits;
  }

  std::string TextWith(const std::vector<size_t>& numbers) const {
    std::vector<Splice> splices;
    for (const auto& [document, edits] : ByDocument(numbers)) {
      TextChanges changes = Changes(document, edits);
      std::move(changes.splices.begin(), changes.splices.end(), std::back_inserter(splices));
    }
    return Spliced(source_.input.text, std::move(splices));
  }

  static bool IsIntended(const Json& before, const EditsByDocument& edits, size_t number,
                         Document& after) {
    const auto found = edits.find(number);
    if (found == edits.end()) return before == after.value;
    json::Arena arena(kFirstBlock);
    const json::Document document(before);
    const auto wanted = Intended(document.root(), found->second, arena);
    return wanted && *wanted == after.Root();
  }

  // Whether the text with these edits is what was intended.
  bool IsRight(const std::vector<size_t>& numbers) {
    InputText input = source_.input;
    input.text = TextWith(numbers);
    const auto after = Decode(std::move(input));
    if (after->documents.size() != source_.documents.size()) return false;
    const auto edits = ByDocument(numbers);
    for (size_t i = 0; i < after->documents.size(); ++i) {
      if (after->documents[i].fault) return false;
      if (!IsIntended(source_.documents[i].value, edits, i, after->documents[i])) return false;
    }
    return true;
  }

  // Keeps what can be made of these; the halves are tried alone when all together fail.
  void Keep(const std::vector<size_t>& numbers, EditedText& result) {
    if (numbers.empty()) return;
    std::vector<size_t> all = result.done;
    all.insert(all.end(), numbers.begin(), numbers.end());
    const bool gives_up = ++tries_ > kMostTries;
    if (!gives_up && IsRight(all)) {
      result.done = std::move(all);
      return;
    }
    if (gives_up || numbers.size() == 1) {
      for (const size_t number : numbers) result.refused.push_back(Spoiled(number));
      return;
    }
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    Keep({numbers.begin(), middle}, result);
    Keep({middle, numbers.end()}, result);
  }

  const Source& source_;
  const std::vector<DocumentEdit>& edits_;
  const Outlines outlines_;
  int tries_ = 0;
};

}  // namespace

EditedText Edited(const Source& source, const std::vector<DocumentEdit>& edits) {
  return CheckedEditor(source, edits).Run();
}

}  // namespace mindgate::offline
