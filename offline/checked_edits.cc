#include "offline/checked_edits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "json/arena.h"
#include "json/decode.h"
#include "json/outline.h"
#include "json/patch.h"
#include "json/pointer.h"

namespace mindgate::offline {
namespace {

using json::Json;
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
